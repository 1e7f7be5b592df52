"""The wire contract of the queue: a message only says which row to look at.

`{"v":1,"execution":"<guid>","kind":"job|call"}`: safe to lose, to repeat and to receive late.
"""

import json
from dataclasses import dataclass
from uuid import UUID

from scheduler.domain.errors import PermanentError
from scheduler.domain.states import RefType

VERSION = 1


class UnreadableMessageError(PermanentError):
    """The body is no message of ours; it belongs with the dead letters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bell:
    """Ring: look at this execution."""

    execution: UUID
    kind: RefType

    def encode(self) -> bytes:
        """Return the body to publish."""
        return b'{"v":1,"execution":"%b","kind":"%b"}' % (str(self.execution).encode(), self.kind.encode())


def decode(body: bytes) -> Bell:
    """Return the message in `body`.

    Raises UnreadableMessageError, whatever the bytes are.
    """
    try:
        fields = json.loads(body)
        if fields["v"] != VERSION:
            raise UnreadableMessageError(f"message version {fields['v']!r} is not {VERSION}")
        return Bell(execution=UUID(fields["execution"]), kind=RefType(fields["kind"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableMessageError(f"unreadable message: {type(error).__name__}") from error
