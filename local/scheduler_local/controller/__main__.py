"""`python -m scheduler_local.controller`: the stand-in Cloud Controller as a process."""

import argparse
from collections.abc import Callable
from pathlib import Path

from flask import Flask

from scheduler_local.controller.app import Options, create_app
from scheduler_local.standin.serving import serve


def main() -> None:
    """Serve until told to stop."""
    given = _arguments()
    if given.state is not None:
        given.state.mkdir(parents=True, exist_ok=True)
    bind = f"{given.host}:{given.port}" if given.fd is None else f"fd://{given.fd}"

    options = Options(
        uaa=given.uaa,
        uaa_shown=given.uaa_shown,
        folder=given.state,
        auto_create=given.auto_create,
        parallel=given.parallel,
        broker_timeout_seconds=given.broker_timeout,
    )

    def build() -> tuple[Flask, Callable[[], None]]:
        app, parts = create_app(options)
        return app, parts.commands.stop

    serve(build, name="Cloud Controller", bind=bind)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scheduler_local.controller", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8002, help="0: any free one")
    parser.add_argument("--fd", type=int, help="a listening socket to serve on instead")
    parser.add_argument("--uaa", default="http://127.0.0.1:8001", help="where the keys of tokens are")
    parser.add_argument("--uaa-shown", default="", metavar="URL", help="the UAA that clients are sent to")
    parser.add_argument("--state", type=Path, metavar="DIR", help="keep everything here")
    parser.add_argument("--auto-create", action="store_true", help="let every app exist that is asked for")
    parser.add_argument("--parallel", type=int, default=16, help="how many commands run at a time")
    parser.add_argument("--broker-timeout", type=float, default=60.0, help="seconds that a broker may take")
    return parser.parse_args()


if __name__ == "__main__":
    main()
