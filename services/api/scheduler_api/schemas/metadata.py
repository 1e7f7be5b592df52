"""What users attach to a schedule for themselves."""

import json
from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields

from scheduler_api.schemas.fields import Words

MAX_METADATA_BYTES = 10_000

_METADATA_WORDS: Words = {"invalid": "must be an object", "null": "must not be null"}


class Metadata(fields.Dict):
    """Any JSON object of a bearable size."""

    default_error_messages = _METADATA_WORDS

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(keys=fields.String(), validate=_check_size, **kwargs)


def _check_size(metadata: Mapping[str, Any]) -> None:
    if len(json.dumps(metadata, ensure_ascii=False).encode()) > MAX_METADATA_BYTES:
        raise ValidationError(f"must have at most {MAX_METADATA_BYTES} bytes as JSON")
