"""What an answer of Cloud Controller means. Its errors are `{"errors":[{"code","title","detail"}]}`.

Codes and statuses decide; the words of `detail` may change and are only passed on, except for quotas, which have
no code of their own.
"""

import re
from dataclasses import dataclass
from typing import Any

from scheduler.cloudfoundry.errors import CannotTellError, DoubtError, NotFoundError, RefusedError, WaitError
from scheduler.cloudfoundry.transport import Answer

_RESOURCE_NOT_FOUND = 10010
# Quotas that other tasks use up and give back. An *instance* memory quota is not among them: it never passes.
_PASSING_QUOTA = re.compile(r"app_task_limit quota exceeded|exceeds (space|organization) (memory|log rate) quota")


@dataclass(frozen=True, kw_only=True, slots=True)
class ControllerError:
    """The first error of an answer."""

    code: int
    detail: str


def error_of(answer: Answer) -> ControllerError | None:
    """Return Cloud Controller's error, None when the answer is not its own.

    The content type is not asked: rate limits are JSON that calls itself text/plain.
    """
    errors = errors_of(answer)
    return errors[0] if errors else None


def errors_of(answer: Answer) -> list[ControllerError]:
    """Return all errors of an answer, none when it is not Cloud Controller's."""
    try:
        return [
            ControllerError(code=int(error["code"]), detail=str(error.get("detail") or error.get("title") or ""))
            for error in answer.json()["errors"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        return []


def value_of(answer: Answer) -> Any:
    """Return the JSON of a successful answer.

    Raises NotFoundError or CannotTellError.
    """
    if 200 <= answer.status < 300:
        return answer.json()
    if _says_not_found(answer):
        raise NotFoundError(errors_of(answer)[0].detail)
    raise unclear(answer)


def unclear(answer: Answer) -> CannotTellError:
    """Return the error for an answer that proves nothing."""
    return CannotTellError(
        f"Cloud Controller answers {_summary(answer)}", status=answer.status, retry_after=answer.retry_after()
    )


def refusal_of(answer: Answer) -> RefusedError:
    """Return Cloud Controller's no."""
    error = error_of(answer)
    code, detail = (error.code, error.detail) if error else (None, _summary(answer))
    return RefusedError(detail, code=code, status=answer.status)


def creation_failure(answer: Answer) -> RefusedError | WaitError | DoubtError:
    """Return what an unsuccessful answer to the creation of a task means.

    502 and 504 come from a router that may have passed the request on. 503 is certain: Cloud Controller sends it when
    the task could not be submitted (it then marks its own record as failed), a router when there is nobody behind it.
    """
    if answer.status in {502, 504}:
        return DoubtError(f"answer {_summary(answer)}")
    error = error_of(answer)
    if error is None and answer.status == 500:
        return DoubtError(f"answer {_summary(answer)}")
    if _is_passing(answer, error):
        return WaitError(f"Cloud Controller answers {_summary(answer)}", retry_after=answer.retry_after())
    return refusal_of(answer)


def _is_passing(answer: Answer, error: ControllerError | None) -> bool:
    if answer.status in {401, 429, 503} or error is None:  # without an error of its own it was not Cloud Controller
        return True
    return answer.status == 422 and bool(_PASSING_QUOTA.search(error.detail))


def _says_not_found(answer: Answer) -> bool:
    if answer.status != 404 or not answer.headers.get("Content-Type", "").startswith("application/json"):
        return False
    return any(error.code == _RESOURCE_NOT_FOUND for error in errors_of(answer))


def _summary(answer: Answer) -> str:
    error = error_of(answer)
    return f"{answer.status}: {error.detail} (code {error.code})" if error else str(answer.status)
