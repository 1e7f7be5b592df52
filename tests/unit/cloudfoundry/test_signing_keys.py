"""When UAA's keys are fetched: for an unknown id, when they are old, and never by every request."""

import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from scheduler.cloudfoundry.errors import UnsentError, UnverifiedTokenError
from scheduler.cloudfoundry.keys import SigningKeys
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.transport import Answer

SETTINGS = CloudFoundrySettings(cf_endpoint="http://cf", uaa_endpoint="http://uaa", client_id="c", client_secret="s")
PUBLIC = RSAAlgorithm.to_jwk(rsa.generate_private_key(65_537, 2_048).public_key(), as_dict=True)


class Uaa:
    """Shows keys with the ids in `shown`, in place of a transport."""

    def __init__(self, *shown: str) -> None:
        self.shown: list[dict[str, Any]] = [{**PUBLIC, "kid": key_id, "use": "sig"} for key_id in shown]
        self.asked = 0
        self.is_up = True

    def get(self, url: str) -> Answer:
        if not self.is_up:
            raise UnsentError("GET to uaa failed")
        if url == "http://uaa/.well-known/openid-configuration":
            return Answer(200, {}, b'{"issuer":"https://uaa/oauth/token"}')
        self.asked += 1
        return Answer(200, {}, json.dumps({"keys": self.shown}).encode())


@pytest.fixture
def clock() -> list[float]:
    """Hold the present time in its only element."""
    return [1_000.0]


def _keys(uaa: Uaa, clock: list[float]) -> SigningKeys:
    return SigningKeys(SETTINGS, uaa, clock=lambda: clock[0])  # type: ignore[arg-type]


def test_a_known_key_is_fetched_once(clock: list[float]) -> None:
    uaa = Uaa("one")
    keys = _keys(uaa, clock)
    key, issuer = keys.get("one")
    assert isinstance(key, jwt.PyJWK)
    assert issuer == "https://uaa/oauth/token"
    keys.get("one")
    assert uaa.asked == 1


def test_an_unknown_id_is_looked_up_only_after_the_cooldown(clock: list[float]) -> None:
    uaa = Uaa("one")
    keys = _keys(uaa, clock)
    keys.get("one")
    uaa.shown = Uaa("one", "two").shown
    with pytest.raises(UnverifiedTokenError):
        keys.get("two")
    clock[0] += SETTINGS.key_cooldown_seconds
    keys.get("two")
    assert uaa.asked == 2


def test_a_withdrawn_key_is_trusted_for_five_minutes_at_most(clock: list[float]) -> None:
    uaa = Uaa("one")
    keys = _keys(uaa, clock)
    keys.get("one")
    uaa.shown = Uaa("two").shown
    clock[0] += 301
    with pytest.raises(UnverifiedTokenError):
        keys.get("one")


def test_old_keys_stay_good_while_uaa_is_away(clock: list[float]) -> None:
    uaa = Uaa("one")
    keys = _keys(uaa, clock)
    keys.get("one")
    uaa.is_up = False
    clock[0] += 10_000
    keys.get("one")


def test_after_a_failure_uaa_is_asked_again_a_second_later(clock: list[float]) -> None:
    uaa = Uaa("one")
    uaa.is_up = False
    keys = _keys(uaa, clock)
    with pytest.raises(UnverifiedTokenError):
        keys.get("one")
    uaa.is_up = True
    with pytest.raises(UnverifiedTokenError):
        keys.get("one")
    clock[0] += 1
    keys.get("one")


@pytest.mark.parametrize("change", [{"kty": "MAC"}, {"kty": "oct", "k": "c2VjcmV0"}, {"use": "enc"}])
def test_only_public_keys_for_signatures_count(clock: list[float], change: dict[str, str]) -> None:
    uaa = Uaa("one", "two")
    uaa.shown[1] |= change
    keys = _keys(uaa, clock)
    keys.get("one")
    clock[0] += 60
    with pytest.raises(UnverifiedTokenError):
        keys.get("two")
