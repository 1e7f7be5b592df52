"""Tasks: create, list, show, cancel."""

from typing import Any

from flask import Blueprint, request

from scheduler_local.controller.access import access
from scheduler_local.controller.errors import ControllerError, bad_query, not_found, unprocessable
from scheduler_local.controller.pages import page_of, query, stamp
from scheduler_local.controller.parts import parts
from scheduler_local.controller.task_requests import read_request, refuse_over_quota
from scheduler_local.controller.tasks import NOT_SUBMITTED, Filter, Step, Task
from scheduler_local.controller.world import App

routes = Blueprint("tasks", __name__)

_FILTERS = ("guids", "names", "states", "app_guids", "space_guids", "organization_guids", "label_selector")


@routes.post("/v3/apps/<guid>/tasks")
def create(guid: str) -> Any:
    """Create a task, and run it unless a script says how it goes."""
    app = _readable_app(guid)
    access().require_write(app.space_guid)
    wish = read_request(request.get_json(), parts().tasks.limits)
    if not app.has_droplet:
        raise unprocessable("Task must have a droplet. Specify droplet or assign current droplet to app.")
    refuse_over_quota(parts().tasks, app.space_guid, wish["memory_in_mb"])
    is_down = parts().tasks.limits.is_diego_down
    script = (Step(state="FAILED", reason=NOT_SUBMITTED),) if is_down else parts().tasks.script_for(guid)
    task = parts().tasks.add(
        steps=script or (Step(state="RUNNING"),), app_guid=guid, space_guid=app.space_guid,
        droplet_guid=f"droplet-{guid}", **wish,
    )  # fmt: skip
    if is_down:  # the record of the task stays
        raise ControllerError(503, 170020, "CF-TaskWorkersUnavailable", "Task workers are unavailable")
    if script is None:
        parts().commands.start(task)
    return show_task(task), 202


@routes.get("/v3/apps/<guid>/tasks")
def tasks_of_app(guid: str) -> Any:
    """List the tasks of an app."""
    _readable_app(guid)
    return _list({guid})


@routes.get("/v3/tasks")
def tasks() -> Any:
    """List the tasks that the caller may see."""
    return _list(None)


@routes.get("/v3/tasks/<guid>")
def task(guid: str) -> Any:
    """Show a task."""
    return show_task(_readable_task(guid))


@routes.post("/v3/tasks/<guid>/actions/cancel")
def cancel(guid: str) -> Any:
    """Cancel a task, unless it has ended."""
    found = _readable_task(guid)
    access().require_write(found.space_guid)
    is_running = parts().commands.is_running(guid)
    if not parts().tasks.cancel(found, seconds=None if is_running else 0.0):
        raise unprocessable(f"Task state is {found.state} and therefore cannot be canceled")
    parts().commands.cancel(found)
    return {**show_task(found), "state": "CANCELING"}, 202


def show_task(task: Task) -> dict[str, Any]:
    """Return a task as Cloud Controller shows it."""
    step, began = task.now()
    link = f"{request.url_root}v3/tasks/{task.guid}"
    return {
        "guid": task.guid,
        "sequence_id": task.sequence_id,
        "name": task.name,
        "command": task.command,
        "user": task.user,
        "state": step.state,
        "memory_in_mb": task.memory_in_mb,
        "disk_in_mb": task.disk_in_mb,
        "log_rate_limit_in_bytes_per_second": task.log_rate,
        "result": {"failure_reason": step.reason},
        "droplet_guid": task.droplet_guid,
        "metadata": {"labels": task.labels, "annotations": task.annotations},
        "created_at": stamp(task.created_at),
        "updated_at": stamp(began),
        "relationships": {"app": {"data": {"guid": task.app_guid}}},
        "links": {
            "self": {"href": link},
            "app": {"href": f"{request.url_root}v3/apps/{task.app_guid}"},
            "cancel": {"href": f"{link}/actions/cancel", "method": "POST"},
            "droplet": {"href": f"{request.url_root}v3/droplets/{task.droplet_guid}"},
        },
    }


def _list(app_guids: set[str] | None) -> Any:
    wanted = query(*_FILTERS)
    found = parts().tasks.find(
        Filter(
            guids=wanted["guids"],
            names=wanted["names"],
            states=wanted["states"],
            app_guids=app_guids if app_guids is not None else wanted["app_guids"],
            space_guids=wanted["space_guids"],
            labels=_labels(request.args.get("label_selector", "")),
        )
    )
    readable = [task for task in found if access().may_read(task.space_guid)]
    return page_of(sorted(readable, key=lambda task: (task.created_at, task.guid)), _show_in_list)


def _show_in_list(task: Task) -> dict[str, Any]:
    shown = show_task(task)
    del shown["command"]  # it may hold secrets
    return shown


def _labels(selector: str) -> list[tuple[str, str]]:
    """Read a selector; of its forms only `key=value` and `key==value`, which is what anybody here uses."""
    labels = []
    for requirement in filter(None, selector.split(",")):
        key, equals, value = requirement.replace("==", "=").partition("=")
        if not equals or key.endswith("!"):
            raise bad_query("Invalid label_selector value")
        labels.append((key, value))
    return labels


def _readable_app(guid: str) -> App:
    found = parts().world.app(guid)
    if found is None or not access().may_read(found.space_guid):
        raise not_found("App")
    return found


def _readable_task(guid: str) -> Task:
    found = parts().tasks.get(guid)
    if found is None or not access().may_read(found.space_guid):
        raise not_found("Task")
    return found
