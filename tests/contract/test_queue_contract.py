"""What runners and the relay may rely on, whichever queue it is (scheduler.ports)."""

import threading
from concurrent.futures import ThreadPoolExecutor

from scheduler.domain.states import RefType
from tests.fixtures.queues import Queue, receive
from tests.fixtures.session import wait_until

NOTHING_SECONDS = 0.5  # how long a test looks for what must not come


def test_what_is_published_is_delivered(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer()
    (bell,) = queue.bells(1)
    assert queue.ring(publisher, [bell]) == {bell.execution}
    (delivery,) = receive(consumer, 1)
    assert delivery.bell == bell


def test_each_of_many_is_confirmed_and_run_once(queue: Queue) -> None:  # checklist 168, 178
    publisher, consumer = queue.publisher(), queue.consumer()
    bells = queue.bells(2_500)
    guids = {bell.execution for bell in bells}
    assert queue.ring(publisher, bells) == guids
    claimed = queue.work(consumer, len(guids))
    assert sorted(claimed) == sorted(guids)
    assert consumer.receive(limit=1, timeout=NOTHING_SECONDS) == []


def test_publishing_nothing_confirms_nothing(queue: Queue) -> None:
    assert queue.publisher().publish([], timeout=1) == set()


def test_publishing_twice_runs_once(queue: Queue) -> None:  # checklist 178
    publisher, consumer = queue.publisher(), queue.consumer()
    (bell,) = queue.bells(1)
    queue.ring(publisher, [bell])
    queue.ring(publisher, [bell])
    assert queue.work(consumer, 1) == [bell.execution]
    again = consumer.receive(limit=5, timeout=NOTHING_SECONDS)
    assert queue.claim(again) == []


def test_jobs_and_calls_do_not_mix(queue: Queue) -> None:
    publisher, jobs, calls = queue.publisher(), queue.consumer(RefType.JOB), queue.consumer(RefType.CALL)
    (job,), (call,) = queue.bells(1, RefType.JOB), queue.bells(1, RefType.CALL)
    assert queue.ring(publisher, [job, call]) == {job.execution, call.execution}
    assert [delivery.bell for delivery in receive(jobs, 1)] == [job]
    assert [delivery.bell for delivery in receive(calls, 1)] == [call]
    assert jobs.receive(limit=1, timeout=NOTHING_SECONDS) == []


def test_receiving_ends_without_a_message_when_its_time_is_over(queue: Queue) -> None:
    assert queue.consumer().receive(limit=1, timeout=0.05) == []


def test_a_message_ends_the_waiting_for_one(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer()
    consumer.receive(limit=1, timeout=0.01)
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(consumer.receive, limit=1, timeout=60)
        queue.ring(publisher, queue.bells(1))
        assert len(waiting.result(10)) == 1


def test_no_more_than_the_limit_is_received(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer()
    queue.ring(publisher, queue.bells(10))
    receive(consumer, 1)
    wait_until(lambda: len(consumer.receive(limit=3, timeout=1)) == 3, within=10, what="three at a time")


def test_no_more_than_the_prefetch_is_in_hand_until_something_is_settled(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer(prefetch=3)
    queue.ring(publisher, queue.bells(5))
    in_hand = receive(consumer, 3)
    assert consumer.receive(limit=10, timeout=NOTHING_SECONDS) == []
    queue.claim(in_hand)
    consumer.acknowledge(in_hand[1:2])
    assert len(receive(consumer, 1)) == 1


def test_a_long_run_does_not_hold_up_what_came_later(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer(prefetch=2)
    bells = queue.bells(30)
    queue.ring(publisher, bells)
    (long,) = receive(consumer, 1)
    queue.claim([long])
    others = queue.work(consumer, 29)
    assert sorted([*others, long.bell.execution]) == sorted(bell.execution for bell in bells)
    consumer.acknowledge([long])


def test_what_is_given_back_is_delivered_again(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer()
    queue.ring(publisher, queue.bells(3))
    first = receive(consumer, 3)
    consumer.give_back(first)
    again = receive(consumer, 3)
    assert {delivery.bell for delivery in again} == {delivery.bell for delivery in first}


def test_what_a_consumer_leaves_unsettled_goes_to_another(queue: Queue) -> None:
    publisher, leaving, staying = queue.publisher(), queue.consumer(prefetch=5), queue.consumer(prefetch=5)
    bells = queue.bells(5)
    queue.ring(publisher, bells)
    leaving.receive(limit=2, timeout=5)
    leaving.close()
    claimed = queue.work(staying, 5)
    assert sorted(claimed) == sorted(bell.execution for bell in bells)


def test_what_is_acknowledged_just_before_closing_stays_settled(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer()
    queue.ring(publisher, queue.bells(20))
    deliveries = receive(consumer, 20)
    queue.claim(deliveries)
    consumer.acknowledge(deliveries)
    consumer.close()
    assert queue.consumer().receive(limit=1, timeout=NOTHING_SECONDS) == []


def test_two_consumers_share_the_work(queue: Queue) -> None:  # checklist 149
    publisher, consumers = queue.publisher(), [queue.consumer(), queue.consumer()]
    bells = queue.bells(600)
    queue.ring(publisher, bells)
    claimed: list[list[object]] = [[], []]

    def work(index: int) -> None:
        while sum(map(len, claimed)) < len(bells):
            deliveries = consumers[index].receive(limit=20, timeout=0.2)
            claimed[index].extend(queue.claim(deliveries))
            consumers[index].acknowledge(deliveries)

    with ThreadPoolExecutor() as threads:
        list(threads.map(work, range(2), timeout=60))
    assert len({*claimed[0], *claimed[1]}) == len(claimed[0]) + len(claimed[1]) == len(bells)
    assert all(claimed)


def test_a_paused_consumer_takes_nothing_and_leaves_everything_to_others(queue: Queue) -> None:
    publisher, paused, other = queue.publisher(), queue.consumer(), queue.consumer()
    paused.pause()
    bells = queue.bells(10)
    queue.ring(publisher, bells)
    assert sorted(queue.work(other, 10)) == sorted(bell.execution for bell in bells)
    assert paused.receive(limit=10, timeout=NOTHING_SECONDS) == []


def test_pausing_gives_back_what_nobody_received(queue: Queue) -> None:
    publisher, paused = queue.publisher(), queue.consumer()
    queue.ring(publisher, queue.bells(10))
    in_hand = receive(paused, 1)
    paused.pause()
    other = queue.consumer()
    queue.claim(in_hand)
    assert len(queue.work(other, 9)) == 9
    paused.acknowledge(in_hand)


def test_a_resumed_consumer_takes_messages_again(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer()
    consumer.pause()
    queue.ring(publisher, queue.bells(5))
    assert consumer.receive(limit=10, timeout=NOTHING_SECONDS) == []
    consumer.resume()
    assert len(queue.work(consumer, 5)) == 5


def test_pausing_and_resuming_in_a_hurry_loses_nothing(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer()
    bells = queue.bells(200)
    queue.ring(publisher, bells)
    claimed = []
    for _ in range(10):
        consumer.pause()
        consumer.resume()
        claimed.extend(queue.work(consumer, 1))
    claimed.extend(queue.work(consumer, len(bells) - len(claimed)))
    assert sorted(claimed) == sorted(bell.execution for bell in bells)


def test_more_may_be_taken_ahead_of_the_prefetch(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer(prefetch=3)
    consumer.take_ahead(4)
    bells = queue.bells(10)
    queue.ring(publisher, bells)
    in_hand = receive(consumer, 7)
    assert consumer.receive(limit=10, timeout=NOTHING_SECONDS) == []
    queue.claim(in_hand)
    consumer.acknowledge(in_hand)
    assert len(queue.work(consumer, 3)) == 3


def test_what_was_taken_ahead_and_not_received_goes_to_others(queue: Queue) -> None:
    publisher, busy = queue.publisher(), queue.consumer(prefetch=3)
    busy.take_ahead(4)
    bells = queue.bells(10)
    queue.ring(publisher, bells)
    in_hand = receive(busy, 3)
    queue.claim(in_hand)
    busy.take_ahead(0)
    other = queue.consumer()
    assert len(queue.work(other, 7)) == 7
    other.pause()
    queue.ring(publisher, queue.bells(5))
    assert busy.receive(limit=10, timeout=NOTHING_SECONDS) == [], "it has all that its prefetch allows"
    busy.acknowledge(in_hand[:1])
    assert len(receive(busy, 1)) == 1
    busy.acknowledge(in_hand[1:])
    assert len(receive(busy, 2)) == 2
    assert busy.receive(limit=10, timeout=NOTHING_SECONDS) == []


def test_taking_ahead_can_be_paused_and_resumed(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer(prefetch=3)
    consumer.take_ahead(4)
    consumer.pause()
    queue.ring(publisher, queue.bells(10))
    assert consumer.receive(limit=10, timeout=NOTHING_SECONDS) == []
    consumer.resume()
    assert len(receive(consumer, 7)) == 7


def test_beginning_and_ceasing_to_take_ahead_in_a_hurry_loses_nothing(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer(prefetch=3)
    bells = queue.bells(200)
    queue.ring(publisher, bells)
    claimed = []
    for _ in range(10):
        consumer.take_ahead(4)
        consumer.take_ahead(0)
        claimed.extend(queue.work(consumer, 1))
    claimed.extend(queue.work(consumer, len(bells) - len(claimed)))
    assert sorted(claimed) == sorted(bell.execution for bell in bells)


def test_the_depth_is_what_waits(queue: Queue) -> None:
    publisher = queue.publisher()
    assert publisher.depth(RefType.CALL) == 0
    queue.ring(publisher, queue.bells(7))
    wait_until(lambda: publisher.depth(RefType.CALL) == 7, within=10, what="seven messages wait")
    assert publisher.depth(RefType.JOB) == 0
    queue.work(queue.consumer(), 7)
    wait_until(lambda: publisher.depth(RefType.CALL) == 0, within=10, what="none waits any more")


def test_closing_ends_the_waiting_for_a_message(queue: Queue) -> None:
    consumer = queue.consumer()
    started = threading.Event()

    def wait() -> list[object]:
        started.set()
        return list(consumer.receive(limit=1, timeout=60))

    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(wait)
        started.wait()
        consumer.close()
        assert waiting.result(10) == []


def test_closing_twice_is_harmless(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer()
    for _ in range(2):
        publisher.close()
        consumer.close()


def test_settling_twice_is_harmless(queue: Queue) -> None:
    publisher, consumer = queue.publisher(), queue.consumer()
    queue.ring(publisher, queue.bells(2))
    deliveries = receive(consumer, 2)
    queue.claim(deliveries)
    for _ in range(2):
        consumer.acknowledge(deliveries)
        consumer.give_back(deliveries)
    queue.ring(publisher, queue.bells(1))
    assert len(queue.work(consumer, 1)) == 1
