"""The broker's process: `python -m scheduler_broker`."""

from functools import partial

from scheduler.running.service import log_start, read_settings_or_exit
from scheduler.runtime.settings import Service
from scheduler.runtime.web import Web, serve
from scheduler_broker.wsgi import THREADS, build


def main() -> None:
    """Serve until SIGTERM."""
    settings = read_settings_or_exit(Service.BROKER)
    log_start(settings)
    web = Web(port=settings.port, threads=THREADS, shutdown_grace_seconds=settings.shutdown_grace_seconds)
    serve(partial(build, settings), web)


if __name__ == "__main__":
    main()
