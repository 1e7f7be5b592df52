"""10,000 jobs of APScheduler 3 in an SQLAlchemy job store on PostgreSQL, due at one instant: seconds until all ran.

Runs in a virtual environment of its own: python apscheduler_burst.py DATABASE_URL ENDPOINT JOBS THREADS
"""

import json
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import requests
from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_EXECUTED, EVENT_JOB_MISSED
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler

DATABASE_URL, ENDPOINT, JOBS, THREADS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
_local = threading.local()


def call(url: str) -> None:
    """Make one call over a connection that is kept."""
    if not hasattr(_local, "session"):
        _local.session = requests.Session()
        _local.session.trust_env = False
    answer = _local.session.post(url, headers={"Authorization": "bearer bench"}, timeout=30)
    answer.raise_for_status()


def main() -> None:
    """Run once and print the figures."""
    store = SQLAlchemyJobStore(url=DATABASE_URL.replace("postgresql://", "postgresql+psycopg2://"))
    scheduler = BackgroundScheduler(
        jobstores={"default": store},
        executors={"default": ThreadPoolExecutor(THREADS)},
        job_defaults={"misfire_grace_time": 600, "coalesce": True},
        timezone=UTC,
    )
    done = threading.Event()
    ended: list[float] = []
    failed: list[int] = []

    def on_end(event: object) -> None:
        ended.append(time.time())
        if getattr(event, "exception", None) or event.code == EVENT_JOB_MISSED:  # type: ignore[attr-defined]
            failed.append(1)
        if len(ended) == JOBS:
            done.set()

    scheduler.add_listener(on_end, EVENT_JOB_EXECUTED | EVENT_JOB_ERROR | EVENT_JOB_MISSED)
    scheduler.start(paused=True)
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=3 + JOBS / 300)
    for number in range(JOBS):
        # A trigger that goes on, as schedules do, so that the store has to write the next instant.
        scheduler.add_job(call, "interval", hours=1, start_date=at, args=[ENDPOINT], id=str(number))
    scheduler.resume()
    if not done.wait(600):
        sys.exit("not all jobs have run")
    print(json.dumps({"calls_per_second": JOBS / (max(ended) - at.timestamp()), "failed": len(failed)}))
    scheduler.shutdown(wait=False)


if __name__ == "__main__":
    main()
