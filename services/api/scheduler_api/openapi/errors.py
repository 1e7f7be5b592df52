"""What each status of an error means, with an example of each."""

from typing import Any

STATUSES: dict[int, tuple[str, str, str]] = {
    400: ("The request cannot be read.", "bad_request", "the request cannot be read"),
    401: ("No valid token of a user.", "unauthorized", "a token of a Cloud Foundry user is needed"),
    403: ("The caller may not do this.", "forbidden", "you are not a developer in this space"),
    404: ("There is no such thing, or it is somebody else's.", "not_found", "there is no such job"),
    413: ("The body is too large.", "body_too_large", "the body is larger than 1 MiB"),
    415: (
        "The body is no JSON.",
        "unsupported_media_type",
        "send JSON, with Content-Type: application/json",
    ),
    422: ("Something about the request is wrong; each finding names its field.", "missing_field", "name is missing"),
    500: ("The scheduler failed.", "internal_error", "the scheduler failed; its log says why"),
    502: (
        "Cloud Controller or UAA cannot be asked.",
        "bad_gateway",
        "Cloud Controller could not be asked",
    ),
    503: ("The database is away.", "database_unavailable", "the scheduler's database is not available"),
}
ALWAYS = (401, 500, 503)


def error_responses() -> dict[str, dict[str, Any]]:
    """Return the reusable responses, by name."""
    return {f"Error{status}": _response(*words) for status, words in STATUSES.items()}


def _response(description: str, code: str, message: str) -> dict[str, Any]:
    example = {"errors": [{"code": code, "message": message}], "warnings": []}
    return {
        "description": description,
        "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}, "example": example}},
    }
