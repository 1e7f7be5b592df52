"""Schedules: created, listed, edited; what fires, what is refused."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from scheduler_local.testing import MadeApp
from scheduler_ticker.tick import tick
from tests.fixtures.api import Api, codes_of, content_of, errors_of, fields_of, resources_of
from tests.fixtures.rings import Rings

_YEAR = datetime.now(UTC).year + 20
_FIELDS = {"guid", "enabled", "expression", "expression_type", "created_at", "updated_at"}
_DEFAULTS = {
    "enabled": True, "state": "active", "time_zone": None, "day_match": "all", "on_gap": "shift", "on_fold": "auto",
    "misfire": {"policy": "run_once", "grace_seconds": 60, "max_runs": 1000, "max_age_seconds": 604800},
    "overlap": "allow", "start_deadline_seconds": 3600, "delete_after_run": False, "start_time": None,
    "end_time": None, "max_runs": None, "metadata": {}, "paused_by": None, "pause_note": None, "last_run_at": None,
    "missed_count": 0, "skipped_count": 0, "definition_version": 1,
}  # fmt: skip


@pytest.fixture
def job(api: Api, app: MadeApp) -> str:
    """The path of a job."""
    return f"/jobs/{api.create_job(app.guid)['guid']}"


@pytest.mark.parametrize("kind", ["job", "call"])
def test_a_new_schedule_is_answered_with_all_its_fields(api: Api, app: MadeApp, kind: str, rings: Rings) -> None:
    # checklist 126, 127, 128
    work = api.create(kind, app.guid)
    body = {"expression": "0 30 9 * * *", "expression_type": "cron_expression"}
    schedule = content_of(api.post(f"/{kind}s/{work['guid']}/schedules", body), 201)
    assert set(schedule) >= {*_FIELDS, f"{kind}_guid"}
    assert schedule[f"{kind}_guid"] == work["guid"]
    assert ("call" if kind == "job" else "job") + "_guid" not in schedule
    assert UUID(schedule["guid"])
    assert {name: schedule[name] for name in body} == body
    assert {name: schedule[name] for name in _DEFAULTS} == _DEFAULTS
    assert schedule["description"] == "at 09:30"
    assert datetime.fromisoformat(schedule["next_run_at"]) > datetime.now(UTC)
    assert rings.heard("scheduler_tick")


@pytest.mark.parametrize("expression_type", [{}, {"expression_type": ""}, {"expression_type": None}])
def test_an_expression_without_a_type_is_cron(api: Api, job: str, expression_type: dict[str, Any]) -> None:
    # checklist 126
    assert api.schedule(job, "0 0 * * *", **expression_type)["expression_type"] == "cron_expression"


def test_all_options_are_stored_and_shown(api: Api, job: str) -> None:
    options: dict[str, Any] = {
        "time_zone": "Europe/Berlin", "day_match": "any", "on_gap": "skip", "on_fold": "both",
        "misfire": {"policy": "catch_up", "grace_seconds": 0, "max_runs": 10_000, "max_age_seconds": 60},
        "overlap": "serialize", "start_deadline_seconds": 0, "start_time": "2027-01-01T00:00:00Z",
        "end_time": "2047-01-01T00:00:00+02:00", "max_runs": 5, "metadata": {"owner": "jane", "deep": [{"er": None}]},
    }  # fmt: skip
    schedule = api.schedule(job, "0 2 * * *", **options)
    expected = {**options, "end_time": "2046-12-31T22:00:00Z"}
    assert {name: schedule[name] for name in options} == expected
    assert content_of(api.get(f"{job}/schedules/{schedule['guid']}")) == schedule


@pytest.mark.parametrize(
    ("expression_type", "expression", "overlap"),
    [
        ("fixed_rate", "PT5M", "wait"),
        ("one_time", "2099-01-01T10:30:00Z", "allow"),
        ("cron_expression", "@daily", "allow"),
    ],
)
def test_each_type_has_its_own_default_overlap(
    api: Api, job: str, expression_type: str, expression: str, overlap: str
) -> None:
    schedule = api.schedule(job, expression, expression_type=expression_type)
    assert (schedule["expression_type"], schedule["overlap"]) == (expression_type, overlap)


@pytest.mark.parametrize(
    "expression",
    ["0 30 9 * * *", "30 9 * * *", "CRON_TZ=Europe/Berlin 0 2 * * *", "H H * * *", "0 0 L * *", "0 0 15W * *",
     "0 0 * * FRI#2", "0 0 ? * MON-FRI", "@daily", "@every 90m", f"0 0 0 1 1 * {_YEAR}", "  0   0 * *   * "],
)  # fmt: skip
def test_the_whole_dialect_is_accepted(api: Api, job: str, expression: str) -> None:
    # checklist 131, 132, 134
    assert api.schedule(job, expression)["state"] == "active"


def test_a_zone_in_the_expression_moves_its_runs(api: Api, job: str) -> None:
    # checklist 132
    utc = _next(api.schedule(job, "0 0 2 1 7 *"))
    berlin = _next(api.schedule(job, "CRON_TZ=Europe/Berlin 0 2 1 7 *"))
    assert utc - berlin == timedelta(hours=2)


class TestWithAnotherServerZone:
    """A server whose zone is not UTC."""

    @pytest.fixture
    def variables(self) -> dict[str, str]:
        return {"SCHEDULER_TIME_ZONE": "Asia/Kolkata"}

    def test_an_expression_without_a_zone_is_in_the_servers(self, api: Api, job: str) -> None:
        # checklist 132
        assert _next(api.schedule(job, "0 12 * * *")).strftime("%H:%M") == "06:30"
        assert api.post("/schedules/validate", {"expression": "0 0 * * *"}).json["location"] == "Asia/Kolkata"  # type: ignore[index]


def test_two_restricted_day_fields_must_both_match(api: Api, job: str) -> None:
    # checklist 133
    friday = _next(api.schedule(job, "0 0 13 * FRI"))
    assert (friday.day, friday.strftime("%a")) == (13, "Fri")


def test_h_is_keyed_by_the_job(api: Api, app: MadeApp) -> None:
    # checklist 134
    hours = set()
    for number in range(8):
        path = f"/jobs/{api.create_job(app.guid, name=f'job {number}')['guid']}"
        first, second = api.schedule(path, "H H * * *"), api.schedule(path, "H H * * *")
        assert _next(first).time() == _next(second).time()
        hours.add(_next(first).time())
    assert len(hours) > 1


def test_an_invalid_expression_is_refused_with_its_place(api: Api, job: str) -> None:
    # checklist 129
    answer = api.post(f"{job}/schedules", {"expression": "0 99 * * *"})
    assert answer.status_code == 422
    assert answer.json == {
        "errors": [
            {
                "code": "parse_error",
                "message": "hour field value 99 is out of range (valid: 0-23)",
                "field": "hour",
                "value": "99",
                "valid_range": "0-23",
                "offset": 2,
            }
        ],
        "warnings": [],
    }
    assert resources_of(api.get(f"{job}/schedules")) == []


def test_an_expression_that_never_fires_is_refused(api: Api, job: str) -> None:
    # checklist 130
    answer = api.post(f"{job}/schedules", {"expression": "0 0 30 2 *"})
    assert answer.status_code == 422
    assert codes_of(answer) == ["never_fires"]


@pytest.mark.parametrize(
    ("wrong", "code", "field"),
    [
        ({"expression": None}, "invalid_field", "expression"),
        ({"expression": 5}, "invalid_field", "expression"),
        ({"expression": ""}, "parse_error", None),
        ({"expression": "x" * 300}, "parse_error", None),
        ({"expression_type": "weekly"}, "unknown_expression_type", "expression_type"),
        ({"expression_type": 5}, "invalid_field", "expression_type"),
        ({"time_zone": "Mars/Olympus"}, "parse_error", "time zone"),
        ({"expression": "TZ=UTC 0 0 * * *", "time_zone": "Europe/Berlin"}, "time_zone_conflict", "time zone"),
        ({"enabled": "yes"}, "invalid_field", "enabled"),
        ({"day_match": "some"}, "invalid_field", "day_match"),
        ({"on_gap": 1}, "invalid_field", "on_gap"),
        ({"misfire": {"policy": "x"}}, "invalid_field", "misfire.policy"),
        ({"misfire": {"grace_seconds": 86_401}}, "invalid_field", "misfire.grace_seconds"),
        ({"misfire": {"max_runs": 0}}, "invalid_field", "misfire.max_runs"),
        ({"misfire": {"max_age_seconds": 59}}, "invalid_field", "misfire.max_age_seconds"),
        ({"misfire": []}, "invalid_field", "misfire"),
        ({"misfire": {"policy": "catch_up"}, "overlap": "skip"}, "catch_up_with_skip", "overlap"),
        ({"start_deadline_seconds": -1}, "invalid_field", "start_deadline_seconds"),
        ({"start_time": "yesterday"}, "invalid_field", "start_time"),
        ({"start_time": "2027-01-01"}, "invalid_field", "start_time"),
        ({"start_time": 5}, "invalid_field", "start_time"),
        ({"end_time": "9999-12-31T23:59:59-14:00"}, "invalid_field", "end_time"),
        ({"end_time": "2001-01-01T00:00:00Z"}, "never_fires", None),
        ({"max_runs": 0}, "invalid_field", "max_runs"),
        ({"max_runs": 1.5}, "invalid_field", "max_runs"),
        ({"delete_after_run": True}, "invalid_field", "delete_after_run"),
        ({"metadata": []}, "invalid_field", "metadata"),
        ({"metadata": {"a": "x" * 10_000}}, "invalid_field", "metadata"),
    ],
    ids=str,
)
def test_a_bad_field_is_named(api: Api, job: str, wrong: dict[str, Any], code: str, field: str | None) -> None:
    answer = api.post(f"{job}/schedules", {"expression": "0 0 * * *", **wrong})
    assert answer.status_code == 422
    first = errors_of(answer)[0]
    assert (first["code"], first.get("field")) == (code, field)
    assert resources_of(api.get(f"{job}/schedules")) == []


class TestWithAMinimalInterval:
    """An operator who does not want too many runs."""

    @pytest.fixture
    def variables(self) -> dict[str, str]:
        return {"SCHEDULER_MIN_INTERVAL": "1m"}

    def test_a_schedule_must_keep_to_it(self, api: Api, job: str) -> None:
        api.schedule(job, "* * * * *")
        for expression in ("*/30 * * * * *", "@every 59s"):
            assert codes_of(api.post(f"{job}/schedules", {"expression": expression})) == ["under_min_interval"]


@pytest.mark.parametrize("kind", ["job", "call"])
def test_a_list_holds_a_job_or_calls_own_schedules_only(api: Api, app: MadeApp, kind: str) -> None:
    # checklist 135
    mine, other = (f"/{kind}s/{api.create(kind, app.guid, name=name)['guid']}" for name in ("mine", "other"))
    first, second = api.schedule(mine, "0 1 * * *"), api.schedule(mine, "0 2 * * *")
    foreign = api.schedule(other, "0 3 * * *")
    assert resources_of(api.get(f"{mine}/schedules")) == [first, second]
    assert resources_of(api.get(f"{other}/schedules")) == [foreign]
    paged = content_of(api.get(f"{mine}/schedules?page=2&per_page=1"))
    assert paged["resources"] == [second]


def test_a_schedule_that_is_created_disabled_is_paused(api: Api, job: str) -> None:
    schedule = api.schedule(job, "0 0 * * *", enabled=False)
    assert (schedule["enabled"], schedule["state"], schedule["paused_by"]) == (False, "paused", "user")
    assert schedule["next_run_at"] is None


def test_an_enabled_schedule_fires_and_others_do_not(api: Api, job: str, engine: Engine) -> None:
    # checklist 59, 60, 62
    good, disabled, broken = (
        api.schedule(job, "* * * * * *"),
        api.schedule(job, "* * * * * *", enabled=False),
        api.schedule(job, "* * * * * *"),
    )
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE schedules SET expression = 'rubbish' WHERE guid = :guid"), {"guid": broken["guid"]}
        )
    _let_time_pass(engine)
    tick(engine, default_zone="UTC")
    path = f"{job}/schedules"
    assert resources_of(api.get(f"{path}/{good['guid']}/history"))
    assert not resources_of(api.get(f"{path}/{disabled['guid']}/history"))
    assert not resources_of(api.get(f"{path}/{broken['guid']}/history"))
    assert content_of(api.get(f"{path}/{broken['guid']}"))["state"] == "needs_review"
    assert "cannot be read" in content_of(api.get(f"{path}/{broken['guid']}"))["description"]


def test_a_schedule_without_its_job_is_left_alone_and_stays(api: Api, job: str, engine: Engine) -> None:
    # checklist 61, 148
    api.schedule(job, "* * * * * *")
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM jobs"))
    for _ in range(2):
        _let_time_pass(engine)
        tick(engine, default_zone="UTC")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM schedules")).scalar_one() == 1
        assert connection.execute(text("SELECT count(*) FROM executions")).scalar_one() == 0


def test_a_deleted_schedule_never_fires_again(api: Api, job: str, engine: Engine) -> None:
    # checklist 136
    schedule = api.schedule(job, "* * * * * *")
    path = f"{job}/schedules/{schedule['guid']}"
    answer = api.delete(path)
    assert (answer.status_code, answer.data) == (204, b"")
    tick(engine, default_zone="UTC")
    assert api.delete(path).status_code == 404
    assert api.delete(f"{job}/schedules/{uuid4()}").status_code == 404
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM executions WHERE state = 'PENDING'")).scalar_one() == 0


def test_an_edit_plans_anew_from_now_and_fires_nothing(api: Api, job: str, engine: Engine, rings: Rings) -> None:
    schedule = api.schedule(job, "0 0 1 1 *", metadata={"a": 1}, misfire={"grace_seconds": 5})
    path = f"{job}/schedules/{schedule['guid']}"
    assert rings.heard("scheduler_tick")
    changed = content_of(api.patch(path, {"expression": " 0 6 * * * ", "misfire": {"policy": "skip"}}))
    assert rings.heard("scheduler_tick")
    assert (changed["expression"], changed["definition_version"]) == ("0 6 * * *", 2)
    assert changed["misfire"] == {**schedule["misfire"], "policy": "skip", "grace_seconds": 5}
    assert changed["metadata"] == {"a": 1}
    assert datetime.fromisoformat(changed["next_run_at"]) - datetime.now(UTC) <= timedelta(days=1)
    assert resources_of(api.get(f"{path}/history")) == []
    assert content_of(api.get(path)) == changed


def test_what_was_due_before_an_edit_is_recorded_under_the_old_definition(api: Api, job: str, engine: Engine) -> None:
    schedule = api.schedule(job, "* * * * * *")
    path = f"{job}/schedules/{schedule['guid']}"
    _let_time_pass(engine, seconds=3)
    content_of(api.patch(path, {"expression": "0 0 1 1 *"}))
    rows = resources_of(api.get(f"{path}/history"))
    assert len(rows) >= 3
    assert {content_of(api.get(f"/executions/{row['guid']}"))["definition_version"] for row in rows} == {1}


def test_metadata_change_no_definition(api: Api, job: str) -> None:
    schedule = api.schedule(job, metadata={"a": 1})
    changed = content_of(api.patch(f"{job}/schedules/{schedule['guid']}", {"metadata": {"b": 2}}))
    assert (changed["metadata"], changed["definition_version"]) == ({"b": 2}, 1)
    assert content_of(api.patch(f"{job}/schedules/{schedule['guid']}", {"metadata": None}))["metadata"] == {}


def test_null_is_back_to_the_default(api: Api, job: str) -> None:
    schedule = api.schedule(
        job, "PT5M", expression_type="fixed_rate", overlap="allow", time_zone="Europe/Berlin", max_runs=5,
        misfire={"policy": "skip"}, end_time="2099-01-01T00:00:00Z",
    )  # fmt: skip
    nothing = dict.fromkeys(("overlap", "time_zone", "max_runs", "misfire", "end_time"))
    changed = content_of(api.patch(f"{job}/schedules/{schedule['guid']}", nothing))
    assert (changed["overlap"], changed["time_zone"], changed["max_runs"], changed["end_time"]) == (
        "wait",
        None,
        None,
        None,
    )
    assert changed["misfire"]["policy"] == "run_once"


def test_a_bad_edit_changes_nothing(api: Api, job: str) -> None:
    schedule = api.schedule(job)
    path = f"{job}/schedules/{schedule['guid']}"
    assert codes_of(api.patch(path, {"expression": "99 * * * *", "metadata": {"x": 1}})) == ["parse_error"]
    assert fields_of(api.patch(path, {"overlap": "x"})) == ["overlap"]
    assert codes_of(api.patch(path, {"expression": None})) == ["invalid_field"]
    assert content_of(api.get(path)) == schedule


def test_enabled_can_be_switched_by_an_edit(api: Api, job: str) -> None:
    path = f"{job}/schedules/{api.schedule(job)['guid']}"
    paused = content_of(api.patch(path, {"enabled": False}))
    assert (paused["state"], paused["paused_by"], paused["next_run_at"]) == ("paused", "user", None)
    resumed = content_of(api.patch(path, {"enabled": True, "expression": "0 6 * * *"}))
    assert (resumed["state"], resumed["paused_by"]) == ("active", None)
    assert resumed["next_run_at"] is not None


def test_an_interval_keeps_its_beat_until_it_is_changed(api: Api, job: str) -> None:
    schedule = api.schedule(job, "PT1H", expression_type="fixed_rate")
    path = f"{job}/schedules/{schedule['guid']}"
    assert content_of(api.patch(path, {"max_runs": 9}))["next_run_at"] == schedule["next_run_at"]
    assert content_of(api.patch(path, {"expression": "PT2H"}))["next_run_at"] > schedule["next_run_at"]


def test_all_schedules_of_a_space_are_listed_by_their_next_run(api: Api, app: MadeApp) -> None:
    job, call = api.create_job(app.guid, name="Nightly"), api.create_call(app.guid, name="100%_hook")
    late = api.schedule(f"/jobs/{job['guid']}", f"0 0 1 1 * {_YEAR}")
    soon = api.schedule(f"/calls/{call['guid']}", "* * * * *")
    paused = api.schedule(f"/calls/{call['guid']}", "0 5 * * *", enabled=False)
    listing = f"/schedules?space_guid={app.space_guid}"
    rows = resources_of(api.get(listing))
    assert [row["guid"] for row in rows] == [soon["guid"], late["guid"], paused["guid"]]
    assert [(row["ref_type"], row["ref_name"]) for row in rows[:2]] == [("call", "100%_hook"), ("job", "Nightly")]

    def found(query: str) -> list[str]:
        return [row["guid"] for row in resources_of(api.get(f"{listing}&{query}"))]

    assert found("state=paused") == found("enabled=false") == [paused["guid"]]
    assert found("state=active&enabled=true") == [soon["guid"], late["guid"]]
    assert found("state=finished") == found("state=needs_review") == []
    assert found("q=nightLY") == [late["guid"]]
    assert found("q=%25_") == [soon["guid"], paused["guid"]]
    assert found(f"q={_YEAR}") == [late["guid"]]
    assert found("page=2&per_page=1") == [late["guid"]]
    assert fields_of(api.get(f"{listing}&state=asleep")) == ["state"]
    assert fields_of(api.get(f"{listing}&enabled=1")) == ["enabled"]


def _next(schedule: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(schedule["next_run_at"])


def _let_time_pass(engine: Engine, *, seconds: int = 2) -> None:
    """Make every schedule look as if it had been made, and last planned, some seconds earlier."""
    back = text("""
        UPDATE schedules SET cursor_at = cursor_at - :seconds * interval '1 second', next_fire_at = CASE
            WHEN next_fire_at IS NOT NULL THEN now() - :seconds * interval '1 second' END
    """)
    with engine.begin() as connection:
        connection.execute(back, {"seconds": seconds})
