"""10,000 tasks of Procrastinate on PostgreSQL, due at one instant: seconds until all ran.

Runs in a virtual environment of its own: python procrastinate_burst.py DATABASE_URL ENDPOINT JOBS THREADS
"""

import asyncio
import json
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import procrastinate
import requests

DATABASE_URL, ENDPOINT, JOBS, THREADS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=DATABASE_URL))
_local = threading.local()
_ended: list[float] = []


@app.task(name="call")
def call(url: str) -> None:
    """Make one call over a connection that is kept."""
    if not hasattr(_local, "session"):
        _local.session = requests.Session()
        _local.session.trust_env = False
    answer = _local.session.post(url, headers={"Authorization": "bearer bench"}, timeout=30)
    answer.raise_for_status()
    _ended.append(time.time())


async def main() -> None:
    """Run once and print the figures."""
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=3 + JOBS / 1_000)
        deferrer = call.configure(schedule_at=at)
        for _ in range(JOBS // 1_000):
            await deferrer.batch_defer_async(*({"url": ENDPOINT} for _ in range(1_000)))
        worker = asyncio.create_task(
            app.run_worker_async(concurrency=THREADS, wait=True, fetch_job_polling_interval=0.5)
        )
        deadline = time.monotonic() + 600
        # The tasks end in threads, which wake no event of this loop.
        while len(_ended) < JOBS and time.monotonic() < deadline and not worker.done():  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        worker.cancel()
        print(json.dumps({"calls_per_second": JOBS / (max(_ended) - at.timestamp()), "failed": JOBS - len(_ended)}))


if __name__ == "__main__":
    asyncio.run(main())
