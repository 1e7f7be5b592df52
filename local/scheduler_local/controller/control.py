"""What a test may do to Cloud Controller: make apps and roles, script tasks, set quotas."""

import time
from dataclasses import replace
from typing import Any
from uuid import uuid4

from flask import Blueprint, request

from scheduler_local import seed
from scheduler_local.controller.errors import not_found
from scheduler_local.controller.pages import stamp
from scheduler_local.controller.parts import Parts
from scheduler_local.controller.tasks import Filter, Rule, Step, Task


def add_controls(routes: Blueprint, parts: Parts) -> None:
    """Add Cloud Controller's own controls to the control endpoint."""
    _add_world_controls(routes, parts)
    _add_task_controls(routes, parts)

    @routes.post("/mitigation")
    def set_minute() -> Any:
        parts.operations.set_minute(request.get_json()["minute_seconds"])
        return {}, 201


def _add_world_controls(routes: Blueprint, parts: Parts) -> None:
    world = parts.world

    @routes.post("/spaces")
    def put_space() -> Any:
        return {"guid": world.add_space(request.get_json()["name"]).guid}, 201

    @routes.delete("/spaces/<guid>")
    def remove_space(guid: str) -> Any:
        world.remove_space(guid)
        return {}

    @routes.post("/apps")
    def put_app() -> Any:
        wish = request.get_json()
        space = world.add_space(wish.pop("space", seed.SPACE))
        app = world.add_app(space.guid, **wish)
        return {"guid": app.guid, "name": app.name, "space_guid": app.space_guid}, 201

    @routes.delete("/apps/<guid>")
    def remove_app(guid: str) -> Any:
        world.remove_app(guid)
        parts.tasks.remove_of_app(guid)
        return {}

    @routes.post("/roles")
    def grant() -> Any:
        wish = request.get_json()
        world.grant(seed.user_guid(wish["user"]), world.add_space(wish["space"]).guid, wish["role"])
        return {}, 201

    @routes.delete("/roles")
    def withdraw() -> Any:
        wish = request.get_json()
        world.withdraw(seed.user_guid(wish["user"]), world.add_space(wish["space"]).guid)
        return {}


def _add_task_controls(routes: Blueprint, parts: Parts) -> None:
    tasks = parts.tasks

    @routes.post("/scripts")
    def add_rule() -> Any:
        wish = request.get_json()
        tasks.add_rule(Rule(**{**wish, "steps": _steps(wish)}))
        return {}, 201

    @routes.post("/limits")
    def set_limits() -> Any:
        tasks.limits = replace(tasks.limits, **request.get_json())
        return {}, 201

    @routes.post("/tasks")
    def add_tasks() -> Any:
        wish = request.get_json()
        return {"guids": [_add(parts, wish).guid for _ in range(wish.get("count", 1))]}, 201

    @routes.get("/tasks")
    def show_tasks() -> Any:
        return {"tasks": [_show(task) for task in tasks.find(Filter())]}

    @routes.patch("/tasks/<guid>")
    def script_one(guid: str) -> Any:
        task = tasks.get(guid)
        if task is None:
            raise not_found("Task")
        tasks.follow(task, *_steps(request.get_json()))
        return {}

    @routes.delete("/tasks/<guid>")
    def remove_one(guid: str) -> Any:
        tasks.remove(guid)
        return {}


def _steps(wish: dict[str, Any]) -> tuple[Step, ...]:
    return tuple(Step(**step) for step in wish["steps"])


def _add(parts: Parts, wish: dict[str, Any]) -> Task:
    app = parts.world.apps[wish["app_guid"]]
    return parts.tasks.add(
        steps=_steps(wish), created_at=time.time() - wish.get("age_seconds", 0.0),
        app_guid=app.guid, space_guid=app.space_guid, name=wish.get("name", uuid4().hex[:8]), command="true", user=None,
        memory_in_mb=64, disk_in_mb=64, log_rate=-1, droplet_guid=f"droplet-{app.guid}",
        labels=dict(wish.get("labels", {})), annotations={},
    )  # fmt: skip


def _show(task: Task) -> dict[str, Any]:
    step, _ = task.now()
    return {
        "guid": task.guid,
        "app_guid": task.app_guid,
        "name": task.name,
        "command": task.command,
        "state": step.state,
        "failure_reason": step.reason,
        "memory_in_mb": task.memory_in_mb,
        "disk_in_mb": task.disk_in_mb,
        "log_rate": task.log_rate,
        "labels": task.labels,
        "annotations": task.annotations,
        "created_at": stamp(task.created_at),
    }
