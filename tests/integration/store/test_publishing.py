"""The relay takes what may be published, space by space, and publishes again what must be lost."""

from uuid import UUID

from sqlalchemy import Engine

from scheduler.domain.calls import Call
from scheduler.domain.guids import new_guid
from scheduler.domain.states import RefType
from scheduler.store.publishing import Publishable, lock_publishable, requeue_lost, stamp_published
from scheduler.testing.factories import make_call, make_schedule
from tests.fixtures.rows import InTransaction, Rows


def _lock(in_transaction: InTransaction, *, limit: int = 100, after_space: str = "") -> tuple[list[UUID], str]:
    locked: Publishable = in_transaction(lock_publishable, RefType.CALL, limit=limit, after_space=after_space)
    return [bell.execution for bell in locked.bells], locked.last_space


def _calls_of_spaces(rows: Rows, count: int) -> list[Call]:
    calls = [make_call(space_guid=f"space-{number:03}", app_guid=f"app-{number}") for number in range(count)]
    rows.add(*calls)
    return calls


def test_rows_that_wait_are_locked_in_the_order_in_which_they_were_due(
    rows: Rows, in_transaction: InTransaction
) -> None:
    call = make_call()
    second, first = rows.execution(call, age=1), rows.execution(call, age=2)
    rows.execution(call, not_before=rows.now().replace(year=2099))
    rows.execution(call, queued_at=rows.now())
    rows.execution(call, state="RUNNING")
    assert _lock(in_transaction)[0] == [first, second]


def test_the_flood_of_one_space_does_not_bury_the_single_run_of_another(
    rows: Rows, in_transaction: InTransaction
) -> None:
    flood, single = _calls_of_spaces(rows, 2)
    for _ in range(50):
        rows.execution(flood, age=10)
    guid = rows.execution(single)
    locked, _ = _lock(in_transaction, limit=10)
    assert guid in locked[:2]


def test_spaces_take_turns_over_several_passes(rows: Rows, in_transaction: InTransaction) -> None:
    guids = [rows.execution(call) for call in _calls_of_spaces(rows, 5)]
    first, last = _lock(in_transaction, limit=3)
    second, _ = _lock(in_transaction, limit=3, after_space=last)
    assert first == guids[:3]
    assert set(second) == {guids[3], guids[4], guids[0]}


def test_a_pass_tells_when_others_may_be_waiting(rows: Rows, in_transaction: InTransaction) -> None:
    many, one = _calls_of_spaces(rows, 2)
    rows.execution(one)
    for _ in range(3):
        rows.execution(many)
    locked: Publishable = in_transaction(lock_publishable, RefType.CALL, limit=4, after_space="")
    assert (len(locked.bells), locked.more) == (3, True), "less than allowed, and yet one was left in its space"
    in_transaction(stamp_published, [bell.execution for bell in locked.bells])
    locked = in_transaction(lock_publishable, RefType.CALL, limit=4, after_space="")
    assert (len(locked.bells), locked.more) == (1, False)


def test_a_row_that_another_relay_holds_is_left_to_it(
    rows: Rows, engine: Engine, in_transaction: InTransaction
) -> None:
    call = make_call()
    first, second = rows.execution(call, age=2), rows.execution(call, age=1)
    with engine.begin() as other:
        locked = lock_publishable(other, RefType.CALL, limit=1, after_space="")
        assert [bell.execution for bell in locked.bells] == [first]
        assert _lock(in_transaction)[0] == [second]


def test_a_relay_that_dies_before_its_commit_leaves_its_rows_to_the_next(
    rows: Rows, engine: Engine, in_transaction: InTransaction
) -> None:
    guid = rows.execution(make_call())
    with engine.connect() as dying:
        lock_publishable(dying, RefType.CALL, limit=1, after_space="")
        stamp_published(dying, [guid])
    assert _lock(in_transaction)[0] == [guid]


def test_of_a_serial_schedule_only_the_oldest_waiting_row_is_published(
    rows: Rows, in_transaction: InTransaction
) -> None:
    call = make_call()
    schedule, other = make_schedule(call), make_schedule(call)
    first, *_ = (rows.execution(call, schedule, serial=True, scheduled_time=rows.now()) for _ in range(3))
    elsewhere = rows.execution(call, other, serial=True, scheduled_time=rows.now())
    assert set(_lock(in_transaction)[0]) == {first, elsewhere}


def test_a_serial_row_is_not_published_while_another_runs_or_is_queued(
    rows: Rows, in_transaction: InTransaction
) -> None:
    call = make_call()
    running, queued = make_schedule(call), make_schedule(call)
    rows.execution(call, running, serial=True, state="RUNNING", scheduled_time=rows.now())
    rows.execution(call, running, serial=True, scheduled_time=rows.now())
    rows.execution(call, queued, serial=True, scheduled_time=rows.now(), queued_at=rows.now())
    rows.execution(call, queued, serial=True, scheduled_time=rows.now())
    assert _lock(in_transaction)[0] == []


def test_a_retry_of_a_serial_run_keeps_its_place(rows: Rows, in_transaction: InTransaction) -> None:
    call = make_call()
    schedule = make_schedule(call)
    rows.execution(call, schedule, serial=True, scheduled_time=rows.now(), not_before=rows.now().replace(year=2099))
    rows.execution(call, schedule, serial=True, scheduled_time=rows.now())
    assert _lock(in_transaction)[0] == []


def test_stamped_rows_are_not_published_again(rows: Rows, in_transaction: InTransaction) -> None:
    guid = rows.execution(make_call())
    in_transaction(stamp_published, [guid])
    assert _lock(in_transaction)[0] == []
    assert rows.read(guid).publish_count == 1


def _queued_for(rows: Rows, seconds: float, **fields: object) -> UUID:
    guid = rows.execution(make_call(), **fields)
    rows.run(
        "UPDATE executions SET queued_at = now() - :seconds * interval '1 second' WHERE guid = :guid",
        seconds=seconds,
        guid=guid,
    )
    return guid


def _requeue(in_transaction: InTransaction, *, empty: bool) -> int:
    count: int = in_transaction(requeue_lost, RefType.CALL, queue_is_empty=empty, presumed_lost_seconds=60)
    return count


def test_a_row_queued_for_long_is_published_again_once_the_queue_is_empty(
    rows: Rows, in_transaction: InTransaction
) -> None:
    old, young = _queued_for(rows, 61), _queued_for(rows, 59)
    assert _requeue(in_transaction, empty=False) == 0
    assert _requeue(in_transaction, empty=True) == 1
    assert rows.read(old).queued_at is None
    assert rows.read(young).queued_at is not None


def test_a_row_that_was_overtaken_is_published_again_though_the_queue_is_not_empty(
    rows: Rows, in_transaction: InTransaction
) -> None:
    old, other = _queued_for(rows, 200), _queued_for(rows, 130)
    runner = new_guid()
    rows.run("INSERT INTO processes VALUES (:guid, 'call-runner', 'host', '1', now(), now())", guid=runner)
    _queued_for(rows, 100, state="RUNNING", runner=runner, execution_start_time=rows.now())
    assert _requeue(in_transaction, empty=False) == 1
    assert rows.read(old).queued_at is None
    assert rows.read(other).queued_at is not None


def test_the_distance_between_two_publications_of_a_row_grows(rows: Rows, in_transaction: InTransaction) -> None:
    _queued_for(rows, 200, publish_count=3)
    assert _requeue(in_transaction, empty=True) == 0
    _queued_for(rows, 250, publish_count=3)
    assert _requeue(in_transaction, empty=True) == 1
