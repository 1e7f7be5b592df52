"""`python -m scheduler_local.uaa`: the stand-in UAA as a process."""

import argparse
from collections.abc import Callable
from pathlib import Path

from flask import Flask

from scheduler_local.standin.serving import serve
from scheduler_local.uaa.app import create_app


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m scheduler_local.uaa", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001, help="0: any free one")
    parser.add_argument("--fd", type=int, help="a listening socket to serve on instead")
    parser.add_argument("--state", type=Path, metavar="DIR", help="keep the signing key here")
    parser.add_argument("--issuer", default="http://uaa.scheduler.local/oauth/token", help="the issuer's name")
    given = parser.parse_args()
    if given.state is not None:
        given.state.mkdir(parents=True, exist_ok=True)
    bind = f"{given.host}:{given.port}" if given.fd is None else f"fd://{given.fd}"

    def build() -> tuple[Flask, Callable[[], None]]:
        return create_app(issuer=given.issuer, folder=given.state), lambda: None

    serve(build, name="UAA", bind=bind)


if __name__ == "__main__":
    main()
