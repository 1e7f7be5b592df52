"""What the body of a new task may hold, and which quotas stand against it."""

import re
from typing import Any
from uuid import uuid4

from scheduler_local.controller.errors import unprocessable
from scheduler_local.controller.tasks import Limits, Tasks

_KNOWN = frozenset(
    {
        "command", "name", "user", "disk_in_mb", "memory_in_mb", "log_rate_limit_in_bytes_per_second",
        "droplet_guid", "template", "metadata",
    }
)  # fmt: skip
_LONGEST_COMMAND = 4_096
_LABEL = re.compile(r"[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"(?=.{1,253}$)([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9-]{1,63}")


def read_request(body: Any, limits: Limits) -> dict[str, Any]:
    """Return the fields of a new task; refuse what Cloud Controller refuses."""
    if not isinstance(body, dict):
        raise unprocessable("Request body must be a JSON object")
    unknown = sorted(body.keys() - _KNOWN)
    if unknown:
        raise unprocessable("Unknown field(s): " + ", ".join(f"'{name}'" for name in unknown))
    metadata = body.get("metadata") or {}
    return {
        "command": _command(body.get("command")),
        "name": body.get("name") or uuid4().hex[:8],
        "user": body.get("user"),
        "memory_in_mb": _size(body, "memory_in_mb", 1_024),
        "disk_in_mb": _disk(body, limits),
        "log_rate": _log_rate(body),
        "labels": _labels(metadata.get("labels") or {}),
        "annotations": dict(metadata.get("annotations") or {}),
    }


def refuse_over_quota(tasks: Tasks, space_guid: str, memory_in_mb: int) -> None:
    """Refuse a task for which the space has no room."""
    limits, live = tasks.limits, tasks.live(space_guid)
    if limits.app_task_limit >= 0 and len(live) >= limits.app_task_limit:
        raise unprocessable("app_task_limit quota exceeded")
    used = sum(task.memory_in_mb for task in live)
    if limits.memory_in_mb >= 0 and used + memory_in_mb > limits.memory_in_mb:
        raise unprocessable("memory_in_mb exceeds space memory quota")


def _command(command: Any) -> str:
    if not isinstance(command, str) or not command:
        raise unprocessable("Command must be a string, Command can't be blank")
    if len(command) > _LONGEST_COMMAND:
        raise unprocessable(f"Command must be shorter than {_LONGEST_COMMAND + 1} characters")
    return command


def _size(body: dict[str, Any], name: str, default: int) -> int:
    size = body.get(name)
    if size is None:
        return default
    label = name.replace("_", " ").capitalize()
    if not isinstance(size, int) or isinstance(size, bool):
        raise unprocessable(f"{label} is not a number")
    if size <= 0:
        raise unprocessable(f"{label} must be greater than 0")
    return size


def _disk(body: dict[str, Any], limits: Limits) -> int:
    size = _size(body, "disk_in_mb", 1_024)
    if size > limits.maximum_disk_in_mb:
        raise unprocessable(f"Cannot request disk_in_mb greater than {limits.maximum_disk_in_mb}")
    return size


def _log_rate(body: dict[str, Any]) -> int:
    rate = body.get("log_rate_limit_in_bytes_per_second", 1_048_576)
    if not isinstance(rate, int) or isinstance(rate, bool) or rate < -1:
        raise unprocessable("Log rate limit in bytes per second must be greater than or equal to -1")
    return rate


def _labels(labels: dict[str, Any]) -> dict[str, str]:
    for key, value in labels.items():
        prefix, slash, name = key.rpartition("/")
        if slash and not _PREFIX.fullmatch(prefix):
            raise unprocessable(f"Metadata label key error: prefix '{prefix}' must be in valid dns format")
        if not _LABEL.fullmatch(name):
            raise unprocessable(f"Metadata label key error: '{name}' contains invalid characters")
        if value and not _LABEL.fullmatch(str(value)):
            raise unprocessable(f"Metadata label value error: '{value}' contains invalid characters")
    return {key: str(value or "") for key, value in labels.items()}
