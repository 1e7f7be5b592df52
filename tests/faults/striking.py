"""The kinds of faults. Each strikes when entered, and is over, mended and answering again when left."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from random import Random

from tests.faults.services import Instance
from tests.faults.world import OccupiedError, World

Strike = Callable[[World, Random], AbstractContextManager[str]]  # yields the target's name


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of fault and for how long it lasts, in seconds; `stalls`: in units of the liveness limit instead."""

    name: str
    strike: Strike
    least: float
    most: float
    stalls: bool = False


@contextmanager
def _some_instance(world: World, random: Random, services: tuple[str, ...] = ()) -> Iterator[Instance]:
    candidates = [each for each in world.instances if not services or each.service in services]
    instance = random.choice(candidates)
    if not instance.lock.acquire(blocking=False):
        raise OccupiedError(instance.name)
    try:
        yield instance
    finally:
        instance.lock.release()


def killing(*services: str) -> Strike:
    """Kill a process with SIGKILL; start another one at the end."""

    @contextmanager
    def strike(world: World, random: Random) -> Iterator[str]:
        with _some_instance(world, random, services) as instance:
            instance.kill()
            yield instance.name
            instance.start()

    return strike


@contextmanager
def terminating(world: World, random: Random) -> Iterator[str]:
    """End a process with SIGTERM; start another one at the end."""
    with _some_instance(world, random) as instance:
        instance.terminate()
        yield instance.name
        instance.start()


@contextmanager
def suspending(world: World, random: Random) -> Iterator[str]:
    """Stop a process where it stands, and wake it at the end."""
    with _some_instance(world, random) as instance:
        instance.suspend()
        try:
            yield instance.name
        finally:
            instance.wake()


def postgres_away(*, immediate: bool) -> Strike:
    """Shut PostgreSQL down and start it again on the same data."""

    @contextmanager
    def strike(world: World, _random: Random) -> Iterator[str]:
        with world.holding("postgres"):
            world.stop_postgres(immediate=immediate)
            yield "postgres"
            world.postgres.start()

    return strike


def rabbit_away(*, kill: bool) -> Strike:
    """Stop or kill RabbitMQ and start it again with the messages that it kept."""

    @contextmanager
    def strike(world: World, _random: Random) -> Iterator[str]:
        with world.holding("rabbit"):
            if kill:
                world.rabbit.kill()
            else:
                world.rabbit.stop()
            yield "rabbit"
            world.rabbit.start()

    return strike


def queues_harmed(*, delete: bool) -> Strike:
    """Purge or delete the queues, at once and again at the end."""

    @contextmanager
    def strike(world: World, _random: Random) -> Iterator[str]:
        with world.holding("rabbit"):
            world.harm_queues(delete=delete)
            yield "queues"
            world.harm_queues(delete=delete)

    return strike


def link_harmed(harm: Callable[[World, str, Random], None]) -> Strike:
    """Do something to one or all of the links to one server."""

    @contextmanager
    def strike(world: World, random: Random) -> Iterator[str]:
        server = random.choice(["postgres", "rabbit", "controller", "uaa", "endpoint"])
        links = world.proxy.names(f"> {server}")
        chosen = links if random.random() < 0.3 else [random.choice(links)]
        with world.holding_links(chosen):
            for link in chosen:
                harm(world, link, random)
            try:
                yield f"{server} of all" if len(chosen) > 1 else chosen[0]
            finally:
                for link in chosen:
                    world.proxy.heal(link)

    return strike


def _cut(world: World, link: str, random: Random) -> None:
    world.proxy.cut(link, refuse=random.random() < 0.7)


def _delay(world: World, link: str, random: Random) -> None:
    world.proxy.delay(link, random.choice([0.02, 0.1, 0.5]))


def _one_way(world: World, link: str, random: Random) -> None:
    forth = random.random() < 0.5
    world.proxy.silence(link, forth=forth, back=not forth)


def _silence(world: World, link: str, _random: Random) -> None:
    world.proxy.silence(link)


def endpoint_mood(mood: str, seconds: float = 0.0) -> Strike:
    """Let the endpoint misbehave."""

    @contextmanager
    def strike(world: World, _random: Random) -> Iterator[str]:
        with world.holding("endpoint"):
            world.endpoint.mood(mood, seconds)
            try:
                yield "endpoint"
            finally:
                world.endpoint.mood("")

    return strike


@contextmanager
def answer_lost(world: World, random: Random) -> Iterator[str]:
    """Cloud Controller creates tasks, and the answers are cut off or replaced by a router's."""
    with world.holding("controller"):
        kind = random.choice(["cut", "bad_gateway", "gateway_timeout"])
        world.controller.fault(kind, method="POST", path=r"/tasks\?", after=True)
        try:
            yield "controller"
        finally:
            world.controller.clear_faults()


KINDS: tuple[Kind, ...] = (
    Kind(name="service killed", strike=killing(), least=0, most=15),
    Kind(name="runner killed", strike=killing("call-runner", "job-runner"), least=0, most=15),
    Kind(name="service ended by SIGTERM", strike=terminating, least=0, most=10),
    Kind(name="process stopped beyond the liveness limit", strike=suspending, least=1.1, most=1.5, stalls=True),
    Kind(name="PostgreSQL shut down fast", strike=postgres_away(immediate=False), least=1, most=70),
    Kind(name="PostgreSQL shut down immediately", strike=postgres_away(immediate=True), least=1, most=70),
    Kind(name="RabbitMQ stopped", strike=rabbit_away(kill=False), least=0, most=20),
    Kind(name="RabbitMQ killed", strike=rabbit_away(kill=True), least=0, most=20),
    Kind(name="queues purged", strike=queues_harmed(delete=False), least=0, most=5),
    Kind(name="queues deleted", strike=queues_harmed(delete=True), least=0, most=5),
    Kind(name="connections cut", strike=link_harmed(_cut), least=0, most=15),
    Kind(name="connections delayed", strike=link_harmed(_delay), least=5, most=20),
    Kind(name="connections one-way", strike=link_harmed(_one_way), least=2, most=25),
    Kind(name="connections silent", strike=link_harmed(_silence), least=2, most=25),
    Kind(name="endpoint slow", strike=endpoint_mood("slow", 4.0), least=5, most=20),
    Kind(name="endpoint failing", strike=endpoint_mood("failing"), least=5, most=20),
    Kind(name="endpoint cutting after the work", strike=endpoint_mood("cutting"), least=5, most=20),
    Kind(name="task created, answer lost", strike=answer_lost, least=5, most=20),
)


def kind(name: str) -> Kind:
    """Return the kind of this name."""
    return next(each for each in KINDS if each.name == name)
