"""The API as a process with stand-ins for UAA and Cloud Controller, and clients that ask it."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import urllib3

from bench.servers import Servers
from bench.services import Meter, services
from scheduler_local import seed
from scheduler_local.testing import MadeApp, Start, start_controller, start_uaa
from tests.fixtures.session import free_port

CLIENTS = 4


@dataclass
class Api:
    """A running API and a developer's token."""

    url: str
    app: MadeApp
    meter: Callable[[], Meter]
    _headers: dict[str, str]
    _pool: urllib3.PoolManager

    def ask(self, method: str, path: str, body: Any = None) -> urllib3.BaseHTTPResponse:
        """Return the answer, which must be a success."""
        answer = self._pool.request(method, self.url + path, json=body, headers=self._headers, retries=False)
        if answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer.status} {answer.data.decode()}")
        return answer

    def measure(self, count: int, ask: Callable[[int], object], *, clients: int = CLIENTS) -> dict[str, float]:
        """Ask `count` times; return rates and times."""
        times: list[float] = []
        lock = threading.Lock()

        def one(number: int) -> None:
            began = time.perf_counter()
            ask(number)
            seconds = time.perf_counter() - began
            with lock:
                times.append(seconds)

        meter = self.meter()
        with ThreadPoolExecutor(clients) as pool:
            list(pool.map(one, range(count)))
        elapsed, cpu = meter.elapsed(), meter.cpu_seconds()
        ordered = sorted(times)
        return {
            "per_second": count / elapsed,
            "per_core_second": count / cpu["api"],
            "postgres_ms": 1_000 * cpu["postgres"] / count,
            "p50_ms": 1_000 * ordered[count // 2],
            "p95_ms": 1_000 * ordered[int(count * 0.95)],
        }


@contextmanager
def running_api(servers: Servers, database_url: str) -> Iterator[Api]:
    """Run the API on this database until the end of the block."""
    uaa_log, controller_log = (Start(log=servers.folder / f"{name}.log") for name in ("uaa", "controller"))
    with start_uaa(uaa_log) as uaa, start_controller(uaa, controller_log) as controller:
        port = free_port()
        variables = {
            "SCHEDULER_PORT": str(port),
            "CF_ENDPOINT": controller.url,
            "UAA_ENDPOINT": uaa.url,
            "CLIENT_ID": seed.CLIENT_ID,
            "CLIENT_SECRET": seed.CLIENT_SECRET,
        }
        with services(servers, database_url, "postgres", ["api"], variables) as running:
            headers = {"Authorization": f"bearer {uaa.token(seconds=86_400)}"}
            pool = urllib3.PoolManager(maxsize=CLIENTS)
            url = f"http://127.0.0.1:{port}"
            yield Api(url, controller.add_app(), lambda: Meter(servers, running), headers, pool)
