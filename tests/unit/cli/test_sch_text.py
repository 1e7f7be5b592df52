"""Text is made harmless, measured, aligned and shortened."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sch.terminal.tables import detail_lines, table_lines
from sch.terminal.text import clean, clean_json, pad, shorten, width
from sch.terminal.times import read_time, shown_seconds, shown_span, shown_time

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_clean_text_holds_nothing_that_could_steer_a_terminal(text: str) -> None:
    cleaned = clean(text)
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in cleaned)
    assert not set(cleaned) & set("\u202a\u202e\u2066\u2069\u200f\u2028\ufeff")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | ANY_TEXT,
        lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    )
)
def test_clean_json_means_the_same(content: object) -> None:
    try:
        text = json.dumps(content, ensure_ascii=False, indent=1)
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate cannot come over HTTP
        return
    assert json.loads(clean_json(text)) == content
    assert "\x9b" not in clean_json(text)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("abc", 3),
        ("夜間", 4),
        ("\uff57\uff49", 4),
        ("e\u0301", 1),
        ("한글", 4),
        ("a\u200db", 2),
        ("🎉", 2),
        ("ﾊﾝ", 2),
    ],
)
def test_width_counts_cells(text: str, cells: int) -> None:
    assert width(text) == cells
    assert width(pad(text, 10)) == 10


@given(st.text(), st.integers(1, 20))
def test_shortened_text_fits(text: str, cells: int) -> None:
    cut = shorten(text, cells)
    assert width(cut) <= cells
    assert cut == text or cut.endswith("…")


@given(st.lists(st.lists(st.text(), min_size=3, max_size=3), min_size=1, max_size=5))
def test_every_column_of_a_table_starts_at_the_same_cell(rows: list[list[str]]) -> None:
    lines = list(table_lines(["a", "b", "c"], [[*row[:2], "|"] for row in rows]))
    assert len({width(line) for line in lines[1:]}) == 1
    assert all(line.endswith("|") for line in lines[1:])


def test_a_fitted_table_cuts_only_its_last_column_and_keeps_something_of_it() -> None:
    heading, row = table_lines(["name", "command"], [["n" * 30, "c" * 100]], fit=40)
    assert row == "n" * 30 + "   " + "c" * 19 + "…"
    assert heading == "name" + " " * 29 + "command"


def test_details_without_a_name_continue_the_one_above() -> None:
    assert list(detail_lines([("next runs", "1"), ("", "2")])) == ["next runs:   1", "             2"]
    assert list(detail_lines([])) == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("2027-01-01T10:00:00.123456+02:00", "2027-01-01T08:00:00Z"),
        ("2027-01-01T10:00:00Z", "2027-01-01T10:00:00Z"),
        ("0001-01-01T00:00:00Z", ""),
        ("0001-01-01T00:00:00+23:00", "0001-01-01T00:00:00+23:00"),
        ("yesterday", "yesterday"),
        ("", ""),
        (None, ""),
        (5, ""),
    ],
)
def test_times_are_shown_in_utc_or_not_at_all(value: object, shown: str) -> None:
    assert shown_time(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.25, "250 ms"), (4.21, "4.2 s"), (42, "42 s"), (185, "3 m 05 s"), (7_800, "2 h 10 m"), (273_600, "3 d 4 h"),
    ],
)  # fmt: skip
def test_lengths_of_time_are_short(seconds: float, shown: str) -> None:
    assert shown_seconds(seconds) == shown


def test_a_span_needs_both_ends_and_is_never_negative() -> None:
    assert shown_span("2027-01-01T00:00:00Z", "2027-01-01T00:01:00Z") == "1 m 00 s"
    assert shown_span("2027-01-01T00:01:00Z", "2027-01-01T00:00:00Z") == "0 ms"
    assert shown_span(None, "2027-01-01T00:00:00Z") == ""
    assert read_time("x") is None
