"""Redirects: where to go next, and with what."""

from scheduler_call_runner.exchange import Answer
from scheduler_call_runner.messages import Message
from scheduler_call_runner.targets import Target

_STATUSES = frozenset({301, 302, 303, 307, 308})
_KEEP_METHOD = frozenset({307, 308})


def is_redirect(answer: Answer) -> bool:
    """Tell whether the answer sends us somewhere else."""
    return answer.status in _STATUSES and bool(answer.location)


def redirected(answer: Answer, target: Target, message: Message) -> tuple[Target, Message]:
    """Return the next target and message.

    Raises CallFailedError when the redirect must not be followed.
    """
    following = target.follow(answer.location or "")
    if following.origin != target.origin:
        message = message.without_secrets()
    if answer.status == 303 or (answer.status not in _KEEP_METHOD and message.method == "POST"):
        message = message.as_get()
    return following, message
