"""What became of an instant: ran, late, covered, skipped, paused, not due, and what else there is."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, text

from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, content_of, fields_of

_DAY = datetime(2027, 3, 1, tzinfo=UTC)
_DUE = datetime(2027, 3, 1, 2, tzinfo=UTC)


@pytest.fixture
def path(api: Api, app: MadeApp, engine: Engine) -> str:
    """A schedule for 02:00 each day that has been there for long and is planned up to 3 March 2027."""
    job = f"/jobs/{api.create_job(app.guid)['guid']}"
    schedule = api.schedule(job, "0 2 * * *")
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE schedules SET created_at = :long_ago, cursor_at = :now"),
            {"long_ago": _DAY - timedelta(days=900), "now": _DAY + timedelta(days=2)},
        )
    return f"{job}/schedules/{schedule['guid']}"


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        ({"state": "SUCCEEDED", "execution_start_time": _DUE}, "ran"),
        ({"state": "RUNNING", "execution_start_time": _DUE + timedelta(seconds=60)}, "ran"),
        ({"state": "FAILED", "execution_start_time": _DUE + timedelta(seconds=61)}, "late"),
        ({"state": "PENDING"}, "waiting"),
        ({"state": "FAILED", "reason": "too_late"}, "not_started"),
        ({"state": "SKIPPED", "reason": "overlap"}, "skipped"),
        ({"state": "SKIPPED", "reason": "misfire"}, "skipped"),
        ({"state": "SKIPPED", "reason": "paused"}, "paused"),
        ({"state": "SKIPPED", "reason": "review"}, "needs_review"),
    ],
    ids=str,
)
def test_a_row_of_its_own_tells(api: Api, path: str, engine: Engine, row: dict[str, Any], verdict: str) -> None:
    guid = _insert(engine, scheduled_time=_DUE, **row)
    why = _why(api, path, _DUE)
    assert (why["verdict"], why["execution_guid"]) == (verdict, guid)
    assert (why["state"], why["reason"]) == (row["state"], row.get("reason"))
    assert why["links"] == {"schedule": {"href": path}, "execution": {"href": f"/executions/{guid}"}}
    assert why["explanation"].endswith(".")
    assert content_of(api.get(why["links"]["execution"]["href"]))["guid"] == guid


def test_a_covering_row_tells_of_each_due_instant_in_its_range_and_of_no_other(
    api: Api, path: str, engine: Engine
) -> None:
    _insert(
        engine, scheduled_time=_DUE + timedelta(days=1), state="SUCCEEDED", trigger="misfire", covers_count=3,
        covers_from=_DUE - timedelta(days=1), covers_to=_DUE + timedelta(days=1), execution_start_time=_DAY,
    )  # fmt: skip
    for days in (-1, 0, 1):
        assert _why(api, path, _DUE + timedelta(days=days))["verdict"] == "covered"
    assert _why(api, path, _DUE + timedelta(hours=1))["verdict"] == "not_due"
    assert _why(api, path, _DUE - timedelta(days=2))["verdict"] == "unknown"


def test_an_instant_that_is_not_due_comes_with_its_neighbours(api: Api, path: str) -> None:
    why = _why(api, path, _DUE + timedelta(minutes=1))
    assert why["verdict"] == "not_due"
    assert why["execution_guid"] is None
    assert (why["previous_due"], why["next_due"]) == ("2027-03-01T02:00:00Z", "2027-03-02T02:00:00Z")


def test_the_future_is_to_come(api: Api, path: str) -> None:
    later = (datetime.now(UTC) + timedelta(days=1_000)).replace(hour=2, minute=0, second=0, microsecond=0)
    assert _why(api, path, later)["verdict"] == "to_come"


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ("enabled = false, paused_by = 'user'", "paused"),
        ("state = 'needs_review'", "needs_review"),
        ("state = 'finished'", "not_due"),
        ("expression = 'rubbish'", "unknown"),
        ("created_at = '2027-03-01T02:00:01Z'", "not_due"),
        ("cursor_at = '2027-03-01T02:00:00Z'", "unknown"),
    ],
)
def test_without_a_row_the_schedule_itself_tells(
    api: Api, path: str, engine: Engine, change: str, verdict: str
) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE schedules SET cursor_at = '2027-03-01T00:00:00Z'"))
        connection.execute(text(f"UPDATE schedules SET {change}"))
    assert _why(api, path, _DUE)["verdict"] == verdict


@pytest.mark.parametrize(
    "at", ["2027-03-01T02:00:00Z", "2027-03-01T02:00Z", "2027-03-01 02:00:00Z", "2027-03-01T03:00:00+01:00",
           "2027-03-01T03:00:00%2B01:00", "2027-03-01t02:00:00.000z"]
)  # fmt: skip
def test_an_instant_may_be_written_in_several_ways(api: Api, path: str, at: str) -> None:
    assert content_of(api.get(f"{path}/why?at={at}"))["at"] == "2027-03-01T02:00:00Z"


@pytest.mark.parametrize("query", ["", "at=", "at=noon", "at=2027-03-01", "at=2027-13-01T00:00:00Z", "at=%00"])
def test_an_instant_must_be_given(api: Api, path: str, query: str) -> None:
    answer = api.get(f"{path}/why?{query}")
    assert answer.status_code == 422
    assert fields_of(answer) == ["at"]


def _why(api: Api, path: str, at: datetime) -> dict[str, Any]:
    return content_of(api.get(f"{path}/why?at={at.strftime('%Y-%m-%dT%H:%M:%SZ')}"))


def _insert(engine: Engine, **columns: Any) -> str:
    named = ", ".join(columns)
    given = ", ".join(f":{name}" for name in columns)
    trigger = "" if "trigger" in columns else ", trigger"
    statement = text(f"""
        INSERT INTO executions (guid, ref_type, ref_guid, space_guid, schedule_guid, definition_version, created_at,
            {named}{trigger})
        SELECT gen_random_uuid(), ref_type, ref_guid, space_guid, guid, definition_version, now(), {given}
            {", 'schedule'" if trigger else ""} FROM schedules
        RETURNING guid
    """)
    with engine.begin() as connection:
        return str(connection.execute(statement, columns).scalar_one())
