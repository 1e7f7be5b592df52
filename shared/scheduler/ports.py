"""Protocols at the edges that we do not own: the queue. Its two kinds pass one contract-test suite."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from scheduler.domain.states import RefType
from scheduler.messages import Bell


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message in a consumer's hands; `tag` is the queue's own handle for it."""

    bell: Bell
    tag: object


class Publisher(Protocol):
    """Used by the relay only, from one thread."""

    def publish(self, bells: Sequence[Bell], *, timeout: float) -> set[UUID]:
        """Publish and wait up to `timeout` seconds; return the executions whose messages are confirmed.

        Never raises for a queue that is away, and does not wait for its return: what is not confirmed is simply not
        in the answer. It may have arrived all the same; publishing it again is harmless.
        """

    def depth(self, kind: RefType) -> int | None:
        """Return how many messages are ready (possibly no more than a few thousand), None when nobody answers."""

    def connected(self) -> bool:
        """Tell whether the queue answers at present (readiness)."""

    def close(self) -> None:
        """Let the connection go."""


class Consumer(Protocol):
    """One per runner process. `receive` is called from one thread, the others may be called from any.

    Never raises for a queue that is away; `receive` then returns nothing until it is back. Deliveries in hand at that
    moment will come again; settling them afterwards has no effect.
    """

    @property
    def unreadable_count(self) -> int:
        """How many messages went to the dead letters because they could not be read (a counter for the metrics)."""

    def receive(self, *, limit: int, timeout: float) -> list[Delivery]:
        """Return up to `limit` deliveries as soon as there is one, an empty list after `timeout` seconds."""

    def acknowledge(self, deliveries: Iterable[Delivery]) -> None:
        """Say that these are settled in the database or owned by a thread that is done with them."""

    def give_back(self, deliveries: Iterable[Delivery]) -> None:
        """Return these to the queue for another runner."""

    def take_ahead(self, count: int) -> None:
        """Take so many deliveries more than the prefetch; 0 ends it and gives back what nobody has received."""

    def pause(self) -> None:
        """Stop taking new deliveries; those in hand may still be acknowledged or given back."""

    def resume(self) -> None:
        """Take deliveries again."""

    def connected(self) -> bool:
        """Tell whether the queue answers at present (readiness)."""

    def close(self) -> None:
        """Give back what is in hand and let the connection go."""
