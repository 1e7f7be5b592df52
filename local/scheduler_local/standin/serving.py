"""Serve a WSGI application with gunicorn's threads, and stop at once when told to.

Werkzeug's own server closes every connection; the clients under test are to be measured with theirs kept.
"""

import os
import signal
from collections.abc import Callable
from typing import Any

from gunicorn.app.base import BaseApplication

Application = Callable[..., Any]  # WSGI
Build = Callable[[], tuple[Application, Callable[[], None]]]  # the application, and what to do when it stops

_THREADS = 64
_CONNECTIONS = 2_000
_KEEP_ALIVE_SECONDS = 75
_REQUEST_LINE_BYTES = 8_190  # as in front of the real Cloud Controller; gunicorn's default is half of it


def serve(build: Build, *, name: str, bind: str) -> None:
    """Serve until SIGTERM or SIGINT. `bind` is HOST:PORT (port 0: any), or fd://N for a listening socket."""
    _Server(build, name=name, bind=bind).run()


class _Server(BaseApplication):  # type: ignore[misc]
    def __init__(self, build: Build, *, name: str, bind: str) -> None:
        self._build = build
        self._name = name
        self._bind = bind
        self._stop: Callable[[], None] = _nothing
        super().__init__()

    def load_config(self) -> None:
        options: dict[str, Any] = {
            "bind": self._bind,
            "proc_name": self._name,
            "workers": 1,  # all state is in its memory
            "worker_class": "gthread",
            "threads": _THREADS,
            "worker_connections": _CONNECTIONS,
            "keepalive": _KEEP_ALIVE_SECONDS,
            "timeout": 0,
            "graceful_timeout": 1,
            "loglevel": "warning",
            "limit_request_line": _REQUEST_LINE_BYTES,
            "control_socket_disable": True,
            "when_ready": self._announce,
            "post_worker_init": self._leave_on_signals,
            "worker_exit": self._leave,
        }
        for option, value in options.items():
            self.cfg.set(option, value)

    def load(self) -> Application:
        app, self._stop = self._build()
        return app

    def _announce(self, server: Any) -> None:
        host, port = server.LISTENERS[0].sock.getsockname()[:2]
        print(f"{self._name} listens on http://{host}:{port}", flush=True)  # noqa: T201

    def _leave_on_signals(self, _worker: Any) -> None:
        # gunicorn would wait for requests in progress, and nobody waits for a stand-in's answer any more.
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, self._leave)

    def _leave(self, _server_or_signal: Any, _worker_or_frame: Any) -> None:
        self._stop()
        os._exit(0)


def _nothing() -> None:
    """Nothing has been built yet, so nothing is to be stopped."""
