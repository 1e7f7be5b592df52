"""The stand-in Cloud Controller's tasks: they run, they are as strict as the real ones, and they survive a restart."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from scheduler_local import seed
from scheduler_local.testing import (
    PENDING_FOR_EVER,
    RUNNING_FOR_EVER,
    SUCCEEDED,
    StandInController,
    StandInUaa,
    Start,
    failed,
    start_controller,
    start_uaa,
    wait_until,
)

APP = seed.guid_of("app", seed.APP)
DEV_SPACE = seed.guid_of("space", seed.SPACE)


class Api:
    """Cloud Controller's API, with a token."""

    def __init__(self, cc: StandInController, token: str) -> None:
        self._url = cc.url
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Authorization"] = f"bearer {token}"

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        answer = self._session.request(method, self._url + path, json=body, timeout=10)
        return answer.status_code, answer.json()

    def run(self, command: str, **more: Any) -> str:
        status, task = self.ask("POST", f"/v3/apps/{APP}/tasks", {"command": command, **more})
        assert (status, task["state"]) == (202, "RUNNING")
        return str(task["guid"])

    def ended(self, guid: str) -> dict[str, Any]:
        return wait_until(lambda: self._ended(guid), what="end of the task")

    def close(self) -> None:
        self._session.close()

    def _ended(self, guid: str) -> dict[str, Any] | None:
        task: dict[str, Any] = self.ask("GET", f"/v3/tasks/{guid}")[1]
        return task if task["state"] in {"SUCCEEDED", "FAILED"} else None


@pytest.fixture
def api(cc: StandInController, uaa: StandInUaa) -> Iterator[Api]:
    api = Api(cc, uaa.token())
    yield api
    api.close()


def test_a_task_succeeds_or_fails_as_its_command_does(api: Api) -> None:
    assert api.ended(api.run("true"))["state"] == "SUCCEEDED"
    failure = api.ended(api.run("exit 7"))
    assert (failure["state"], failure["result"]["failure_reason"]) == ("FAILED", "Exited with status 7")
    assert api.ended(api.run("kill -9 $$"))["result"]["failure_reason"] == "Exited with status 137"


def test_a_command_sees_its_app_and_nothing_of_our_environment(api: Api, cc: StandInController) -> None:
    guid = api.run("env", name="look-around")
    api.ended(guid)
    shown = [line for line in cc.output().splitlines() if "look-around" in line]
    assert any(f'"application_id": "{APP}"' in line for line in shown)
    assert any(f"CF_INSTANCE_GUID={guid}" in line for line in shown)
    assert not any("PYTHON" in line or "SCHEDULER" in line for line in shown)


def test_output_without_end_is_cut_and_stops_nobody(api: Api, cc: StandInController) -> None:
    before = len(cc.output())
    assert api.ended(api.run("yes | head -c 5000000; head -c 100000 /dev/zero"))["state"] == "SUCCEEDED"
    assert "the rest of the output is not shown" in cc.output()[before:]


def test_what_a_command_leaves_behind_ends_with_it(api: Api, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    api.ended(api.run(f"sleep 300 & echo $! > {note}"))
    pid = int(note.read_text())
    wait_until(lambda: not _is_alive(pid), what="end of the child")


def test_cancelling_ends_the_command_and_all_it_started(api: Api, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    guid = api.run(f"sleep 300 & echo $! > {note}; wait")
    wait_until(lambda: note.exists() and note.read_text(), what="start of the command")
    status, task = api.ask("POST", f"/v3/tasks/{guid}/actions/cancel")
    assert (status, task["state"]) == (202, "CANCELING")
    ended = api.ended(guid)
    assert (ended["state"], ended["result"]["failure_reason"]) == ("FAILED", "task was cancelled")
    pid = int(note.read_text())
    wait_until(lambda: not _is_alive(pid), what="end of the child")


def test_cancelling_twice_is_harmless_and_cancelling_an_ended_task_is_refused(api: Api, cc: StandInController) -> None:
    (running,) = cc.add_tasks(APP, [{"state": "RUNNING", "seconds": 60}, {"state": "SUCCEEDED"}])
    assert api.ask("POST", f"/v3/tasks/{running}/actions/cancel")[0] == 202
    (ended,) = cc.add_tasks(APP, failed())
    status, answer = api.ask("POST", f"/v3/tasks/{ended}/actions/cancel")
    assert status == 422
    assert answer["errors"] == [
        {
            "code": 10008,
            "title": "CF-UnprocessableEntity",
            "detail": "Task state is FAILED and therefore cannot be canceled",
        }
    ]


def test_a_script_says_how_a_task_goes_on(api: Api, cc: StandInController) -> None:
    steps = [
        {"state": "PENDING", "seconds": 0.1},
        {"state": "RUNNING", "seconds": 0.1},
        *failed("Exited with status 9"),
    ]
    cc.script_tasks(steps, count=1)
    _, task = api.ask("POST", f"/v3/apps/{APP}/tasks", {"command": "true"})
    assert task["state"] == "PENDING"
    assert api.ended(task["guid"])["result"]["failure_reason"] == "Exited with status 9"
    assert api.ended(api.run("true"))["state"] == "SUCCEEDED"  # the script was for one task


def test_a_test_may_move_a_task_at_will(api: Api, cc: StandInController) -> None:
    (guid,) = cc.add_tasks(APP, PENDING_FOR_EVER, age_seconds=3_600)
    assert api.ask("GET", f"/v3/tasks/{guid}")[1]["state"] == "PENDING"
    cc.script_task(guid, SUCCEEDED)
    assert api.ask("GET", f"/v3/tasks/{guid}")[1]["state"] == "SUCCEEDED"


def test_ten_thousand_tasks_are_no_burden(api: Api, cc: StandInController) -> None:
    guids = cc.add_tasks(APP, RUNNING_FOR_EVER, count=10_000)
    asked = ",".join(guids[:150])
    _, page = api.ask("GET", f"/v3/tasks?guids={asked}&per_page=5000")
    assert page["pagination"]["total_results"] == 150


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"command": "true", "priority": 1}, "Unknown field(s): 'priority'"),
        ({"command": "true", "log_rate_limit_per_second": 1}, "Unknown field(s): 'log_rate_limit_per_second'"),
        ({}, "Command"),
        ({"command": ""}, "Command"),
        ({"command": "x" * 4_097}, "Command must be shorter than 4097 characters"),
        ({"command": "true", "memory_in_mb": 0}, "Memory in mb must be greater than 0"),
        ({"command": "true", "disk_in_mb": "1"}, "Disk in mb is not a number"),
        ({"command": "true", "disk_in_mb": 2_049}, "Cannot request disk_in_mb greater than 2048"),
        ({"command": "true", "log_rate_limit_in_bytes_per_second": -2}, "Log rate limit"),
        ({"command": "true", "metadata": {"labels": {"noprefix/": "x"}}}, "label key"),
        ({"command": "true", "metadata": {"labels": {"scheduler/execution": "x"}}}, "valid dns format"),
        ({"command": "true", "metadata": {"labels": {"a": "with space"}}}, "label value"),
        ([], "JSON object"),
    ],
)
def test_what_the_real_one_refuses_is_refused(api: Api, body: Any, words: str) -> None:
    status, answer = api.ask("POST", f"/v3/apps/{APP}/tasks", body)
    assert (status, answer["errors"][0]["code"]) == (422, 10008)
    assert words in answer["errors"][0]["detail"]


def test_lists_have_pages_and_refuse_unknown_filters(api: Api, cc: StandInController) -> None:
    guids = cc.add_tasks(APP, SUCCEEDED, count=3)
    _, first = api.ask("GET", "/v3/tasks?per_page=2&order_by=created_at")
    assert [first["pagination"][name] for name in ("total_results", "total_pages")] == [3, 2]
    assert "command" not in first["resources"][0]
    _, second = api.ask("GET", first["pagination"]["next"]["href"].removeprefix(cc.url))
    listed = [task["guid"] for task in first["resources"] + second["resources"]]
    assert sorted(listed) == sorted(guids)
    assert second["pagination"]["next"] is None
    status, answer = api.ask("GET", "/v3/tasks?colour=red")
    assert (status, answer["errors"][0]["code"]) == (400, 10005)


def test_errors_are_those_of_the_real_one(api: Api, cc: StandInController, uaa: StandInUaa) -> None:
    status, answer = api.ask("GET", "/v3/nonsense")
    assert (status, answer["errors"][0]["code"], answer["errors"][0]["title"]) == (404, 10000, "CF-NotFound")
    nobody = requests.get(f"{cc.url}/v3/apps/{APP}", timeout=5)
    assert (nobody.status_code, nobody.json()["errors"][0]["code"]) == (401, 10002)
    for token in ("x", uaa.token(seconds=-1), uaa.token(refresh=True), uaa.token(scopes=["openid"])):
        refused = requests.get(f"{cc.url}/v3/apps/{APP}", headers={"Authorization": f"bearer {token}"}, timeout=5)
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (401, 1000)


def test_only_developers_and_admins_may_run_tasks(cc: StandInController, uaa: StandInUaa) -> None:
    expected = {seed.AUDITOR: (403, 10003), seed.MANAGER: (403, 10003), seed.STRANGER: (404, 10010)}
    for user, refusal in expected.items():
        api = Api(cc, uaa.token(user))
        status, answer = api.ask("POST", f"/v3/apps/{APP}/tasks", {"command": "true"})
        assert (status, answer["errors"][0]["code"]) == refusal
        api.close()
    admin = Api(cc, uaa.admin_token())
    assert admin.ended(admin.run("true"))["state"] == "SUCCEEDED"
    admin.close()


def test_a_restart_keeps_tasks_and_tokens_and_ends_what_ran(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    start = Start(arguments=("--state", str(tmp_path)), log=tmp_path / "log")
    with start_uaa(start) as uaa:
        token = uaa.token()
        with start_controller(uaa, start) as cc:
            other = cc.add_app("made-later")
            api = Api(cc, token)
            done = api.ended(api.run("true"))
            running = api.run(f"echo $$ > {note}; exec sleep 300")
            wait_until(lambda: note.exists() and note.read_text(), what="start of the command")
            api.close()
    assert not _is_alive(int(note.read_text()))
    with start_uaa(start) as uaa, start_controller(uaa, start) as cc:
        api = Api(cc, token)
        assert api.ask("GET", f"/v3/tasks/{done['guid']}")[1]["state"] == "SUCCEEDED"
        lost = api.ask("GET", f"/v3/tasks/{running}")[1]
        assert lost["state"] == "FAILED"
        assert "stopped" in lost["result"]["failure_reason"]
        api.close()
        admin = Api(cc, uaa.admin_token())
        assert admin.ask("GET", f"/v3/apps/{other.guid}")[0] == 200
        admin.close()


def test_more_commands_than_may_run_at_a_time_wait_for_their_turn(tmp_path: Path) -> None:
    with (
        start_uaa() as uaa,
        start_controller(uaa, Start(arguments=("--parallel", "2"), log=tmp_path / "log")) as cc,
    ):
        api = Api(cc, uaa.token())
        one, two = tmp_path / "one", tmp_path / "two"
        take = f"{{ mkdir {one} && mine={one}; }} || {{ mkdir {two} && mine={two}; }} || exit 1"
        crowd = f"{take}; sleep 0.1; rmdir $mine"  # the third at a time finds no place and fails
        guids = [api.run(crowd) for _ in range(6)]
        waiting = api.run("true")
        assert api.ask("POST", f"/v3/tasks/{waiting}/actions/cancel")[0] == 202
        for guid in guids:
            assert api.ended(guid)["state"] == "SUCCEEDED"
        assert api.ended(waiting)["result"]["failure_reason"] == "task was cancelled"
        api.close()


def test_an_app_may_come_to_be_by_being_asked_for(tmp_path: Path) -> None:
    unknown = "6f5b3a3e-2b8e-4c8f-a8a2-0e6f4f1f6c11"
    start = Start(arguments=("--auto-create",), log=tmp_path / "log")
    with start_uaa() as uaa, start_controller(uaa, start) as cc:
        api = Api(cc, uaa.token())
        status, app = api.ask("GET", f"/v3/apps/{unknown}")
        assert (status, app["relationships"]["space"]["data"]["guid"]) == (200, DEV_SPACE)
        api.close()


def test_requests_are_logged_and_counted(api: Api, cc: StandInController) -> None:
    for _ in range(3):
        api.ask("GET", f"/v3/apps/{APP}")
    api.ask("GET", "/v3/spaces")
    seen = cc.requests(path=f"^/v3/apps/{APP}$", method="GET")
    assert [request["status"] for request in seen] == [200, 200, 200]
    assert all(request["authorization"] == "bearer" and "Authorization" not in request["headers"] for request in seen)
    assert 2 <= cc.busiest_second(path="^/v3/apps") <= 3


def test_faults_strike_where_and_as_often_as_told(api: Api, cc: StandInController) -> None:
    cc.fault("unavailable", path="/v3/apps", skip=1, count=1)
    statuses = [api.ask("GET", f"/v3/apps/{APP}")[0] for _ in range(3)]
    assert statuses == [200, 503, 200]
    cc.fault("rate_limited", path="/v3/apps", retry_after="3")
    answer = requests.get(f"{cc.url}/v3/apps/{APP}", timeout=5)
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.headers["Retry-After"] == "3"
    assert answer.json()["errors"][0]["code"] == 10013
    assert api.ask("GET", "/v3/spaces")[0] == 200


def test_the_cf_command_line_can_log_in_and_renew_its_token(cc: StandInController, uaa: StandInUaa) -> None:
    root = requests.get(cc.url, timeout=5).json()
    login = root["links"]["login"]["href"]
    assert requests.get(f"{login}/login", headers={"Accept": "application/json"}, timeout=5).json()["prompts"]
    form = {"grant_type": "password", "username": seed.DEVELOPER, "password": seed.PASSWORD}
    granted = requests.post(f"{login}/oauth/token", auth=("cf", ""), data=form, timeout=5).json()
    form = {"grant_type": "refresh_token", "refresh_token": granted["refresh_token"]}
    renewed = requests.post(f"{login}/oauth/token", auth=("cf", ""), data=form, timeout=5).json()
    for token in (granted["access_token"], renewed["access_token"]):
        api = Api(cc, token)
        _, organizations = api.ask("GET", f"/v3/organizations?names={seed.ORGANIZATION}")
        guid = organizations["resources"][0]["guid"]
        _, spaces = api.ask("GET", f"/v3/spaces?names={seed.SPACE}&organization_guids={guid}")
        assert spaces["resources"][0]["guid"] == DEV_SPACE
        api.close()
    form = {"grant_type": "password", "username": seed.DEVELOPER, "password": "wrong"}
    assert requests.post(f"{login}/oauth/token", auth=("cf", ""), data=form, timeout=5).status_code == 401


def _is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
