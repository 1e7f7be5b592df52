"""One run: a world, users at work, faults; then everything is mended, comes to rest, and is judged."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from random import Random

from scheduler_local import seed as standin
from tests.faults.binding import Binder, provision
from tests.faults.building import BROKER_PASSWORD, BROKER_USER, Servers, running_world
from tests.faults.campaign import Campaign
from tests.faults.client import Client
from tests.faults.history import Observations
from tests.faults.load import Load
from tests.faults.settling import await_quiet, collect, settle
from tests.faults.striking import KINDS, Kind
from tests.faults.world import World, WorldOptions

_ACTORS = 4
_TOKEN_SECONDS = 86_400
# How tasks of the apps go: all in all short, some failing.
_SCRIPTS: Sequence[Sequence[Mapping[str, object]]] = (
    ({"state": "RUNNING", "seconds": 1}, {"state": "SUCCEEDED"}),
    ({"state": "RUNNING", "seconds": 4}, {"state": "SUCCEEDED"}),
    ({"state": "PENDING", "seconds": 1}, {"state": "RUNNING", "seconds": 1}, {"state": "FAILED", "reason": "Exited"}),
)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How long, how much, how bad."""

    seed: int = 1
    duration_seconds: float = 1_200.0
    schedules: int = 250
    bound_schedules: int = 12
    actions_per_second: float = 2.0
    mean_gap_seconds: float = 10.0
    longest_fault_seconds: float = 70.0
    rest_seconds: float = 15.0  # between the last fault and the end of the load's schedules
    quiet_seconds: float = 360.0  # in which everything must have ended
    kinds: Sequence[Kind] = KINDS
    world: WorldOptions = field(default_factory=WorldOptions)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What was seen, and what went wrong with the run itself."""

    seen: Observations
    troubles: Sequence[str]


def run(options: RunOptions, servers: Servers | None = None) -> Result:
    """Do one run and return what is to be judged."""
    with running_world(options.world, servers) as world:
        campaign = Campaign(
            world=world,
            random=Random(options.seed),
            mean_gap_seconds=options.mean_gap_seconds,
            longest_seconds=options.longest_fault_seconds,
            kinds=options.kinds,
        )
        load = prepare_load(world, options)
        with _at_work(load, options):
            campaign.run(options.duration_seconds)
            troubles = [f"not ready again: {name}" for name in world.await_ready()]
            threading.Event().wait(options.rest_seconds)
        until = settle(load)
        await_quiet(world, options.quiet_seconds)
        seen = collect(world, load, campaign.faults, until)
    return Result(seen=seen, troubles=[*campaign.troubles, *troubles])


def prepare_load(world: World, options: RunOptions) -> Load:
    """Create apps and schedules."""
    apps = []
    for script in _SCRIPTS:
        app = world.controller.add_app()
        world.controller.script_tasks(list(script), app_guid=app.guid)
        apps.append(app)
    urls = [f"http://127.0.0.1:{port}" for name, port in world.ports.items() if name.startswith("api")]
    token = world.uaa.token(standin.DEVELOPER, seconds=_TOKEN_SECONDS)
    load = Load(world=world, client=Client(urls, token=token), random=Random(options.seed + 1), apps=apps)
    load.populate(options.schedules)
    return load


def prepare_binder(world: World, load: Load, options: RunOptions) -> Binder:
    """Create the service instance and an app that is bound and unbound."""
    urls = [f"http://127.0.0.1:{port}" for name, port in world.ports.items() if name.startswith("broker")]
    broker = Client(urls, basic=(BROKER_USER, BROKER_PASSWORD))
    app = world.controller.add_app()
    world.controller.script_tasks(list(_SCRIPTS[0]), app_guid=app.guid)
    instance, ids = provision(broker, app.space_guid)
    binder = Binder(load=load, broker=broker, app=app, instance=instance, ids=ids)
    binder.begin(options.bound_schedules)
    return binder


@contextmanager
def _at_work(load: Load, options: RunOptions) -> Iterator[None]:
    """Have users and the broker's client work until the end of the block."""
    stop = threading.Event()
    threads = [threading.Thread(target=_act, args=(load, options, stop), daemon=True) for _ in range(_ACTORS)]
    if "broker" in options.world.services:
        binder = prepare_binder(load.world, load, options)
        threads.append(threading.Thread(target=binder.run, args=(Random(options.seed + 2), stop), daemon=True))
    with ExitStack() as stack:
        for thread in threads:
            stack.callback(thread.join)
            thread.start()
        stack.callback(stop.set)
        yield


def _act(load: Load, options: RunOptions, stop: threading.Event) -> None:
    while not stop.wait(load.random.expovariate(options.actions_per_second / _ACTORS)):
        load.act(options.schedules)
