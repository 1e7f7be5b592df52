"""The tick's statements: a batch of due schedules is locked, what of theirs is live is read, and the plans are written.

One statement each, however many schedules there are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from sqlalchemy import Connection, text

from scheduler.domain.guids import new_guid
from scheduler.domain.planning import Live, OpenSkip, Plan, PlannedRow
from scheduler.domain.schedules import Progress, Schedule
from scheduler.domain.states import Overlap, Reason
from scheduler.store.arrays import array
from scheduler.store.schedule_rows import progress_columns, schedule_from
from scheduler.store.tables import schedules
from scheduler.store.turns import in_turns

# Everything but the user's metadata, which planning does not look at.
_COLUMNS = ", ".join(f"s.{column.name}" for column in schedules.c if column.name != "metadata")

# No EXISTS: for that PostgreSQL may read all jobs or calls into a hash table, for a handful of schedules.
_WHAT = f"""
    {_COLUMNS}, NULL AS metadata, now() AS now, coalesce(CASE s.ref_type
        WHEN 'job' THEN (SELECT true FROM jobs WHERE jobs.guid = s.ref_guid)
        ELSE (SELECT true FROM calls WHERE calls.guid = s.ref_guid) END, false) AS has_parent
"""  # noqa: S608 - composed of the table's own columns

_LOCK_DUE = text(f"""
    SELECT {_WHAT} FROM schedules s WHERE next_fire_at <= now() ORDER BY next_fire_at LIMIT :limit
    FOR UPDATE OF s SKIP LOCKED
""")  # noqa: S608 - likewise

# Compared in pairs, so that it is done by the index of pairs, and not for each space by reading all that is due.
_LOCK_DUE_OF_SPACES = text(f"""
    SELECT {_WHAT} FROM unnest(CAST(:spaces AS text[])) AS t (space_guid) CROSS JOIN LATERAL (
        SELECT * FROM schedules
        WHERE (space_guid, next_fire_at) >= (t.space_guid, '-infinity')
            AND (space_guid, next_fire_at) <= (t.space_guid, now())
        ORDER BY space_guid, next_fire_at LIMIT :per_space FOR UPDATE SKIP LOCKED
    ) s LIMIT :limit
""")  # noqa: S608 - likewise

# A skip scan: one index probe per space, which finds what is due first there.
_DUE_SPACES = text("""
    WITH RECURSIVE spaces (number, space_guid, next_fire_at) AS (
        (SELECT 1, space_guid, next_fire_at FROM schedules WHERE space_guid > :after
         ORDER BY space_guid, next_fire_at LIMIT 1)
        UNION ALL
        SELECT s.number + 1, n.space_guid, n.next_fire_at FROM spaces s CROSS JOIN LATERAL (
            SELECT space_guid, next_fire_at FROM schedules WHERE space_guid > s.space_guid
            ORDER BY space_guid, next_fire_at LIMIT 1
        ) n WHERE s.number < :limit
    )
    SELECT space_guid, next_fire_at <= now() AS is_due FROM spaces
""")

_LIVE = text("""
    SELECT s.guid,
        count(*) FILTER (WHERE e.state = 'PENDING') AS pending, count(*) FILTER (WHERE e.state = 'RUNNING') AS running
    FROM unnest(CAST(:refs AS uuid[]), CAST(:guids AS uuid[])) AS s (ref_guid, guid)
    JOIN executions e ON e.ref_guid = s.ref_guid AND e.schedule_guid = s.guid AND e.state IN ('PENDING', 'RUNNING')
    GROUP BY s.guid
""")

_OPEN_SKIPS = text("""
    SELECT s.guid AS schedule_guid, e.guid, e.reason, e.covers_from, e.covers_to, e.covers_count
    FROM unnest(CAST(:guids AS uuid[])) AS s (guid)
    CROSS JOIN LATERAL (
        SELECT * FROM executions e WHERE e.schedule_guid = s.guid AND e.scheduled_time IS NOT NULL
        ORDER BY e.scheduled_time DESC LIMIT 1
    ) e
    WHERE e.state = 'SKIPPED' AND e.covers_to IS NOT NULL
""")

# Serial runs may wait for their turn as long as it takes, so `serialize` has no start deadline.
_INSERT_ROWS = text("""
    INSERT INTO executions (guid, ref_type, ref_guid, space_guid, schedule_guid, definition_version, scheduled_time,
        trigger, state, reason, message, serial, created_at, execution_end_time, covers_from, covers_to, covers_count,
        start_by)
    SELECT r.guid, s.ref_type, s.ref_guid, s.space_guid, s.guid, s.definition_version, r.scheduled_time,
        r.trigger, r.state, r.reason, '', r.state = 'PENDING' AND s.overlap IN ('wait', 'serialize'), now(),
        CASE r.state WHEN 'SKIPPED' THEN now() END, r.covers_from, r.covers_to, r.covers_count,
        CASE WHEN r.state = 'PENDING' AND s.start_deadline_seconds > 0 AND s.overlap <> 'serialize'
            THEN now() + s.start_deadline_seconds * interval '1 second' END
    FROM unnest(CAST(:guids AS uuid[]), CAST(:schedule_guids AS uuid[]), CAST(:scheduled_times AS timestamptz[]),
        CAST(:triggers AS text[]), CAST(:states AS text[]), CAST(:reasons AS text[]),
        CAST(:covers_froms AS timestamptz[]), CAST(:covers_tos AS timestamptz[]), CAST(:covers_counts AS bigint[])
    ) AS r (guid, schedule_guid, scheduled_time, trigger, state, reason, covers_from, covers_to, covers_count)
    JOIN schedules s ON s.guid = r.schedule_guid
    ON CONFLICT DO NOTHING
""")

_GROW_ROW = text("""
    UPDATE executions SET scheduled_time = :covers_to, covers_from = :covers_from, covers_to = :covers_to,
        covers_count = :covers_count WHERE guid = :guid
""")

# What an ordinary pass changes; the rest of the progress is written only where it changed.
_ADVANCE = text("""
    UPDATE schedules s SET cursor_at = u.cursor_at, next_fire_at = u.next_fire_at, last_fire_at = u.last_fire_at,
        run_count = u.run_count
    FROM unnest(CAST(:guids AS uuid[]), CAST(:cursors AS timestamptz[]), CAST(:nexts AS timestamptz[]),
        CAST(:lasts AS timestamptz[]), CAST(:runs AS bigint[])) AS u (guid, cursor_at, next_fire_at, last_fire_at,
        run_count)
    WHERE s.guid = u.guid
""")

_SAVE_ALL = text("""
    UPDATE schedules SET cursor_at = :cursor_at, next_fire_at = :next_fire_at, last_fire_at = :last_fire_at,
        state = :state, enabled = :enabled, paused_by = :paused_by, pause_note = :pause_note,
        paused_until = :paused_until, resume_policy = :resume_policy, resume_to = :resume_to, run_count = :run_count,
        episode_count = :episode_count, missed_count = :missed_count, skipped_count = :skipped_count
    WHERE guid = :guid
""")

_NEXT_WAKE = text("SELECT min(next_fire_at) - now() FROM schedules WHERE next_fire_at IS NOT NULL")

_REMOVE_SPENT = text("""
    DELETE FROM schedules s WHERE s.delete_after_run AND s.state = 'finished' AND NOT EXISTS (
        SELECT FROM executions e WHERE e.ref_guid = s.ref_guid AND e.schedule_guid = s.guid AND e.state = 'PENDING'
    )
""")
_COUNT_TO_REVIEW = text("SELECT count(*) FROM schedules WHERE state = 'needs_review'")
_WAKE_ALL = text("UPDATE schedules SET next_fire_at = now() WHERE next_fire_at > now()")

_ORDINARY = frozenset({"cursor_at", "next_fire_at", "last_fire_at", "run_count"})
_rest_of = attrgetter(*(name for name in Progress.__slots__ if name not in _ORDINARY))


@dataclass(frozen=True, slots=True)
class Due:
    """A due schedule in this transaction's hands."""

    schedule: Schedule
    has_parent: bool


def lock_due(
    connection: Connection, *, limit: int, spaces: Sequence[str] | None = None
) -> tuple[datetime | None, list[Due]]:
    """Lock due schedules, longest due first, leaving out those that others hold; with the database's now.

    `spaces`: of these only, each having an equal share.
    """
    if spaces is None:
        rows = connection.execute(_LOCK_DUE, {"limit": limit}).all()
    else:
        per_space = -(-limit // max(1, len(spaces)))
        parameters = {"spaces": list(spaces), "per_space": per_space, "limit": limit}
        rows = connection.execute(_LOCK_DUE_OF_SPACES, parameters).all()
    now = rows[0].now if rows else None
    due = [Due(schedule_from(row), row.has_parent) for row in rows]
    return now, due if spaces is None else in_turns(due, lambda each: each.schedule.space_guid)


def due_spaces(connection: Connection, *, after: str, limit: int) -> tuple[list[str], str]:
    """Look at up to `limit` spaces behind `after`; return those with something due, and where to look next."""
    rows = connection.execute(_DUE_SPACES, {"after": after, "limit": limit}).all()
    return [row.space_guid for row in rows if row.is_due], rows[-1].space_guid if len(rows) == limit else ""


def read_live(connection: Connection, schedules: Sequence[Schedule]) -> Mapping[UUID, Live]:
    """Return what is under way, for those schedules whose rules ask for it; to be read under their locks."""
    asking = [schedule for schedule in schedules if _asks_for_live(schedule)]
    if not asking:
        return {}
    guids = [str(schedule.guid) for schedule in asking]
    live_rows = connection.execute(_LIVE, {"refs": [str(each.ref_guid) for each in asking], "guids": guids}).all()
    counts = {row.guid: row for row in live_rows}
    skips = {row.schedule_guid: _open_skip(row) for row in connection.execute(_OPEN_SKIPS, {"guids": guids})}
    return {
        schedule.guid: Live(
            pending=counts[schedule.guid].pending if schedule.guid in counts else 0,
            running=counts[schedule.guid].running if schedule.guid in counts else 0,
            open_skip=skips.get(schedule.guid),
        )
        for schedule in asking
    }


def _asks_for_live(schedule: Schedule) -> bool:
    return schedule.definition.overlap in {Overlap.SKIP, Overlap.WAIT} or not schedule.progress.enabled


def _open_skip(row: object) -> OpenSkip:
    fields = row._mapping  # type: ignore[attr-defined]  # noqa: SLF001 - SQLAlchemy's public name for it
    return OpenSkip(
        guid=fields["guid"],
        reason=Reason(fields["reason"]),
        covers_from=fields["covers_from"],
        covers_to=fields["covers_to"],
        covers_count=fields["covers_count"],
    )


def write_plans(connection: Connection, plans: Sequence[tuple[Schedule, Plan]]) -> int:
    """Insert the planned rows and advance the schedules; return how many rows were new."""
    inserted = _insert(connection, [(schedule.guid, row) for schedule, plan in plans for row in plan.rows])
    ordinary, rest = _sorted(plans)
    if ordinary:
        connection.execute(_ADVANCE, _advance_parameters(ordinary))
    if rest:
        connection.execute(_SAVE_ALL, [{"guid": guid, **progress_columns(progress)} for guid, progress in rest])
    return inserted


def _sorted(
    plans: Sequence[tuple[Schedule, Plan]],
) -> tuple[list[tuple[UUID, Progress]], list[tuple[UUID, Progress]]]:
    """Return the ordinary progress and the rest."""
    ordinary: list[tuple[UUID, Progress]] = []
    rest: list[tuple[UUID, Progress]] = []
    for schedule, plan in plans:
        kind = ordinary if _is_ordinary(schedule.progress, plan.progress) else rest
        kind.append((schedule.guid, plan.progress))
    return ordinary, rest


def _is_ordinary(before: Progress, after: Progress) -> bool:
    return _rest_of(before) == _rest_of(after)


def _advance_parameters(advances: Sequence[tuple[UUID, Progress]]) -> dict[str, str]:
    return {
        "guids": array(guid for guid, _ in advances),
        "cursors": array(progress.cursor_at for _, progress in advances),
        "nexts": array(progress.next_fire_at for _, progress in advances),
        "lasts": array(progress.last_fire_at for _, progress in advances),
        "runs": array(progress.run_count for _, progress in advances),
    }


def _insert(connection: Connection, rows: Sequence[tuple[UUID, PlannedRow]]) -> int:
    growing = [row for _, row in rows if row.grows]
    if growing:
        connection.execute(_GROW_ROW, [_grow_parameters(row) for row in growing])
    new = [(guid, row) for guid, row in rows if not row.grows]
    return connection.execute(_INSERT_ROWS, _insert_parameters(new)).rowcount if new else 0


def _grow_parameters(row: PlannedRow) -> dict[str, object]:
    return {
        "guid": row.grows,
        "covers_from": row.covers_from,
        "covers_to": row.covers_to,
        "covers_count": row.covers_count,
    }


def _insert_parameters(rows: Sequence[tuple[UUID, PlannedRow]]) -> dict[str, str]:
    return {
        "guids": array(new_guid() for _ in rows),
        "schedule_guids": array(guid for guid, _ in rows),
        "scheduled_times": array(row.scheduled_time for _, row in rows),
        "triggers": array(row.trigger for _, row in rows),
        "states": array(row.state for _, row in rows),
        "reasons": array(row.reason for _, row in rows),
        "covers_froms": array(row.covers_from for _, row in rows),
        "covers_tos": array(row.covers_to for _, row in rows),
        "covers_counts": array(row.covers_count for _, row in rows),
    }


def seconds_to_next_wake(connection: Connection) -> float | None:
    """Return how long until the earliest schedule is due, None when none ever is."""
    distance = connection.execute(_NEXT_WAKE).scalar()
    return None if distance is None else float(distance.total_seconds())


def remove_spent(connection: Connection) -> int:
    """Delete finished schedules that asked for it, once their execution has left PENDING; return how many."""
    return connection.execute(_REMOVE_SPENT).rowcount


def count_to_review(connection: Connection) -> int:
    """Return how many schedules somebody has to look at."""
    return int(connection.execute(_COUNT_TO_REVIEW).scalar_one())


def wake_all(connection: Connection) -> int:
    """Let every schedule be planned anew from its cursor: the tz database has changed."""
    return connection.execute(_WAKE_ALL).rowcount
