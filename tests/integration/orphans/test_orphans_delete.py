"""POST /orphans/delete: what is named and has no owner goes; everything else stays, each with its reason."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine

from scheduler.domain.guids import new_guid
from scheduler.testing.factories import make_call, make_job, make_schedule
from scheduler_local import seed
from scheduler_local.testing import MadeApp, StandInController, StandInUaa
from tests.fixtures.api import Api, errors_of
from tests.fixtures.rows import Rows
from tests.fixtures.session import wait_until
from tests.integration.orphans.conftest import GONE
from tests.integration.orphans.test_orphans_list import APP_PATH, DOUBTS, SCOPES


def _delete(api: Api, *guids: object) -> list[dict[str, Any]]:
    answer = api.post("/orphans/delete", {"guids": [str(guid) for guid in guids]}, user=seed.ADMIN)
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.get_json()
    assert set(content) == {"results"}
    return list(content["results"])


def _stored(rows: Rows, table: str) -> set[UUID]:
    with rows.engine.connect() as connection:
        return set(connection.exec_driver_sql(f"SELECT guid FROM {table}").scalars())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'["x"]',
        b'"x"',
        b"7",
        b"{}",
        b'{"guids":null}',
        b'{"guids":[]}',
        b'{"guids":{}}',
        b'{"guids":"x"}',
        b'{"guids":7}',
        b'{"guids":[7]}',
        b'{"guids":[null]}',
        b'{"guids":["x",{}]}',
        b'{"guids":[["x"]]}',
        b'{"guids":["nul\\u0000"]}',
        b'{"guids":["\\ud800"]}',
        b"\xff\xfe",
        b"[" * 50_000,
        b'{"guids":' * 50_000,
    ],
    ids=range(22),
)
def test_a_body_that_names_nothing_is_400_and_deletes_nothing(api: Api, rows: Rows, body: bytes) -> None:
    # checklist 273, 274
    schedule = make_schedule()
    rows.add(schedule)
    answer = api.post("/orphans/delete", data=body, user=seed.ADMIN)
    assert answer.status_code == 400
    assert errors_of(answer)[0]["message"]
    assert _stored(rows, "schedules") == {schedule.guid}


def test_a_form_is_no_json_object(api: Api) -> None:
    # checklist 273
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert api.post("/orphans/delete", data=b"guids=x", headers=headers, user=seed.ADMIN).status_code == 400


def test_jobs_calls_and_schedules_go_in_any_mixture_in_the_order_sent(api: Api, rows: Rows) -> None:
    # checklist 275, 278, 282
    job, call, schedule = make_job(app_guid=GONE), make_call(app_guid=GONE), make_schedule()
    rows.add(job, call, schedule, make_schedule(job), make_schedule(call))
    assert _delete(api, call.guid, schedule.guid, job.guid) == [
        {"guid": str(call.guid), "type": "call", "result": "deleted"},
        {"guid": str(schedule.guid), "type": "schedule", "result": "deleted"},
        {"guid": str(job.guid), "type": "job", "result": "deleted"},
    ]
    assert not any(_stored(rows, table) for table in ("jobs", "calls", "schedules"))


def test_what_is_named_twice_has_one_result_at_its_first_position(api: Api, rows: Rows) -> None:
    # checklist 276
    first, second = make_schedule(), make_schedule()
    rows.add(first, second)
    unknown = "no-guid"
    results = _delete(api, second.guid, unknown, first.guid, second.guid, unknown, str(first.guid).upper())
    assert [(each["guid"], each["result"]) for each in results] == [
        (str(second.guid), "deleted"),
        (unknown, "not_found"),
        (str(first.guid), "deleted"),
    ]


def test_what_is_not_named_stays(api: Api, rows: Rows) -> None:
    # checklist 288
    named, other = make_job(app_guid=GONE), make_job(app_guid=GONE)
    schedule, orphan = make_schedule(other), make_schedule()
    rows.add(named, other, schedule, orphan)
    _delete(api, named.guid)
    assert _stored(rows, "jobs") == {other.guid}
    assert _stored(rows, "schedules") == {schedule.guid, orphan.guid}


def test_an_app_that_has_come_back_keeps_its_data(api: Api, rows: Rows, cc: StandInController) -> None:
    # checklist 277
    job = make_job(app_guid=GONE)
    rows.add(job, make_schedule(job))
    assert len(api.get("/orphans", user=seed.ADMIN).get_json()["resources"]) == 1
    cc.add_app(seed.SPACE, guid=GONE)
    (result,) = _delete(api, job.guid)
    assert result == {"guid": str(job.guid), "type": "job", "result": "app_exists", "message": f"app {GONE} exists"}
    assert _stored(rows, "jobs") == {job.guid}
    assert len(_stored(rows, "schedules")) == 1


def test_apps_are_asked_about_again_for_each_delete(api: Api, rows: Rows, cc: StandInController) -> None:
    # checklist 277
    job = make_job(app_guid=GONE)
    rows.add(job)
    _delete(api, job.guid)
    assert len(cc.requests(path=APP_PATH)) == 1


def test_history_stays_and_what_has_not_started_ends(api: Api, rows: Rows) -> None:
    # checklist 287
    job = make_job(app_guid=GONE)
    schedule, orphan = make_schedule(job), make_schedule()
    rows.add(job, schedule, orphan)
    done, waiting = rows.execution(job, schedule, state="SUCCEEDED"), rows.execution(job, schedule)
    of_orphan = rows.execution(make_job(guid=orphan.ref_guid), orphan)
    _delete(api, job.guid, orphan.guid)
    assert rows.read(done).state == "SUCCEEDED"
    assert [(rows.read(guid).state, rows.read(guid).reason) for guid in (waiting, of_orphan)] == [
        ("FAILED", "deleted")
    ] * 2


def test_a_schedule_whose_parent_is_stored_is_left_alone(api: Api, rows: Rows) -> None:
    # checklist 283
    job = make_job(app_guid=GONE)
    schedule = make_schedule(job)
    rows.add(job, schedule)
    (result,) = _delete(api, schedule.guid)
    assert result == {
        "guid": str(schedule.guid),
        "type": "schedule",
        "result": "parent_exists",
        "message": f"job {job.guid} exists",
    }
    assert _stored(rows, "schedules") == {schedule.guid}


@pytest.mark.parametrize(
    "guid",
    [
        "01a22d75-0000-7000-8000-000000000000",
        "",
        "x",
        "é",
        "../jobs",
        "{12345678-1234-5678-1234-567812345678}",
        "x" * 10_000,
    ],
)
def test_a_guid_that_names_nothing_is_not_found(api: Api, guid: str) -> None:
    # checklist 284
    assert _delete(api, guid) == [{"guid": guid, "type": "", "result": "not_found"}]


@pytest.mark.parametrize("doubt", DOUBTS, ids=str)
def test_in_any_doubt_about_the_app_nothing_is_deleted_but_the_rest_goes_on(
    api: Api, rows: Rows, cc: StandInController, doubt: dict[str, Any]
) -> None:
    # checklist 244, 245, 246, 247, 248, 285, 286, 289
    doubtful, gone, orphan = make_job(app_guid="doubtful"), make_call(app_guid=GONE), make_schedule()
    rows.add(doubtful, make_schedule(doubtful), gone, orphan)
    cc.fault(path="/v3/apps/doubtful", **doubt)
    failed, *others = _delete(api, doubtful.guid, gone.guid, orphan.guid)
    assert (failed["type"], failed["result"]) == ("job", "failed")
    assert "app" in failed["message"]
    assert [each["result"] for each in others] == ["deleted", "deleted"]
    assert _stored(rows, "jobs") == {doubtful.guid}
    cc.clear_faults()
    assert _delete(api, doubtful.guid)[0]["result"] == "deleted"


def test_without_any_of_the_scopes_nothing_is_deleted_and_all_three_are_named(
    api: Api, rows: Rows, uaa: StandInUaa, cc: StandInController
) -> None:
    # checklist 253, 259
    uaa.set_client(scopes=["cloud_controller.read"])
    job, orphan = make_job(app_guid=GONE), make_schedule()
    rows.add(job, orphan)
    answer = api.post("/orphans/delete", {"guids": [str(orphan.guid), str(job.guid)]}, user=seed.ADMIN)
    assert answer.status_code == 500
    assert all(scope in errors_of(answer)[0]["message"] for scope in SCOPES)
    assert _stored(rows, "jobs") == {job.guid}
    assert _stored(rows, "schedules") == {orphan.guid}
    assert cc.requests(path=APP_PATH) == []


def test_without_a_token_of_our_own_nothing_is_deleted(api: Api, rows: Rows, uaa: StandInUaa) -> None:
    # checklist 254
    job, orphan = make_job(app_guid=GONE), make_schedule()
    rows.add(job, orphan)
    uaa.fault("server_error", path="/oauth/token")
    answer = api.post("/orphans/delete", {"guids": [str(orphan.guid), str(job.guid)]}, user=seed.ADMIN)
    assert answer.status_code == 502
    assert _stored(rows, "jobs") == {job.guid}
    assert _stored(rows, "schedules") == {orphan.guid}


def test_only_schedules_and_unknown_guids_need_no_scope(
    api: Api, rows: Rows, uaa: StandInUaa, cc: StandInController
) -> None:
    # checklist 258
    uaa.set_client(scopes=["cloud_controller.read"])
    orphan, job = make_schedule(), make_job(app_guid=GONE)
    owned = make_schedule(job)
    rows.add(orphan, job, owned)
    results = _delete(api, orphan.guid, owned.guid, new_guid(), "nothing")
    assert [each["result"] for each in results] == ["deleted", "parent_exists", "not_found", "not_found"]
    assert uaa.requests(method="POST", path="^/oauth/token$") == []
    assert cc.requests(path=APP_PATH) == []


def test_what_cannot_be_looked_up_needs_the_scope_and_then_fails(
    api: Api, rows: Rows, engine: Engine, uaa: StandInUaa
) -> None:
    # checklist 259, 285
    orphan = make_schedule()
    rows.add(orphan)
    with _held(engine, "LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE"):
        (result,) = _delete(api, orphan.guid)
    assert result["result"] == "failed"
    assert "looked up" in result["message"]
    assert len(uaa.requests(method="POST", path="^/oauth/token$")) == 1
    assert _stored(rows, "schedules") == {orphan.guid}


def test_what_cannot_be_deleted_fails_alone_and_can_be_sent_again(api: Api, rows: Rows, engine: Engine) -> None:
    # checklist 285, 286, 289
    job, call, orphan, other = make_job(app_guid=GONE), make_call(app_guid=GONE), make_schedule(), make_schedule()
    rows.add(job, call, orphan, other, make_schedule(job))
    with (
        _held(engine, f"SELECT FROM jobs WHERE guid = '{job.guid}' FOR UPDATE"),
        _held(engine, f"SELECT FROM schedules WHERE guid = '{orphan.guid}' FOR UPDATE"),
    ):
        results = _delete(api, job.guid, orphan.guid, call.guid, other.guid)
    assert [(each["type"], each["result"]) for each in results] == [
        ("job", "failed"),
        ("schedule", "failed"),
        ("call", "deleted"),
        ("schedule", "deleted"),
    ]
    assert "could not be deleted" in results[0]["message"]
    assert [each["result"] for each in _delete(api, job.guid, orphan.guid)] == ["deleted", "deleted"]
    assert _stored(rows, "schedules") == set()


def test_a_schedule_that_was_created_during_the_delete_is_removed_as_well(api: Api, rows: Rows) -> None:
    # checklist 143, 279
    job = make_job(app_guid=GONE)
    rows.add(job)
    _plant(rows, job.guid)
    assert _delete(api, job.guid) == [{"guid": str(job.guid), "type": "job", "result": "deleted"}]
    assert _stored(rows, "schedules") == set()


def test_a_schedule_that_was_created_during_the_delete_and_cannot_be_removed_is_counted(
    api: Api, rows: Rows, engine: Engine
) -> None:
    # checklist 280
    job = make_job(app_guid=GONE)
    rows.add(job)
    planted = _plant(rows, job.guid)
    rows.run(
        "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_advisory_xact_lock(4242); RETURN OLD; END $$"
    )
    rows.run("CREATE TRIGGER hold BEFORE DELETE ON schedules FOR EACH ROW EXECUTE FUNCTION hold()")
    with _held(engine, "SELECT pg_advisory_xact_lock(4242)"):
        (result,) = _delete(api, job.guid)
    assert result["result"] == "deleted"
    assert result["message"].startswith("1 ")
    assert _stored(rows, "jobs") == set()
    found = api.get("/orphans", user=seed.ADMIN).get_json()["orphan_schedules"]
    assert [each["guid"] for each in found] == [str(planted)]


def test_a_second_look_that_fails_is_told(api: Api, rows: Rows, engine: Engine) -> None:
    # checklist 281
    job = make_job(app_guid=GONE)
    rows.add(job)
    rows.run(
        "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_advisory_xact_lock_shared(4242); RETURN OLD; END $$"
    )
    rows.run("CREATE TRIGGER hold BEFORE DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION hold()")
    with ThreadPoolExecutor(2) as threads, engine.connect() as gate:
        gate.exec_driver_sql("SELECT pg_advisory_lock(4242)")
        deletion = threads.submit(_delete, api, job.guid)
        wait_until(lambda: _waiting(engine, "advisory"), within=10, what="the delete has reached the job")
        locked, done = threading.Event(), threading.Event()
        locking = threads.submit(_lock_table, engine, locked, done)
        wait_until(lambda: _waiting(engine, "relation"), within=10, what="somebody waits for all schedules")
        gate.exec_driver_sql("SELECT pg_advisory_unlock(4242)")
        (result,) = _finish(deletion, locking, done)
    assert result["result"] == "deleted"
    assert "could not be looked for" in result["message"]


def _lock_table(engine: Engine, locked: threading.Event, done: threading.Event) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
        connection.exec_driver_sql("LOCK TABLE schedules IN ACCESS EXCLUSIVE MODE")
        locked.set()
        done.wait(30)


def _finish(deletion: "Future[list[dict[str, Any]]]", locking: "Future[None]", done: threading.Event) -> Any:
    try:
        return deletion.result(30)
    finally:
        done.set()
        locking.result(30)


def _waiting(engine: Engine, kind: str) -> bool:
    statement = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = %s"
    with engine.connect() as connection:
        return bool(connection.exec_driver_sql(statement, (kind,)).scalar())


@contextmanager
def _held(engine: Engine, statement: str) -> Iterator[None]:
    """Keep a lock of somebody else's."""
    with engine.begin() as connection:
        connection.exec_driver_sql(statement)
        yield


def _plant(rows: Rows, job_guid: UUID) -> UUID:
    """Let a schedule appear in the moment in which its job is deleted; return its GUID."""
    schedule = make_schedule(ref_guid=job_guid)
    rows.add(schedule)
    rows.run("CREATE TABLE planted AS SELECT * FROM schedules")
    rows.run("DELETE FROM schedules")
    rows.run(
        "CREATE FUNCTION plant() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO schedules SELECT * FROM planted; RETURN OLD; END $$"
    )
    rows.run("CREATE TRIGGER plant AFTER DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION plant()")
    return schedule.guid


def test_an_app_that_lives_protects_jobs_and_calls_alike(api: Api, rows: Rows, app: MadeApp) -> None:
    # checklist 277
    job, call = make_job(app_guid=app.guid), make_call(app_guid=app.guid)
    rows.add(job, call)
    assert [each["result"] for each in _delete(api, job.guid, call.guid)] == ["app_exists", "app_exists"]


def test_who_deleted_what_is_written_down(api: Api, rows: Rows) -> None:
    job, orphan = make_job(app_guid=GONE), make_schedule()
    rows.add(job, orphan)
    _delete(api, job.guid, orphan.guid)
    events = api.get(f"/audit-events?space_guid={job.space_guid}", user=seed.ADMIN).get_json()["resources"]
    assert {(event["action"], event["target_guid"]) for event in events} == {
        ("job.delete", str(job.guid)),
        ("schedule.delete", str(orphan.guid)),
    }
