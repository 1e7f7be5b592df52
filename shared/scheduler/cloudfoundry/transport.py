"""The one place that sends requests to Cloud Foundry: sessions, TLS, time limits, bounded answers, repeated GETs."""

import json
import ssl
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from scheduler.cloudfoundry.errors import LostError, UnsentError
from scheduler.cloudfoundry.settings import CloudFoundrySettings

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_BODY_SECONDS = 60.0  # the read time limit is per packet; a body may not trickle in for ever
PASSING_STATUSES = frozenset({429, 502, 503, 504})
_CHUNK_BYTES = 64 * 1024
_POOL_SIZE = 128  # at most as many threads as a service may be given; unused slots cost nothing
_BACKOFF_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete HTTP answer."""

    status: int
    headers: Mapping[str, str]  # case-insensitive
    body: bytes

    def json(self) -> Any:
        """Return the decoded body, None when it is no JSON; the content type is not asked."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    def retry_after(self) -> float | None:
        """Return the seconds that the server asks us to wait, from either form of the header."""
        value = self.headers.get("Retry-After", "").strip()
        if value.isascii() and value.isdigit():
            return float(value)
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (ValueError, OverflowError):
            return None


class Bearer(AuthBase):
    """Sets the token. As a plain header it would be replaced by whatever a ~/.netrc says about the host."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"bearer {self._token}"
        return request


class Transport:
    """A pool of connections to Cloud Foundry; safe to share between threads."""

    def __init__(self, settings: CloudFoundrySettings, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._settings = settings
        self._sleep = sleep
        self._verify = not settings.skip_tls_validation
        self._session = _new_session(settings)

    def send(
        self,
        method: str,
        url: str,
        *,
        auth: AuthBase | tuple[str, str] | None = None,
        body: Any = None,
        form: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send once.

        Raises UnsentError when no connection was made, LostError when one was but no whole answer came.
        """
        limits = (self._settings.connect_timeout_seconds, self._settings.read_timeout_seconds)
        try:
            # verify is repeated here because REQUESTS_CA_BUNDLE would override the session's own False.
            response = self._session.request(
                method, url, auth=auth, json=body, data=form, timeout=limits, verify=self._verify,
                allow_redirects=False, stream=True,
            )  # fmt: skip
            return Answer(response.status_code, response.headers, _read(response))
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            host = urllib.parse.urlsplit(url).netloc
            kind = UnsentError if _is_unsent(error) else LostError
            raise kind(f"{method} to {host} failed: {type(error).__name__}") from error

    def get(self, url: str, *, auth: AuthBase | None = None) -> Answer:
        """Send a GET, again after a lost connection or a passing status; never waits long.

        Raises as `send` does. A time-out is not repeated: whoever asks has waited long enough.
        """
        for attempt in range(1, self._settings.get_attempts):
            try:
                answer = self.send("GET", url, auth=auth)
            except (UnsentError, LostError) as error:
                if isinstance(error.__cause__, requests.Timeout):
                    raise
                wait = attempt * _BACKOFF_SECONDS
            else:
                if answer.status not in PASSING_STATUSES:
                    return answer
                asked = answer.retry_after()
                wait = attempt * _BACKOFF_SECONDS if asked is None else asked
                if wait > self._settings.longest_wait_seconds:
                    return answer
            self._sleep(wait)
        return self.send("GET", url, auth=auth)

    def close(self) -> None:
        """Let the connections go."""
        self._session.close()


class _TrustingAdapter(HTTPAdapter):
    """Trusts further authorities beside the usual ones, where requests' own `verify` would replace those."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._context = context
        super().__init__(pool_maxsize=_POOL_SIZE, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, ssl_context=self._context, **kwargs)

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        return super().proxy_manager_for(*args, ssl_context=self._context, **kwargs)


def _new_session(settings: CloudFoundrySettings) -> requests.Session:
    if settings.skip_tls_validation:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    session = requests.Session()
    # Cookies of gorouter would tie us to one of its back ends, and the jar is not meant for many threads.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.headers["User-Agent"] = "ocf-scheduler"
    session.headers["Accept"] = "application/json"
    session.mount("https://", _TrustingAdapter(_trust(settings)))
    session.mount("http://", _TrustingAdapter(None))
    return session


def _trust(settings: CloudFoundrySettings) -> ssl.SSLContext | None:
    if settings.ca_file is None:
        return None
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    context.load_verify_locations(cafile=settings.ca_file)
    return context


def _read(response: requests.Response) -> bytes:
    try:
        body = _read_bounded(response.raw)
    except BaseException:
        response.raw.close()  # half-read connections must not go back to the pool
        raise
    response.raw.release_conn()
    return body


def _read_bounded(raw: urllib3.BaseHTTPResponse) -> bytes:
    deadline = time.monotonic() + MAX_BODY_SECONDS
    body = bytearray()
    while chunk := raw.read1(_CHUNK_BYTES, decode_content=True):
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise LostError(f"answer is larger than {MAX_BODY_BYTES} bytes")
        if time.monotonic() > deadline:
            raise LostError(f"answer took longer than {MAX_BODY_SECONDS} s")
    return bytes(body)


def _is_unsent(error: Exception) -> bool:
    """Tell whether no connection was made; in doubt no."""
    if isinstance(error, requests.ConnectTimeout):
        return True
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    if isinstance(reason, urllib3.exceptions.SSLError):
        return isinstance(reason.args[0] if reason.args else None, ssl.SSLCertVerificationError)
    return isinstance(reason, urllib3.exceptions.NewConnectionError)
