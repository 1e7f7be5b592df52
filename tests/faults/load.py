"""Users at work: they create, change, pause, resume, trigger, execute and delete while things go wrong.

What an answer leaves open is not guessed: the schedule is left alone from then on (`doubt`) and read at the end.
"""

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from scheduler_local.testing import MadeApp
from tests.faults.client import Answer, Client
from tests.faults.definitions import Suits, Wish, random_wish
from tests.faults.history import Phase, Timeline, Work
from tests.faults.moments import SECOND, parse
from tests.faults.oracle import Interval, Once, Shape
from tests.faults.world import World

_MILLISECONDS = (20, 20, 50, 50, 100, 150, 300, 600, 1_200, 3_000, 7_000)
_SERIAL_MILLISECONDS = 600
_RETRY_ON = ["connect_error", "429", "502", "503", "504", "timeout", "runner_lost"]
_TRIES_WITH_KEY = 40


@dataclass(kw_only=True)
class Held:
    """A schedule and what is known about it. `lock` is shared by everything that one request may change."""

    timeline: Timeline
    path: str  # of its job or call
    lock: threading.Lock
    once: bool
    suits: Suits
    bound: bool = False  # its app is bound and unbound meanwhile, so nobody else pauses it
    doubt: Answer | None = None  # the request whose outcome is unknown
    doubted: Phase | None = None  # the phase that began if it was carried out
    gone: bool = False

    @property
    def last(self) -> Phase:
        """The phase in force."""
        return self.timeline.phases[-1]

    @property
    def free(self) -> bool:
        """Tell whether it may be changed."""
        return self.doubt is None and not self.gone


@dataclass
class Load:
    """All that users hold."""

    world: World
    client: Client
    random: Random
    apps: list[MadeApp]
    held: list[Held] = field(default_factory=list)
    work: dict[str, Work] = field(default_factory=dict)
    manual: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    unclear_works: list[tuple[str, Answer, Wish]] = field(default_factory=list)
    _milliseconds: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def populate(self, count: int) -> None:
        """Create so many schedules."""
        with ThreadPoolExecutor(8) as pool:
            for _ in pool.map(lambda _: self.create(), range(count)):
                pass

    def create(self) -> None:
        """Create a job or call with a schedule."""
        jobs = 0.2 if "job-runner" in self.world.options.services else 0.0
        kind = "job" if self.random.random() < jobs else "call"
        work = self.create_work(kind, self.random.choice(self.apps))
        if work is not None:
            self.create_schedule(work, threading.Lock())

    def create_schedule(self, work: Work, lock: threading.Lock, *, bound: bool = False) -> Held | None:
        """Attach a random schedule to a job or call."""
        quick = work.kind == "job" or self._milliseconds[work.guid] <= _SERIAL_MILLISECONDS
        suits = Suits(often=work.kind == "call", serialize=quick, once=not bound)
        wish = random_wish(self.random, suits)
        path = f"/{work.kind}s/{work.guid}"
        answer = self.client.ask("POST", f"{path}/schedules", wish.body())
        if answer.unclear:
            with self._lock:
                self.unclear_works.append((path, answer, wish))
        if not answer.done:
            self._expect(answer, "create a schedule", wish.body())
            return None
        phase = Phase(lo=answer.lo, hi=answer.hi, shape=self.accepted(wish.shape, answer), rules=wish.rules)
        timeline = Timeline(guid=answer.body["guid"], kind=work.kind, ref=work.guid, phases=[phase])
        held = Held(
            timeline=timeline, path=path, lock=lock, once=isinstance(wish.shape, Once), suits=suits, bound=bound
        )
        with self._lock:
            self.held.append(held)
        return held

    def act(self, wanted: int) -> None:
        """Do one random thing to one random schedule, or create one where fewer than wanted can be changed."""
        with self._lock:
            free = [held for held in self.held if held.free]
        if len(free) < wanted:
            self.create()
            return
        held = self.random.choice(free)
        if not held.lock.acquire(blocking=False):
            return
        try:
            if held.free:
                self._act_on(held)
        finally:
            held.lock.release()

    def _act_on(self, held: Held) -> None:
        actions, weights = zip(*self._actions(held), strict=True)
        self.random.choices(actions, weights)[0](held)

    def _actions(self, held: Held) -> list[tuple[Any, int]]:
        if held.bound:
            return [(self.trigger, 1), (self.execute, 1)]
        always = [(self.execute, 15), (self.delete, 3), (self.delete_work, 2)]
        if held.once:
            return always
        always.append((self.trigger, 15))
        if not held.last.enabled:
            return [*always, (self.resume, 60)]
        return [*always, (self.edit, 20), (self.pause, 15)]

    def edit(self, held: Held) -> None:
        """Change expression and policies."""
        wish = random_wish(self.random, replace(held.suits, once=False))
        answer = self.client.ask("PATCH", self._schedule(held), wish.body())
        shape = self.accepted(wish.shape, answer, before=held.last.shape) if answer.done else wish.shape
        self._changed(held, answer, Phase(lo=answer.lo, hi=answer.hi, shape=shape, rules=wish.rules), "edit")

    def pause(self, held: Held) -> None:
        """Pause."""
        answer = self.client.ask("POST", self._schedule(held) + "/actions/pause", {"note": "a test"})
        self._changed(held, answer, replace(held.last, lo=answer.lo, hi=answer.hi, enabled=False), "pause")

    def resume(self, held: Held) -> None:
        """Resume with any policy that goes with the overlap rule."""
        policies = ["skip_paused", "run_once", *(["catch_up"] if held.last.rules.overlap != "skip" else [])]
        missed = self.random.choice(policies)
        answer = self.client.ask("POST", self._schedule(held) + "/actions/resume", {"missed": missed})
        phase = replace(held.last, lo=answer.lo, hi=answer.hi, enabled=True, resume=missed)
        self._changed(held, answer, phase, f"resume with {missed}")

    def trigger(self, held: Held) -> None:
        """Run it now, asking again with the same id until there is an answer."""
        key = uuid.uuid4().hex
        answer = self._insist("POST", self._schedule(held) + "/actions/trigger", {"trigger_id": key})
        self._ran(answer, f"trigger:{held.timeline.guid}:{key}", "trigger")

    def execute(self, held: Held) -> None:
        """Run its job or call now, likewise."""
        key = uuid.uuid4().hex
        answer = self._insist("POST", f"{held.path}/execute", {}, Idempotency_Key=key)
        self._ran(answer, f"execute:{key}", "execute")

    def delete(self, held: Held) -> None:
        """Delete the schedule."""
        answer = self.client.ask("DELETE", self._schedule(held))
        if not (held.once and answer.status == 404):
            self._changed(held, answer, Phase(lo=answer.lo, hi=answer.hi, shape=None), "delete")
        held.gone = answer.done or answer.status == 404

    def delete_work(self, held: Held) -> None:
        """Delete its job or call, and thereby the schedule."""
        answer = self.client.ask("DELETE", held.path)
        self._changed(held, answer, Phase(lo=answer.lo, hi=answer.hi, shape=None), "delete the work")
        held.gone = answer.done

    def create_work(self, kind: str, app: MadeApp) -> Work | None:
        """Create a job or call of the app."""
        random, name, milliseconds = self.random, uuid.uuid4().hex, 0
        if kind == "job":
            answer = self.client.ask("POST", f"/jobs?app_guid={app.guid}", {"name": name, "command": "true"})
            attempts = 1
        else:
            attempts = random.choice([1, 1, 3])
            milliseconds = random.choice(_MILLISECONDS)
            answer = self.client.ask("POST", f"/calls?app_guid={app.guid}", self._call(name, attempts, milliseconds))
        if not answer.done:
            self._expect(answer, f"create a {kind}", None)
            return None
        work = Work(guid=answer.body["guid"], kind=kind, max_attempts=attempts)
        with self._lock:
            self.work[work.guid] = work
            self._milliseconds[work.guid] = milliseconds
        return work

    def complain(self, text: str) -> None:
        """Take note of an answer that nobody should get."""
        with self._lock:
            self.complaints.append(text)

    def _call(self, name: str, attempts: int, milliseconds: int) -> dict[str, Any]:
        behaviour = self.random.choice(["work", "work", "flaky"])
        url = f"http://127.0.0.1:{self.world.endpoint_port}/{behaviour}/{milliseconds}"
        retry = {"max_attempts": attempts, "backoff_seconds": 1, "retry_on": _RETRY_ON}
        return {"name": name, "url": url, "auth_header": "basic x", "timeout_seconds": 12, "retry": retry}

    def _schedule(self, held: Held) -> str:
        return f"{held.path}/schedules/{held.timeline.guid}"

    def accepted(self, shape: Shape, answer: Answer, *, before: Shape | None = None) -> Shape:
        """Return the shape with the anchor that the promised next run tells.

        An interval counts from the moment of the request, unless there was the same one before.
        """
        if not isinstance(shape, Interval):
            return shape
        promised = parse(answer.body["next_run_at"])
        anchor = promised - shape.seconds * SECOND
        goes_on = isinstance(before, Interval) and before.seconds == shape.seconds
        if not goes_on and not answer.lo - SECOND <= anchor <= answer.hi + SECOND:
            self.complain(f"{shape.expression} promises {answer.body['next_run_at']} first")
        return replace(shape, anchor=anchor)

    def _changed(self, held: Held, answer: Answer, phase: Phase, what: str) -> None:
        if answer.done:
            held.timeline.phases.append(phase)
        elif answer.unclear:
            held.doubt, held.doubted = answer, phase
        else:
            self._expect(answer, what, held.timeline.guid)

    def _insist(self, method: str, path: str, body: Any, **headers: str) -> Answer:
        for _ in range(_TRIES_WITH_KEY):
            answer = self.client.ask(method, path, body, **headers)
            if not answer.unclear:
                return answer
            time.sleep(1)
        return answer

    def _ran(self, answer: Answer, key: str, what: str) -> None:
        if answer.done:
            with self._lock:
                self.manual[key] = answer.body["guid"]
        elif not answer.unclear:
            self._expect(answer, what, key)

    def _expect(self, answer: Answer, what: str, about: Any) -> None:
        """Complain unless the refusal comes from UAA or Cloud Controller being away (401, 403), or nothing came."""
        if answer.refused and answer.status not in {401, 403}:
            self.complain(f"{what}: {answer.status} {answer.body} for {about}")
