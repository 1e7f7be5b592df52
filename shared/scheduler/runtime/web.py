"""A WSGI application as a service: gunicorn's threads in one process, which ends when anything in it does.

gunicorn forks: the parent holds the socket, the child does everything else, the internal port and the pool of
connections included. If the child ends by itself, the parent ends with the same status and the platform starts anew.
"""

import logging
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from gunicorn.app.base import BaseApplication
from gunicorn.errors import HaltServer
from gunicorn.glogging import Logger
from gunicorn.http.errors import ParseException

from scheduler.runtime.loops import Stop, stop_on_signals

_log = logging.getLogger(__name__)

Build = Callable[[Stop], Any]
"""Makes the application in the child; what it waits for meanwhile ends when the process is asked to stop."""

UNREADABLE_BODY: tuple[type[Exception], ...] = (OSError, ParseException)
"""What reading a request's body raises when the client has gone, or when its chunks are none."""

_KEEP_ALIVE_SECONDS = 95  # longer than gorouter's 90, so that it is never we who close a connection in use
_REQUEST_LINE_BYTES = 8_190


@dataclass(frozen=True, kw_only=True, slots=True)
class Web:
    """How to serve."""

    port: int  # 0: any; the log says which
    threads: int
    shutdown_grace_seconds: float


def serve(build: Build, web: Web) -> NoReturn:
    """Serve what `build` returns until SIGTERM, then finish what is under way within the grace; never returns."""
    _Server(build, web).run()
    sys.exit(0)


class _Server(BaseApplication):  # type: ignore[misc]
    def __init__(self, build: Build, web: Web) -> None:
        self._build = build
        self._web = web
        super().__init__()

    def load_config(self) -> None:
        options: dict[str, Any] = {
            "bind": f"0.0.0.0:{self._web.port}",
            "workers": 1,  # more of them are more instances of the service
            "worker_class": "gthread",
            "threads": self._web.threads,
            "timeout": 0,  # the child may wait for the database as long as it takes
            "graceful_timeout": max(1, int(self._web.shutdown_grace_seconds)),
            "keepalive": _KEEP_ALIVE_SECONDS,
            "limit_request_line": _REQUEST_LINE_BYTES,
            "control_socket_disable": True,
            "logger_class": _Log,
            "loglevel": "warning",
            "when_ready": _announce,
            "child_exit": _end_too,
        }
        for option, value in options.items():
            self.cfg.set(option, value)

    def load(self) -> Any:
        stop = Stop()
        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
        stop_on_signals(stop)
        app = self._build(stop)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if stop.is_set():
            os._exit(0)  # asked to stop before it could begin; gunicorn would serve first
        return app


class _Log(Logger):  # type: ignore[misc]
    """Hands gunicorn's lines to our own log."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


def _announce(arbiter: Any) -> None:
    host, port = arbiter.LISTENERS[0].sock.getsockname()[:2]
    _log.info(f"Listening on {host}:{port}.", extra={"action": "listening", "port": port})


def _end_too(arbiter: Any, _worker: Any) -> None:
    # gunicorn would start another one. While it listens, it has not asked this one to end.
    if arbiter.LISTENERS:
        raise HaltServer("the serving process has ended", 1)
