"""Audit events: every change leaves one, in the same transaction, and only developers of the space read them."""

from typing import Any
from uuid import uuid4

import pytest

from scheduler_local import seed
from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, content_of, fields_of, resources_of


@pytest.mark.parametrize("kind", ["job", "call"])
def test_every_change_is_written_down(api: Api, app: MadeApp, kind: str) -> None:
    work = api.create(kind, app.guid, name="nightly")
    path = f"/{kind}s/{work['guid']}"
    schedule = api.schedule(path)
    its = f"{path}/schedules/{schedule['guid']}"
    execution = content_of(api.post(f"{path}/execute"), 201)
    steps = [
        api.patch(path, {"name": "weekly"}),
        api.patch(its, {"expression": "0 5 * * *"}),
        api.post(f"{its}/actions/pause", {"note": "why"}),
        api.post(f"{its}/actions/resume"),
        api.post(f"{its}/actions/trigger"),
        api.post(f"{its}/actions/revalidate"),
        api.post(f"/executions/{execution['guid']}/actions/cancel"),
        api.delete(its),
        api.delete(path),
    ]
    assert {step.status_code for step in steps} <= {200, 201, 204}
    events = _events(api, app)
    assert [event["action"] for event in reversed(events)] == [
        f"{kind}.create", "schedule.create", f"{kind}.execute", f"{kind}.update", "schedule.update", "schedule.pause",
        "schedule.resume", "schedule.trigger", "schedule.revalidate", "execution.cancel", "schedule.delete",
        f"{kind}.delete",
    ]  # fmt: skip
    assert {(event["actor_guid"], event["actor_name"]) for event in events} == {
        (seed.user_guid(seed.DEVELOPER), seed.DEVELOPER)
    }
    created = events[-1]
    assert (created["target_type"], created["target_guid"]) == (kind, work["guid"])
    assert (created["space_guid"], created["data"]) == (app.space_guid, {"name": "nightly"})
    assert [event["data"] for event in events if event["action"] == f"{kind}.update"] == [{"changed": ["name"]}]
    assert {event["target_guid"] for event in events} == {work["guid"], schedule["guid"], execution["guid"]}


def test_what_is_refused_leaves_no_event(api: Api, app: MadeApp) -> None:
    job = api.create_job(app.guid)
    before = len(_events(api, app))
    api.post(f"/jobs?app_guid={app.guid}", {"name": "job", "command": "c"})
    api.post(f"/jobs/{job['guid']}/schedules", {"expression": "99 * * * *"})
    api.delete(f"/jobs/{uuid4()}")
    assert len(_events(api, app)) == before


def test_a_repeated_key_leaves_one_event(api: Api, app: MadeApp) -> None:
    job = api.create_job(app.guid)
    for _ in range(2):
        api.post(f"/jobs/{job['guid']}/execute", headers={"Idempotency-Key": "once"})
    assert [event["action"] for event in _events(api, app)].count("job.execute") == 1


def test_events_are_filtered_and_paged(api: Api, app: MadeApp) -> None:
    jobs = [api.create_job(app.guid, name=name) for name in ("a", "b", "c")]
    api.delete(f"/jobs/{jobs[0]['guid']}", user=seed.ADMIN)
    assert [event["data"]["name"] for event in _events(api, app, action="job.create")] == ["c", "b", "a"]
    assert len(_events(api, app, target_guid=jobs[0]["guid"])) == 2
    assert [e["action"] for e in _events(api, app, actor_guid=seed.user_guid(seed.ADMIN))] == ["job.delete"]
    assert _events(api, app, until="2001-01-01T00:00:00Z") == []
    assert len(_events(api, app, since="2001-01-01T00:00:00Z")) == 4
    page = content_of(api.get(f"/audit-events?space_guid={app.space_guid}&per_page=3"))
    assert (len(page["resources"]), page["pagination"]["total_results"]) == (3, 4)
    assert "before=" in page["pagination"]["next"]["href"]
    assert fields_of(api.get(f"/audit-events?space_guid={app.space_guid}&since=x")) == ["since"]


@pytest.mark.parametrize("user", [seed.MANAGER, seed.AUDITOR, seed.STRANGER])
def test_others_read_nothing(api: Api, app: MadeApp, user: str) -> None:
    assert api.get(f"/audit-events?space_guid={app.space_guid}", user=user).status_code == 403


def test_only_an_admin_reads_without_naming_a_space(api: Api, app: MadeApp, other_app: MadeApp) -> None:
    api.create_job(app.guid)
    api.post(f"/jobs?app_guid={other_app.guid}", {"name": "n", "command": "c"}, user=seed.ADMIN)
    assert api.get("/audit-events").status_code == 403
    spaces = {event["space_guid"] for event in resources_of(api.get("/audit-events", user=seed.ADMIN))}
    assert spaces == {app.space_guid, other_app.space_guid}


def _events(api: Api, app: MadeApp, **filters: str) -> list[dict[str, Any]]:
    query = "".join(f"&{name}={value}" for name, value in filters.items())
    return resources_of(api.get(f"/audit-events?space_guid={app.space_guid}{query}"))
