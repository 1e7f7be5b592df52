"""A log of the requests that a stand-in received, for tests to ask and to count."""

import re
import threading
import time
from collections import Counter, deque
from typing import Any

from flask import Request

_KEPT = 50_000
_BODY_CHARACTERS = 16_384

Entry = dict[str, Any]


class Traffic:
    """The latest requests, the oldest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: deque[Entry] = deque(maxlen=_KEPT)

    def begin(self, request: Request) -> Entry:
        """Note a request that has just arrived; `status` stays null if it is never answered."""
        headers = {name: value for name, value in request.headers.items() if name != "Authorization"}
        entry: Entry = {
            "at": time.time(),
            "method": request.method,
            "path": request.path,
            "query": request.args.to_dict(),
            "headers": headers,
            "authorization": request.headers.get("Authorization", "").partition(" ")[0],
            "body": request.get_data(as_text=True)[:_BODY_CHARACTERS],
            "peer": f"{request.remote_addr}:{request.environ.get('REMOTE_PORT')}",
            "status": None,
        }
        with self._lock:
            self._entries.append(entry)
        return entry

    def find(self, *, method: str = "", path: str = "", since: float = 0.0) -> list[Entry]:
        """Return the requests with this method, a path in which the expression is found, not before `since`."""
        pattern = re.compile(path)
        with self._lock:
            entries = list(self._entries)
        return [
            entry
            for entry in entries
            if entry["at"] >= since and method in {"", entry["method"]} and pattern.search(entry["path"])
        ]

    def clear(self) -> None:
        """Forget all requests."""
        with self._lock:
            self._entries.clear()


def busiest_second(entries: list[Entry]) -> int:
    """Return how many requests the fullest second of the clock had."""
    return max(Counter(int(entry["at"]) for entry in entries).values(), default=0)
