"""The world that faults strike: PostgreSQL, RabbitMQ, UAA, Cloud Controller, an endpoint, and two of each service.

Every connection between a service and a server leads through a link of its own.
"""

import signal
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pika
import requests
from pika.exceptions import AMQPError

from scheduler_local import seed
from scheduler_local.testing import StandInController, StandInUaa, start_controller, start_uaa
from tests.faults.proxy import Proxy
from tests.faults.services import Instance, Keeper, await_all, python_module
from tests.fixtures import postgres, rabbitmq
from tests.fixtures.postgres import LocalPostgres, PostgresServer
from tests.fixtures.rabbitmq import RabbitNode
from tests.fixtures.reaper import Reaper
from tests.fixtures.session import free_port

READY_SECONDS = 90.0
BROKER_USER, BROKER_PASSWORD = "broker", "broker-password-of-the-tests"
QUEUES = ("scheduler.job", "scheduler.call")
SERVICES = ("api", "ticker", "job-runner", "call-runner", "broker")
_ASKS_CLOUD_FOUNDRY = frozenset({"api", "job-runner", "broker"})
_USES_QUEUE = frozenset({"ticker", "job-runner", "call-runner"})


class OccupiedError(Exception):
    """Another fault is at the target already."""


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """What differs between runs."""

    liveness_seconds: float = 60.0
    instances: int = 2
    planted: Mapping[str, str] = field(default_factory=dict)  # service: defect (planted.py)
    services: Sequence[str] = SERVICES


@dataclass(frozen=True, kw_only=True)
class Servers:
    """Servers that others have started and stop; a world then has a database and a vhost of its own on them."""

    postgres: PostgresServer
    rabbit: RabbitNode


class EndpointProcess:
    """The endpoint and its controls."""

    def __init__(self, reaper: Reaper) -> None:
        self._reaper = reaper
        self._process = subprocess.Popen(
            python_module("tests.faults.endpoint"),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).parents[2],
        )
        reaper.watch(self._process.pid, end_with=signal.SIGTERM)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self._session = requests.Session()
        self._session.trust_env = False

    def mood(self, kind: str, seconds: float = 0.0) -> None:
        """Let it be slow, failing or cutting, or (empty) well."""
        mood = {"kind": kind, "seconds": seconds}
        self._session.post(f"http://127.0.0.1:{self.port}/_mood", json=mood, timeout=30).raise_for_status()

    def hits(self) -> list[dict[str, Any]]:
        """Return everything that arrived."""
        found: list[dict[str, Any]] = self._session.get(f"http://127.0.0.1:{self.port}/_hits?from=0", timeout=60).json()
        return found

    def close(self) -> None:
        """End it."""
        self._session.close()
        self._process.terminate()
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._reaper.forget(self._process.pid)


@dataclass
class World:
    """Everything that runs."""

    options: WorldOptions
    folder: Path
    proxy: Proxy
    postgres: PostgresServer
    rabbit: RabbitNode
    database_url: str  # the direct way, for observers
    amqp_url: str  # likewise
    uaa: StandInUaa
    controller: StandInController
    endpoint: EndpointProcess
    endpoint_port: int  # through the proxy
    instances: list[Instance]
    ports: Mapping[str, int]  # where instances of api and broker listen
    _harmed: set[str] = field(default_factory=set)
    _links_lock: threading.Lock = field(default_factory=threading.Lock)
    _locks: dict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    def of(self, service: str) -> list[Instance]:
        """Return the instances of one service."""
        return [instance for instance in self.instances if instance.service == service]

    def await_ready(self, seconds: float = READY_SECONDS) -> list[str]:
        """Wait until every service is ready; return the names of those that are not in time."""
        return await_all({instance.name: instance.ready for instance in self.instances}, seconds=seconds)

    @contextmanager
    def holding_links(self, links: Sequence[str]) -> Iterator[None]:
        """Keep other faults away from these links. Raises OccupiedError when one is at one of them."""
        with self._links_lock:
            if self._harmed & set(links):
                raise OccupiedError(links[0])
            self._harmed.update(links)
        try:
            yield
        finally:
            with self._links_lock:
                self._harmed.difference_update(links)

    @contextmanager
    def holding(self, server: str) -> Iterator[None]:
        """Keep other faults away from this server. Raises OccupiedError when one is at it."""
        if not self._locks[server].acquire(blocking=False):
            raise OccupiedError(server)
        try:
            yield
        finally:
            self._locks[server].release()

    def stop_postgres(self, *, immediate: bool) -> None:
        """Shut PostgreSQL down, orderly or so that it must recover."""
        if immediate and isinstance(self.postgres, LocalPostgres):
            self.postgres._end(signal.SIGQUIT)
        elif immediate:
            self.postgres.kill()
        else:
            self.postgres.stop()

    def harm_queues(self, *, delete: bool) -> None:
        """Purge the queues, or delete them with all they hold."""
        try:
            with pika.BlockingConnection(pika.URLParameters(self.amqp_url)) as connection:
                channel = connection.channel()
                for queue in QUEUES:
                    if delete:
                        channel.queue_delete(queue)
                    else:
                        channel.queue_purge(queue)
        except AMQPError:
            return  # not declared yet, or just deleted: nothing is there to be harmed


@contextmanager
def running_world(options: WorldOptions, servers: Servers | None = None) -> Iterator[World]:
    """Start everything and wait until it is ready; at the end nothing is left."""
    with ExitStack() as stack:
        reaper = Reaper()
        stack.callback(reaper.close)
        folder = Path(tempfile.mkdtemp(prefix="scheduler-faults-"))
        folder.chmod(0o755)
        reaper.folder(folder)
        world = _build(options, servers or _own_servers(folder, reaper, stack), folder, reaper, stack)
        for instance in world.instances:
            instance.start()
        keeper = Keeper(world.instances)
        stack.callback(keeper.close)
        missing = world.await_ready()
        if missing:
            raise RuntimeError(f"not ready: {missing}\n{_logs(world, missing)}")
        yield world
        keeper.close()
        _stop(world.instances)


def _logs(world: World, names: Sequence[str]) -> str:
    logs = [instance.log.read_text()[-2_000:] for instance in world.instances if instance.name in names]
    return "\n".join(logs)


def _stop(instances: Sequence[Instance]) -> None:
    threads = [threading.Thread(target=instance.terminate) for instance in instances]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _own_servers(folder: Path, reaper: Reaper, stack: ExitStack) -> Servers:
    database = postgres._new_server(folder / "postgres", reaper)
    stack.callback(database.close)
    rabbit = rabbitmq._new_node(folder / "rabbitmq", reaper)
    rabbit.start()
    stack.callback(rabbit.close)
    return Servers(postgres=database, rabbit=rabbit)


def _build(options: WorldOptions, servers: Servers, folder: Path, reaper: Reaper, stack: ExitStack) -> World:
    uaa = stack.enter_context(start_uaa())
    controller = stack.enter_context(start_controller(uaa))
    endpoint = EndpointProcess(reaper)
    stack.callback(endpoint.close)
    proxy = Proxy()
    stack.callback(proxy.close)
    world = World(
        options=options,
        folder=folder,
        proxy=proxy,
        postgres=servers.postgres,
        rabbit=servers.rabbit,
        database_url=servers.postgres.create_database(),
        amqp_url=servers.rabbit.create_vhost(),
        uaa=uaa,
        controller=controller,
        endpoint=endpoint,
        endpoint_port=proxy.open("calls > endpoint", endpoint.port),
        instances=[],
        ports={
            f"{service}-{number}": free_port()
            for service in ("api", "broker")
            for number in range(1, options.instances + 1)
        },
    )
    for service in options.services:
        for number in range(1, options.instances + 1):
            world.instances.append(_instance(world, service, f"{service}-{number}", reaper))
    return world


def _instance(world: World, service: str, name: str, reaper: Reaper) -> Instance:
    module = f"scheduler_{service.replace('-', '_')}"
    defect = world.options.planted.get(service)
    command = python_module(module)
    if defect is not None:
        command = [sys.executable, str(Path(__file__).with_name("planted.py")), defect, module]
    return Instance(
        name=name,
        command=command,
        environment=_environment(world, service, name),
        log=world.folder / f"{name}.log",
        reaper=reaper,
    )


def _environment(world: World, service: str, name: str) -> dict[str, str]:
    def link(server: str, port: int) -> int:
        return world.proxy.open(f"{name} > {server}", port)

    database = world.database_url.rpartition("/")[2]
    environment = {
        "DATABASE_URL": f"postgres://postgres@127.0.0.1:{link('postgres', world.postgres.port)}/{database}",
        "ADMIN_PORT": str(free_port()),
        "SCHEDULER_PORT": str(world.ports.get(name, 0)),
        "SCHEDULER_LIVENESS_SECONDS": f"{world.options.liveness_seconds:g}",
        "SCHEDULER_CALL_ALLOWED_NETWORKS": "127.0.0.0/8",
        "SCHEDULER_BROKER_ENABLED": "true",
        "SCHEDULER_BROKER_USERNAME": BROKER_USER,
        "SCHEDULER_BROKER_PASSWORD": BROKER_PASSWORD,
        "SCHEDULER_BROKER_API_URL": "http://scheduler.example.com",
    }
    if service in _USES_QUEUE:
        vhost = world.amqp_url.rpartition("/")[2]
        environment["QUEUE_URL"] = f"amqp://guest:guest@127.0.0.1:{link('rabbit', world.rabbit.port)}/{vhost}"
    if service in _ASKS_CLOUD_FOUNDRY:
        environment |= {
            "CF_ENDPOINT": f"http://127.0.0.1:{link('controller', _port(world.controller.url))}",
            "UAA_ENDPOINT": f"http://127.0.0.1:{link('uaa', _port(world.uaa.url))}",
            "CLIENT_ID": seed.CLIENT_ID,
            "CLIENT_SECRET": seed.CLIENT_SECRET,
        }
    return environment


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])
