"""A runner's process, from its first line to its exit: what the two kinds of runner have in common."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Thread

from prometheus_client import Gauge
from sqlalchemy import Engine

from scheduler.domain.states import RefType
from scheduler.ports import Consumer
from scheduler.queue import open_consumer
from scheduler.running.claiming import Claimer
from scheduler.running.finishing import Finisher
from scheduler.running.liveness import Liveness
from scheduler.running.metrics import observe_end
from scheduler.running.runner import Performer, Runner
from scheduler.running.service import (
    log_start,
    open_database,
    prepare_database,
    read_settings_or_exit,
    serve_internal_port,
)
from scheduler.runtime.loops import Stop, repeat, start_thread, stop_on_signals
from scheduler.runtime.settings import Service, Settings
from scheduler.store.sealing import Seal

_log = logging.getLogger(__name__)

LOCK_TIMEOUT_SECONDS = 2.0  # deliveries whose rows are locked for longer are given back
# One connection each for the claim, the outcomes, the heartbeat and readiness, and some for a kind's own loops.
CONNECTIONS = 8
# After the grace for work, of what is left of the ten seconds that Cloud Foundry gives.
WRITE_SECONDS = 1.2
LOOPS_SECONDS = 0.2

UNREADABLE = Gauge("scheduler_queue_unreadable_messages", "Messages that went to the dead letters.")

Step = Callable[[], float]


@dataclass(frozen=True)
class Parts:
    """What a kind of runner builds its own parts from."""

    settings: Settings
    engine: Engine
    stop: Stop
    liveness: Liveness


@dataclass(frozen=True)
class Work:
    """A kind of runner's own parts; each loop's step returns the seconds to pause."""

    performer: Performer
    loops: Mapping[str, Step] = field(default_factory=dict)
    close: Callable[[], None] = lambda: None


def run(service: Service, kind: RefType, build: Callable[[Parts], Work]) -> None:
    """Run until SIGTERM, then drain."""
    settings = read_settings_or_exit(service)
    stop = Stop()
    stop_on_signals(stop)
    log_start(settings)
    engine = open_database(settings, pool_size=CONNECTIONS, lock_timeout_seconds=LOCK_TIMEOUT_SECONDS)
    queue = _Queue()
    serve_internal_port(settings, engine, checks={"queue": queue.fault})
    prepare_database(settings, engine, stop)
    if not stop.is_set():
        liveness = Liveness(engine, service, settings.timing)
        parts = Parts(settings, engine, stop, liveness)
        queue.consumer = open_consumer(settings.queue_url, settings.database_url, kind=kind, prefetch=settings.workers)
        _run(parts, kind, queue.consumer, build(parts))
    _log.info(f"The {service} has stopped.", extra={"action": "stop"})


@dataclass
class _Queue:
    """Readiness may be asked before there is a consumer: messages are only taken once the database is ready."""

    consumer: Consumer | None = None

    def fault(self) -> str | None:
        return None if self.consumer is not None and self.consumer.connected() else "the queue is not connected"


def _run(parts: Parts, kind: RefType, consumer: Consumer, work: Work) -> None:
    settings, stop, engine = parts.settings, parts.stop, parts.engine
    UNREADABLE.set_function(lambda: consumer.unreadable_count)
    written = Stop()
    finisher = Finisher(engine, written, on_written=observe_end)
    runner = Runner(
        consumer=consumer,
        claimer=Claimer(engine, consumer, parts.liveness, kind, Seal(settings.encryption_keys), stop),
        finisher=finisher,
        liveness=parts.liveness,
        performer=work.performer,
        workers=settings.workers,
        stop=stop,
    )
    loops = {"heartbeat": parts.liveness.beat, **work.loops}
    threads = [start_thread(name, partial(repeat, step, stop=stop, name=name)) for name, step in loops.items()]
    writing = start_thread("finish", finisher.run)
    runner.start()
    stop.wait()
    runner.drain(settings.shutdown_grace_seconds)
    written.set()
    _leave(parts.liveness, writing, threads)
    work.close()
    consumer.close()


def _leave(liveness: Liveness, writing: Thread, loops: list[Thread]) -> None:
    """Wait for the last outcomes, then take the process's row back, so that nobody waits for it to die."""
    writing.join(WRITE_SECONDS)
    if writing.is_alive():
        _log.error("The last outcomes could not be written.", extra={"action": "outcomes_lost"})
        return
    for thread in loops:
        thread.join(LOOPS_SECONDS / len(loops))
    liveness.leave()
