"""One attempt of a call: send it, follow redirects, judge the answer."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from scheduler.domain.calls import Call
from scheduler.domain.claims import Claimed, Finish, GiveBack, Outcome
from scheduler.domain.states import ExecutionState, Reason
from scheduler_call_runner.exchange import Answer, Exchange
from scheduler_call_runner.failures import CallFailedError, NotSentError
from scheduler_call_runner.messages import message_of
from scheduler_call_runner.redirects import is_redirect, redirected
from scheduler_call_runner.retrying import Failure, settle
from scheduler_call_runner.statuses import matches, phrase
from scheduler_call_runner.targets import Target


@dataclass(frozen=True)
class CallPerformer:
    """What the runner's threads do (`scheduler.running.runner.Performer`)."""

    exchange: Exchange

    def perform(self, claimed: Claimed, may_start: Callable[[], bool]) -> Outcome:
        """Make one attempt."""
        call = claimed.work
        if not isinstance(call, Call):
            return _unusable(claimed)
        started = time.monotonic()
        try:
            answer = self._send(call, claimed, may_start, started)
        except NotSentError:
            return GiveBack()
        except CallFailedError as error:
            failure = Failure(reason=error.reason, message=str(error), duration_ms=_since(started))
        except TimeoutError:
            limit = f"{call.request.timeout_seconds:g}"
            message = f"no complete answer within {limit} s; the endpoint may have processed the request"
            failure = Failure(reason=Reason.TIMEOUT, message=message, duration_ms=_since(started))
        else:
            judged = _judge(call, answer, _since(started))
            if isinstance(judged, Finish):
                return judged
            failure = judged
        return settle(failure, claimed, call.request.retry, now=datetime.now(UTC))

    def on_stop(self, claimed: Claimed) -> Outcome:
        """Say what became of a call that did not end before its runner did."""
        message = "the runner was stopped during the call; the endpoint may have processed the request"
        failure = Failure(reason=Reason.INTERRUPTED, message=message)
        if not isinstance(claimed.work, Call):
            return _unusable(claimed)
        return settle(failure, claimed, claimed.work.request.retry, now=datetime.now(UTC))

    def on_fault(self, claimed: Claimed) -> Outcome:  # noqa: ARG002 - the same for all
        """Say what became of a call that met a fault of our own."""
        message = "a fault in the scheduler ended the run; its log says more"
        return Finish(state=ExecutionState.FAILED, reason=Reason.INTERNAL_ERROR, message=message)

    def _send(self, call: Call, claimed: Claimed, may_start: Callable[[], bool], started: float) -> Answer:
        request = call.request
        target, message = Target.of(request.url), message_of(request, claimed)
        deadline = started + request.timeout_seconds
        for _ in range(request.follow_redirects + 1):
            answer = self.exchange.send(
                message.to(target),
                connect_deadline=time.monotonic() + request.connect_timeout_seconds,
                deadline=deadline,
                may_start=may_start,
            )
            if request.follow_redirects == 0 or not is_redirect(answer) or _succeeded(call, answer):
                return answer
            target, message = redirected(answer, target, message)
            may_start = _always  # the call has begun; its redirects belong to it
        raise CallFailedError(Reason.TOO_MANY_REDIRECTS, f"more than {request.follow_redirects} redirects")


def _always() -> bool:
    return True


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1_000)


def _succeeded(call: Call, answer: Answer) -> bool:
    return matches(call.request.success_statuses, answer.status)


def _judge(call: Call, answer: Answer, duration_ms: int) -> Finish | Failure:
    if _succeeded(call, answer):
        return Finish(
            state=ExecutionState.SUCCEEDED,
            message=f"{call.request.method} success",
            http_status=answer.status,
            duration_ms=duration_ms,
        )
    return Failure(
        reason=Reason.HTTP_STATUS,
        message=f"the endpoint answered {phrase(answer.status)}",
        http_status=answer.status,
        duration_ms=duration_ms,
        retry_after=answer.retry_after,
    )


def _unusable(claimed: Claimed) -> Finish:
    """End a run whose call cannot be read."""
    message = claimed.fault or "the call was deleted before this run was started"
    reason = Reason.BAD_REQUEST if claimed.fault else Reason.DELETED
    return Finish(state=ExecutionState.FAILED, reason=reason, message=message)
