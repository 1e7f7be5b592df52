"""The configuration file: what it may say, and how its mistakes are told."""

from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

import pytest

from scheduler.domain.schedules import Misfire
from scheduler.domain.states import ExpressionType, MisfirePolicy, Overlap, RefType
from scheduler_ticker.configuration import (
    AUDIT_CLEAN_UP,
    HISTORY_CLEAN_UP,
    Configuration,
    ConfigurationError,
    read_configuration,
)

GUID = "018f5b7e-0000-7000-8000-000000000001"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scheduler.yml"


def _read(path: Path, text: str) -> Configuration:
    path.write_text(dedent(text))
    return read_configuration(str(path))


def _mistakes(path: Path, text: str) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        _read(path, text)
    return [line.removeprefix(f"{path}: ") for line in str(caught.value).splitlines()]


def test_without_a_file_both_clean_ups_run_daily() -> None:
    configuration = read_configuration("")
    assert {name: job.enabled for name, job in configuration.system_jobs.items()} == {
        HISTORY_CLEAN_UP: True,
        AUDIT_CLEAN_UP: True,
    }
    assert configuration.declarations == ()


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "schedules: []\nsystem_jobs: {}\n"])
def test_an_empty_file_changes_nothing(path: Path, text: str) -> None:
    assert _read(path, text).system_jobs == read_configuration("").system_jobs


def test_a_system_job_can_be_moved_and_switched_off(path: Path) -> None:
    configuration = _read(
        path,
        """
        system_jobs:
          history_clean_up: {expression: "15 4 * * SUN", time_zone: Europe/Berlin}
          audit_clean_up: {enabled: false}
        """,
    )
    history = configuration.system_jobs[HISTORY_CLEAN_UP]
    assert (history.enabled, history.expression, history.time_zone) == (True, "15 4 * * SUN", "Europe/Berlin")
    assert not configuration.system_jobs[AUDIT_CLEAN_UP].enabled


def test_a_schedule_is_declared_with_the_defaults_of_the_api(path: Path) -> None:
    (declaration,) = _read(
        path,
        """
        schedules:
          - name: nightly
            job: {name: backup, app_guid: app-1}
            expression: "0 2 * * *"
        """,
    ).declarations
    assert (declaration.name, declaration.enabled) == ("nightly", True)
    assert (declaration.owner.kind, declaration.owner.name, declaration.owner.app_guid) == (
        RefType.JOB, "backup", "app-1",
    )  # fmt: skip
    assert declaration.definition.expression == "0 2 * * *"
    assert declaration.definition.expression_type is ExpressionType.CRON
    assert declaration.definition.overlap is Overlap.ALLOW


def test_everything_that_the_api_takes_can_be_declared(path: Path) -> None:
    (declaration,) = _read(
        path,
        f"""
        schedules:
          - name: poll
            call: {{guid: {GUID}}}
            expression: PT5M
            expression_type: fixed_rate
            misfire: {{policy: catch_up, grace_seconds: 5, max_runs: 10, max_age_seconds: 600}}
            start_time: 2027-01-01T10:30:00Z
            end_time: "2028-01-01T10:30:00+02:00"
            max_runs: 100
            start_deadline_seconds: 0
            enabled: false
            metadata: {{owner: team-a}}
        """,
    ).declarations
    definition = declaration.definition
    assert definition.expression_type is ExpressionType.FIXED_RATE
    assert definition.overlap is Overlap.WAIT
    assert definition.misfire == Misfire(
        policy=MisfirePolicy.CATCH_UP, grace_seconds=5, max_runs=10, max_age_seconds=600
    )
    assert definition.start_time == datetime(2027, 1, 1, 10, 30, tzinfo=UTC)
    assert definition.end_time == datetime(2028, 1, 1, 8, 30, tzinfo=UTC)
    assert (declaration.enabled, declaration.metadata) == (False, {"owner": "team-a"})
    assert str(declaration.owner.guid) == GUID


def test_all_mistakes_are_told_together_each_with_its_place(path: Path) -> None:
    mistakes = _mistakes(
        path,
        """
        system_jobs:
          history_clean_up: {enabled: "yes", expression: "61 * * * *"}
          vacuum: {enabled: true}
        schedules:
          - name: a
            job: {name: backup}
            expression: "0 2 * * *"
          - expression: "0 2 * * *"
            job: {guid: nonsense}
            overlap: sometimes
          - name: c
            expression: "0 99 * * *"
            call: {name: x, space_guid: s}
        colour: green
        """,
    )
    told = "\n".join(mistakes)
    for place in (
        "system_jobs: history_clean_up: enabled: ",
        "system_jobs: vacuum: Unknown field.",
        "schedules[1]: job: needs either guid, or name and app_guid, or name and space_guid",
        "schedules[2]: name: Missing data",
        "schedules[2]: job: guid: Not a valid UUID.",
        "schedules[2]: overlap: Must be one of",
        "schedules[3]: expression: ",
        "colour: Unknown field.",
    ):
        assert place in told


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("schedules: [{name: a, expression: '0 2 * * *'}]", "schedules[1]: needs either job or call"),
        (
            f"schedules: [{{name: a, expression: '0 2 * * *', job: {{guid: {GUID}}}, call: {{guid: {GUID}}}}}]",
            "schedules[1]: needs either job or call",
        ),
        (
            f"schedules: [{{name: a, expression: x, expression_type: one_time, job: {{guid: {GUID}}}}}]",
            "schedules[1]: expression: ",
        ),
        (
            f"schedules: [{{name: a, expression: '0 2 * * *', start_time: 2027-01-01, job: {{guid: {GUID}}}}}]",
            "schedules[1]: start_time: must be an instant with an offset",
        ),
        (
            (
                f"schedules: [{{name: a, expression: '0 2 * * *', overlap: skip, misfire: {{policy: catch_up}}, "
                f"job: {{guid: {GUID}}}}}]"
            ),
            "schedules[1]: overlap: catching up makes runs",
        ),
        (
            (
                f"schedules: [{{name: a, expression: '0 2 * * *', job: {{guid: {GUID}}}}}, "
                f"{{name: a, expression: '0 3 * * *', job: {{guid: {GUID}}}}}]"
            ),
            "schedules: declared twice: a",
        ),
        ("- a\n- b", "Invalid input type."),
        ("a: [", "is no YAML"),
        ("a: !!python/object/apply:os.system ['true']", "is no YAML"),
    ],
)
def test_a_mistake_is_told_with_its_place(path: Path, text: str, mistake: str) -> None:
    assert mistake in "\n".join(_mistakes(path, text))


def test_a_file_that_is_not_there_is_told(path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file or directory"):
        read_configuration(str(path))
