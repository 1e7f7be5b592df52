"""Requests at once: the database decides, and nothing is left half-done."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from sqlalchemy import Engine, event

from scheduler.store.bindings import is_bound, lock_app
from scheduler.store.instances import lock_instance
from scheduler.store.schedules import insert_schedule
from scheduler.testing.factories import APP, make_job, make_schedule
from scheduler_broker.usecases.pausing import Pausing
from tests.fixtures.session import wait_until
from tests.integration.broker.platform import FakeCloudFoundry, Platform
from tests.integration.broker.rows import bindings, instances, progress_of, state, store

ROUNDS = 5


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(20) as pool:
        yield pool


def _at_once(threads: ThreadPoolExecutor, *actions: Callable[[], int]) -> list[int]:
    """Run the actions as nearly at once as threads can; return what they answer."""
    gate = threading.Barrier(len(actions))

    def run(action: Callable[[], int]) -> int:
        gate.wait(30)
        return action()

    return [each.result(60) for each in [threads.submit(run, action) for action in actions]]


def _waiting(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM pg_locks WHERE NOT granted").scalar_one())


def test_of_twenty_provisions_for_one_space_exactly_one_is_made(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry, threads: ThreadPoolExecutor
) -> None:
    # checklist 198
    guids = [f"instance-{number}" for number in range(20)]
    cloud.instances.update(guids)  # Cloud Controller stores its record before it asks the broker
    statuses = _at_once(threads, *[lambda guid=guid: broker.provision(guid).status_code for guid in guids])
    assert Counter(statuses) == {201: 1, 409: 19}
    assert instances(engine) == [guids[statuses.index(201)]]


def test_of_twenty_equal_provisions_one_is_made_and_the_others_find_it(
    broker: Platform, engine: Engine, threads: ThreadPoolExecutor
) -> None:
    # checklist 194, 229
    statuses = _at_once(threads, *[lambda: broker.provision("one").status_code] * 20)
    assert Counter(statuses) == {201: 1, 200: 19}
    assert instances(engine) == ["one"]


def test_of_twenty_replacements_of_a_purged_instance_exactly_one_is_made(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry, threads: ThreadPoolExecutor
) -> None:
    # checklist 195, 198
    broker.provision("purged")
    guids = [f"instance-{number}" for number in range(20)]
    cloud.instances.update(guids)
    statuses = _at_once(threads, *[lambda guid=guid: broker.provision(guid).status_code for guid in guids])
    assert statuses.count(201) == 1
    assert set(statuses) <= {201, 409, 422}
    assert instances(engine) == [guids[statuses.index(201)]]


def test_of_twenty_equal_binds_one_is_made(broker: Platform, engine: Engine, threads: ThreadPoolExecutor) -> None:
    # checklist 206, 229
    broker.provision("one")
    statuses = _at_once(threads, *[lambda: broker.bind("one", "binding").status_code] * 20)
    assert Counter(statuses) == {201: 1, 200: 19}
    assert bindings(engine) == ["binding"]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_the_two_last_unbinds_at_once_pause(
    broker: Platform, engine: Engine, threads: ThreadPoolExecutor, _round: int
) -> None:
    # checklist 211, 229
    job = make_job()
    schedule = make_schedule(job)
    store(engine, job, schedule)
    broker.provision("one")
    broker.bind("one", "first")
    broker.bind("one", "second")
    unbinds = [lambda guid=guid: broker.unbind("one", guid).status_code for guid in ("first", "second")]
    assert _at_once(threads, *unbinds) == [200, 200]
    assert progress_of(engine, schedule).paused_by == "unbind"


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_two_unbinds_of_one_binding_give_one_200_and_one_410(
    broker: Platform, threads: ThreadPoolExecutor, _round: int
) -> None:
    # checklist 210, 229
    broker.provision("one")
    broker.bind("one", "binding")
    assert sorted(_at_once(threads, *[lambda: broker.unbind("one", "binding").status_code] * 2)) == [200, 410]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_an_unbind_and_a_bind_at_once_leave_a_bound_app_running(
    broker: Platform, engine: Engine, threads: ThreadPoolExecutor, _round: int
) -> None:
    # checklist 211, 215, 229
    job = make_job()
    schedule = make_schedule(job)
    store(engine, job, schedule)
    broker.provision("one")
    broker.bind("one", "old")
    statuses = _at_once(
        threads,
        lambda: broker.unbind("one", "old").status_code,
        lambda: broker.bind("one", "new").status_code,
    )
    assert statuses == [200, 201]
    assert progress_of(engine, schedule).enabled


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_a_bind_racing_a_deprovision_is_never_left_without_its_instance(
    broker: Platform, engine: Engine, threads: ThreadPoolExecutor, _round: int
) -> None:
    # checklist 218, 229
    job = make_job()
    schedule = make_schedule(job)
    store(engine, job, schedule)
    broker.provision("one")
    broker.bind("one", "old")
    gone, bound = _at_once(
        threads,
        lambda: broker.deprovision("one").status_code,
        lambda: broker.bind("one", "new").status_code,
    )
    assert gone == 200
    assert bound in {201, 404}
    assert state(engine) == [[], []]
    assert progress_of(engine, schedule).paused_by == "unbind"


def test_many_operations_on_one_instance_at_once_never_fail_and_never_block_each_other_for_good(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry, threads: ThreadPoolExecutor
) -> None:
    # checklist 229
    apps = [str(uuid4()) for _ in range(4)]
    for app in apps:
        cloud.apps[app] = cloud.apps[APP]
        job = make_job(app_guid=app)
        store(engine, job, *[make_schedule(job) for _ in range(3)])
    cloud.instances.add("one")

    def churn(number: int) -> int:
        worst = 0
        for step in range(8):
            app, guid = apps[(number + step) % len(apps)], f"binding-{number}-{step}"
            answers = [broker.provision("one"), broker.bind("one", guid, app=app), broker.unbind("one", guid)]
            if step % 4 == 3:
                answers.append(broker.deprovision("one"))
            worst = max([worst, *(answer.status_code for answer in answers)])
        return worst

    worst = _at_once(threads, *[lambda number=number: churn(number) for number in range(8)])
    assert max(worst) < 500
    broker.deprovision("one")
    assert state(engine) == [[], []]


def test_a_schedule_that_is_created_during_an_unbind_is_never_left_running(
    broker: Platform, engine: Engine, threads: ThreadPoolExecutor
) -> None:
    job = make_job()
    store(engine, job)
    broker.provision("one")
    broker.bind("one", "binding")
    schedule = make_schedule(job)
    with engine.begin() as creation:
        lock_app(creation, APP)
        assert is_bound(creation, APP)
        unbinding = threads.submit(lambda: broker.unbind("one", "binding").status_code)
        wait_until(lambda: _waiting(engine), within=10, what="the unbind waits for the creation")
        insert_schedule(creation, schedule)
    assert unbinding.result(30) == 200
    assert progress_of(engine, schedule).paused_by == "unbind"


def test_a_creation_that_comes_during_an_unbind_finds_the_app_unbound(
    broker: Platform, engine: Engine, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.provision("one")
    broker.bind("one", "binding")
    reached, go_on = threading.Event(), threading.Event()
    pause = Pausing.pause_unless_bound

    def slow(*arguments: object) -> None:
        reached.set()
        go_on.wait(30)
        pause(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Pausing, "pause_unless_bound", slow)
    unbinding = threads.submit(lambda: broker.unbind("one", "binding").status_code)
    assert reached.wait(30)

    def create() -> bool:
        with engine.begin() as creation:
            lock_app(creation, APP)
            return is_bound(creation, APP)

    creation = threads.submit(create)
    wait_until(lambda: _waiting(engine), within=10, what="the creation waits for the unbind")
    go_on.set()
    assert unbinding.result(30) == 200
    assert creation.result(30) is False


def test_an_operation_that_cannot_get_its_turn_gives_422_and_changes_nothing(broker: Platform, engine: Engine) -> None:
    # checklist 229
    @event.listens_for(engine, "begin")
    def impatient(connection: object) -> None:
        connection.exec_driver_sql("SET LOCAL lock_timeout = '100ms'")  # type: ignore[attr-defined]

    broker.provision("one")
    broker.bind("one", "binding")
    before = state(engine)
    with engine.begin() as other:
        lock_instance(other, "one")
        for answer in (broker.unbind("one", "binding"), broker.bind("one", "new"), broker.deprovision("one")):
            assert answer.status_code == 422
            assert answer.get_json()["error"] == "ConcurrencyError"
            assert answer.get_json()["description"]
    assert state(engine) == before
    assert broker.unbind("one", "binding").status_code == 200
