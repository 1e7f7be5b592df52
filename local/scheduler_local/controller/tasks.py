"""Tasks and their states over time.

A task's state is not stored but follows from its steps and the clock, so that ten thousand scripted tasks cost
nothing. A task that really runs has one step, which is replaced when its process ends.
"""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import uuid4

FINAL = frozenset({"SUCCEEDED", "FAILED"})
CANCELLED = "task was cancelled"  # Diego's words
NOT_SUBMITTED = "Unable to request task to be run"  # Cloud Controller's, when Diego does not answer
_KEPT = 50_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A state, how long it lasts (None: for ever), and why, for FAILED."""

    state: str
    seconds: float | None = None
    reason: str | None = None


@dataclass(kw_only=True, slots=True)
class Task:
    """One task; `since` is when its first step began."""

    guid: str
    app_guid: str
    space_guid: str
    sequence_id: int
    name: str
    command: str
    user: str | None
    memory_in_mb: int
    disk_in_mb: int
    log_rate: int
    droplet_guid: str
    labels: dict[str, str]
    annotations: dict[str, str]
    created_at: float
    since: float
    steps: tuple[Step, ...]

    def now(self) -> tuple[Step, float]:
        """Return the present step and when it began."""
        began = self.since
        for step in self.steps[:-1]:
            if step.seconds is None or time.time() < began + step.seconds:
                return step, began
            began += step.seconds
        return self.steps[-1], began

    @property
    def state(self) -> str:
        """Return the present state."""
        return self.now()[0].state


@dataclass(kw_only=True)
class Rule:
    """Scripts new tasks (of one app, if named), at most `count` of them."""

    steps: tuple[Step, ...]
    app_guid: str = ""
    count: int | None = None


@dataclass(kw_only=True)
class Limits:
    """What Cloud Controller refuses; -1: nothing."""

    app_task_limit: int = -1  # in spite of its name: live tasks of a whole space
    memory_in_mb: int = -1  # of all live tasks of a space
    maximum_disk_in_mb: int = 2_048
    is_diego_down: bool = False


@dataclass(frozen=True, kw_only=True)
class Filter:
    """What a list is narrowed to; None: not by this."""

    guids: Collection[str] | None = None
    states: Collection[str] | None = None
    names: Collection[str] | None = None
    app_guids: Collection[str] | None = None
    space_guids: Collection[str] | None = None
    labels: Collection[tuple[str, str]] = field(default_factory=tuple)  # all must be there

    def admits(self, task: Task) -> bool:
        """Tell whether the task is in the list."""
        return (
            (self.names is None or task.name in self.names)
            and (self.app_guids is None or task.app_guid in self.app_guids)
            and (self.space_guids is None or task.space_guid in self.space_guids)
            and all(task.labels.get(key) == value for key, value in self.labels)
            and (self.states is None or task.state in self.states)
        )


class Tasks:
    """All tasks. `journal` is told of each new state that is worth keeping."""

    def __init__(self, journal: Callable[[Task], None] | None = None) -> None:
        self._lock = threading.RLock()
        self._journal = journal
        self._tasks: dict[str, Task] = {}
        self._by_label: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._sequence: Counter[str] = Counter()
        self._rules: list[Rule] = []
        self.limits = Limits()

    def reset(self) -> None:
        """Forget all tasks and scripts."""
        with self._lock:
            self._tasks, self._rules, self.limits = {}, [], Limits()
            self._by_label.clear()
            self._sequence.clear()

    def add(self, *, steps: Iterable[Step], created_at: float | None = None, **fields: Any) -> Task:
        """Add a task whose states follow `steps`."""
        created = time.time() if created_at is None else created_at
        with self._lock:
            self._sequence[fields["app_guid"]] += 1
            number = self._sequence[fields["app_guid"]]
            task = Task(
                guid=str(uuid4()), sequence_id=number, created_at=created, since=created, steps=tuple(steps), **fields
            )
            self._put(task)
        self._tell(task)
        return task

    def restore(self, task: Task) -> None:
        """Take up a task of an earlier life."""
        with self._lock:
            self._sequence[task.app_guid] = max(self._sequence[task.app_guid], task.sequence_id)
            self._put(task)

    def get(self, guid: str) -> Task | None:
        """Return one task."""
        return self._tasks.get(guid)

    def find(self, wanted: Filter) -> list[Task]:
        """Return the tasks that the filter admits, the oldest first."""
        with self._lock:
            if wanted.guids is not None:
                candidates = [self._tasks[guid] for guid in wanted.guids if guid in self._tasks]
            elif wanted.labels:
                candidates = [self._tasks[guid] for guid in self._by_label.get(next(iter(wanted.labels)), ())]
            else:
                candidates = list(self._tasks.values())
        return [task for task in candidates if wanted.admits(task)]

    def live(self, space_guid: str) -> list[Task]:
        """Return the tasks of a space that count for its quotas."""
        return self.find(Filter(space_guids={space_guid}, states={"PENDING", "RUNNING"}))

    def follow(self, task: Task, *steps: Step) -> None:
        """Let the task's states follow other steps from now on."""
        with self._lock:
            task.steps, task.since = steps, time.time()
        self._tell(task)

    def cancel(self, task: Task, *, seconds: float | None) -> bool:
        """Let the task end in so many seconds (None: when its process does); False if it has ended."""
        with self._lock:
            if task.state in FINAL:
                return False
            if task.state != "CANCELING":
                self.follow(task, Step(state="CANCELING", seconds=seconds), Step(state="FAILED", reason=CANCELLED))
            return True

    def remove_of_app(self, app_guid: str) -> None:
        """Remove an app's tasks, which vanish with it."""
        for task in self.find(Filter(app_guids={app_guid})):
            self.remove(task.guid)

    def remove(self, guid: str) -> None:
        """Remove one task."""
        with self._lock:
            task = self._tasks.pop(guid, None)
            for label in task.labels.items() if task else ():
                self._by_label[label].remove(guid)

    def add_rule(self, rule: Rule) -> None:
        """Script tasks that are created from now on; the newest rule that fits counts."""
        with self._lock:
            self._rules.insert(0, rule)

    def script_for(self, app_guid: str) -> tuple[Step, ...] | None:
        """Return the steps of a new task of the app, None when it is to run."""
        with self._lock:
            for rule in self._rules:
                if rule.app_guid in {"", app_guid} and rule.count != 0:
                    rule.count = None if rule.count is None else rule.count - 1
                    return rule.steps
        return None

    def _put(self, task: Task) -> None:
        self._tasks[task.guid] = task
        for label in task.labels.items():
            self._by_label[label].append(task.guid)
        if len(self._tasks) > _KEPT:
            self.remove(next(guid for guid, old in self._tasks.items() if old.state in FINAL))

    def _tell(self, task: Task) -> None:
        if self._journal is not None:
            self._journal(task)


def dump(task: Task) -> dict[str, Any]:
    """Return a task as JSON."""
    return asdict(task)


def load(fields: dict[str, Any]) -> Task:
    """Read what `dump` returned."""
    return Task(**{**fields, "steps": tuple(Step(**step) for step in fields["steps"])})
