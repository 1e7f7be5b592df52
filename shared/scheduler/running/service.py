"""How every service starts: settings, logs, internal port, database, schema, kind of queue; and how it ends."""

import logging
import os
import sys
from collections.abc import Callable, Mapping
from http.server import ThreadingHTTPServer

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from scheduler import __version__
from scheduler.domain.errors import PermanentError
from scheduler.runtime.health import Answer, Check, serve_admin
from scheduler.runtime.logs import configure_logs, fatal
from scheduler.runtime.loops import Stop, describe
from scheduler.runtime.memory import collect_rarely
from scheduler.runtime.settings import Service, Settings, SettingsError, read_settings
from scheduler.store import facts
from scheduler.store.engine import open_engine, sqlalchemy_url
from scheduler.store.migrate import schema_is_current, upgrade
from scheduler.timetable.zones import tz_database_version

_log = logging.getLogger(__name__)

EXIT_SETTINGS = 2
DATABASE_RETRY_SECONDS = 1.0


class QueueKindError(PermanentError):
    """The database belongs to an installation with another kind of queue."""


def read_settings_or_exit(service: Service, variables: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings, with logs configured; the process ends with code 2 when they have mistakes."""
    try:
        settings = read_settings(service, variables)
    except SettingsError as error:
        configure_logs("info", variables.get("LOG_FORMAT", "json"), service=service)
        for mistake in str(error).splitlines():
            _log.error(f"The service cannot start: {mistake}", extra={"action": "settings_rejected"})
        sys.exit(EXIT_SETTINGS)
    configure_logs(settings.log_level, settings.log_format, service=service, secrets=settings.secrets())
    for warning in settings.warnings:
        _log.warning(warning, extra={"action": "settings_warning"})
    collect_rarely()
    return settings


def open_database(settings: Settings, *, pool_size: int, lock_timeout_seconds: float = 10) -> Engine:
    """Return the service's pool of connections."""
    return open_engine(
        settings.database_url,
        pool_size=pool_size,
        lock_timeout_seconds=lock_timeout_seconds,
        application_name=f"ocf-scheduler {settings.service}",
        pre_ping=settings.service in {Service.API, Service.BROKER},
        for_prepared=settings.service in {Service.JOB_RUNNER, Service.CALL_RUNNER},
    )


def prepare_database(settings: Settings, engine: Engine, stop: Stop) -> None:
    """Wait for the database, bring its schema up to date, and see that it knows this kind of queue."""
    while not stop.is_set():
        try:
            upgrade(settings.database_url)
            _check_queue_kind(settings, engine)
        except OperationalError as error:
            _log.warning(f"Waiting for the database: {describe(error)}", extra={"action": "database_awaited"})
            stop.wait(DATABASE_RETRY_SECONDS)
        except QueueKindError as error:
            fatal(_log, str(error), exit_code=EXIT_SETTINGS)
        else:
            break


def _check_queue_kind(settings: Settings, engine: Engine) -> None:
    if not settings.queue_url:
        return
    kind = "postgres" if settings.queue_url == "postgres" else "rabbitmq"
    with engine.begin() as connection:
        known = facts.remember(connection, facts.QUEUE_KIND, kind)
    if known != kind:
        raise QueueKindError(
            f"QUEUE_URL names {kind}, but this database has been used with {known}; every service must use the same."
        )


def serve_internal_port(
    settings: Settings,
    engine: Engine,
    *,
    checks: Mapping[str, Check] | None = None,
    pages: Mapping[str, Callable[[], Answer]] | None = None,
) -> ThreadingHTTPServer:
    """Answer on ADMIN_PORT; the process ends with one clear sentence when the port is taken."""
    try:
        return serve_admin(
            settings.admin_port, checks={"database": lambda: _database_fault(engine), **(checks or {})}, pages=pages
        )
    except OSError as error:
        fatal(_log, f"ADMIN_PORT {settings.admin_port} cannot be used: {error.strerror}", exit_code=EXIT_SETTINGS)


def _database_fault(engine: Engine) -> str | None:
    try:
        with engine.connect() as connection:
            return None if schema_is_current(connection) else "the schema is not current"
    except OperationalError as error:
        return describe(error)


def log_start(settings: Settings) -> None:
    """Say what starts, with which settings, and never a secret."""
    broker = settings.broker
    _log.info(
        f"The {settings.service} starts.",
        extra={
            "action": "start",
            "version": __version__,
            "tz_version": tz_database_version(),
            "database": sqlalchemy_url(settings.database_url).set(query={}).render_as_string(hide_password=True),
            "workers": settings.workers,
            "log_level": settings.log_level,
            **(
                {
                    "broker_user": broker.username,
                    "broker_api_url": broker.api_url,
                    "broker_require_binding": broker.require_binding,
                }
                if broker.enabled
                else {}
            ),
        },
    )
    if not settings.encryption_keys and settings.service in {Service.API, Service.CALL_RUNNER}:
        _log.warning(
            "SCHEDULER_ENCRYPTION_KEYS is not set: auth_header and headers of calls are stored unencrypted.",
            extra={"action": "secrets_unencrypted"},
        )
