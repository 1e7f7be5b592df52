"""`python -m bench.endpoint PORT`: answers 204 to everything, as fast as asyncio can, where there is no nginx."""

import asyncio
import sys

_ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"


class _Endpoint(asyncio.Protocol):
    def __init__(self) -> None:
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:  # the benches send no bodies
            _, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
            assert self._transport is not None
            self._transport.write(_ANSWER)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Endpoint, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
