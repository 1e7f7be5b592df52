"""Whatever arrives as a token, the answer is a caller or a refusal, and never anything else."""

import json
import time
from base64 import urlsafe_b64encode
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given, settings
from hypothesis import strategies as st
from jwt.algorithms import RSAAlgorithm

from scheduler.cloudfoundry.errors import UnverifiedTokenError
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.transport import Answer
from scheduler.cloudfoundry.uaa import Caller, Uaa

ISSUER = "https://uaa/oauth/token"
KEY = rsa.generate_private_key(65_537, 2_048)
PUBLIC = {**RSAAlgorithm.to_jwk(KEY.public_key(), as_dict=True), "kid": "one", "use": "sig"}
SETTINGS = CloudFoundrySettings(cf_endpoint="http://cf", uaa_endpoint="http://uaa", client_id="c", client_secret="s")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


class UaaServer:
    """Confirms every token as the developer's."""

    def get(self, url: str, **_: Any) -> Answer:
        if url.endswith("/userinfo"):
            return Answer(200, {}, b'{"user_id":"u","user_name":"developer"}')
        if url.endswith("/token_keys"):
            return Answer(200, {}, json.dumps({"keys": [PUBLIC]}).encode())
        return Answer(200, {}, json.dumps({"issuer": ISSUER}).encode())


VERIFIER = Uaa(SETTINGS, transport=UaaServer())  # type: ignore[arg-type]


@settings(deadline=None)  # the machine may be busy
@given(st.none() | st.text() | st.from_regex(r"[Bb]earer [!-~]{1,60}", fullmatch=True))
def test_any_header_is_refused(header: str | None) -> None:
    assert _verify(header) is None


@settings(deadline=None)  # the machine may be busy
@given(st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jku"]), JSON), JSON, st.binary(max_size=9))
def test_any_unsigned_token_is_refused(header: dict[str, Any], payload: Any, signature: bytes) -> None:
    parts = [json.dumps({"alg": "RS256", "kid": "one", **header}), json.dumps(payload)]
    encoded = [_base64(part.encode()) for part in parts]
    assert _verify(f"bearer {'.'.join([*encoded, _base64(signature)])}") is None


@settings(deadline=None)  # the machine may be busy
@given(st.dictionaries(st.sampled_from(["exp", "iat", "nbf", "iss", "aud", "jti", "user_id", "scope", "sub"]), JSON))
def test_signed_claims_of_any_kind_give_the_user_or_a_refusal(changes: dict[str, Any]) -> None:
    claims = {
        "exp": int(time.time()) + 600,
        "iss": ISSUER,
        "aud": ["cloud_controller"],
        "jti": "x",
        "user_id": "u",
        "scope": ["openid"],
        **changes,
    }
    payload = json.dumps(claims).encode()
    token = jwt.api_jws.PyJWS().encode(payload, KEY, algorithm="RS256", headers={"kid": "one"})
    caller = _verify(f"bearer {token}")
    if caller is not None:
        assert caller.user_guid == "u" == claims["user_id"]
        assert not caller.is_admin


def _verify(header: str | None) -> Caller | None:
    try:
        return VERIFIER.verify(header)
    except UnverifiedTokenError:
        return None


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
