"""Old history goes, by whichever ticker comes first; what has not ended never does."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from scheduler.domain.guids import first_guid_at
from scheduler.domain.schedules import Definition
from scheduler.runtime.loops import Stop
from scheduler.store.audit_events import Deed, record
from scheduler.testing.factories import make_job
from scheduler.timetable import Timetable, compile_timetable
from scheduler_ticker import prune as pruning
from scheduler_ticker.prune import Prune
from scheduler_ticker.system_jobs import SystemJob
from tests.fixtures.rows import Rows

RETENTION_DAYS = 150


@pytest.fixture
def prune(engine: Engine) -> Prune:
    return Prune(engine=engine, stop=Stop(), history_days=RETENTION_DAYS, audit_days=365)


def _old(rows: Rows, state: str, *, days: float, ended: bool = True) -> UUID:
    """Insert an execution that was made, and ended, so many days ago."""
    at = rows.now() - timedelta(days=days)
    guid = first_guid_at(at)
    fields = {"guid": UUID(int=guid.int + len(rows.all())), "state": state, "created_at": at}
    return rows.execution(make_job(), **fields, execution_end_time=at if ended else None)


def test_what_ended_before_the_retention_goes(rows: Rows, prune: Prune) -> None:  # checklist 175, 176
    for state in ("SUCCEEDED", "FAILED", "SKIPPED"):
        _old(rows, state, days=RETENTION_DAYS + 1)
    young = {_old(rows, state, days=RETENTION_DAYS - 1) for state in ("SUCCEEDED", "FAILED", "SKIPPED")}
    assert prune.history(rows.now()) == 3
    assert {row.guid for row in rows.all()} == young


@pytest.mark.parametrize("state", ["PENDING", "RUNNING"])
def test_what_has_not_ended_never_goes(rows: Rows, prune: Prune, state: str) -> None:  # checklist 175
    kept = _old(rows, state, days=10 * RETENTION_DAYS, ended=False)
    assert prune.history(rows.now()) == 0
    assert rows.read(kept).state == state


def test_the_end_decides_not_the_beginning(rows: Rows, prune: Prune) -> None:  # checklist 176
    guid = _old(rows, "SUCCEEDED", days=RETENTION_DAYS + 30)
    rows.run("UPDATE executions SET execution_end_time = now() - interval '149 days'")
    assert prune.history(rows.now()) == 0
    assert rows.read(guid) is not None


def test_a_long_history_goes_batch_by_batch(rows: Rows, prune: Prune, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "BATCH", 10)
    for _ in range(25):
        _old(rows, "SUCCEEDED", days=RETENTION_DAYS + 1)
    assert prune.history(rows.now()) == 25


def test_a_stopping_ticker_ends_after_a_batch(rows: Rows, prune: Prune, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "BATCH", 10)
    for _ in range(25):
        _old(rows, "SUCCEEDED", days=RETENTION_DAYS + 1)
    stop = Stop()
    stop.set()
    assert replace(prune, stop=stop).history(rows.now()) == 10


def test_audit_events_have_a_retention_of_their_own(rows: Rows, prune: Prune) -> None:
    deed = Deed(action="job.create", actor_guid="a", actor_name="a", target_type="job", target_guid="t", space_guid="s")
    with rows.engine.begin() as connection:
        record(connection, deed)
        record(connection, replace(deed, action="job.delete"))
        old = first_guid_at(rows.now() - timedelta(days=366))
        connection.execute(text("UPDATE audit_events SET guid = :old WHERE action = 'job.create'"), {"old": old})
    assert prune.audit(rows.now()) == 1
    assert prune.history(rows.now()) == 0


class TestSystemJobs:
    """The work is done once for each due instant, however many tickers there are."""

    @pytest.fixture
    def hourly(self) -> Timetable:
        return compile_timetable(Definition(expression="0 * * * *"), hash_key="x")

    def _job(self, engine: Engine, timetable: Timetable, done: list[datetime]) -> SystemJob:
        def work(instant: datetime) -> int:
            done.append(instant)
            return 0

        return SystemJob(name="history_clean_up", timetable=timetable, work=work, engine=engine)

    def test_two_tickers_share_the_instants(self, engine: Engine, hourly: Timetable, rows: Rows) -> None:
        done: list[datetime] = []
        jobs = [self._job(engine, hourly, done) for _ in range(2)]
        for _ in range(3):
            for job in jobs:
                assert 0 < job.run_once() <= 60
        assert done == [hourly.previous_before(rows.now())]

    def test_a_missed_instant_is_made_up_for_once(self, engine: Engine, hourly: Timetable, rows: Rows) -> None:
        done: list[datetime] = []
        rows.run("INSERT INTO facts VALUES ('system_job:history_clean_up', '2020-01-01T00:00:00Z')")
        self._job(engine, hourly, done).run_once()
        self._job(engine, hourly, done).run_once()
        assert len(done) == 1

    def test_an_instant_that_others_have_dealt_with_is_left_alone(
        self, engine: Engine, hourly: Timetable, rows: Rows
    ) -> None:
        done: list[datetime] = []
        rows.run("INSERT INTO facts VALUES ('system_job:history_clean_up', '2099-01-01T00:00:00Z')")
        self._job(engine, hourly, done).run_once()
        assert done == []
