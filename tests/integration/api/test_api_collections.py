"""Collections: the reference's plain envelope, real pages, order."""

from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text

from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, content_of, fields_of

_LITERAL = {name: {"href": name} for name in ("first", "last", "next", "previous")}


@pytest.mark.parametrize("kind", ["job", "call"])
def test_a_collection_has_the_plain_envelope(api: Api, app: MadeApp, kind: str) -> None:
    # checklist 113, 114, 115, 116, 117
    path = f"/{kind}s?space_guid={app.space_guid}"
    empty = api.get(path)
    assert empty.status_code == 200
    assert empty.json == {"pagination": {"total_pages": 1, "total_results": 0, **_LITERAL}, "resources": []}
    created = {name: api.create(kind, app.guid, name=name) for name in ("b", "c", "a")}
    listed = content_of(api.get(path))
    assert listed["pagination"] == {"total_pages": 1, "total_results": 3, **_LITERAL}
    assert listed["resources"] == [created["a"], created["b"], created["c"]]


def test_pages_are_linked_by_real_urls(api: Api, app: MadeApp) -> None:
    for number in range(5):
        api.create_job(app.guid, name=f"job {number}")
    path = f"/jobs?space_guid={app.space_guid}&per_page=2"
    pages = list(_walk(api, path))
    assert [[job["name"] for job in page["resources"]] for page in pages] == [
        ["job 0", "job 1"],
        ["job 2", "job 3"],
        ["job 4"],
    ]
    first, _, last = (page["pagination"] for page in pages)
    assert (first["total_pages"], first["total_results"]) == (3, 5)
    assert first["previous"] is None
    assert last["next"] is None
    assert content_of(api.get(_relative(last["previous"]["href"]))) == pages[1]
    assert content_of(api.get(_relative(last["first"]["href"]))) == pages[0]
    assert content_of(api.get(_relative(first["last"]["href"]))) == pages[2]


def test_behind_a_router_that_ends_tls_links_stay_https(api: Api, app: MadeApp) -> None:
    api.create_job(app.guid)
    headers = {"X-Forwarded-Proto": "https", "Host": "scheduler.example.com"}
    page = content_of(api.get(f"/jobs?space_guid={app.space_guid}&per_page=1", headers=headers))
    assert page["pagination"]["first"]["href"].startswith("https://scheduler.example.com/jobs?")


def test_a_page_behind_the_end_is_empty(api: Api, app: MadeApp) -> None:
    api.create_job(app.guid)
    page = content_of(api.get(f"/jobs?space_guid={app.space_guid}&page=7&per_page=10"))
    assert page["resources"] == []
    assert page["pagination"]["total_results"] == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("page=0", "page"), ("page=-1", "page"), ("page=x", "page"), ("page=1_0", "page"), ("page=%D9%A1", "page"),
        ("page=99999999999999999999", "page"), ("per_page=0", "per_page"), ("per_page=5001", "per_page"),
        ("per_page=1.5", "per_page"), ("per_page=", "per_page"),
    ],
)  # fmt: skip
def test_a_page_must_be_a_number_in_bounds(api: Api, app: MadeApp, query: str, field: str) -> None:
    answer = api.get(f"/jobs?space_guid={app.space_guid}&{query}")
    assert answer.status_code == 422
    assert fields_of(answer) == [field]


def test_more_than_five_thousand_rows_come_in_pages_though_nobody_asked(api: Api, app: MadeApp, engine: Engine) -> None:
    job = api.create_job(app.guid)
    _add_executions(engine, job["guid"], 5_001)
    whole = content_of(api.get(f"/jobs/{job['guid']}/history"))
    assert len(whole["resources"]) == 5_000
    assert (whole["pagination"]["total_pages"], whole["pagination"]["total_results"]) == (2, 5_001)
    rest = content_of(api.get(_relative(whole["pagination"]["next"]["href"])))
    assert len(rest["resources"]) == 1


def _walk(api: Api, path: str) -> Any:
    while True:
        page = content_of(api.get(path))
        yield page
        if page["pagination"]["next"] is None:
            return
        path = _relative(page["pagination"]["next"]["href"])


def _relative(url: str) -> str:
    parts = urlsplit(url)
    assert parts.scheme == "http"
    return f"{parts.path}?{parts.query}"


def _add_executions(engine: Engine, job_guid: str, count: int) -> None:
    insert = text("""
        INSERT INTO executions (guid, ref_type, ref_guid, space_guid, trigger, state, created_at)
        SELECT gen_random_uuid(), 'job', :job, 'space', 'manual', 'SUCCEEDED', now() FROM generate_series(1, :count)
    """)
    with engine.begin() as connection:
        connection.execute(insert, {"job": job_guid, "count": count})


def test_a_space_that_nobody_knows_is_foreign(api: Api) -> None:
    assert api.get(f"/jobs?space_guid={uuid4()}").status_code == 403
