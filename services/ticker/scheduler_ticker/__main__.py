"""The ticker's process: `python -m scheduler_ticker`."""

import logging
import sys
import time
from collections.abc import Callable
from functools import partial

from sqlalchemy import Engine

from scheduler.queue import open_publisher
from scheduler.running.liveness import Liveness
from scheduler.running.service import (
    EXIT_SETTINGS,
    log_start,
    open_database,
    prepare_database,
    read_settings_or_exit,
    serve_internal_port,
)
from scheduler.runtime.loops import Bell, Stop, repeat, start_thread, stop_on_signals, until_done
from scheduler.runtime.settings import Service, Settings
from scheduler.store import bells, facts
from scheduler.store.due import seconds_to_next_wake, wake_all
from scheduler.timetable.zones import tz_database_version
from scheduler_ticker.configuration import (
    AUDIT_CLEAN_UP,
    HISTORY_CLEAN_UP,
    Configuration,
    ConfigurationError,
    read_configuration,
)
from scheduler_ticker.declarations import Declarer
from scheduler_ticker.prune import Prune
from scheduler_ticker.relay import Relay
from scheduler_ticker.rescue import Rescue
from scheduler_ticker.system_jobs import SystemJob, system_jobs
from scheduler_ticker.tick import Turns, tick

_log = logging.getLogger(__name__)

CONNECTIONS = 9  # a connection for each loop, and one for readiness
LONGEST_SLEEP_SECONDS = 1.0
# Between two passes that plan something: what becomes due meanwhile is planned, published and claimed together.
GATHER_SECONDS = 0.01


class Ticker:
    """The loops of one ticker, each in a thread of its own."""

    def __init__(self, settings: Settings, configuration: Configuration, engine: Engine, stop: Stop) -> None:
        self._settings = settings
        self._configuration = configuration
        self._engine = engine
        self._stop = stop
        self._bells = {bells.TICK: Bell(), bells.RELAY: Bell()}
        self._turns = Turns()
        self._liveness = Liveness(engine, Service.TICKER, settings.timing)
        self.publisher = open_publisher(settings.queue_url, settings.database_url)

    def run(self) -> None:
        """Run until asked to stop, then let every loop end its step."""
        plan_anew_with_new_zones(self._engine)
        threads = [start_thread(name, loop) for name, loop in self._loops().items()]
        self._stop.wait()
        for bell in self._bells.values():
            bell.ring()
        deadline = time.monotonic() + self._settings.shutdown_grace_seconds
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self.publisher.close()
        self._liveness.leave()
        _log.info("The ticker has stopped.", extra={"action": "stop"})

    def _loops(self) -> dict[str, Callable[[], None]]:
        settings, timing = self._settings, self._settings.timing
        relay = Relay(
            engine=self._engine,
            publisher=self.publisher,
            window=settings.relay_window,
            timing=timing,
            rings_channel=settings.queue_url == "postgres",
        )
        rescue = Rescue(self._engine, self._liveness, timing)
        return {
            "heartbeat": partial(repeat, self._liveness.beat, stop=self._stop, name="heartbeat"),
            "listen": partial(repeat, self._listen, stop=self._stop, name="listen"),
            "tick": partial(repeat, self._tick, stop=self._stop, name="tick", pause=self._bells[bells.TICK].wait),
            "relay": partial(
                repeat, relay.run_once, stop=self._stop, name="relay", pause=self._bells[bells.RELAY].wait
            ),
            "rescue": partial(repeat, rescue.run_once, stop=self._stop, name="rescue"),
            "declare": self._declare,
            **{job.name: partial(repeat, job.run_once, stop=self._stop, name=job.name) for job in self._system_jobs()},
        }

    def _declare(self) -> None:
        """Look at the declared schedules once, as soon as the database lets us."""
        declarer = Declarer(
            engine=self._engine,
            declarations=self._configuration.declarations,
            default_zone=self._settings.time_zone,
        )
        until_done(declarer.declare_all, stop=self._stop, name="declare")

    def _system_jobs(self) -> list[SystemJob]:
        prune = Prune(
            engine=self._engine,
            stop=self._stop,
            history_days=self._settings.history_retention_days,
            audit_days=self._settings.audit_retention_days,
        )
        works = {HISTORY_CLEAN_UP: prune.history, AUDIT_CLEAN_UP: prune.audit}
        return system_jobs(self._configuration, works, self._engine, default_zone=self._settings.time_zone)

    def _listen(self) -> float:
        bells.listen(
            self._settings.database_url,
            list(self._bells),
            lambda channel: self._bells[channel].ring(),
            stopped=self._stop.is_set,
        )
        return 0.0

    def _tick(self) -> float:
        ticked = tick(self._engine, default_zone=self._settings.time_zone, turns=self._turns)
        if ticked.rows:
            self._bells[bells.RELAY].ring()
        if ticked.more:
            return 0.0
        with self._engine.connect() as connection:
            seconds = seconds_to_next_wake(connection)
        if seconds is None:
            return LONGEST_SLEEP_SECONDS
        return min(max(seconds, GATHER_SECONDS if ticked.rows else 0.0), LONGEST_SLEEP_SECONDS)


def plan_anew_with_new_zones(engine: Engine) -> None:
    """Wake every schedule once when the tz database is another one than planned the next runs."""
    with engine.begin() as connection:
        if facts.change(connection, facts.TZ_VERSION, tz_database_version()):
            count = wake_all(connection)
            _log.info(
                f"The tz database is {tz_database_version()} now; {count} schedules are planned anew.",
                extra={"action": "tz_changed", "tz_version": tz_database_version()},
            )


def read_configuration_or_exit(path: str) -> Configuration:
    """Return what the configuration file says; the process ends with code 2 when it has mistakes."""
    try:
        return read_configuration(path)
    except ConfigurationError as error:
        for mistake in str(error).splitlines():
            _log.error(
                f"The service cannot start: SCHEDULER_CONFIG_FILE: {mistake}", extra={"action": "settings_rejected"}
            )
        sys.exit(EXIT_SETTINGS)


def main() -> None:
    """Run until SIGTERM."""
    settings = read_settings_or_exit(Service.TICKER)
    configuration = read_configuration_or_exit(settings.config_file)
    stop = Stop()
    stop_on_signals(stop)
    log_start(settings)
    engine = open_database(settings, pool_size=CONNECTIONS)
    serve_internal_port(settings, engine)
    prepare_database(settings, engine, stop)
    Ticker(settings, configuration, engine, stop).run()


if __name__ == "__main__":
    main()
