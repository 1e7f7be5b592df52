"""When our own token is fetched: once for many, again before it ends, and not at every failure."""

import json
from typing import Any

import pytest

from scheduler.cloudfoundry.errors import TokenUnavailableError, UnsentError
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.tokens import TokenCache
from scheduler.cloudfoundry.transport import Answer

SETTINGS = CloudFoundrySettings(cf_endpoint="http://cf", uaa_endpoint="http://uaa/", client_id="c", client_secret="s")


class Uaa:
    """Gives out numbered tokens, in place of a transport."""

    def __init__(self, seconds: float = 600) -> None:
        self.seconds = seconds
        self.asked = 0
        self.is_up = True

    def send(self, method: str, url: str, **_: Any) -> Answer:
        assert (method, url) == ("POST", "http://uaa/oauth/token")
        self.asked += 1
        if not self.is_up:
            raise UnsentError("POST to uaa failed")
        fields = {"access_token": f"token-{self.asked}", "expires_in": self.seconds}
        return Answer(200, {}, json.dumps(fields).encode())


@pytest.fixture
def clock() -> list[float]:
    """Hold the present time in its only element."""
    return [1_000.0]


def _cache(uaa: Uaa, clock: list[float]) -> TokenCache:
    return TokenCache(SETTINGS, uaa, clock=lambda: clock[0])  # type: ignore[arg-type]


def test_a_token_is_kept_until_a_minute_before_it_ends(clock: list[float]) -> None:
    cache = _cache(Uaa(), clock)
    assert cache.get() == "token-1"
    clock[0] += 539
    assert cache.get() == "token-1"
    clock[0] += 1
    assert cache.get() == "token-2"


def test_a_token_of_less_than_two_minutes_is_kept_for_half_of_them(clock: list[float]) -> None:
    cache = _cache(Uaa(seconds=60), clock)
    assert cache.get() == "token-1"
    clock[0] += 29
    assert cache.get() == "token-1"
    clock[0] += 1
    assert cache.get() == "token-2"


def test_a_refused_token_is_forgotten_but_a_newer_one_is_not(clock: list[float]) -> None:
    cache = _cache(Uaa(), clock)
    old = cache.get()
    cache.discard(old)
    assert cache.get() == "token-2"
    cache.discard(old)
    assert cache.get() == "token-2"


def test_while_uaa_is_away_it_is_asked_once_a_second(clock: list[float]) -> None:
    uaa = Uaa()
    uaa.is_up = False
    cache = _cache(uaa, clock)
    for _ in range(50):
        with pytest.raises(TokenUnavailableError):
            cache.get()
    assert uaa.asked == 1
    uaa.is_up = True
    clock[0] += 1
    assert cache.get() == "token-2"


def test_two_caches_share_nothing(clock: list[float]) -> None:
    uaa = Uaa()
    assert _cache(uaa, clock).get() != _cache(uaa, clock).get()  # checklist 256
