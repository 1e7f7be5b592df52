"""Writing what became of claimed executions, in batches, matched by guid and claim token.

No locks are taken beforehand: nobody else writes a row that is claimed, but for a rescue or a cancellation, and should
one of those ever deadlock with a batch, the batch is simply tried again.

An outcome still counts after the rescue gave the run up as lost (`runner_lost`), as long as nobody claimed it anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection, text

from scheduler.domain.claims import Claimed, Finish, GiveBack, Outcome, TryAgain
from scheduler.store.arrays import array
from scheduler.store.bells import RELAY, ring
from scheduler.store.messages import storable
from scheduler.store.prepared import Prepared, execute

_OPEN = "(e.state = 'RUNNING' OR (e.state = 'FAILED' AND e.reason = 'runner_lost'))"

_FINISH_SQL = f"""
    UPDATE executions e SET state = u.state, reason = u.reason, message = u.message, http_status = u.http_status,
        duration_ms = u.duration_ms, execution_end_time = clock_timestamp(), next_poll_at = NULL
    FROM unnest(:guids, :tokens, :states, :reasons, :messages, :statuses, :durations)
        AS u (guid, token, state, reason, message, http_status, duration_ms)
    WHERE e.guid = u.guid AND e.claim_token = u.token AND {_OPEN}
"""  # noqa: S608 - composed of this module's own constants
_FINISH = Prepared(
    "finish_executions",
    {
        "guids": "uuid[]",
        "tokens": "uuid[]",
        "states": "text[]",
        "reasons": "text[]",
        "messages": "text[]",
        "statuses": "integer[]",
        "durations": "bigint[]",
    },
    _FINISH_SQL,
)

# The same row tries again. A retry has no start deadline; one that gives an attempt back keeps it. A run that has a
# task by now goes on with it.
_BACK_TO_PENDING = text(f"""
    UPDATE executions e SET state = 'PENDING', reason = u.reason,
        message = CASE WHEN u.unsent AND u.message = '' THEN e.message ELSE u.message END,
        http_status = CASE WHEN u.unsent THEN e.http_status ELSE u.http_status END,
        duration_ms = CASE WHEN u.unsent THEN e.duration_ms ELSE u.duration_ms END,
        not_before = now() + u.delay * interval '1 second', queued_at = NULL,
        publish_count = 0, execution_end_time = NULL, claim_token = NULL, runner = NULL,
        attempt = e.attempt - CASE WHEN u.unsent THEN 1 ELSE 0 END,
        look_up_first = u.look_up_first, start_by = CASE WHEN u.unsent THEN e.start_by END,
        execution_start_time = CASE WHEN u.unsent AND e.attempt = 1 THEN NULL ELSE e.execution_start_time END,
        first_start_time = CASE WHEN u.unsent AND e.attempt = 1 THEN NULL ELSE e.first_start_time END
    FROM unnest(CAST(:guids AS uuid[]), CAST(:tokens AS uuid[]), CAST(:delays AS double precision[]),
        CAST(:unsents AS boolean[]), CAST(:look_ups AS boolean[]), CAST(:reasons AS text[]), CAST(:messages AS text[]),
        CAST(:statuses AS integer[]), CAST(:durations AS bigint[]))
        AS u (guid, token, delay, unsent, look_up_first, reason, message, http_status, duration_ms)
    WHERE e.guid = u.guid AND e.claim_token = u.token AND e.task_guid IS NULL AND {_OPEN}
""")  # noqa: S608 - likewise


_MARK_LOOKED_UP = text("""
    UPDATE executions SET look_up_first = false WHERE guid = :guid AND claim_token = :token AND state = 'RUNNING'
    RETURNING cancel_requested_at IS NOT NULL AS is_cancelled, coalesce(start_by < now(), false) AS is_too_late
""")


def write_outcomes(connection: Connection, outcomes: Sequence[tuple[Claimed, Outcome]]) -> int:
    """Write outcomes and return how many matched; the others had been taken from this runner."""
    finished = [(claimed, outcome) for claimed, outcome in outcomes if isinstance(outcome, Finish)]
    again = [(claimed, outcome) for claimed, outcome in outcomes if not isinstance(outcome, Finish)]
    written = execute(connection, [_FINISH], _finish_parameters(finished)).rowcount if finished else 0
    written += connection.execute(_BACK_TO_PENDING, _again_parameters(again)).rowcount if again else 0
    if again or any(claimed.serial for claimed, _ in outcomes):
        ring(connection, RELAY)
    return written


def _finish_parameters(finished: Sequence[tuple[Claimed, Finish]]) -> dict[str, object]:
    return {
        **_keys([claimed for claimed, _ in finished]),
        "states": array(outcome.state for _, outcome in finished),
        **_shown([outcome for _, outcome in finished]),
    }


def _again_parameters(again: Sequence[tuple[Claimed, TryAgain | GiveBack]]) -> dict[str, object]:
    return {
        **_keys([claimed for claimed, _ in again]),
        "delays": [outcome.delay_seconds for _, outcome in again],
        "unsents": [isinstance(outcome, GiveBack) for _, outcome in again],
        "look_ups": [isinstance(outcome, GiveBack) and outcome.look_up_first for _, outcome in again],
        **_shown([outcome for _, outcome in again]),
    }


def _keys(claims: Sequence[Claimed]) -> dict[str, str]:
    return {
        "guids": array(claimed.guid for claimed in claims),
        "tokens": array(claimed.claim_token for claimed in claims),
    }


def _shown(outcomes: Sequence[Outcome]) -> dict[str, object]:
    return {
        "reasons": array(getattr(outcome, "reason", None) for outcome in outcomes),
        "messages": [storable(outcome.message) for outcome in outcomes],
        "statuses": array(getattr(outcome, "http_status", None) for outcome in outcomes),
        "durations": array(getattr(outcome, "duration_ms", None) for outcome in outcomes),
    }


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a run for which no task was found may still get one."""

    is_cancelled: bool
    is_too_late: bool


def mark_looked_up(connection: Connection, guid: UUID, token: UUID) -> Permission | None:
    """Record that no task of a doubtful creation exists, so that the ordinary rules apply to the row again.

    None: the execution is no longer this runner's.
    """
    row = connection.execute(_MARK_LOOKED_UP, {"guid": guid, "token": token}).one_or_none()
    return Permission(is_cancelled=row.is_cancelled, is_too_late=row.is_too_late) if row else None
