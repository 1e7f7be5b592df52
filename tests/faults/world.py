"""The world that faults strike: PostgreSQL, RabbitMQ, UAA, Cloud Controller, an endpoint, and two of each service."""

import signal
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pika
from pika.exceptions import AMQPError

from scheduler_local.testing import StandInController, StandInUaa
from tests.faults.endpoint_process import EndpointProcess
from tests.faults.proxy import Proxy
from tests.faults.services import Instance, await_all
from tests.fixtures.postgres import LocalPostgres, PostgresServer
from tests.fixtures.rabbitmq import RabbitNode

READY_SECONDS = 90.0
QUEUES = ("scheduler.job", "scheduler.call")
SERVICES = ("api", "ticker", "job-runner", "call-runner", "broker")


class OccupiedError(Exception):
    """Another fault is at the target already."""


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """What differs between runs."""

    liveness_seconds: float = 60.0
    instances: int = 2
    planted: Mapping[str, str] = field(default_factory=dict)  # service: defect (planted.py)
    services: Sequence[str] = SERVICES
    keep_logs_in: Path | None = None


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
