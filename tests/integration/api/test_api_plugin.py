"""What the cf plugin sends, command by command, and what its Go structures can read of our answers.

tests/data/plugin/requests.jsonl has one command a line: Go's zero values in bodies, an empty body with a JSON content
type where there is nothing to say. Go reads null as the zero value, and refuses a wrong type or a time that is none.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, content_of, errors_of

_COMMANDS = [json.loads(line) for line in Path("tests/data/plugin/requests.jsonl").read_text().splitlines()]
_FINDING = {"code": str, "message": str, "field": str, "value": str, "valid_range": str, "offset": int}
_REF = {"type": str, "guid": str, "name": str}
_STRUCTS: dict[str, Mapping[str, Any]] = {
    "job": {
        "guid": str, "name": str, "command": str, "disk_in_mb": int, "memory_in_mb": int, "log_rate_in_bps": int,
        "state": str, "created_at": datetime, "updated_at": datetime, "app_guid": str, "space_guid": str,
    },
    "call": {
        "guid": str, "name": str, "url": str, "auth_header": str, "created_at": datetime, "updated_at": datetime,
        "app_guid": str, "space_guid": str,
    },
    "schedule": {
        "guid": str, "enabled": bool, "expression": str, "expression_type": str, "created_at": datetime,
        "updated_at": datetime,
    },
    "execution": {
        "guid": str, "task_guid": str, "schedule_guid": str, "scheduled_time": datetime, "message": str, "state": str,
        "execution_start_time": datetime, "execution_end_time": datetime,
    },
    "analysis": {
        "expression": str, "ref": _REF, "schedule_guid": str, "enabled": bool, "valid": bool, "description": str,
        "description_note": str, "location": str, "illustrative": bool,
        "hashed_fields": [{"field": str, "value": str, "resolved": str}], "from": datetime, "next_runs": [datetime],
        "prev_runs": [datetime], "errors": [_FINDING], "warnings": [_FINDING],
    },
    "time_zone": {
        "Name": str, "IsServerTimeZone": str, "HasDst": bool, "Std": str, "Dst": str, "Aliases": [str], "Rules": str,
    },
}  # fmt: skip


def test_all_commands_work_in_the_plugins_own_words(api: Api, app: MadeApp) -> None:
    # checklist 66, 98, 103, 112, 116, 120, 302, 303
    names = {"app": app.guid, "space": app.space_guid}
    for command in _COMMANDS:
        for request in command["requests"]:
            answer = _send(api, request, names)
            assert answer.status_code == request["status"], f"{command['command']}: {answer.text}"
            if "decode" in request:
                _decode(request["decode"], answer.json)
            if "save" in request:
                names[request["save"]] = content_of(answer, 201)["guid"]


def test_all_sixteen_commands_are_recorded() -> None:
    # checklist 302
    commands = {command["command"] for command in _COMMANDS}
    assert commands >= {
        name.format(kind)
        for name in ("create-{}", "run-{}", "schedule-{}", "{}s", "{}-schedules", "{}-history", "delete-{}",
                     "delete-{}-schedule")
        for kind in ("job", "call")
    }  # fmt: skip


def test_the_caret_of_a_rejected_expression_can_be_drawn(api: Api, app: MadeApp) -> None:
    # checklist 129, 303
    path = f"/jobs/{api.create_job(app.guid)['guid']}/schedules"
    expression = "0 2 * * MON,XYZ"
    error = errors_of(api.post(path, {"enabled": True, "expression": expression}))[0]
    assert expression[error["offset"] :].startswith(error["value"])


def test_manual_runs_have_no_scheduled_time_by_which_the_plugin_hides_them(api: Api, app: MadeApp) -> None:
    # checklist 123
    path = f"/jobs/{api.create_job(app.guid)['guid']}"
    assert content_of(api.post(f"{path}/execute", data=b""), 201)["scheduled_time"] is None


def _send(api: Api, request: Mapping[str, Any], names: Mapping[str, str]) -> Any:
    body = request["body"]
    data = b"" if body is None else _filled(json.dumps(body), names).encode()
    token = api.authorization("developer").replace("bearer", "Bearer")
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    path = _filled(request["path"], names)
    return api.ask(request["method"], path, data=data, headers=headers, token=token)


def _filled(template: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def _decode(kind: str, content: Any) -> None:
    if kind == "analyses":
        _fits(content["ref"], _REF)
        kind = "analysis s"
    if kind.endswith("s") and kind != "analysis":
        assert isinstance(content["resources"], list)
        for row in content["resources"]:
            _fits(row, _STRUCTS[kind.rstrip("s").strip()])
    else:
        _fits(content, _STRUCTS[kind])


def _fits(value: Any, kind: Any) -> None:
    """Fail where Go's decoder would."""
    if value is None:
        return
    if isinstance(kind, Mapping):
        assert isinstance(value, dict)
        for name, inner in kind.items():
            _fits(value.get(name), inner)
    elif isinstance(kind, list):
        assert isinstance(value, list)
        for item in value:
            _fits(item, kind[0])
    elif kind is datetime:
        assert datetime.fromisoformat(value).tzinfo is not None
    else:
        assert type(value) is kind
