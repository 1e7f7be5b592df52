"""Words for statuses."""

import pytest

from scheduler_call_runner.statuses import matches, phrase


@pytest.mark.parametrize(
    ("word", "inside", "outside"),
    [
        ("204", [204], [200, 205]),
        ("2xx", [200, 299], [199, 300]),
        ("2XX", [226], [300]),
        ("40x", [400, 409], [410]),
        ("200-204", [200, 202, 204], [199, 205]),
        ("nonsense", [], [200]),
        ("", [], [200]),
        ("connect_error", [], [500]),
        ("20", [], [20, 200]),
        ("200-abc", [], [200]),
    ],
)
def test_a_word_stands_for_its_statuses(word: str, inside: list[int], outside: list[int]) -> None:
    assert all(matches([word], status) for status in inside)
    assert not any(matches([word], status) for status in outside)


def test_one_fitting_word_is_enough() -> None:
    assert matches(("404", "2xx"), 204)


def test_an_unknown_status_has_no_name() -> None:
    assert phrase(503) == "503 Service Unavailable"
    assert phrase(599) == "599"
