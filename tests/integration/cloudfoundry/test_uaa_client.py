"""Who is calling: a token counts only if its signature, its claims and UAA itself agree; any doubt is a no."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from scheduler.cloudfoundry.errors import TokenUnavailableError, UnverifiedTokenError
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.uaa import Uaa
from scheduler_local import seed
from scheduler_local.testing import StandInUaa


@pytest.fixture
def verifier(cloud_foundry: CloudFoundrySettings) -> Iterator[Uaa]:
    client = Uaa(cloud_foundry)
    yield client
    client.close()


def test_a_users_token_tells_who_is_calling(verifier: Uaa, uaa: StandInUaa) -> None:
    caller = verifier.verify(f"Bearer {uaa.token()}")
    assert caller.user_guid == seed.user_guid(seed.DEVELOPER)
    assert caller.user_name == seed.DEVELOPER
    assert caller.scopes == set(seed.USER_SCOPES)
    assert not caller.is_admin


@pytest.mark.parametrize("scheme", ["bearer", "Bearer", "BEARER"])
def test_the_scheme_may_be_written_as_one_likes(verifier: Uaa, uaa: StandInUaa, scheme: str) -> None:
    assert verifier.verify(f"{scheme} {uaa.token()}").user_name == seed.DEVELOPER  # checklist 65 66


def test_a_user_with_the_admin_scope_is_an_admin(verifier: Uaa, uaa: StandInUaa) -> None:
    assert verifier.verify(f"bearer {uaa.admin_token()}").is_admin  # checklist 77


def test_the_owner_is_asked_of_uaa_each_time(verifier: Uaa, uaa: StandInUaa) -> None:
    header = f"bearer {uaa.token()}"
    verifier.verify(header)
    verifier.verify(header)
    assert len(uaa.requests(path="/userinfo")) == 2  # checklist 70
    assert len(uaa.requests(path="/token_keys")) == 1


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "bearer",
        "bearer ",
        "{token}",
        "Basic c2NoZWR1bGVyOnNlY3JldA==",  # checklist 68
        "token {token}",
        "bearer {token} {token}",
        "bearer {token}, bearer {token}",  # what two headers arrive as
        "bearer x",
        "bearer a.b.c",
        "bearer é.é.é",
        "bearer ..",
        "bearer eyJhbGciOiJSUzI1NiJ9.e30.x",
        "bearer 4f1c2b3a4d5e6f708192a3b4c5d6e7f8",  # an opaque token
    ],
)
def test_what_is_no_bearer_token_is_refused_without_asking_who_it_is(
    verifier: Uaa, uaa: StandInUaa, header: str | None
) -> None:
    _refuse(verifier, header.format(token=uaa.token()) if header else header)
    assert not uaa.requests(path="/userinfo")


def test_deeply_nested_junk_is_refused(verifier: Uaa) -> None:
    _refuse(verifier, f"bearer {'W1tb' * 2_000}.e30.x")  # base64 of [[[…


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_token_of_another_algorithm_is_refused(verifier: Uaa, uaa: StandInUaa, algorithm: str) -> None:
    _refuse(verifier, f"bearer {uaa.token(algorithm=algorithm)}")  # checklist 72
    assert not uaa.requests(path="/userinfo")


def test_a_changed_token_is_refused(verifier: Uaa, uaa: StandInUaa) -> None:
    header, payload, signature = uaa.token().split(".")
    other = uaa.admin_token().split(".")[1]
    _refuse(verifier, f"bearer {header}.{other}.{signature}")  # checklist 67
    _refuse(verifier, f"bearer {header}.{payload}.{signature[:-8]}AAAAAAAA")


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["openid", "uaa"]},
        {"aud": "other"},
        {"iss": "https://uaa.elsewhere.example.com/oauth/token"},
        {"jti": "x-r"},
        {"exp": None},
        {"iss": None},
        {"aud": None},
        {"jti": None},
        {"exp": "soon"},
        {"nbf": 32_503_680_000},
        {"user_id": None},
        {"user_id": ""},
        {"user_id": "somebody-else"},
        {"scope": "cloud_controller.admin"},
        {"scope": [1]},
        {"scope": {"cloud_controller.admin": True}},
    ],
    ids=str,
)
def test_a_signed_token_with_wrong_claims_is_refused(verifier: Uaa, uaa: StandInUaa, claims: dict[str, Any]) -> None:
    _refuse(verifier, f"bearer {uaa.token(claims=claims)}")


def test_a_token_without_scopes_belongs_to_a_user_who_may_nothing(verifier: Uaa, uaa: StandInUaa) -> None:
    caller = verifier.verify(f"bearer {uaa.token(claims={'scope': None})}")
    assert caller.scopes == frozenset()


def test_a_token_that_ended_a_second_ago_is_refused(verifier: Uaa, uaa: StandInUaa) -> None:
    _refuse(verifier, f"bearer {uaa.token(seconds=-1)}")  # checklist 67


def test_a_refresh_token_is_refused(verifier: Uaa, uaa: StandInUaa) -> None:
    _refuse(verifier, f"bearer {uaa.token(refresh=True)}")  # checklist 72


@pytest.mark.parametrize("scopes", [["cloud_controller.admin"], ["cloud_controller.admin", "openid"]])
def test_a_clients_token_is_refused_even_with_the_admin_scope(
    verifier: Uaa, uaa: StandInUaa, scopes: list[str]
) -> None:
    _refuse(verifier, f"bearer {uaa.client_token('robot', scopes=scopes)}")  # checklist 69 242


def test_a_token_without_openid_is_refused_because_uaa_does_not_name_its_user(verifier: Uaa, uaa: StandInUaa) -> None:
    _refuse(verifier, f"bearer {uaa.token(scopes=['cloud_controller.admin'])}")
    assert uaa.requests(path="/userinfo")[0]["status"] == 403


def test_a_revoked_token_is_refused(verifier: Uaa, uaa: StandInUaa) -> None:
    token = uaa.token()
    verifier.verify(f"bearer {token}")
    uaa.revoke(token)
    _refuse(verifier, f"bearer {token}")  # checklist 67


def test_a_deactivated_users_token_is_refused(verifier: Uaa, uaa: StandInUaa) -> None:
    token = uaa.token()
    uaa.add_user(seed.DEVELOPER, active=False)
    _refuse(verifier, f"bearer {token}")


@pytest.mark.parametrize("kind", ["server_error", "unavailable", "rate_limited", "router_404", "not_json", "cut"])
def test_while_uaa_does_not_say_who_it_is_everybody_is_refused(verifier: Uaa, uaa: StandInUaa, kind: str) -> None:
    uaa.fault(kind, path="/userinfo")
    _refuse(verifier, f"bearer {uaa.token()}")  # checklist 71


def test_a_uaa_that_takes_too_long_has_not_answered(cloud_foundry: CloudFoundrySettings, uaa: StandInUaa) -> None:
    verifier = Uaa(replace(cloud_foundry, read_timeout_seconds=0.2))
    token = uaa.token()
    uaa.fault("slow", seconds=2, path="/userinfo")
    _refuse(verifier, f"bearer {token}")
    verifier.close()


@pytest.mark.parametrize("answer", ['{"user_id":"somebody-else"}', '{"user_id":null}', "{}", "[]", '"x"'])
def test_a_user_whom_uaa_names_differently_is_refused(verifier: Uaa, uaa: StandInUaa, answer: str) -> None:
    uaa.fault("status", status=200, content_type="application/json", body=answer, path="/userinfo")
    _refuse(verifier, f"bearer {uaa.token()}")


def test_without_keys_everybody_is_refused(verifier: Uaa, uaa: StandInUaa) -> None:
    uaa.fault("server_error", path="/token_keys")
    _refuse(verifier, f"bearer {uaa.token()}")
    uaa.clear_faults()
    uaa.fault("server_error", path="openid-configuration")
    _refuse(verifier, f"bearer {uaa.token()}")


@pytest.mark.parametrize("body", ["{}", "[]", '{"keys":[]}', '{"keys":[{"kty":"RSA"}]}', '{"keys":[{"kid":"x"}]}', "x"])
def test_unreadable_keys_are_no_keys(verifier: Uaa, uaa: StandInUaa, body: str) -> None:
    uaa.fault("status", status=200, content_type="application/json", body=body, path="/token_keys")
    _refuse(verifier, f"bearer {uaa.token()}")


def test_a_key_rotated_under_way_is_fetched(verifier: Uaa, uaa: StandInUaa) -> None:
    old = uaa.token()
    verifier.verify(f"bearer {old}")
    uaa.rotate_keys()
    assert verifier.verify(f"bearer {uaa.token()}").user_name == seed.DEVELOPER
    assert verifier.verify(f"bearer {old}").user_name == seed.DEVELOPER
    assert len(uaa.requests(path="/token_keys")) == 2


def test_a_withdrawn_key_is_worth_nothing_once_the_keys_were_fetched_again(verifier: Uaa, uaa: StandInUaa) -> None:
    old = uaa.token()
    verifier.verify(f"bearer {old}")
    uaa.rotate_keys(keep_old=False)
    verifier.verify(f"bearer {uaa.token()}")
    _refuse(verifier, f"bearer {old}")


def test_the_last_good_keys_are_kept_while_uaa_shows_none(verifier: Uaa, uaa: StandInUaa) -> None:
    token = uaa.token()
    verifier.verify(f"bearer {token}")
    uaa.fault("server_error", path="/token_keys")
    _refuse(verifier, f"bearer {uaa.token(kid='unknown')}")  # makes it ask, in vain
    assert verifier.verify(f"bearer {token}").user_name == seed.DEVELOPER


def test_unknown_key_ids_do_not_make_it_ask_again_and_again(
    cloud_foundry: CloudFoundrySettings, uaa: StandInUaa
) -> None:
    verifier = Uaa(replace(cloud_foundry, key_cooldown_seconds=60.0))
    verifier.verify(f"bearer {uaa.token()}")
    for number in range(20):
        _refuse(verifier, f"bearer {uaa.token(kid=f'made-up-{number}')}")
    assert len(uaa.requests(path="/token_keys")) == 1
    verifier.close()


def test_a_key_that_uaa_does_not_show_is_not_believed(verifier: Uaa, uaa: StandInUaa) -> None:
    uaa.rotate_keys(show_new=False)
    _refuse(verifier, f"bearer {uaa.token()}")


def test_a_symmetric_key_among_uaas_keys_verifies_nothing(verifier: Uaa, uaa: StandInUaa) -> None:
    verifier.verify(f"bearer {uaa.token()}")
    _refuse(verifier, f"bearer {uaa.token(kid='legacy', algorithm='HS256')}")


def test_our_own_scopes_are_read_from_a_token_of_their_own(verifier: Uaa, uaa: StandInUaa) -> None:
    assert verifier.own_scopes() == set(seed.CLIENT_SCOPES)
    uaa.set_client(scopes=["cloud_controller.read"])
    assert verifier.own_scopes() == set(seed.CLIENT_SCOPES)  # checklist 256: kept until it ends
    assert len(uaa.requests(path="/oauth/token")) == 1


def test_our_own_scopes_are_unknown_without_a_token(verifier: Uaa, uaa: StandInUaa) -> None:
    uaa.fault("server_error", path="/oauth/token")
    with pytest.raises(TokenUnavailableError):  # checklist 254
        verifier.own_scopes()


@pytest.mark.parametrize("token", ["opaque", "a.b.c", "e30.eyJzY29wZSI6ImEifQ."])
def test_our_own_scopes_are_unknown_when_the_token_cannot_be_decoded(
    verifier: Uaa, uaa: StandInUaa, token: str
) -> None:
    body = f'{{"access_token":"{token}","expires_in":600}}'
    uaa.fault("status", status=200, content_type="application/json", body=body, path="/oauth/token")
    with pytest.raises(TokenUnavailableError, match="decoded"):  # checklist 255
        verifier.own_scopes()
    uaa.clear_faults()
    assert verifier.own_scopes() == set(seed.CLIENT_SCOPES)  # the unreadable one is not kept


@pytest.mark.parametrize("body", ["", "{}", "[]", '{"access_token":"","expires_in":1}', '{"access_token":"x"}'])
def test_an_answer_without_a_token_is_no_token(verifier: Uaa, uaa: StandInUaa, body: str) -> None:
    uaa.fault("status", status=200, content_type="application/json", body=body, path="/oauth/token")
    with pytest.raises(TokenUnavailableError):
        verifier.own_scopes()


def test_a_wrong_secret_gives_no_token(cloud_foundry: CloudFoundrySettings) -> None:
    verifier = Uaa(replace(cloud_foundry, client_secret="wrong"))
    with pytest.raises(TokenUnavailableError) as raised:
        verifier.own_scopes()
    assert raised.value.status == 401
    verifier.close()


def test_a_refusal_never_repeats_the_token(verifier: Uaa, uaa: StandInUaa) -> None:
    token = uaa.token(seconds=-1)
    with pytest.raises(UnverifiedTokenError) as raised:
        verifier.verify(f"bearer {token}")
    assert token not in str(raised.value)
    assert token.split(".")[2] not in raised.value.reason


def _refuse(verifier: Uaa, header: str | None) -> None:
    with pytest.raises(UnverifiedTokenError):
        verifier.verify(header)
