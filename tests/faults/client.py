"""The public HTTP API as a user's program asks it, with the window in which the request took effect."""

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import requests

from tests.faults.moments import now

_TIMEOUT_SECONDS = 40.0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back, and when the request was on its way. Status 0: nothing came back."""

    status: int
    body: Any
    lo: int
    hi: int

    @property
    def done(self) -> bool:
        """Tell whether the change was made."""
        return 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """Tell whether the change was surely not made."""
        return 400 <= self.status < 500

    @property
    def unclear(self) -> bool:
        """Tell whether the change may have been made, or may still be."""
        return not self.done and not self.refused


class Client:
    """Asks the instances in turn; may be used from any thread."""

    def __init__(self, urls: Sequence[str], *, token: str = "", basic: tuple[str, str] | None = None) -> None:
        self._urls = itertools.cycle(urls)
        self._token = token
        self._basic = basic
        self._local = threading.local()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Ask once; a request without an answer is not repeated, since it may have been carried out."""
        lo = now()
        try:
            answer = self._session().request(
                method,
                next(self._urls) + path,
                json=body,
                headers={name.replace("_", "-"): value for name, value in headers.items()},
                timeout=_TIMEOUT_SECONDS,
            )
            return Answer(status=answer.status_code, body=_json(answer), lo=lo, hi=now())
        except requests.RequestException:
            return Answer(status=0, body=None, lo=lo, hi=now())

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
            session.trust_env = False
            session.auth = self._basic
            if self._token:
                session.headers["Authorization"] = f"bearer {self._token}"
        return session


def _json(answer: requests.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None
