"""The API's process: `python -m scheduler_api`."""

from functools import partial

from scheduler.running.service import log_start, read_settings_or_exit
from scheduler.runtime.settings import Service
from scheduler.runtime.web import Web, serve
from scheduler_api.wsgi import build


def main() -> None:
    """Serve until SIGTERM."""
    settings = read_settings_or_exit(Service.API)
    log_start(settings)
    web = Web(port=settings.port, threads=settings.workers, shutdown_grace_seconds=settings.shutdown_grace_seconds)
    serve(partial(build, settings), web)


if __name__ == "__main__":
    main()
