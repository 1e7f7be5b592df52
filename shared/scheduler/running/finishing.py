"""Outcomes are written in batches, and tried until they are written: a run that was made is never forgotten."""

import logging
import queue
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import Engine
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from scheduler.domain.claims import Claimed, Finish, GiveBack, Outcome, TryAgain
from scheduler.runtime.loops import Stop, describe
from scheduler.store.outcomes import write_outcomes

_log = logging.getLogger(__name__)

BATCH = 200
GATHER_SECONDS = 0.02  # how long a busy finisher waits for more
RETRY_SECONDS = 1.0

Ended = tuple[Claimed, Outcome]


@dataclass
class Finisher:
    """One thread runs `run`; every other one puts its outcomes in."""

    engine: Engine
    stop: Stop  # set when nothing more will come
    on_written: Callable[[Ended], None] = lambda _: None
    _waiting: "queue.SimpleQueue[Ended]" = field(default_factory=queue.SimpleQueue)

    def put(self, claimed: Claimed, outcome: Outcome) -> None:
        """Hand over what became of a claimed execution."""
        self._waiting.put((claimed, outcome))

    def run(self) -> None:
        """Write until stopped and empty."""
        was_full = False
        while not (self.stop.is_set() and self._waiting.empty()):
            batch = self._gather(patient=was_full)
            if batch:
                self._write_until_written(batch)
            was_full = len(batch) > 1

    def _gather(self, *, patient: bool) -> list[Ended]:
        """Take what is there; when the last batch shows that more is coming, give it a moment to gather."""
        try:
            batch = [self._waiting.get(timeout=0.2)]
        except queue.Empty:
            return []
        deadline = time.monotonic() + (GATHER_SECONDS if patient else 0)
        while len(batch) < BATCH:
            try:
                batch.append(self._waiting.get(timeout=max(0.0, deadline - time.monotonic())))
            except queue.Empty:
                break
        return batch

    def _write_until_written(self, batch: list[Ended]) -> None:
        while True:
            try:
                with self.engine.begin() as connection:
                    written = write_outcomes(connection, batch)
            except (DataError, IntegrityError, ValueError) as error:
                self._isolate(batch, error)
                return
            except SQLAlchemyError as error:
                _log.warning(
                    f"Outcomes could not be written and are tried again: {describe(error)}",
                    extra={"action": "finish_failed", "outcomes": len(batch)},
                )
                time.sleep(RETRY_SECONDS)  # nothing else can be done meanwhile, and nothing may be lost at a stop
            else:
                self._report(batch, written)
                return

    def _isolate(self, batch: list[Ended], error: Exception) -> None:
        """Write one by one what cannot be written together; what PostgreSQL refuses even so ends without its words."""
        if len(batch) > 1:
            for ended in batch:
                self._write_until_written([ended])
            return
        claimed, outcome = batch[0]
        _log.error(
            f"An outcome cannot be written as it is: {describe(error)}",
            extra={"action": "finish_refused", "execution_guid": str(claimed.guid)},
        )
        plain = _without_words(outcome)
        if plain != outcome:
            self._write_until_written([(claimed, plain)])

    def _report(self, batch: list[Ended], written: int) -> None:
        for ended in batch:
            self.on_written(ended)
        if written < len(batch):
            _log.warning(
                f"{len(batch) - written} outcomes came too late: their runs had been taken from this runner.",
                extra={"action": "outcomes_unmatched", "executions": [str(claimed.guid) for claimed, _ in batch][:20]},
            )
        if _log.isEnabledFor(logging.DEBUG):
            states = Counter(o.state if isinstance(o, Finish) else "PENDING" for _, o in batch)
            _log.debug("Outcomes were written.", extra={"action": "outcomes_written", **states})


def _without_words(outcome: Outcome) -> Outcome:
    """Return the bare decision: whatever was refused, it is not that."""
    if isinstance(outcome, Finish):
        return Finish(state=outcome.state, reason=outcome.reason)
    if isinstance(outcome, TryAgain):
        return TryAgain(delay_seconds=outcome.delay_seconds, reason=outcome.reason)
    return GiveBack(delay_seconds=outcome.delay_seconds, look_up_first=outcome.look_up_first)
