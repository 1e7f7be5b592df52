"""The ticker's process: `python -m scheduler_ticker`."""

import logging
from collections.abc import Callable
from functools import partial

from sqlalchemy import Engine

from scheduler.queue import open_publisher
from scheduler.running.liveness import Liveness
from scheduler.running.service import (
    log_start,
    open_database,
    prepare_database,
    read_settings_or_exit,
    serve_internal_port,
)
from scheduler.runtime.loops import Bell, Stop, repeat, start_thread, stop_on_signals
from scheduler.runtime.settings import Service, Settings
from scheduler.store import bells, facts
from scheduler.store.due import seconds_to_next_wake, wake_all
from scheduler.timetable.zones import tz_database_version
from scheduler_ticker.relay import Relay
from scheduler_ticker.rescue import Rescue
from scheduler_ticker.tick import tick

_log = logging.getLogger(__name__)

CONNECTIONS = 6  # a connection for each loop, and one for readiness
LONGEST_SLEEP_SECONDS = 1.0


class Ticker:
    """The loops of one ticker, each in a thread of its own."""

    def __init__(self, settings: Settings, engine: Engine, stop: Stop) -> None:
        self._settings = settings
        self._engine = engine
        self._stop = stop
        self._bells = {bells.TICK: Bell(), bells.RELAY: Bell()}
        self._liveness = Liveness(engine, Service.TICKER, settings.timing)
        self.publisher = open_publisher(settings.queue_url, settings.database_url)

    def run(self) -> None:
        """Run until asked to stop, then let every loop end its step."""
        plan_anew_with_new_zones(self._engine)
        threads = [start_thread(name, loop) for name, loop in self._loops().items()]
        self._stop.wait()
        for bell in self._bells.values():
            bell.ring()
        for thread in threads:
            thread.join(self._settings.shutdown_grace_seconds)
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
        }

    def _listen(self) -> float:
        bells.listen(
            self._settings.database_url,
            list(self._bells),
            lambda channel: self._bells[channel].ring(),
            stopped=self._stop.is_set,
        )
        return 0.0

    def _tick(self) -> float:
        ticked = tick(self._engine, default_zone=self._settings.time_zone)
        if ticked.rows:
            self._bells[bells.RELAY].ring()
        if ticked.more:
            return 0.0
        with self._engine.connect() as connection:
            seconds = seconds_to_next_wake(connection)
        return LONGEST_SLEEP_SECONDS if seconds is None else min(max(seconds, 0.0), LONGEST_SLEEP_SECONDS)


def plan_anew_with_new_zones(engine: Engine) -> None:
    """Wake every schedule once when the tz database is another one than planned the next runs."""
    with engine.begin() as connection:
        if facts.change(connection, facts.TZ_VERSION, tz_database_version()):
            count = wake_all(connection)
            _log.info(
                f"The tz database is {tz_database_version()} now; {count} schedules are planned anew.",
                extra={"action": "tz_changed", "tz_version": tz_database_version()},
            )


def main() -> None:
    """Run until SIGTERM."""
    settings = read_settings_or_exit(Service.TICKER)
    stop = Stop()
    stop_on_signals(stop)
    log_start(settings)
    engine = open_database(settings, pool_size=CONNECTIONS)
    serve_internal_port(settings, engine)
    prepare_database(settings, engine, stop)
    Ticker(settings, engine, stop).run()


if __name__ == "__main__":
    main()
