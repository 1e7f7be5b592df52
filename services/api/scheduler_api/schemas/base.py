"""What all schemas share: fields that are not ours are ignored, null means "not set"."""

from typing import Any

from marshmallow import EXCLUDE, Schema, post_load


class Loose(Schema):
    """Ignores fields that it does not know: clients send their own zero values along (checklist 103, 104)."""

    class Meta:
        unknown = EXCLUDE


class Body(Loose):
    """The JSON object of a request. What is null or absent is left out, so that defaults apply."""

    @post_load
    def leave_out_nulls(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Return what is really set."""
        return {name: value for name, value in data.items() if value is not None}


class Patch(Loose):
    """The JSON object of a change. Absent means unchanged, null means back to the default."""


class Answer(Loose):
    """What is sent back; never loaded."""
