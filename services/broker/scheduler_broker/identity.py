"""On whose behalf the platform acts: `cloudfoundry <base64 of {"user_id": …}>`, for the log only."""

import base64
import json
import logging

_log = logging.getLogger(__name__)

ORIGINATING_IDENTITY_HEADER = "X-Broker-API-Originating-Identity"


def user_guid(header: str | None) -> str | None:
    """Return the user's GUID, None when the header is missing or malformed, which breaks no request."""
    if header is None:
        return None
    try:
        _platform, encoded = header.split()
        user = json.loads(base64.b64decode(encoded, validate=True))["user_id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        user = None
    if not isinstance(user, str):
        _log.warning(
            f"{ORIGINATING_IDENTITY_HEADER} is malformed and is ignored.",
            extra={"action": "originating_identity_ignored"},
        )
        return None
    return user
