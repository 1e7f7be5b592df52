"""`sch audit`."""

from tests.integration.cli.conftest import SPACE, Sch
from tests.integration.cli.fake_api import FakeApi, collection
from tests.integration.cli.samples import JOB_GUID

EVENT = {
    "guid": JOB_GUID,
    "action": "job.create",
    "actor_guid": "u-1",
    "actor_name": "jane",
    "target_type": "job",
    "target_guid": JOB_GUID,
    "space_guid": SPACE,
    "data": {"name": "nightly"},
    "created_at": "2026-03-01T02:00:00Z",
}


def test_audit_events_say_who_did_what_to_which_thing(api: FakeApi, sch: Sch) -> None:
    api.answer("GET", "/audit-events", collection(EVENT, {**EVENT, "actor_name": ""}, total_results=7))
    done = sch("audit", "--target", JOB_GUID, "--since", "2026-01-01T00:00:00Z", "-n", "2", "--page", "2")
    assert api.last().query == {
        "space_guid": SPACE,
        "target_guid": JOB_GUID,
        "since": "2026-01-01T00:00:00Z",
        "per_page": "2",
        "page": "2",
    }
    assert done.out.splitlines()[2:] == [
        "time                   actor   action       target   guid",
        f"2026-03-01T02:00:00Z   jane    job.create   job      {JOB_GUID}",
        f"2026-03-01T02:00:00Z   u-1     job.create   job      {JOB_GUID}",
        "",
        "4 of 7 are shown; --page and --limit show others.",
    ]


def test_admins_may_look_at_all_spaces(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/audit-events", EVENT)
    done = sch("audit", "--all-spaces", "--action", "job.create", env={"SCHEDULER_SPACE": None})
    assert done.code == 0
    assert api.last().query == {"action": "job.create", "per_page": "50", "page": "1"}
