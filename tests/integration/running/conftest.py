"""The parts of a runner, put together by hand over real rows."""

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from scheduler.domain.claims import Claimed, Finish, GiveBack, Outcome
from scheduler.domain.states import ExecutionState, Reason, RefType
from scheduler.messages import Bell
from scheduler.ports import Delivery
from scheduler.running.claiming import Claimer
from scheduler.running.finishing import Finisher
from scheduler.running.hand import Pace
from scheduler.running.liveness import Liveness
from scheduler.running.runner import MayStart, Runner
from scheduler.runtime.loops import Stop, start_thread
from scheduler.runtime.timing import Timing
from scheduler.store.sealing import Seal
from tests.fixtures.rows import Rows
from tests.fixtures.session import wait_until

SUCCEEDED = Finish(state=ExecutionState.SUCCEEDED, message="done")


@dataclass
class HandFedConsumer:
    """A queue that holds what a test puts into it, and tells what became of that."""

    unreadable_count: int = 0
    acknowledged: list[UUID] = field(default_factory=list)
    given_back: list[UUID] = field(default_factory=list)
    wishes: list[str] = field(default_factory=list)
    _waiting: list[Delivery] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def deliver(self, *guids: UUID) -> list[Delivery]:
        deliveries = [Delivery(Bell(execution=guid, kind=RefType.CALL), object()) for guid in guids]
        with self._changed:
            self._waiting += deliveries
            self._changed.notify_all()
        return deliveries

    def receive(self, *, limit: int, timeout: float) -> list[Delivery]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting, timeout)
            taken, self._waiting = self._waiting[:limit], self._waiting[limit:]
        return taken

    def acknowledge(self, deliveries: Iterable[Delivery]) -> None:
        self.acknowledged += [delivery.bell.execution for delivery in deliveries]

    def give_back(self, deliveries: Iterable[Delivery]) -> None:
        self.given_back += [delivery.bell.execution for delivery in deliveries]

    def take_ahead(self, count: int) -> None:
        self.wishes.append(f"{count} ahead")

    def pause(self) -> None:
        self.wishes.append("pause")

    def resume(self) -> None:
        self.wishes.append("resume")

    def connected(self) -> bool:
        return True

    def close(self) -> None:
        self.wishes.append("close")


@dataclass
class ScriptedPerformer:
    """Does for each execution what the test says; without a word it succeeds."""

    behave: Callable[[Claimed, MayStart], Outcome | None] = lambda _claimed, _may_start: SUCCEEDED
    performed: list[UUID] = field(default_factory=list)

    def perform(self, claimed: Claimed, may_start: MayStart) -> Outcome | None:
        self.performed.append(claimed.guid)
        return self.behave(claimed, may_start)

    def on_stop(self, claimed: Claimed) -> Outcome | None:
        return Finish(state=ExecutionState.FAILED, reason=Reason.INTERRUPTED, message=f"stopped in {claimed.attempt}")

    def on_fault(self, claimed: Claimed) -> Outcome:
        return GiveBack(look_up_first=claimed.serial)


class SaidPace(Pace):
    """As fast as the test says."""

    said = False

    def look(self, ended: int, now: float) -> bool:  # noqa: ARG002 - what it is judged by otherwise
        self.is_fast = self.said
        return self.said


@dataclass
class RunnerInHand:
    """A runner and its surroundings."""

    rows: Rows
    consumer: HandFedConsumer
    performer: ScriptedPerformer
    liveness: Liveness
    finisher: Finisher
    runner: Runner
    stop: Stop
    written: Stop
    pace: SaidPace
    writing: threading.Thread | None = None

    def start(self) -> None:
        self.liveness.beat()
        self.writing = start_thread("finish", self.finisher.run)
        self.runner.start()

    def end(self) -> None:
        """Let nothing try to write once the database is gone."""
        if self.writing is not None:
            self.drain(grace_seconds=2)
            self.writing.join(5)

    def drain(self, grace_seconds: float = 5) -> None:
        self.stop.set()
        self.runner.drain(grace_seconds)
        self.written.set()

    def state(self, guid: UUID) -> str:
        return str(self.rows.read(guid).state)

    def await_state(self, guid: UUID, state: str) -> None:
        wait_until(lambda: self.state(guid) == state, within=10, what=f"{guid} is {state}")


@pytest.fixture
def in_hand(rows: Rows) -> Iterator[RunnerInHand]:
    """A runner of two threads, not started yet."""
    consumer, stop, written, performer = HandFedConsumer(), Stop(), Stop(), ScriptedPerformer()
    liveness = Liveness(rows.engine, "call-runner", Timing())
    finisher, pace = Finisher(rows.engine, written), SaidPace(0)
    runner = Runner(
        consumer=consumer,
        claimer=Claimer(rows.engine, consumer, liveness, RefType.CALL, Seal(), stop, waits=(0.05, 0.1, 0.2, 0.4)),
        finisher=finisher,
        liveness=liveness,
        performer=performer,
        workers=2,
        stop=stop,
        pace=pace,
    )
    in_hand = RunnerInHand(rows, consumer, performer, liveness, finisher, runner, stop, written, pace)
    yield in_hand
    in_hand.end()
