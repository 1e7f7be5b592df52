"""Definitions by the thousand, written straight into the database: creating them is not what these benches measure."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, text

_CALLS = text("""
    INSERT INTO calls SELECT md5('call' || n)::uuid, 'call-' || n, :url, 'bearer bench', 'POST', '{}', '', 5, 30,
        '["2xx"]', 5, '{"max_attempts": 1, "backoff_seconds": 1, "max_backoff_seconds": 60, "max_age_seconds": 3600,
        "retry_on": ["connect_error"]}', 'app', 'space-' || (n % :spaces), now(), now()
    FROM generate_series(:first, :last) AS n
""")
_SCHEDULES = text("""
    INSERT INTO schedules (guid, ref_type, ref_guid, space_guid, enabled, expression, expression_type, day_match,
        on_gap, on_fold, misfire_policy, misfire_grace_seconds, misfire_max_runs, misfire_max_age_seconds, overlap,
        start_deadline_seconds, delete_after_run, anchor_at, metadata, state, cursor_at, next_fire_at, run_count,
        episode_count, missed_count, skipped_count, definition_version, created_at, updated_at)
    SELECT md5(:prefix || n)::uuid, 'call', md5('call' || n)::uuid, 'space-' || (n % :spaces), true, :expression,
        :expression_type, 'all', 'shift', 'auto', 'run_once', 60, 1000, 604800, 'allow', 3600, false,
        CAST(:anchor AS timestamptz) + (n - :first) * :spread * interval '1 microsecond', '{}', 'active',
        CAST(:anchor AS timestamptz) + (n - :first) * :spread * interval '1 microsecond',
        CAST(:due AS timestamptz) + (n - :first) * :spread * interval '1 microsecond',
        0, 0, 0, 0, 1, now(), now()
    FROM generate_series(:first, :last) AS n
""")


def add_calls(engine: Engine, url: str, *, first: int, last: int, spaces: int = 10) -> None:
    """Insert calls number `first` to `last`."""
    with engine.begin() as connection:
        connection.execute(_CALLS, {"url": url, "first": first, "last": last, "spaces": spaces})


def add_schedules(engine: Engine, *, first: int, last: int, **wishes: Any) -> None:
    """Insert schedules of those calls: `expression`, `expression_type`, `anchor`, `due`, `spread` (µs between them)."""
    defaults = {"spaces": 10, "prefix": "schedule", "spread": 0, "expression_type": "fixed_rate"}
    with engine.begin() as connection:
        connection.execute(_SCHEDULES, {**defaults, "first": first, "last": last, **wishes})
        connection.execute(text("SELECT pg_notify('scheduler_tick', '')"))


def analyze(engine: Engine) -> None:
    """Let the planner know what is there, as autovacuum would after a minute."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def database_now(engine: Engine) -> datetime:
    """Return the database's clock."""
    with engine.connect() as connection:
        now: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
        return now


def in_seconds(engine: Engine, seconds: float) -> datetime:
    """Return an instant on a whole second, at least `seconds` from now."""
    return (database_now(engine) + timedelta(seconds=seconds + 1)).replace(microsecond=0)
