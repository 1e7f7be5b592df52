"""A TCP proxy whose links can be cut, delayed, and silenced in one or both directions.

A silent direction loses nothing: as on a network that comes back, bytes are held and delivered late, to a peer that may
have given up meanwhile. The proxy runs in an event loop of its own thread; every method may be called from any.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

_CHUNK = 65_536


@dataclass
class Direction:
    """One direction of a link."""

    passes: asyncio.Event = field(default_factory=asyncio.Event)
    delay_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.passes.set()


@dataclass
class Link:
    """All connections from one client to one server."""

    target: tuple[str, int]
    refuses: bool = False
    forth: Direction = field(default_factory=Direction)
    back: Direction = field(default_factory=Direction)
    connections: set[asyncio.Task[None]] = field(default_factory=set)


class Proxy:
    """Any number of links in one thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._links: dict[str, Link] = {}
        self._servers: list[asyncio.Server] = []
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()

    def open(self, name: str, port: int) -> int:
        """Lead a new link to `port` on this machine; return the port on which the proxy listens for it."""
        return self._do(self._open(name, port))

    def names(self, part: str) -> list[str]:
        """Return the names of the links that contain `part`."""
        return sorted(name for name in self._links if part in name)

    def cut(self, name: str, *, refuse: bool) -> None:
        """Reset the link's connections; with `refuse`, new ones too until healed."""
        self._do(self._cut(self._links[name], refuse=refuse))

    def delay(self, name: str, seconds: float) -> None:
        """Deliver everything so much later."""
        self._do(self._set(self._links[name], seconds, seconds))

    def silence(self, name: str, *, forth: bool = True, back: bool = True) -> None:
        """Hold what the client sends (`forth`), what the server answers (`back`), or both."""
        self._do(self._silence(self._links[name], forth=forth, back=back))

    def heal(self, name: str) -> None:
        """Let everything pass again, what was held first."""
        self._do(self._heal(self._links[name]))

    def close(self) -> None:
        """Cut everything and end the thread."""
        self._do(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result(30)

    async def _open(self, name: str, port: int) -> int:
        link = self._links[name] = Link(("127.0.0.1", port))

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            link.connections.add(task)
            try:
                await _connect(link, reader, writer)
            finally:
                link.connections.discard(task)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        self._servers.append(server)
        listens_on: int = server.sockets[0].getsockname()[1]
        return listens_on

    async def _shut(self) -> None:
        for server in self._servers:
            server.close()
        ending = [task for link in self._links.values() for task in link.connections]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes the sockets in its next round

    async def _cut(self, link: Link, *, refuse: bool) -> None:
        link.refuses = refuse
        for task in list(link.connections):
            task.cancel()

    async def _set(self, link: Link, forth: float, back: float) -> None:
        link.forth.delay_seconds, link.back.delay_seconds = forth, back

    async def _silence(self, link: Link, *, forth: bool, back: bool) -> None:
        if forth:
            link.forth.passes.clear()
        if back:
            link.back.passes.clear()

    async def _heal(self, link: Link) -> None:
        link.refuses = False
        for direction in (link.forth, link.back):
            direction.delay_seconds = 0.0
            direction.passes.set()


async def _connect(link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, asyncio.CancelledError):
        if link.refuses:
            _reset(writer)
            return
        await link.forth.passes.wait()  # a new connection does not get through either
        server_reader, server_writer = await asyncio.open_connection(*link.target)
        try:
            await _pump_both(link, (reader, writer), (server_reader, server_writer))
        finally:
            _reset(server_writer)
    _reset(writer)


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _pump_both(link: Link, client: Stream, server: Stream) -> None:
    pumps = [
        asyncio.ensure_future(_pump(client[0], server[1], link.forth)),
        asyncio.ensure_future(_pump(server[0], client[1], link.back)),
    ]
    try:
        await asyncio.gather(*pumps)
    finally:
        for pump in pumps:
            pump.cancel()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, direction: Direction) -> None:
    while chunk := await reader.read(_CHUNK):
        await direction.passes.wait()
        if direction.delay_seconds:
            await asyncio.sleep(direction.delay_seconds)
        writer.write(chunk)
        await writer.drain()
    await direction.passes.wait()
    if writer.can_write_eof():
        writer.write_eof()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close the connection in the hard way, unless it has ended already."""
    opened: socket.socket | None = writer.get_extra_info("socket")
    if opened is not None and not writer.is_closing():
        with contextlib.suppress(OSError):
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    writer.transport.abort()
