"""Pause, resume, trigger, revalidate."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text

from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, codes_of, content_of, fields_of, resources_of
from tests.fixtures.rings import Rings


@pytest.fixture(params=["job", "call"])
def work(request: pytest.FixtureRequest, api: Api, app: MadeApp) -> str:
    """The path of a job or call."""
    return f"/{request.param}s/{api.create(request.param, app.guid)['guid']}"


def test_a_pause_says_who_and_why(api: Api, work: str) -> None:
    path = _new(api, work)
    paused = content_of(api.post(f"{path}/actions/pause", {"note": "stocktaking"}))
    assert (paused["enabled"], paused["state"], paused["paused_by"]) == (False, "paused", "user")
    assert (paused["pause_note"], paused["next_run_at"], paused["paused_until"]) == ("stocktaking", None, None)
    assert content_of(api.get(path)) == paused
    again = content_of(api.post(f"{path}/actions/pause"))
    assert (again["state"], again["pause_note"]) == ("paused", None)


def test_a_pause_may_have_an_end(api: Api, work: str, engine: Engine) -> None:
    path = _new(api, work)
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    paused = content_of(api.post(f"{path}/actions/pause", {"until": until}))
    assert datetime.fromisoformat(paused["paused_until"]) == datetime.fromisoformat(until)
    assert paused["next_run_at"] is None
    assert _stored(engine, "next_fire_at") == datetime.fromisoformat(until)


@pytest.mark.parametrize(
    ("body", "field"),
    [({"until": "2001-01-01T00:00:00Z"}, "until"), ({"until": "soon"}, "until"), ({"note": "x" * 1_001}, "note"),
     ({"note": "a\nb"}, "note"), ({"note": 5}, "note")],
)  # fmt: skip
def test_a_pause_that_makes_no_sense_is_refused(api: Api, work: str, body: dict[str, Any], field: str) -> None:
    path = _new(api, work)
    answer = api.post(f"{path}/actions/pause", body)
    assert answer.status_code == 422
    assert fields_of(answer) == [field]
    assert content_of(api.get(path))["state"] == "active"


def test_what_was_due_before_a_pause_still_runs(api: Api, work: str, engine: Engine) -> None:
    path = _new(api, work, "* * * * * *")
    _back(engine, seconds=3)
    content_of(api.post(f"{path}/actions/pause"))
    rows = resources_of(api.get(f"{path}/history"))
    assert {row["state"] for row in rows} == {"PENDING"}
    assert len(rows) >= 3


@pytest.mark.parametrize(
    ("missed", "made"),
    [
        ({}, "SKIPPED paused"),
        ({"missed": "skip_paused"}, "SKIPPED paused"),
        ({"missed": "run_once"}, "PENDING misfire"),
    ],
    ids=str,
)
def test_resuming_says_what_becomes_of_missed_runs(
    api: Api, work: str, engine: Engine, missed: dict[str, str], made: str
) -> None:
    path = _new(api, work, "* * * * * *")
    content_of(api.post(f"{path}/actions/pause"))
    _forget_runs(engine)
    _back(engine, seconds=5)
    resumed = content_of(api.post(f"{path}/actions/resume", missed))
    assert (resumed["state"], resumed["enabled"], resumed["paused_by"]) == ("active", True, None)
    # On a slow machine the next instant may be due, and on time, before the resuming is through.
    rows = resources_of(api.get(f"{path}/history"))
    covered = {f"{row['state']} {row['reason'] or row['trigger']}": row["covers_count"] for row in rows}
    assert covered[made] >= 5


def test_a_catch_up_is_left_to_the_ticker_and_not_allowed_with_skip(api: Api, work: str, engine: Engine) -> None:
    path = _new(api, work, "* * * * * *")
    content_of(api.post(f"{path}/actions/pause"))
    resumed = content_of(api.post(f"{path}/actions/resume", {"missed": "catch_up"}))
    assert resumed["state"] == "active"
    assert _stored(engine, "resume_policy") == "catch_up"
    other = _new(api, work, overlap="skip")
    content_of(api.post(f"{other}/actions/pause"))
    assert codes_of(api.post(f"{other}/actions/resume", {"missed": "catch_up"})) == ["catch_up_with_skip"]
    assert content_of(api.get(other))["state"] == "paused"
    assert fields_of(api.post(f"{other}/actions/resume", {"missed": "all"})) == ["missed"]


def test_resuming_what_is_not_paused_changes_nothing(api: Api, work: str) -> None:
    path = _new(api, work)
    before = content_of(api.get(path))
    after = content_of(api.post(f"{path}/actions/resume"))
    assert {**after, "updated_at": ""} == {**before, "updated_at": ""}


def test_a_trigger_makes_one_run_now_and_does_not_move_the_timetable(api: Api, work: str, rings: Rings) -> None:
    path = _new(api, work)
    before = content_of(api.get(path))
    execution = content_of(api.post(f"{path}/actions/trigger"), 201)
    assert (execution["trigger"], execution["state"], execution["scheduled_time"]) == ("trigger", "PENDING", None)
    assert execution["schedule_guid"] == before["guid"]
    assert content_of(api.get(path)) == before
    assert rings.heard("scheduler_relay")
    content_of(api.post(f"{path}/actions/pause"))
    assert api.post(f"{path}/actions/trigger", data=b"").status_code == 201


def test_the_same_trigger_id_gives_the_same_execution(api: Api, work: str) -> None:
    path, other = _new(api, work), _new(api, work)
    wish = {"trigger_id": "release 42 ✓"}
    first = content_of(api.post(f"{path}/actions/trigger", wish), 201)
    assert content_of(api.post(f"{path}/actions/trigger", wish), 200) == first
    assert content_of(api.post(f"{other}/actions/trigger", wish), 201) != first
    assert content_of(api.post(f"{path}/actions/trigger", {"trigger_id": None}), 201) != first
    for wrong in ("x" * 256, 5, "\t"):
        assert fields_of(api.post(f"{path}/actions/trigger", {"trigger_id": wrong})) == ["trigger_id"]


@pytest.mark.parametrize(
    ("overlap", "states"),
    [
        ("allow", ["PENDING", "PENDING", "PENDING"]),
        ("skip", ["PENDING", "SKIPPED", "SKIPPED"]),
        ("wait", ["PENDING", "PENDING", "SKIPPED"]),
        ("serialize", ["PENDING", "PENDING", "PENDING"]),
    ],
)
def test_a_trigger_obeys_the_overlap_rule(api: Api, work: str, overlap: str, states: list[str]) -> None:
    path = _new(api, work, overlap=overlap)
    made = [content_of(api.post(f"{path}/actions/trigger"), 201) for _ in states]
    assert [execution["state"] for execution in made] == states
    for execution in made:
        whole = content_of(api.get(f"/executions/{execution['guid']}"))
        is_skipped = execution["state"] == "SKIPPED"
        assert (whole["reason"] == "overlap", whole["execution_end_time"] is not None) == (is_skipped, is_skipped)
        assert whole["serial"] is (overlap in {"wait", "serialize"} and not is_skipped)


def test_a_schedule_that_needs_a_review_goes_on_from_now(api: Api, work: str, engine: Engine) -> None:
    path = _new(api, work, "* * * * * *")
    with engine.begin() as connection:
        connection.execute(text("UPDATE schedules SET state = 'needs_review', next_fire_at = NULL"))
    _back(engine, seconds=5)
    assert content_of(api.get(path))["state"] == "needs_review"
    valid = content_of(api.post(f"{path}/actions/revalidate", {"whatever": "is ignored"}))
    assert valid["state"] == "active"
    assert valid["next_run_at"] is not None
    newest = resources_of(api.get(f"{path}/history"))[0]
    assert (newest["state"], newest["reason"]) == ("SKIPPED", "review")


@pytest.mark.parametrize("action", ["pause", "resume", "trigger", "revalidate"])
def test_an_unknown_schedule_is_none(api: Api, work: str, action: str) -> None:
    assert api.post(f"{work}/schedules/{uuid4()}/actions/{action}").status_code == 404


def _new(api: Api, work: str, expression: str = "0 0 1 1 *", **fields: Any) -> str:
    return f"{work}/schedules/{api.schedule(work, expression, **fields)['guid']}"


def _stored(engine: Engine, column: str) -> Any:
    with engine.connect() as connection:
        return connection.execute(text(f"SELECT {column} FROM schedules ORDER BY created_at LIMIT 1")).scalar_one()


def _forget_runs(engine: Engine) -> None:
    """Drop what was due before the pause, should a second have begun by then: the cursor is about to be moved."""
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM executions"))


def _back(engine: Engine, *, seconds: int) -> None:
    """Let the schedules look as if they had last been planned some seconds earlier."""
    back = text("UPDATE schedules SET cursor_at = cursor_at - :seconds * interval '1 second'")
    with engine.begin() as connection:
        connection.execute(back, {"seconds": seconds})
