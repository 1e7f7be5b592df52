"""Clients that act at once: what the database settles, seen from outside."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, text
from werkzeug.test import TestResponse

from scheduler.store.database import Database, UnavailableError
from scheduler_api.usecases.rechecking import Recheck
from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, codes_of, content_of, resources_of

_AT_ONCE = 8


def _all_at_once(ask: Callable[[int], TestResponse]) -> list[TestResponse]:
    barrier = threading.Barrier(_AT_ONCE)

    def one(number: int) -> TestResponse:
        barrier.wait(10)
        return ask(number)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(one, range(_AT_ONCE)))


@pytest.mark.parametrize("kind", ["job", "call"])
def test_of_many_creations_with_one_name_one_succeeds(api: Api, app: MadeApp, kind: str) -> None:
    # checklist 109
    body = {"name": "same", "command": "c", "url": "https://example.com", "auth_header": "x"}
    api.authorization("developer")
    answers = _all_at_once(lambda _: api.post(f"/{kind}s?app_guid={app.guid}", body))
    assert sorted(answer.status_code for answer in answers) == [201] + [422] * (_AT_ONCE - 1)
    assert {code for answer in answers if answer.status_code == 422 for code in codes_of(answer)} == {"name_taken"}


def test_of_many_runs_with_one_key_one_is_made(api: Api, app: MadeApp) -> None:
    path = f"/jobs/{api.create_job(app.guid)['guid']}"
    answers = _all_at_once(lambda _: api.post(f"{path}/execute", headers={"Idempotency-Key": "once"}))
    assert sorted(answer.status_code for answer in answers) == [200] * (_AT_ONCE - 1) + [201]
    assert len({content_of(answer, answer.status_code)["guid"] for answer in answers}) == 1
    assert len(resources_of(api.get(f"{path}/history"))) == 1


def test_of_many_triggers_with_one_id_one_run_is_made(api: Api, app: MadeApp) -> None:
    path = f"/jobs/{api.create_job(app.guid)['guid']}"
    trigger = f"{path}/schedules/{api.schedule(path)['guid']}/actions/trigger"
    answers = _all_at_once(lambda _: api.post(trigger, {"trigger_id": "once"}))
    assert sorted(answer.status_code for answer in answers) == [200] * (_AT_ONCE - 1) + [201]
    assert len(resources_of(api.get(f"{path}/history"))) == 1


def test_triggers_at_once_obey_the_overlap_rule(api: Api, app: MadeApp) -> None:
    path = f"/jobs/{api.create_job(app.guid)['guid']}"
    trigger = f"{path}/schedules/{api.schedule(path, overlap='skip')['guid']}/actions/trigger"
    answers = _all_at_once(lambda _: api.post(trigger))
    states = sorted(content_of(answer, 201)["state"] for answer in answers)
    assert states == ["PENDING"] + ["SKIPPED"] * (_AT_ONCE - 1)


def test_nothing_is_left_of_a_job_that_is_deleted_while_others_add_to_it(
    api: Api, app: MadeApp, engine: Engine
) -> None:
    # checklist 142, 143, 145
    for number in range(4):
        path = f"/jobs/{api.create_job(app.guid, name=f'job {number}')['guid']}"

        def ask(number: int, path: str = path) -> TestResponse:
            if number == 3:
                return api.delete(path)
            if number % 2:
                return api.post(f"{path}/execute")
            return api.post(f"{path}/schedules", {"expression": "* * * * * *"})

        statuses = {answer.status_code for answer in _all_at_once(ask)}
        assert statuses <= {201, 204, 404}
        with engine.connect() as connection:
            assert connection.execute(text("SELECT count(*) FROM schedules")).scalar_one() == 0
            pending = text("SELECT count(*) FROM executions WHERE state = 'PENDING'")
            assert connection.execute(pending).scalar_one() == 0


def test_edits_at_once_are_made_one_after_the_other(api: Api, app: MadeApp) -> None:
    path = f"/jobs/{api.create_job(app.guid)['guid']}"
    its = f"{path}/schedules/{api.schedule(path)['guid']}"
    answers = _all_at_once(lambda number: api.patch(its, {"expression": f"{number + 1} 0 1 1 *"}))
    versions = sorted(content_of(answer)["definition_version"] for answer in answers)
    assert versions == list(range(2, 2 + _AT_ONCE))


class _Forgetful(Database):
    """A database that does not answer the first few reads."""

    def __init__(self, engine: Engine, failures: int) -> None:
        super().__init__(engine)
        self.failures = failures

    @contextmanager
    def read(self) -> Iterator[Connection]:
        if self.failures:
            self.failures -= 1
            raise UnavailableError("the database does not answer")
        with super().read() as connection:
            yield connection


class TestTheSecondLook:
    """Creating a schedule looks at its job again afterwards."""

    def test_a_job_that_has_gone_takes_the_new_schedule_with_it(
        self, api: Api, app: MadeApp, engine: Engine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # checklist 145
        job = api.create_job(app.guid)
        look = Recheck.parent_of

        def delete_first(recheck: Recheck, schedule: Any) -> None:
            with engine.begin() as connection:
                connection.execute(text("DELETE FROM jobs"))  # by somebody who takes none of our locks
            look(recheck, schedule)

        monkeypatch.setattr(Recheck, "parent_of", delete_first)
        assert api.post(f"/jobs/{job['guid']}/schedules", {"expression": "0 0 * * *"}).status_code == 404
        with engine.connect() as connection:
            assert connection.execute(text("SELECT count(*) FROM schedules")).scalar_one() == 0

    @pytest.mark.parametrize(("failures", "tries", "status"), [(0, 1, 201), (2, 3, 201), (2, 3, 404)])
    def test_it_is_tried_up_to_three_times(
        self, api: Api, app: MadeApp, engine: Engine, monkeypatch: pytest.MonkeyPatch,
        failures: int, tries: int, status: int,
    ) -> None:  # fmt: skip
        # checklist 146
        made = self._create_with(api, app, engine, monkeypatch, failures, is_deleted=status == 404)
        assert (made, len(self.pauses)) == (status, tries - 1)

    def test_when_it_never_succeeds_the_schedule_stays(
        self, api: Api, app: MadeApp, engine: Engine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # checklist 147
        assert self._create_with(api, app, engine, monkeypatch, 3, is_deleted=True) == 201
        assert len(self.pauses) == 2
        with engine.connect() as connection:
            assert connection.execute(text("SELECT count(*) FROM schedules")).scalar_one() == 1

    def _create_with(
        self,
        api: Api,
        app: MadeApp,
        engine: Engine,
        patch: pytest.MonkeyPatch,
        failures: int,
        *,
        is_deleted: bool,
    ) -> int:
        job = api.create_job(app.guid)
        self.pauses: list[float] = []
        recheck = Recheck(_Forgetful(engine, failures), pause=self.pauses.append)

        def look(_: Recheck, schedule: Any) -> None:
            if is_deleted:
                with engine.begin() as connection:
                    connection.execute(text("DELETE FROM jobs"))
            patch.undo()
            recheck.parent_of(schedule)

        patch.setattr(Recheck, "parent_of", look)
        return api.post(f"/jobs/{job['guid']}/schedules", {"expression": "0 0 * * *"}).status_code
