"""From marshmallow to JSON Schema, where apispec does not know our kinds of fields."""

from typing import Any

from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import fields, validate

from scheduler_api.schemas.fields import Instant, Text

# A character that is no control character, and one that is something to see.
_PLAIN = r"[^\u0000-\u001f\u007f-\u009f]"
_VISIBLE = r"[^\s\u0000-\u001f\u007f-\u009f]"


def new_plugin() -> MarshmallowPlugin:
    """Return apispec's plugin, taught our fields and names."""
    return MarshmallowPlugin(schema_name_resolver=_name_of)


def teach(converter: Any) -> None:
    """Complete the converter of a plugin that has been given to a specification."""
    converter.map_to_openapi_type(Instant, "string", "date-time")
    converter.add_attribute_function(_text_pattern)
    converter.add_attribute_function(_computed_type)


def _name_of(schema: Any) -> str:
    kind = schema if isinstance(schema, type) else type(schema)
    return kind.__name__.removesuffix("Answer")


def _text_pattern(_: Any, field: fields.Field[Any], **__: Any) -> dict[str, Any]:
    has_own = "pattern" in field.metadata or any(isinstance(rule, validate.Regexp) for rule in field.validators)
    if not isinstance(field, Text) or has_own:
        return {}
    if field.is_lines:
        return {} if field.may_be_blank else {"pattern": _VISIBLE}
    return {"pattern": f"^{_PLAIN}*$" if field.may_be_blank else f"^{_PLAIN}*{_VISIBLE}{_PLAIN}*$"}


def _computed_type(_: Any, field: fields.Field[Any], **__: Any) -> dict[str, Any]:
    """Return what the metadata of a computed field say about its type."""
    if not isinstance(field, fields.Function | fields.Raw):
        return {}
    return {name: field.metadata[name] for name in ("type", "items", "additionalProperties") if name in field.metadata}
