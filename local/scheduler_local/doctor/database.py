"""The database: reachable, new enough, migrated, in step with our clock; and whether the services are alive."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection
from sqlalchemy.exc import ArgumentError, DBAPIError

from scheduler.runtime.loops import describe
from scheduler.runtime.settings import Service
from scheduler.runtime.timing import LIVENESS_SECONDS
from scheduler.store.engine import open_engine, sqlalchemy_url
from scheduler.store.inspection import LEAST_VERSION, Server, living_processes, longest_overdue, look_at_server
from scheduler.store.migrate import schema_is_current
from scheduler_local.doctor.checks import Check, failed, ok, skipped, warning

_NAME = "database"
# Tokens, retries and logs live by the services' clocks, due instants by the database's.
_CLOCK_WARNING, _CLOCK_FAILURE = timedelta(seconds=2), timedelta(seconds=30)
_HERE = {"", "localhost", "127.0.0.1", "::1"}  # an empty host is a socket in the file system
_BEHIND = timedelta(seconds=60)
_BEATING = (Service.TICKER, Service.JOB_RUNNER, Service.CALL_RUNNER)


def examine(variables: Mapping[str, str]) -> Iterator[Check]:
    """Look at the database that DATABASE_URL names."""
    url = variables.get("DATABASE_URL", "")
    if not url:
        yield skipped(_NAME, "DATABASE_URL is not set")
        return
    try:
        engine = open_engine(url, pool_size=1, application_name="ocf-scheduler doctor")
    except ArgumentError:
        yield failed(_NAME, "DATABASE_URL is not a URL", "Write it as postgres://USER:PASSWORD@HOST:5432/NAME.")
        return
    try:
        with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            yield from _examine(connection, url)
    except DBAPIError as error:
        yield failed(
            _NAME,
            f"{_place(url)} does not answer as it should: {describe(error)}",
            "Check DATABASE_URL, that PostgreSQL runs, and that this host may connect (pg_hba.conf, firewall).",
        )
    finally:
        engine.dispose()


def _examine(connection: Connection, url: str) -> Iterator[Check]:
    before = datetime.now(UTC)
    server = look_at_server(connection)
    after = datetime.now(UTC)
    yield _version(server, _place(url))
    yield _encryption(server, leaves_host=(sqlalchemy_url(url).host or "") not in _HERE)
    yield _clock(server.now - (before + (after - before) / 2))
    yield _schema(connection, server)
    if server.has_tables:
        yield from _services(connection)


def _version(server: Server, place: str) -> Check:
    if server.major >= LEAST_VERSION:
        return ok(_NAME, f"PostgreSQL {server.version} at {place}")
    return failed(
        _NAME,
        f"PostgreSQL {server.version} at {place} is too old",
        f"Upgrade to PostgreSQL {LEAST_VERSION} or later.",
    )


def _encryption(server: Server, *, leaves_host: bool) -> Check:
    name = "database TLS"
    if server.is_encrypted:
        return ok(name, "the connection is encrypted")
    if not leaves_host:
        return ok(name, "the connection is not encrypted, and does not leave this host")
    return warning(
        name,
        "the connection to another host is not encrypted",
        "Add sslmode=verify-full and sslrootcert=FILE to the query of DATABASE_URL.",
    )


def _clock(ahead: timedelta) -> Check:
    distance, direction = abs(ahead), "ahead of" if ahead > timedelta() else "behind"
    finding = f"the database's clock is {distance.total_seconds():.1f} s {direction} this host's"
    advice = "Let both hosts take the time from NTP."
    if distance >= _CLOCK_FAILURE:
        return failed("clock", finding, advice)
    return warning("clock", finding, advice) if distance >= _CLOCK_WARNING else ok("clock", finding)


def _schema(connection: Connection, server: Server) -> Check:
    if server.has_tables and schema_is_current(connection):
        return ok("schema", "every migration of this release is applied")
    state = "is behind this release" if server.has_tables else "does not exist yet"
    if server.may_create:
        return warning(
            "schema", f"it {state}", "Start any service: it applies what is missing before it does anything."
        )
    return failed(
        "schema",
        f"it {state}, and the database's user may not create tables",
        "Grant the user CREATE on the schema, or start a service once with a user who may.",
    )


def _services(connection: Connection) -> Iterator[Check]:
    living = living_processes(connection, within_seconds=LIVENESS_SECONDS)
    absent = [service for service in _BEATING if not living.get(service)]
    if absent:
        yield warning(
            "services",
            f"no sign of life within {LIVENESS_SECONDS:.0f} s from: {', '.join(absent)}",
            "Start them, or look into their logs if they should be running.",
        )
    else:
        yield ok("services", ", ".join(f"{living[service]} {service}" for service in _BEATING))
    overdue = longest_overdue(connection)
    if overdue > _BEHIND:
        yield warning(
            "timetable",
            f"a schedule has been waiting for {overdue.total_seconds():.0f} s to be planned",
            "See that a ticker runs and reaches the database; more than one may run.",
        )


def _place(url: str) -> str:
    parts = sqlalchemy_url(url)
    return f"{parts.host or 'this host'}:{parts.port or 5432}/{parts.database or ''}"
