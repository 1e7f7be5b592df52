"""Ports on the loopback address: the usual one where it is free, else any other."""

import socket
from collections.abc import Iterable

LOOPBACK = "127.0.0.1"


def choose_ports(usual: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return a free port for each name; no two are the same."""
    chosen: dict[str, int] = {}
    for name, port in usual:
        chosen[name] = port if _is_free(port) and port not in chosen.values() else _any_free()
    return chosen


def _is_free(port: int) -> bool:
    # Both addresses: somebody who listens on all of them would otherwise not be noticed.
    return all(_can_bind(address, port) for address in (LOOPBACK, ""))


def _can_bind(address: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
        return True


def _any_free() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
