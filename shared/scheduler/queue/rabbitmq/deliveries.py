"""Which deliveries of one channel are unsettled, and the fewest acknowledgements that settle them."""

from collections import OrderedDict
from collections.abc import Iterable


class Unsettled:
    """The tags of one channel, in the order in which RabbitMQ gave them; not safe to share between threads."""

    def __init__(self) -> None:
        self._tags: OrderedDict[int, None] = OrderedDict()

    def add(self, tag: int) -> None:
        """Remember a delivery."""
        self._tags[tag] = None

    def tags(self) -> set[int]:
        """Return all of them."""
        return set(self._tags)

    def remove(self, tags: Iterable[int]) -> list[int]:
        """Forget these; return those that were there."""
        return [tag for tag in tags if self._tags.pop(tag, self) is None]

    def settle(self, tags: set[int]) -> list[tuple[int, bool]]:
        """Forget these; return the acknowledgements to send, as (tag, multiple).

        One covers everything up to the first delivery that is still being worked on; behind it each needs its own,
        since holding them back would let one long run use up the prefetch.
        """
        prefix = 0
        while self._tags and (oldest := next(iter(self._tags))) in tags:
            del self._tags[oldest]
            prefix = oldest
        single = self.remove(sorted(tag for tag in tags if tag > prefix))
        return [*([(prefix, True)] if prefix else []), *((tag, False) for tag in single)]
