"""An edit that meets a ticker in the middle of its transaction waits for it, and no instant is recorded twice."""

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Engine, text

from scheduler.domain.planning import Live
from scheduler.policies import plan
from scheduler.store.due import lock_due, write_plans
from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, content_of
from tests.fixtures.session import wait_until

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def test_an_edit_waits_for_the_ticker_that_holds_the_schedule(api: Api, app: MadeApp, engine: Engine) -> None:
    work = f"/jobs/{api.create_job(app.guid)['guid']}"
    path = f"{work}/schedules/{api.schedule(work, '* * * * * *')['guid']}"
    with engine.begin() as connection:
        connection.execute(text("UPDATE schedules SET next_fire_at = now(), cursor_at = now() - interval '5 seconds'"))
    with ThreadPoolExecutor(1) as pool:
        with engine.begin() as ticker:
            now, (due,) = lock_due(ticker, limit=1)
            assert now is not None
            edit = pool.submit(api.patch, path, {"expression": "0 0 1 1 *"})
            wait_until(lambda: _count(engine, _WAITING), within=10, what="the edit waits for the ticker")
            planned = plan(due.schedule, Live(), now)
            assert write_plans(ticker, [(due.schedule, planned)]) >= 5
        assert content_of(edit.result(10))["expression"] == "0 0 1 1 *"
    doubled = "SELECT count(*) - count(DISTINCT scheduled_time) FROM executions"
    newer = "SELECT count(*) FROM executions WHERE definition_version <> 1"
    assert (_count(engine, doubled), _count(engine, newer)) == (0, 0)


def _count(engine: Engine, statement: str) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text(statement)).scalar_one())
