"""Building a world: servers, stand-ins, and processes whose every connection leads through a link of its own."""

import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from scheduler_local import seed
from scheduler_local.testing import start_controller, start_uaa
from tests.faults.endpoint_process import EndpointProcess
from tests.faults.proxy import Proxy
from tests.faults.services import Instance, Keeper, python_module
from tests.faults.world import World, WorldOptions
from tests.fixtures import postgres, rabbitmq
from tests.fixtures.postgres import PostgresServer
from tests.fixtures.rabbitmq import RabbitNode
from tests.fixtures.reaper import Reaper
from tests.fixtures.session import free_port

BROKER_USER, BROKER_PASSWORD = "broker", "broker-password-of-the-tests"
_ASKS_CLOUD_FOUNDRY = frozenset({"api", "job-runner", "broker"})
_USES_QUEUE = frozenset({"ticker", "job-runner", "call-runner"})


@dataclass(frozen=True, kw_only=True)
class Servers:
    """Servers that others have started and stop; a world then has a database and a vhost of its own on them."""

    postgres: PostgresServer
    rabbit: RabbitNode


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
        stack.callback(_keep_logs, world)
        yield world
        keeper.close()
        _stop(world.instances)


def _keep_logs(world: World) -> None:
    if world.options.keep_logs_in is not None:
        world.options.keep_logs_in.mkdir(parents=True, exist_ok=True)
        for instance in world.instances:
            shutil.copy(instance.log, world.options.keep_logs_in)


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
