"""Every line of the known answers is a check (checklist 129-134)."""

from itertools import product

import pytest

from scheduler.domain.errors import InvalidInputError
from scheduler.domain.schedules import Definition
from scheduler.domain.states import DayMatch, OnFold, OnGap
from tests.unit.timetable.vectors import Line, instant, lines, timetable_of

_REFERENCE = [*lines("reference_next"), *lines("reference_edge")]
_POLICIES = list(lines("policies"))
_REFERENCE_SEARCH_YEARS = 5


def _named(line: Line) -> str:
    return str(line["id"])


@pytest.mark.parametrize("line", [line for line in _REFERENCE if "invalid" in line], ids=_named)
def test_an_expression_that_the_reference_refuses_is_refused(line: Line) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        timetable_of(line, Definition(expression=line["expression"]))
    assert {finding.code for finding in refusal.value.findings} == {"parse_error"}


@pytest.mark.parametrize("line", [line for line in _REFERENCE if line.get("next")], ids=_named)
def test_the_next_runs_are_those_of_the_reference(line: Line) -> None:
    timetable = timetable_of(line, Definition(expression=line["expression"]))
    expected = [instant(text) for text in line["next"]]
    assert timetable.runs(instant(line["after"]), len(expected)) == expected


@pytest.mark.parametrize(
    "line", [line for line in _REFERENCE if "never_fires" in line and not line.get("next")], ids=_named
)
def test_what_never_fires_in_the_reference_has_no_run_in_its_five_years(line: Line) -> None:
    timetable = timetable_of(line, Definition(expression=line["expression"]))
    after = instant(line["after"])
    run = timetable.next_after(after)
    assert run is None or run.year > after.year + _REFERENCE_SEARCH_YEARS


@pytest.mark.parametrize("line", _POLICIES, ids=_named)
def test_the_next_runs_follow_each_pair_of_gap_and_fold_policies(line: Line) -> None:
    for policies, texts in line["next"].items():
        for on_gap, on_fold in _pairs(policies):
            definition = Definition(
                expression=line["expression"],
                time_zone=line["time_zone"],
                day_match=DayMatch(line["day_match"]),
                on_gap=on_gap,
                on_fold=on_fold,
            )
            expected = [instant(text) for text in texts]
            runs = timetable_of(line, definition).runs(instant(line["after"]), len(expected))
            assert runs == expected, f"{on_gap}+{on_fold}"


def _pairs(policies: str) -> list[tuple[OnGap, OnFold]]:
    if policies == "every":
        return list(product(OnGap, OnFold))
    on_gap, on_fold = policies.split("+")
    return [(OnGap(on_gap), OnFold(on_fold))]
