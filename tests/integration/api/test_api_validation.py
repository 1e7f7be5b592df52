"""Checking expressions, and the list of time zones."""

from typing import Any

import pytest

from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, codes_of, content_of, errors_of, fields_of, resources_of

_FIELDS = {
    "expression", "valid", "description", "location", "illustrative", "hashed_fields", "from", "next_runs", "prev_runs",
    "errors", "warnings",
}  # fmt: skip


def _validate(api: Api, **wish: Any) -> dict[str, Any]:
    return content_of(api.post("/schedules/validate", wish))


def test_an_expression_is_analysed(api: Api) -> None:
    # checklist 137, 138, 140
    answer = _validate(api, expression="0 30 9 * * MON-FRI", **{"from": "2027-01-01T00:00:00Z"})
    assert set(answer) == _FIELDS
    assert answer["valid"] is True
    assert (answer["expression"], answer["location"], answer["illustrative"]) == ("0 30 9 * * MON-FRI", "UTC", False)
    assert answer["from"] == "2027-01-01T00:00:00Z"
    assert answer["next_runs"] == [f"2027-01-0{day}T09:30:00Z" for day in (1, 4, 5, 6, 7)]
    assert answer["prev_runs"] == answer["errors"] == answer["hashed_fields"] == []
    assert "09:30" in answer["description"]


def test_an_invalid_expression_is_answered_with_its_errors(api: Api) -> None:
    # checklist 137, 129, 130
    answer = _validate(api, expression="0 99 * * *")
    assert answer["valid"] is False
    assert (answer["errors"][0]["code"], answer["errors"][0]["offset"]) == ("parse_error", 2)
    assert (answer["next_runs"], answer["description"]) == ([], "")
    assert [error["code"] for error in _validate(api, expression="0 0 30 2 *")["errors"]] == ["never_fires"]


def test_how_many_runs_and_from_when_can_be_asked(api: Api) -> None:
    # checklist 140
    answer = _validate(api, expression="@daily", next=2, prev=3, **{"from": "2027-01-10T12:00:00+02:00"})
    assert answer["next_runs"] == ["2027-01-11T00:00:00Z", "2027-01-12T00:00:00Z"]
    assert answer["prev_runs"] == ["2027-01-10T00:00:00Z", "2027-01-09T00:00:00Z", "2027-01-08T00:00:00Z"]
    assert _validate(api, expression="@daily", next=0)["next_runs"] == []
    assert len(_validate(api, expression="@hourly", next=100, prev=100)["prev_runs"]) == 100


def test_what_stands_beside_an_expression_is_taken_into_account(api: Api) -> None:
    since = {"from": "2027-03-28T00:00:00Z"}
    gap = _validate(api, expression="30 2 * * *", time_zone="Europe/Berlin", on_gap="skip", next=1, **since)
    assert (gap["location"], gap["next_runs"]) == ("Europe/Berlin", ["2027-03-29T00:30:00Z"])
    assert {warning["code"] for warning in gap["warnings"]} >= {"dst_skipped"}
    rate = _validate(api, expression="PT5M", expression_type="fixed_rate", **since)
    assert "location" not in rate
    assert rate["next_runs"][0] == "2027-03-28T00:05:00Z"


@pytest.mark.parametrize("kind", ["job", "call"])
def test_an_h_is_resolved_for_a_job_or_call(api: Api, app: MadeApp, kind: str) -> None:
    # checklist 138
    work = api.create(kind, app.guid, name="named")
    answer = _validate(api, expression="H H * * *", ref_type=kind, ref_guid=work["guid"])
    assert answer["ref"] == {"type": kind, "guid": work["guid"], "name": "named"}
    assert answer["illustrative"] is True
    assert [field["field"] for field in answer["hashed_fields"]] == ["minute", "hour"]
    schedule = api.schedule(f"/{kind}s/{work['guid']}", "H H * * *")
    assert answer["next_runs"][0] == schedule["next_run_at"]


@pytest.mark.parametrize("kind", ["job", "call"])
def test_stored_schedules_are_checked_without_an_expression(api: Api, app: MadeApp, kind: str) -> None:
    # checklist 138, 140
    work = api.create(kind, app.guid)
    path = f"/{kind}s/{work['guid']}"
    first, second = api.schedule(path, "0 0 * * *"), api.schedule(path, "0 5 * * *", enabled=False)
    answer = _validate(api, expression="", ref_type=kind, ref_guid=work["guid"], next=1)
    assert set(answer) == {"pagination", "ref", "resources"}
    assert (answer["pagination"]["total_results"], answer["pagination"]["next"]) == (2, {"href": "next"})
    rows = answer["resources"]
    assert [(row["schedule_guid"], row["enabled"]) for row in rows] == [(first["guid"], True), (second["guid"], False)]
    assert all(len(row["next_runs"]) == 1 and row["ref"] == answer["ref"] for row in rows)


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({}, None),
        ({"expression": ""}, None),
        ({"expression": None}, None),
        ({"ref_type": "job"}, None),
        ({"ref_guid": "x"}, None),
        ({"ref_type": "task", "ref_guid": "x"}, "ref_type"),
        ({"ref_type": 5, "ref_guid": "x"}, "ref_type"),
        ({"expression": "@daily", "next": -1}, "next"),
        ({"expression": "@daily", "next": 101}, "next"),
        ({"expression": "@daily", "prev": 101}, "prev"),
        ({"expression": "@daily", "next": "5"}, "next"),
        ({"expression": "@daily", "from": "soon"}, "from"),
        ({"expression": 5}, "expression"),
        ({"expression": "@daily", "on_gap": "x"}, "on_gap"),
    ],
    ids=str,
)
def test_a_request_that_leaves_open_what_is_asked_is_bad(api: Api, wish: dict[str, Any], field: str | None) -> None:
    # checklist 139
    answer = api.post("/schedules/validate", wish)
    assert answer.status_code == 422
    assert set(codes_of(answer)) == {"bad_request"}
    assert field in {None, *fields_of(answer)}


@pytest.mark.parametrize("body", [b"", b"{", b"[]"])
def test_a_body_that_is_no_json_object_is_bad(api: Api, body: bytes) -> None:
    # checklist 139
    answer = api.post("/schedules/validate", data=body)
    assert answer.status_code == 422
    assert codes_of(answer) == ["bad_request"]


@pytest.mark.parametrize("guid", ["5f0c1d1e-6d3a-4a53-9f0e-0f1f0a7b7c11", "x"])
@pytest.mark.parametrize("kind", ["job", "call"])
def test_an_unknown_job_or_call_has_a_code_of_its_own(api: Api, kind: str, guid: str) -> None:
    # checklist 139
    answer = api.post("/schedules/validate", {"ref_type": kind, "ref_guid": guid, "expression": "@daily"})
    assert answer.status_code == 404
    assert errors_of(answer)[0]["code"] == "ref_not_found"


def test_the_time_zones_are_listed_as_the_reference_lists_them(api: Api) -> None:
    # checklist 141
    zones = {zone["Name"]: zone for zone in resources_of(api.get("/scheduler-time-zones"))}
    assert len(zones) > 300
    berlin = zones["Europe/Berlin"]
    assert (berlin["HasDst"], berlin["Std"], berlin["Dst"]) == (True, "CET (UTC +01:00)", "CEST (UTC +02:00)")
    assert "Arctic/Longyearbyen" in berlin["Aliases"]
    assert berlin["Rules"].startswith("Starts on the last Sunday of March")
    assert "IsServerTimeZone" not in berlin
    assert [name for name, zone in zones.items() if zone.get("IsServerTimeZone") == "yes"] == ["Etc/UTC"]
    tokyo = zones["Asia/Tokyo"]
    assert tokyo["HasDst"] is False
    assert not {"Dst", "Rules"} & set(tokyo)
