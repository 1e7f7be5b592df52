"""The queue: the kind that the database knows, RabbitMQ reachable and consumed from."""

from collections.abc import Iterator, Mapping

from sqlalchemy.exc import ArgumentError, DBAPIError

from scheduler.queue import POSTGRES
from scheduler.queue.rabbitmq.probing import ProbeError, RabbitSeen, probe
from scheduler.queue.rabbitmq.topology import DEAD_LETTERS
from scheduler.store.engine import open_engine
from scheduler.store.inspection import known_queue_kind
from scheduler_local.doctor.checks import Check, failed, ok, skipped, warning

_NAME = "queue"
_KIND = "queue kind"


def examine(variables: Mapping[str, str]) -> Iterator[Check]:
    """Look at the queue that QUEUE_URL names."""
    url = variables.get("QUEUE_URL", "")
    if not url:
        yield skipped(_NAME, "QUEUE_URL is not set")
        return
    yield _kind(url, variables.get("DATABASE_URL", ""))
    if url == POSTGRES:
        yield ok(_NAME, "the database is the queue")
    else:
        yield from _rabbitmq(url)


def _kind(url: str, database_url: str) -> Check:
    kind = POSTGRES if url == POSTGRES else "rabbitmq"
    try:
        known = _known_kind(database_url)
    except (ArgumentError, DBAPIError):
        return skipped(_KIND, "the database cannot be asked which kind of queue it knows")
    if known is None:
        return ok(_KIND, f"{kind}, and the database has not been used with any other")
    if known == kind:
        return ok(_KIND, f"{kind}, as the database knows it")
    return failed(
        _KIND,
        f"QUEUE_URL names {kind}, but this database has been used with {known}",
        "Set QUEUE_URL for all services as before. To change the kind: stop all of them, delete the row queue_kind of "
        f"the table facts, and start them with {kind}.",
    )


def _known_kind(database_url: str) -> str | None:
    engine = open_engine(database_url, pool_size=1, application_name="ocf-scheduler doctor")
    try:
        with engine.connect() as connection:
            return known_queue_kind(connection)
    finally:
        engine.dispose()


def _rabbitmq(url: str) -> Iterator[Check]:
    try:
        seen = probe(url)
    except (ProbeError, ValueError) as error:
        yield failed(
            _NAME,
            f"RabbitMQ does not answer as it should: {error}",
            "Check QUEUE_URL (amqp://USER:PASSWORD@HOST:5672/VHOST), that RabbitMQ runs, and the user's permissions.",
        )
        return
    yield ok(_NAME, f"RabbitMQ {seen.version} answers")
    yield from _queues(seen)


def _queues(seen: RabbitSeen) -> Iterator[Check]:
    missing = [name for name, queue in seen.queues.items() if queue is None]
    if missing:
        yield warning("queues", f"missing: {', '.join(missing)}", "Start a ticker or a runner: each declares them.")
    idle = [name for name, queue in seen.queues.items() if queue and not queue.consumers and name != DEAD_LETTERS]
    if idle:
        yield warning("queues", f"nobody consumes {', '.join(idle)}", "Start the job-runner and the call-runner.")
    if not missing and not idle:
        yield ok("queues", "all exist, and runners consume them")
    if seen.dead_letters:
        yield warning(
            "dead letters",
            f"{seen.dead_letters} messages in {DEAD_LETTERS} could not be read or delivered",
            "Look at them in RabbitMQ's management page; the executions themselves are safe in the database.",
        )
