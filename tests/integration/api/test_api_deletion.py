"""Deleting: schedules first, what is pending ends, what runs goes on, history stays."""

from uuid import uuid4

import pytest
from sqlalchemy import Engine, text

from scheduler_local.testing import MadeApp
from scheduler_ticker.tick import tick
from tests.fixtures.api import Api, content_of, resources_of


@pytest.fixture(params=["job", "call"])
def work(request: pytest.FixtureRequest, api: Api, app: MadeApp) -> str:
    """The path of a job or call."""
    return f"/{request.param}s/{api.create(request.param, app.guid)['guid']}"


def test_a_deleted_job_or_call_is_gone(api: Api, work: str) -> None:
    # checklist 119
    answer = api.delete(work)
    assert (answer.status_code, answer.data) == (204, b"")
    assert api.get(work).status_code == 404
    assert api.delete(work).status_code == 404
    assert api.delete(f"{work.rpartition('/')[0]}/{uuid4()}").status_code == 404


def test_its_schedules_go_with_it_and_never_fire_again(api: Api, work: str, engine: Engine) -> None:
    # checklist 142, 149
    for expression in ("* * * * * *", "0 0 1 1 *"):
        api.schedule(work, expression)
    assert api.delete(work).status_code == 204
    assert _count(engine, "schedules") == 0
    tick(engine, default_zone="UTC")
    assert _count(engine, "executions WHERE state = 'PENDING'") == 0


def test_pending_runs_end_and_running_ones_go_on_and_history_stays(api: Api, work: str, engine: Engine) -> None:
    # checklist 144
    schedule = f"{work}/schedules/{api.schedule(work)['guid']}"
    pending, running, done = (content_of(api.post(f"{schedule}/actions/trigger"), 201)["guid"] for _ in range(3))
    in_doubt = content_of(api.post(f"{work}/execute"), 201)["guid"]
    _set(engine, running, "state = 'RUNNING'")
    _set(engine, done, "state = 'SUCCEEDED'")
    _set(engine, in_doubt, "look_up_first = true")
    assert api.delete(work).status_code == 204
    assert _row(engine, pending) == ("FAILED", "deleted")
    assert _row(engine, running) == ("RUNNING", None)
    assert _row(engine, done) == ("SUCCEEDED", None)
    assert _row(engine, in_doubt)[0] == "PENDING"  # only a runner may end what may have a task
    shown = content_of(api.get(f"/executions/{pending}"))
    assert "deleted before this run was started" in shown["message"]


def test_deleting_a_schedule_ends_what_it_has_pending_and_nothing_else(api: Api, work: str, engine: Engine) -> None:
    # checklist 144
    schedule = f"{work}/schedules/{api.schedule(work)['guid']}"
    its = content_of(api.post(f"{schedule}/actions/trigger"), 201)["guid"]
    other = content_of(api.post(f"{work}/execute"), 201)["guid"]
    assert api.delete(schedule).status_code == 204
    assert _row(engine, its) == ("FAILED", "deleted")
    assert _row(engine, other) == ("PENDING", None)
    assert {row["guid"] for row in resources_of(api.get(f"{work}/history"))} == {its, other}


@pytest.mark.parametrize("which", ["schedule", "work"])
def test_what_was_due_until_the_deletion_is_recorded(api: Api, work: str, engine: Engine, which: str) -> None:
    schedule = f"{work}/schedules/{api.schedule(work, '* * * * * *')['guid']}"
    with engine.begin() as connection:
        connection.execute(text("UPDATE schedules SET cursor_at = cursor_at - interval '5 seconds'"))
    assert api.delete(schedule if which == "schedule" else work).status_code == 204
    assert _count(engine, "executions WHERE reason = 'deleted' AND scheduled_time IS NOT NULL") >= 5


def test_a_schedule_that_slips_in_is_found_by_the_second_look(
    api: Api, work: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # checklist 143
    api.schedule(work)
    guid = work.rpartition("/")[2]

    # Somebody without our locks adds a schedule that the deletion itself does not see.
    monkeypatch.setattr("scheduler_api.usecases.deletion.lock_schedules_of", lambda *_: [])
    monkeypatch.setattr(
        "scheduler_api.usecases.deletion.delete_work",
        lambda connection, kind, _: connection.execute(text(f"DELETE FROM {kind}s WHERE guid = '{guid}'")),
    )
    assert api.delete(work).status_code == 204
    assert _count(engine, "schedules") == 0


def _row(engine: Engine, guid: str) -> tuple[str, str | None]:
    with engine.connect() as connection:
        row = connection.execute(text("SELECT state, reason FROM executions WHERE guid = :guid"), {"guid": guid}).one()
    return row.state, row.reason


def _set(engine: Engine, guid: str, change: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE executions SET {change} WHERE guid = :guid"), {"guid": guid})


def _count(engine: Engine, what: str) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {what}")).scalar_one())
