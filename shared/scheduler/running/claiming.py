"""Claiming the deliveries at hand, with the waits that the contract asks for when the database fails."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg2 import errors
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError

from scheduler.domain.claims import Claimed
from scheduler.domain.guids import new_guid
from scheduler.domain.states import RefType
from scheduler.ports import Consumer, Delivery
from scheduler.running.liveness import Liveness
from scheduler.runtime.loops import Stop, describe
from scheduler.store import claims
from scheduler.store.claims import Claimant
from scheduler.store.sealing import Seal

_log = logging.getLogger(__name__)

# Seconds between the five tries (checklist 169).
WAITS = (1.0, 2.0, 4.0, 8.0)
SKIPPED = "the run was skipped: its start could not be recorded because the database did not answer"


@dataclass(frozen=True, slots=True)
class Claims:
    """What a round of claiming brought: claimed executions with their deliveries, under one generation."""

    generation: UUID
    taken: Sequence[tuple[Claimed, Delivery]]


@dataclass
class Claimer:
    """Turns deliveries into claims; what is not taken is acknowledged or given back before it returns."""

    engine: Engine
    consumer: Consumer
    liveness: Liveness
    kind: RefType
    seal: Seal
    stop: Stop
    waits: Sequence[float] = WAITS

    def claim(self, deliveries: Sequence[Delivery]) -> Claims:
        """Claim what may run now."""
        generation = self.liveness.generation
        claimant = Claimant(runner=generation, token=new_guid())
        by_guid = {delivery.bell.execution: delivery for delivery in deliveries}
        taken = self._with_retries(list(by_guid), claimant)
        if taken is None:  # others hold the rows, or this process is ending: another runner, or a later try
            self.consumer.give_back(deliveries)
            return Claims(generation, [])
        mine = {claimed.guid for claimed in taken}
        self.consumer.acknowledge([d for d in deliveries if by_guid[d.bell.execution] is not d])
        self.consumer.acknowledge([d for guid, d in by_guid.items() if guid not in mine])
        return Claims(generation, [(claimed, by_guid[claimed.guid]) for claimed in taken])

    def _with_retries(self, guids: Sequence[UUID], claimant: Claimant) -> list[Claimed] | None:
        """Return the claims, None when the deliveries are to be given back."""
        fault: SQLAlchemyError | None = None
        for wait in (0.0, *self.waits):
            if wait and self.stop.wait(wait):
                return None
            try:
                return self._claim(guids, claimant)
            except SQLAlchemyError as error:
                if fault is None and _is_lock_timeout(error):  # a try before may have claimed without our hearing of it
                    return None
                fault = error
                self._warn("The claim failed and is tried again", guids, error)
        self._skip(guids, claimant, fault)
        return []

    def _claim(self, guids: Sequence[UUID], claimant: Claimant) -> list[Claimed]:
        try:
            with self.engine.begin() as connection:
                return claims.claim(connection, self.kind, guids, claimant, self.seal)
        except IntegrityError:  # two serial runs of one schedule at hand: each on its own, the second one waits
            if len(guids) > 1:
                return [each for guid in guids for each in self._claim_alone(guid, claimant)]
            with self.engine.begin() as connection:
                claims.give_to_relay(connection, guids)
            return []

    def _claim_alone(self, guid: UUID, claimant: Claimant) -> list[Claimed]:
        """Claim one of several: should it fail, those that are claimed by now must be performed all the same."""
        try:
            return self._claim([guid], claimant)
        except SQLAlchemyError as error:
            self._warn("A claim failed; the run is published again later", [guid], error)
            return []

    def _skip(self, guids: Sequence[UUID], claimant: Claimant, fault: SQLAlchemyError | None) -> None:
        """Write that the runs were skipped, with the same tries; without an answer the rows stay PENDING."""
        for wait in (0.0, *self.waits):
            if wait and self.stop.wait(wait):
                return
            try:
                with self.engine.begin() as connection:
                    claims.skip_unrecorded(connection, guids, claimant.token, SKIPPED)
            except SQLAlchemyError as error:
                second = error
            else:
                return
        for guid in guids:
            _log.error(
                f"An execution could neither be started nor skipped: {describe(fault or second)}; {describe(second)}",
                extra={"action": "claim_given_up", "execution_guid": str(guid)},
            )
        self._await_database()

    def _await_database(self) -> None:
        """Take no more deliveries until the database answers."""
        self.consumer.pause()
        while not self.stop.wait(1.0):
            try:
                with self.engine.begin() as connection:
                    connection.exec_driver_sql("SELECT 1")
            except SQLAlchemyError:
                continue
            break
        self.consumer.resume()

    def _warn(self, sentence: str, guids: Sequence[UUID], error: SQLAlchemyError) -> None:
        _log.warning(
            f"{sentence}: {describe(error)}",
            extra={"action": "claim_failed", "executions": len(guids), "first": str(guids[0])},
        )


def _is_lock_timeout(error: SQLAlchemyError) -> bool:
    return isinstance(error, OperationalError | DBAPIError) and isinstance(error.orig, errors.LockNotAvailable)
