"""History: newest first, filtered, in pages that cost the same wherever they are."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import Engine, text

from scheduler.domain.guids import first_guid_at
from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, content_of, fields_of, resources_of

_START = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["job", "call"])
def work(request: pytest.FixtureRequest, api: Api, app: MadeApp) -> str:
    """The path of a job or call."""
    return f"/{request.param}s/{api.create(request.param, app.guid)['guid']}"


def test_a_history_holds_manual_and_scheduled_runs_newest_first(api: Api, work: str) -> None:
    # checklist 124, 125
    first, second = api.schedule(work), api.schedule(work, "0 5 1 1 *")
    manual = content_of(api.post(f"{work}/execute"), 201)
    one, two = (
        content_of(api.post(f"{work}/schedules/{schedule['guid']}/actions/trigger"), 201)
        for schedule in (first, second)
    )
    assert resources_of(api.get(f"{work}/history")) == [two, one, manual]
    assert resources_of(api.get(f"{work}/schedules/{first['guid']}/history")) == [one]
    assert resources_of(api.get(f"{work}/schedules/{second['guid']}/history")) == [two]


def test_another_works_history_is_another(api: Api, app: MadeApp) -> None:
    # checklist 124
    paths = [f"/jobs/{api.create_job(app.guid, name=name)['guid']}" for name in ("a", "b")]
    content_of(api.post(f"{paths[0]}/execute"), 201)
    assert resources_of(api.get(f"{paths[1]}/history")) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("state=FAILED", [3, 8]),
        ("state=FAILED,PENDING", [3, 4, 8, 9]),
        ("trigger=manual", [0, 5]),
        ("trigger=misfire,catch_up&state=SUCCEEDED", []),
        ("since=2027-01-01T07:00:00Z", [7, 8, 9]),
        ("until=2027-01-01T02:00:00Z", [0, 1]),
        ("since=2027-01-01T02:00:00Z&until=2027-01-01T04:00:00Z&state=FAILED", [3]),
        ("since=2030-01-01T00:00:00Z", []),
        ("state=", list(range(10))),
    ],
)
def test_a_history_is_filtered(api: Api, work: str, engine: Engine, query: str, expected: list[int]) -> None:
    _fill(engine, work, 10)
    rows = resources_of(api.get(f"{work}/history?{query}"))
    assert [row["duration_ms"] for row in rows] == sorted(expected, reverse=True)


@pytest.mark.parametrize(
    ("query", "field"),
    [("state=failed", "state.0"), ("state=FAILED,x", "state.1"), ("trigger=x", "trigger.0"), ("since=x", "since"),
     ("until=2027-01-01", "until"), ("before=x", "before"), ("after=1", "after"),
     ("page=200000&per_page=5000", "page")],
)  # fmt: skip
def test_a_filter_must_make_sense(api: Api, work: str, query: str, field: str) -> None:
    answer = api.get(f"{work}/history?{query}")
    assert answer.status_code == 422
    assert fields_of(answer) == [field]


def test_pages_are_walked_forth_and_back_by_links(api: Api, work: str, engine: Engine) -> None:
    _fill(engine, work, 11)
    forth = list(_walk(api, f"{work}/history?per_page=4&until=2027-02-01T00:00:00Z", "next"))
    assert [[row["duration_ms"] for row in page["resources"]] for page in forth] == [
        [10, 9, 8, 7],
        [6, 5, 4, 3],
        [2, 1, 0],
    ]
    assert [page["pagination"]["total_results"] for page in forth] == [11, 11, 11]
    back = list(_walk(api, _relative(forth[1]["pagination"]["next"]["href"]), "previous"))
    assert [page["resources"] for page in back] == [page["resources"] for page in reversed(forth)]


def test_rows_that_come_meanwhile_do_not_shift_the_next_page(api: Api, work: str, engine: Engine) -> None:
    _fill(engine, work, 6)
    first = content_of(api.get(f"{work}/history?per_page=3"))
    _fill(engine, work, 4, start=_START + timedelta(days=1))
    second = content_of(api.get(_relative(first["pagination"]["next"]["href"])))
    assert [row["duration_ms"] for row in second["resources"]] == [2, 1, 0]


def test_a_page_by_its_number_is_the_same_as_by_links(api: Api, work: str, engine: Engine) -> None:
    _fill(engine, work, 9)
    page = content_of(api.get(f"{work}/history?per_page=4&page=2"))
    assert [row["duration_ms"] for row in page["resources"]] == [4, 3, 2, 1]
    assert page["pagination"]["total_pages"] == 3
    assert page["pagination"]["previous"] is not None


def test_a_very_long_history_is_not_counted(api: Api, work: str, engine: Engine) -> None:
    _fill(engine, work, 10_050)
    pagination = content_of(api.get(f"{work}/history?per_page=10"))["pagination"]
    assert (pagination["total_pages"], pagination["total_results"], pagination["last"]) == (None, None, None)
    assert pagination["next"] is not None


def _walk(api: Api, path: str, direction: str) -> Any:
    while True:
        page = content_of(api.get(path))
        yield page
        link = page["pagination"][direction]
        if link is None:
            return
        path = _relative(link["href"])


def _relative(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def _fill(engine: Engine, work: str, count: int, *, start: datetime = _START) -> None:
    """Add executions, one an hour; `duration_ms` is their number, and both state and trigger have a pattern."""
    kind, guid = work.strip("/").split("s/")
    rows = [
        {
            "guid": first_guid_at(start + timedelta(hours=number)),
            "state": "FAILED" if number % 5 == 3 else "PENDING" if number % 5 == 4 else "SUCCEEDED",
            "trigger": "manual" if number % 5 == 0 else "schedule",
            "created_at": start + timedelta(hours=number),
            "number": number,
        }
        for number in range(count)
    ]
    insert = text(f"""
        INSERT INTO executions (guid, ref_type, ref_guid, space_guid, trigger, state, created_at, duration_ms)
        VALUES (:guid, '{kind}', '{guid}', 'space', :trigger, :state, :created_at, :number)
    """)
    with engine.begin() as connection:
        connection.execute(insert, rows)
