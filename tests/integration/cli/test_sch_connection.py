"""What `sch` says when the scheduler cannot be asked, or does not want to answer."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sch.remote import client
from tests.integration.cli.certificates import write_certificate
from tests.integration.cli.conftest import TOKEN, Sch
from tests.integration.cli.fake_api import FakeApi, refusal, secured
from tests.integration.cli.samples import JOB_GUID, execution, job

JOB = f"/jobs/{JOB_GUID}"


def test_every_request_carries_the_token_and_says_who_it_is(api: FakeApi, sch: Sch, tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login other password other\n")
    api.answer("GET", JOB, job())
    assert sch("jobs", "get", JOB_GUID).code == 0
    assert api.last().headers["Authorization"] == f"bearer {TOKEN}"
    assert api.last().headers["User-Agent"].startswith("sch/3.")


@pytest.mark.parametrize("prefix", ["", "bearer ", "Bearer ", "BEARER  "])
def test_the_token_may_have_its_prefix_or_not(api: FakeApi, sch: Sch, prefix: str) -> None:  # checklist 291
    api.answer("GET", JOB, job())
    assert sch("jobs", "get", JOB_GUID, env={"SCHEDULER_TOKEN": f"{prefix}{TOKEN}\n"}).code == 0
    assert api.last().headers["Authorization"] == f"bearer {TOKEN}"


def test_a_rejected_token_is_to_be_refreshed_without_a_word_of_admins(api: FakeApi, sch: Sch) -> None:  # checklist 298
    api.answer("GET", JOB, refusal("unauthorized", "the token is not accepted"), status=401)
    done = sch("jobs", "get", JOB_GUID)
    assert done.code == 1
    assert (
        "The scheduler rejected the token (401 Unauthorized). Refresh SCHEDULER_TOKEN with cf oauth-token:" in done.err
    )
    assert "admin" not in done.err


def test_a_user_who_may_not_do_it_is_told_so(api: FakeApi, sch: Sch) -> None:  # checklist 299
    api.answer("POST", f"{JOB}/execute", refusal("binding_required", "the app is not bound"), status=403)
    done = sch("jobs", "execute", JOB_GUID)
    assert done.code == 1
    assert done.err == (
        "The scheduler refused this (403 Forbidden): the token's user isn't allowed to do what was asked.\n"
        "the app is not bound\n"
    )


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (404, b"404 Not Found: Requested route ('x.example.com') does not exist.", "Is it the URL of a scheduler?"),
        (502, b"<html>", "The scheduler answered 502 Bad Gateway, without an explanation that can be read."),
        (599, b'{"a": 1}', "The scheduler answered 599."),
        (503, b'{"errors": [{"code": "unavailable", "message": "the database is away"}]}', "the database is away"),
        (404, b'""', "Not found (404 Not Found)."),
        (200, b"<html>", "The scheduler's answer cannot be read: it is not a JSON object."),
        (200, b'{"resources": 5}', "resources is not a list"),
    ],
)
def test_answers_of_anybody_else_are_told_apart(
    api: FakeApi, sch: Sch, status: int, body: bytes, sentence: str
) -> None:
    api.answer("GET", "/jobs", body, status=status)
    done = sch("jobs", "list")
    assert done.code == 1
    assert sentence in done.err


def test_a_redirect_is_not_followed_with_the_token(api: FakeApi, sch: Sch) -> None:
    api.answer("GET", JOB, status=308, headers={"Location": "https://elsewhere.example.com/\x1b[31m"})
    done = sch("jobs", "get", JOB_GUID)
    assert done.code == 1
    assert f"{api.url} redirects to https://elsewhere.example.com/" in done.err
    assert "Set SCHEDULER_URL to where the scheduler is." in done.err
    assert len(api.asked) == 1


def test_a_lost_connection_is_tried_again_for_a_get(api: FakeApi, sch: Sch) -> None:
    api.cut_next = 2
    api.answer("GET", JOB, job())
    assert sch("jobs", "get", JOB_GUID).code == 0


def test_a_lost_connection_is_not_tried_again_for_anything_else(api: FakeApi, sch: Sch) -> None:
    api.cut_next = 1
    api.answer("POST", f"{JOB}/execute", execution(), status=201)
    done = sch("jobs", "execute", JOB_GUID)
    assert (done.code, api.asked) == (1, [])
    assert f"The connection to the scheduler at {api.url} was lost: " in done.err
    assert "It may have done what was asked all the same; look before you try again." in done.err
    assert len(done.err.splitlines()) == 1


def test_a_scheduler_that_is_not_there_gives_one_sentence(sch: Sch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        done = sch("jobs", "get", JOB_GUID, env={"SCHEDULER_URL": url})
    assert (done.code, done.out.splitlines()[1:]) == (1, ["FAILED"])
    assert done.err == f"The scheduler at {url} cannot be reached: Connection refused. Check SCHEDULER_URL.\n"


def test_a_host_that_has_no_address_gives_one_sentence(sch: Sch) -> None:
    done = sch("jobs", "get", JOB_GUID, env={"SCHEDULER_URL": "http://scheduler.invalid", "no_proxy": "*"})
    assert done.code == 1
    assert done.err.startswith("The scheduler at http://scheduler.invalid cannot be reached: ")
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(("words", "doubt"), [(("get",), False), (("execute",), True)])
def test_a_scheduler_that_does_not_answer_is_not_waited_for_for_ever(
    sch: Sch, monkeypatch: pytest.MonkeyPatch, words: tuple[str], *, doubt: bool
) -> None:
    monkeypatch.setattr(client, "READ_SECONDS", 0.2)
    with _silent() as url:
        done = sch("jobs", *words, JOB_GUID, env={"SCHEDULER_URL": url})
    assert done.code == 1
    assert f"The scheduler at {url} did not answer in time." in done.err
    assert ("look before you try again" in done.err) == doubt


@contextmanager
def _silent() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_certificate(tmp_path_factory.mktemp("tls") / "server.pem")


def test_a_certificate_that_nobody_trusts_is_refused_with_what_to_do(certificate: Path, sch: Sch) -> None:
    with secured(certificate) as api:
        done = sch("jobs", "get", JOB_GUID, env={"SCHEDULER_URL": api.url})
    assert (done.code, api.asked) == (1, [])
    assert done.err.startswith(f"{api.url} is not trusted: self-signed certificate")
    assert "SCHEDULER_CA_CERT_FILE" in done.err
    assert "SCHEDULER_SKIP_SSL_VALIDATION=true" in done.err


@pytest.mark.parametrize("how", ["named authority", "no validation"])
def test_a_certificate_can_be_trusted(certificate: Path, sch: Sch, how: str) -> None:
    named = {"SCHEDULER_CA_CERT_FILE": str(certificate)}
    with secured(certificate) as api:
        api.answer("GET", JOB, job())
        trust = named if how == "named authority" else {"SCHEDULER_SKIP_SSL_VALIDATION": "true"}
        done = sch("jobs", "get", JOB_GUID, env={"SCHEDULER_URL": api.url, **trust})
    assert (done.code, done.err) == (0, "")


def test_http_behind_an_https_url_gives_one_sentence(api: FakeApi, sch: Sch) -> None:
    url = api.url.replace("http:", "https:")
    done = sch("jobs", "get", JOB_GUID, env={"SCHEDULER_URL": url})
    assert done.code == 1
    assert done.err.startswith(f"{url} is not trusted: ")
    assert len(done.err.splitlines()) == 1


def test_an_answer_without_end_is_given_up(api: FakeApi, sch: Sch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_BODY_BYTES", 1_000)
    api.answer("GET", JOB, b" " * 2_000)
    assert "The scheduler's answer is larger than" in sch("jobs", "get", JOB_GUID).err
    monkeypatch.setattr(client, "MAX_BODY_SECONDS", -1)
    assert "The scheduler's answer takes longer than" in sch("jobs", "get", JOB_GUID).err
