"""The one place that sends requests to the scheduler: time limits, repeated GETs, failures in one sentence each."""

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import quote

import requests
import urllib3
from requests.auth import AuthBase

from sch.errors import CliError
from sch.remote.answers import Answer, RefusedError
from sch.remote.failures import innermost, is_unsent
from sch.remote.settings import Settings
from sch.remote.tls import trusting
from sch.terminal.text import clean
from scheduler import __version__

CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0
ATTEMPTS = 3
BACKOFF_SECONDS = 0.3
MAX_BODY_BYTES = 64 * 1024 * 1024
MAX_BODY_SECONDS = 300.0  # the other limits are per packet; a body may not trickle in for ever
_CHUNK_BYTES = 64 * 1024

_TRUST = (
    "Name the authority of its certificate in SCHEDULER_CA_CERT_FILE, "
    "or set SCHEDULER_SKIP_SSL_VALIDATION=true if you know what you are doing."
)

Query = Mapping[str, object]


class UnreachableError(CliError):
    """No answer came. `again`: asking once more may help."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


class Client:
    """The scheduler's API, for one user."""

    def __init__(self, settings: Settings, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._settings = settings
        self._sleep = sleep
        self._session = requests.Session()
        self._session.auth = _Bearer(settings.token)
        self._session.headers.update({"Accept": "application/json", "User-Agent": f"sch/{__version__}"})
        if settings.skip_ssl_validation:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        elif settings.ca_cert_file is not None:
            self._session.mount("https://", trusting(settings.ca_cert_file))

    def get(self, path: str, query: Query | None = None, *, seconds: float | None = None) -> Answer:
        """Return the answer to a GET, which is sent again when the connection fails.

        Raises RefusedError for an answer of 400 and above, UnreachableError when none comes.
        """
        for attempt in range(1, ATTEMPTS):
            try:
                return self.send("GET", path, query, seconds=seconds)
            except UnreachableError as error:
                if not error.again:
                    raise
                self._sleep(attempt * BACKOFF_SECONDS)
        return self.send("GET", path, query, seconds=seconds)

    def send(
        self,
        method: str,
        path: str,
        query: Query | None = None,
        *,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> Answer:
        """Send once and return the answer; raises as `get` does."""
        url = self._settings.url + path
        try:
            response = self._session.request(
                method, url, params=_given(query or {}), json=body, headers=headers, stream=True,
                timeout=(CONNECT_SECONDS, seconds or READ_SECONDS), allow_redirects=False, verify=self._verify(),
            )  # fmt: skip
            with closing(response):
                answer = Answer(response.status_code, _read(response))
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise self._unreachable(method, error) from error
        return self._accepted(answer, response.headers.get("Location"))

    def close(self) -> None:
        """Let the connections go."""
        self._session.close()

    def _verify(self) -> bool:
        return not self._settings.skip_ssl_validation

    def _accepted(self, answer: Answer, location: str | None) -> Answer:
        if 300 <= answer.status < 400:
            where = f" to {clean(location)}" if location else ""
            raise CliError(f"{self._settings.url} redirects{where}. Set SCHEDULER_URL to where the scheduler is.")
        if answer.status >= 400:
            raise RefusedError(answer)
        return answer

    def _unreachable(self, method: str, error: Exception) -> UnreachableError:
        url = self._settings.url
        if isinstance(error, requests.ReadTimeout | urllib3.exceptions.ReadTimeoutError):
            return UnreachableError(f"The scheduler at {url} did not answer in time.{_doubt(method)}", again=False)
        reason = clean(innermost(error))
        if isinstance(error, requests.exceptions.SSLError):
            return UnreachableError(f"{url} is not trusted: {reason}. {_TRUST}", again=False)
        if is_unsent(error):
            return UnreachableError(f"The scheduler at {url} cannot be reached: {reason}. Check SCHEDULER_URL.")
        return UnreachableError(f"The connection to the scheduler at {url} was lost: {reason}.{_doubt(method)}")


class _Bearer(AuthBase):
    """Sets the token. As a plain header it would be replaced by whatever a ~/.netrc says about the host."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"bearer {self._token}"
        return request


def path_of(*segments: str) -> str:
    """Return a path whose segments are quoted, so that no name can become another path."""
    return "".join(f"/{quote(segment, safe='')}" for segment in segments)


def _given(query: Query) -> dict[str, str]:
    return {name: str(value) for name, value in query.items() if value is not None}


def _read(response: requests.Response) -> str:
    body, deadline = bytearray(), time.monotonic() + MAX_BODY_SECONDS
    for chunk in response.iter_content(_CHUNK_BYTES):
        body += chunk
        if time.monotonic() > deadline:
            raise CliError(f"The scheduler's answer takes longer than {MAX_BODY_SECONDS:.0f} s.")
        if len(body) > MAX_BODY_BYTES:
            raise CliError(f"The scheduler's answer is larger than {MAX_BODY_BYTES // 2**20} MiB.")
    return body.decode(errors="replace")


def _doubt(method: str) -> str:
    return "" if method == "GET" else " It may have done what was asked all the same; look before you try again."
