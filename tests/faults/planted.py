"""Runs a service with a defect planted into it, so that the checker can show that it would find one.

python tests/faults/planted.py DEFECT MODULE

The product knows nothing of this; if it changes shape, a defect can no longer be planted and its test fails.
"""

import os
import runpy
import sys
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

_SHARE = 2  # one execution in so many is harmed: a short run has few


def _is_chosen(guid: UUID) -> bool:
    return guid.int % _SHARE == 0


def drop_publish() -> None:
    """Say of some messages that they were published, each time, and drop them."""
    from scheduler import queue  # noqa: PLC0415 the defect is planted before the service is imported

    open_publisher = queue.open_publisher

    def open_forgetful(*arguments: Any, **options: Any) -> Any:
        publisher = open_publisher(*arguments, **options)
        publish = publisher.publish

        def forget(bells: Sequence[Any], *, timeout: float) -> set[UUID]:
            kept = [bell for bell in bells if not _is_chosen(bell.execution)]
            lost = {bell.execution for bell in bells if _is_chosen(bell.execution)}
            return lost | (publish(kept, timeout=timeout) if kept else set())

        publisher.publish = forget  # type: ignore[method-assign]
        return publisher

    queue.open_publisher = open_forgetful


def claim_twice() -> None:
    """Perform some of what was claimed twice."""
    from scheduler.store import claims  # noqa: PLC0415 likewise

    claim = claims.claim

    def claim_again(*arguments: Any, **options: Any) -> list[Any]:
        claimed = claim(*arguments, **options)
        return [*claimed, *(each for each in claimed if _is_chosen(each.guid))]

    claims.claim = claim_again


def lose_finish() -> None:
    """Forget the outcomes of some runs."""
    from scheduler.running.finishing import Finisher  # noqa: PLC0415 likewise

    put = Finisher.put

    def forget(finisher: Finisher, claimed: Any, outcome: Any) -> None:
        if not _is_chosen(claimed.guid):
            put(finisher, claimed, outcome)

    setattr(Finisher, "put", forget)  # noqa: B010 the type checker would not have it otherwise


def plan_twice() -> None:
    """Insert each planned row twice, which the database would refuse as long as its constraint is there."""
    import psycopg2  # noqa: PLC0415 likewise

    from scheduler.store import due  # noqa: PLC0415 likewise

    connection = psycopg2.connect(os.environ["DATABASE_URL"])
    with connection, connection.cursor() as cursor:
        cursor.execute("ALTER TABLE executions DROP CONSTRAINT IF EXISTS executions_occurrence")
    connection.close()
    insert = due._insert

    def insert_twice(connection: Any, rows: Sequence[Any]) -> int:
        insert(connection, rows)
        return insert(connection, rows)

    due._insert = insert_twice


DEFECTS: dict[str, Callable[[], None]] = {
    "drop-publish": drop_publish,
    "claim-twice": claim_twice,
    "lose-finish": lose_finish,
    "plan-twice": plan_twice,
}

if __name__ == "__main__":
    defect, module = sys.argv[1:]
    DEFECTS[defect]()
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
