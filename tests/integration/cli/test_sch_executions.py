"""`sch executions`: get, cancel, watch."""

import pytest

from tests.integration.cli.conftest import Sch
from tests.integration.cli.fake_api import FakeApi, refusal
from tests.integration.cli.samples import ENDED, EXECUTION_GUID, JOB_GUID, execution

PATH = f"/executions/{EXECUTION_GUID}"


def test_an_execution_is_shown_with_all_that_it_knows(api: FakeApi, sch: Sch) -> None:
    covering = {"covers_from": "2026-03-01T00:00:00Z", "covers_to": "2026-03-01T02:00:00Z", "covers_count": 3}
    row = execution(**ENDED, **covering, attempt=2, http_status=204, scheduled_time="2026-03-01T02:00:00+00:00")
    api.answer("GET", PATH, row)
    done = sch("executions", "get", EXECUTION_GUID)
    assert done.code == 0
    assert done.facts() == {
        "guid": EXECUTION_GUID,
        "job": JOB_GUID,
        "state": "SUCCEEDED",
        "trigger": "manual",
        "scheduled": "2026-03-01T02:00:00Z",
        "covers": "3 due instants, 2026-03-01T00:00:00Z to 2026-03-01T02:00:00Z",
        "started": "2026-03-01T02:00:00Z",
        "ended": "2026-03-01T02:00:04Z",
        "took": "4.2 s",
        "attempt": "2",
        "status": "204",
    }


@pytest.mark.parametrize("answer", [execution(state="FAILED", reason="cancelled"), None])
def test_cancelling_shows_what_there_is_to_show(api: FakeApi, sch: Sch, answer: object) -> None:
    api.answer("POST", f"{PATH}/actions/cancel", answer, status=202)
    done = sch("executions", "cancel", EXECUTION_GUID)
    assert done.code == 0
    assert "OK\n" in done.out
    assert done.facts().get("reason") == ("cancelled" if answer else None)


@pytest.mark.parametrize(("state", "code"), [("SUCCEEDED", 0), ("FAILED", 1), ("SKIPPED", 1)])
def test_watching_ends_with_the_outcome(api: FakeApi, sch: Sch, state: str, code: int) -> None:
    for row in (execution(), execution(state="RUNNING"), execution(state="RUNNING", attempt=2), execution(state=state)):
        api.answer("GET", PATH, row)
    done = sch("executions", "watch", EXECUTION_GUID)
    assert done.code == code
    assert done.out.splitlines()[1:4] == ["PENDING", "RUNNING", "RUNNING, attempt 2"]


def test_watching_outlives_a_scheduler_that_is_restarted(
    api: FakeApi, sch: Sch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    api.answer("GET", PATH, execution(state="RUNNING"))
    for status in (502, 503):
        api.answer("GET", PATH, refusal("unavailable", "not now"), status=status)
    api.answer("GET", PATH, execution(**ENDED))
    api.cut_next = 5
    assert sch("executions", "watch", EXECUTION_GUID).code == 0


def test_an_execution_that_is_not_there_is_a_failure(api: FakeApi, sch: Sch) -> None:
    done = sch("executions", "watch", EXECUTION_GUID)
    assert done.code == 1
    assert done.err == "The scheduler refused this (404 Not Found):\nthere is no such thing\n"
