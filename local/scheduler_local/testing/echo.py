"""What a test can ask the endpoint for calls."""

from typing import Any

import requests


class EchoEndpoint:
    """An endpoint that keeps what it receives; see scheduler_local.echo for its paths."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._session = requests.Session()
        self._session.trust_env = False

    def requests(self) -> list[dict[str, Any]]:
        """Return what arrived: at, method, path, query, headers, body."""
        found: list[dict[str, Any]] = self._session.get(self.url, timeout=60).json()["requests"]
        return found

    def count(self) -> int:
        """Return how many requests arrived, the fast ones too."""
        return int(self._session.get(self.url, timeout=60).json()["count"])

    def clear(self) -> None:
        """Forget what arrived."""
        self._session.delete(self.url, timeout=60)

    def close(self) -> None:
        """Let the connections go."""
        self._session.close()
