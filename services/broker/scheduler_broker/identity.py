"""On whose behalf the platform acts: `cloudfoundry <base64 of {"user_id": …}>`, for log and audit only."""

import base64
import json
import logging

_log = logging.getLogger(__name__)

ORIGINATING_IDENTITY_HEADER = "X-Broker-API-Originating-Identity"
_MAX_CHARACTERS = 255


def user_guid(header: str | None) -> str:
    """Return the user's GUID; an empty one when the header is missing or malformed, which breaks no request."""
    if header is None:
        return ""
    try:
        _platform, encoded = header.split()
        user = json.loads(base64.b64decode(encoded, validate=True))["user_id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        user = None
    if not isinstance(user, str) or not user.isprintable() or len(user) > _MAX_CHARACTERS:
        _log.warning(
            f"{ORIGINATING_IDENTITY_HEADER} is malformed and is ignored.",
            extra={"action": "originating_identity_ignored"},
        )
        return ""
    return user
