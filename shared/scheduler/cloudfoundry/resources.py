"""Cloud Controller's resources, as far as the scheduler looks at them, and how to read them from JSON.

Reading raises KeyError, TypeError or ValueError when the JSON is not what it should be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

# Cloud Controller wants the prefix of a label to be a DNS name.
EXECUTION_LABEL = "scheduler.ocf/execution"

# Cloud Controller's own words (app/actions/task_create.rb).
_NOT_SUBMITTED = "Unable to request task to be run"


class TaskState(StrEnum):
    """PENDING -> RUNNING -> SUCCEEDED or FAILED; CANCELING -> FAILED."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    CANCELING = "CANCELING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @property
    def is_final(self) -> bool:
        """Tell whether the task will never change again."""
        return self in {TaskState.SUCCEEDED, TaskState.FAILED}


class Role(StrEnum):
    """Roles in a space that the scheduler asks about."""

    SPACE_DEVELOPER = "space_developer"
    SPACE_MANAGER = "space_manager"


@dataclass(frozen=True, kw_only=True, slots=True)
class App:
    """An app that exists."""

    guid: str
    name: str
    space_guid: str

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Self:
        """Read the JSON of one app."""
        return cls(guid=_text(fields["guid"]), name=_text(fields["name"]), space_guid=_related(fields, "space"))


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceInstance:
    """A service instance that exists."""

    guid: str
    name: str
    space_guid: str

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Self:
        """Read the JSON of one service instance."""
        return cls(guid=_text(fields["guid"]), name=_text(fields["name"]), space_guid=_related(fields, "space"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Info:
    """What Cloud Controller says about itself."""

    name: str
    build: str

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Self:
        """Read the JSON of `/v3/info`, where operators may leave anything empty."""
        return cls(name=str(fields.get("name") or ""), build=str(fields.get("build") or ""))


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A task as Cloud Controller last described it."""

    guid: str
    name: str
    state: TaskState
    failure_reason: str | None  # such as "Exited with status 1": the only place of the exit status
    app_guid: str
    created_at: datetime
    updated_at: datetime

    @property
    def was_never_submitted(self) -> bool:
        """Tell whether this is the record that stays of a task which Diego could not be asked to run."""
        return self.state is TaskState.FAILED and self.failure_reason == _NOT_SUBMITTED

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Self:
        """Read the JSON of one task."""
        return cls(
            guid=_text(fields["guid"]),
            name=_text(fields["name"]),
            state=TaskState(fields["state"]),
            failure_reason=(fields.get("result") or {}).get("failure_reason"),
            app_guid=_related(fields, "app"),
            created_at=datetime.fromisoformat(fields["created_at"]),
            updated_at=datetime.fromisoformat(fields["updated_at"] or fields["created_at"]),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class NewTask:
    """What is asked of Cloud Controller for one run of a job."""

    command: str = field(repr=False)
    name: str
    memory_in_mb: int
    disk_in_mb: int
    log_rate_in_bps: int = 0  # 0: the operator's default
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """Return the request's JSON, with known keys only: Cloud Controller refuses any other."""
        body: dict[str, Any] = {
            "command": self.command,
            "name": self.name,
            "memory_in_mb": self.memory_in_mb,
            "disk_in_mb": self.disk_in_mb,
            "metadata": {"labels": dict(self.labels), "annotations": dict(self.annotations)},
        }
        if self.log_rate_in_bps != 0:  # 0 would mean: no logs at all
            body["log_rate_limit_in_bytes_per_second"] = self.log_rate_in_bps
        return body


def _related(fields: Mapping[str, Any], name: str) -> str:
    return _text(fields["relationships"][name]["data"]["guid"])


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError("a text is expected")
    return value
