"""`sch next` and `sch zones`: no scheduler, no settings."""

import json
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Sch

NOWHERE = {"SCHEDULER_URL": None, "SCHEDULER_TOKEN": None, "SCHEDULER_SPACE": None}
FROM = ("--from", "2027-03-27T00:00:00Z")


def test_next_runs_are_shown_in_utc_and_on_the_wall(sch: Sch) -> None:
    done = sch("next", "30 2 * * *", "-z", "Europe/Berlin", *FROM, "-n", "2", env=NOWHERE)
    assert done.code == 0
    assert done.facts()["time zone"] == "Europe/Berlin"
    assert done.facts()["next runs"] == "2027-03-27T01:30:00Z  Sat 2027-03-27 02:30:00 Europe/Berlin"
    # The clock jumps over 02:30 on the next day.
    assert done.out.splitlines()[-1].strip() == "2027-03-28T01:30:00Z  Sun 2027-03-28 03:30:00 Europe/Berlin"
    assert "Warning: " in done.err


def test_next_as_json_is_the_analysis(sch: Sch) -> None:
    document = sch("next", "H 2 * * *", *FROM, "--count", "1", "--hash-key", "job-guid-A", "--json", env=NOWHERE).json()
    assert (document["valid"], document["illustrative"], len(document["next_runs"])) == (True, True, 1)


@pytest.mark.parametrize(
    ("options", "first"),
    [
        (["--on-gap", "skip"], "2027-03-29T00:30:00Z"),
        (["--on-gap", "next_valid"], "2027-03-28T01:00:00Z"),
        (["--on-fold", "both"], "2027-03-28T01:30:00Z"),
    ],
)
def test_policies_reach_the_timetable(sch: Sch, options: list[str], first: str) -> None:
    start = ("--from", "2027-03-28T00:00:00Z")
    document = sch("next", "30 2 * * *", "-z", "Europe/Berlin", *start, *options, "--json", env=NOWHERE).json()
    assert document["next_runs"][0] == first


@pytest.mark.parametrize(
    ("expression", "kind", "first"),
    [("PT5M", "fixed_rate", "2027-03-27T00:05:00Z"), ("2027-04-01T10:00:00Z", "one_time", "2027-04-01T10:00:00Z")],
)
def test_other_types_of_expressions_have_runs_too(sch: Sch, expression: str, kind: str, first: str) -> None:
    assert sch("next", expression, "--type", kind, *FROM, "--json", env=NOWHERE).json()["next_runs"][0] == first


def test_an_invalid_expression_is_a_failure_with_a_caret(sch: Sch) -> None:
    done = sch("next", "0 25 * * *", env=NOWHERE)
    assert (done.code, done.out) == (1, "FAILED\n")
    assert "\n   0 25 * * *\n     ^^\n" in done.err


def test_a_zone_of_the_environment_is_the_default(sch: Sch) -> None:
    done = sch("next", "0 2 * * *", *FROM, "--json", env={**NOWHERE, "SCHEDULER_TIME_ZONE": "Asia/Kathmandu"})
    assert done.json()["next_runs"][0] == "2027-03-27T20:15:00Z"


@pytest.mark.parametrize(
    ("arguments", "variables", "complaint"),
    [
        ((), {}, "Give either an expression or --batch."),
        (("@daily", "--batch", "-"), {}, "Give either an expression or --batch."),
        (("@daily", "--from", "tomorrow"), {}, "--from: 'tomorrow' is not an instant"),
        (("@daily",), {"SCHEDULER_TIME_ZONE": "Mars/Olympus"}, "SCHEDULER_TIME_ZONE must be an IANA time zone"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_a_usage_error(
    sch: Sch, arguments: tuple[str], variables: dict[str, str], complaint: str
) -> None:
    done = sch("next", *arguments, env={**NOWHERE, **variables})
    assert done.code == 2
    assert complaint in done.err


def test_a_batch_is_answered_line_by_line(sch: Sch, tmp_path: Path) -> None:
    lines = [
        {"id": 1, "expression": "0 2 * * *", "after": "2027-03-27T00:00:00Z", "count": 2},
        {"id": 2, "expression": "0 25 * * *", "after": "2027-03-27T00:00:00Z"},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    done = sch("next", "--batch", str(path), env=NOWHERE)
    first, second = map(json.loads, done.out.splitlines())
    assert first == {"id": 1, "next": ["2027-03-27T02:00:00Z", "2027-03-28T02:00:00Z"]}
    assert (second["id"], second["errors"][0]["code"]) == (2, "parse_error")
    assert (done.code, done.err) == (0, "")


def test_a_batch_can_come_through_a_pipe(sch_process: Sch) -> None:
    line = json.dumps({"id": "a", "expression": "@daily", "after": "2027-03-27T00:00:00Z", "count": 1})
    done = sch_process("next", "--batch", "-", stdin=f"{line}\nnonsense\n")
    assert [set(json.loads(answer)) for answer in done.out.splitlines()] == [{"id", "next"}, {"id", "errors"}]


def test_a_batch_that_is_not_there_is_a_usage_error(sch: Sch) -> None:
    done = sch("next", "--batch", "/does/not/exist", env=NOWHERE)
    assert done.code == 2
    assert "/does/not/exist" in done.err


def test_zones_are_listed_with_the_default_marked(sch: Sch) -> None:  # checklist 307
    done = sch("zones", env={**NOWHERE, "SCHEDULER_TIME_ZONE": "Europe/Berlin"})
    lines = done.out.splitlines()
    assert lines[0].startswith("time zone database 20")
    assert len(lines) > 300
    assert [line.split()[0] for line in lines if "*" in line.split()[0]] == ["Europe/Berlin*"]


def test_zones_as_json_are_those_of_the_api(sch: Sch) -> None:  # checklist 307
    rows = {row["Name"]: row for row in sch("zones", "--json", env=NOWHERE).json()}
    assert rows["Europe/Berlin"]["HasDst"] is True
    assert "IsServerTimeZone" not in rows["Europe/Berlin"]
