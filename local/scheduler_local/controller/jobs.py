"""Work that goes on after the answer, and that its asker polls."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from scheduler_local.controller.broker_client import BrokerError
from scheduler_local.controller.errors import ControllerError

_THREADS = 8
_REJECTED = 10001


@dataclass(kw_only=True)
class Job:
    """One piece of work."""

    guid: str = field(default_factory=lambda: str(uuid4()))
    operation: str
    state: str = "PROCESSING"
    errors: list[dict[str, Any]] = field(default_factory=list)


class Jobs:
    """Does the work in threads of its own."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="job")
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, operation: str, work: Callable[[], None]) -> Job:
        """Begin some work and return what can be polled."""
        job = Job(operation=operation)
        with self._lock:
            self._jobs[job.guid] = job
        self._pool.submit(self._do, job, work)
        return job

    def get(self, guid: str) -> Job | None:
        """Return a job."""
        return self._jobs.get(guid)

    def _do(self, job: Job, work: Callable[[], None]) -> None:
        try:
            work()
        except BrokerError as error:
            job.errors.append({"code": _REJECTED, "title": error.title, "detail": error.detail})
        except ControllerError as error:
            job.errors.append(error.as_json())
        except Exception as error:  # noqa: BLE001  whoever polls must not wait for ever
            job.errors.append({"code": _REJECTED, "title": "UnknownError", "detail": repr(error)})
        job.state = "FAILED" if job.errors else "COMPLETE"
