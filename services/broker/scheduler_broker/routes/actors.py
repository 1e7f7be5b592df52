"""Who is behind a request, for the log."""

from flask import Request

from scheduler_broker.identity import ORIGINATING_IDENTITY_HEADER, user_guid

REQUEST_IDENTITY_HEADER = "X-Broker-API-Request-Identity"


def actor(request: Request) -> dict[str, object]:
    """Return the user's GUID and the platform's id of the request, as far as they were sent."""
    ids = {
        "user_guid": user_guid(request.headers.get(ORIGINATING_IDENTITY_HEADER)),
        "request_identity": request.headers.get(REQUEST_IDENTITY_HEADER),
    }
    return {name: value for name, value in ids.items() if value is not None}
