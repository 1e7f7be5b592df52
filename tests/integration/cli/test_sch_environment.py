"""Where `sch` finds the scheduler, the token and the space; what it asks the cf command."""

import json
from pathlib import Path

import pytest

from tests.integration.cli.conftest import SPACE, Sch, token_of
from tests.integration.cli.fake_api import FakeApi
from tests.integration.cli.samples import APP, JOB_GUID, job

FAKE_CF = """#!/bin/sh
case "$*" in
  oauth-token) echo "bearer {token}" ;;
  "space dev --guid") echo {space} ;;
  "app my-app --guid") echo {app} ;;
  *) echo "Object '$2' not found." >&2; echo FAILED; exit 1 ;;
esac
"""
OTHER = "0193a1b2-0000-7000-8000-0000000000ff"


@pytest.fixture
def cf(environment: dict[str, str], tmp_path: Path) -> Path:
    """A cf command that knows one space and one app, logged in as john."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "cf"
    command.write_text(FAKE_CF.format(token=token_of("john"), space=OTHER, app=APP))
    command.chmod(0o755)
    return command


def _target(home: Path, **fields: object) -> None:
    (home / ".cf").mkdir()
    (home / ".cf" / "config.json").write_text(json.dumps(fields))


def test_a_missing_url_is_a_usage_error_that_says_what_to_set(sch: Sch) -> None:  # checklist 290
    done = sch("jobs", "list", env={"SCHEDULER_URL": None})
    assert done.code == 2
    assert "SCHEDULER_URL is not set" in done.err
    assert "export SCHEDULER_URL=https://scheduler.SYSTEM_DOMAIN" in done.err


def test_the_url_beside_the_targeted_api_is_suggested(sch: Sch, tmp_path: Path) -> None:
    _target(tmp_path, Target="https://api.sys.example.com")
    done = sch("jobs", "list", env={"SCHEDULER_URL": ""})
    assert "export SCHEDULER_URL=https://scheduler.sys.example.com" in done.err


@pytest.mark.parametrize("url", ["scheduler.example.com", "ftp://x", "https://", "https://u:p@x", "http://x:99999"])
def test_a_url_that_is_none_is_a_usage_error(sch: Sch, url: str) -> None:
    done = sch("jobs", "list", env={"SCHEDULER_URL": url})
    assert (done.code, "SCHEDULER_URL must be an http or https URL" in done.err) == (2, True)


def test_a_url_may_have_a_path_and_a_slash_at_its_end(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/base/jobs")
    assert sch("jobs", "list", env={"SCHEDULER_URL": f"{api.url}/base/"}).code == 0


def test_without_a_token_and_without_cf_the_user_is_told_what_to_set(api: FakeApi, sch: Sch) -> None:  # checklist 290
    done = sch("jobs", "list", env={"SCHEDULER_TOKEN": None})
    assert (done.code, api.asked) == (2, [])
    assert 'export SCHEDULER_TOKEN="$(cf oauth-token)"' in done.err


def test_without_a_token_cf_is_asked(api: FakeApi, sch: Sch, cf: Path) -> None:
    api.answer_rows("/jobs")
    done = sch("jobs", "list", env={"SCHEDULER_TOKEN": None})
    assert done.out.startswith(f"Getting jobs in space {SPACE} as john...")
    assert api.last().headers["Authorization"] == f"bearer {token_of('john')}"


def test_the_variable_comes_before_cf(api: FakeApi, sch: Sch, cf: Path) -> None:
    api.answer_rows("/jobs")
    assert " as jane..." in sch("jobs", "list").out


def test_a_cf_that_is_not_logged_in_is_quoted(sch: Sch, cf: Path) -> None:
    cf.write_text("#!/bin/sh\nprintf 'Not logged in.\\033[0m Use cf login.\\nFAILED\\n' >&2; exit 1\n")
    done = sch("jobs", "list", env={"SCHEDULER_TOKEN": None})
    assert (done.code, done.err) == (1, "cf oauth-token did not work: Not logged in.\\x1b[0m Use cf login.\n")


@pytest.mark.parametrize("token", ["two words", "bearer \u00e4", "bearer a\x1bb"])
def test_a_token_that_is_none_is_a_usage_error_and_not_shown(api: FakeApi, sch: Sch, token: str) -> None:
    done = sch("jobs", "list", env={"SCHEDULER_TOKEN": token})
    assert (done.code, api.asked) == (2, [])
    assert "SCHEDULER_TOKEN is not a token" in done.err
    assert token not in done.err


@pytest.mark.parametrize("token", ["opaque", "a.b.c", "a.bnVsbA.c", "a.W10.c"])
def test_a_token_that_cannot_be_read_has_a_user_without_a_name(api: FakeApi, sch: Sch, token: str) -> None:
    api.answer_rows("/jobs")
    assert " as the token's user..." in sch("jobs", "list", env={"SCHEDULER_TOKEN": token}).out


def test_without_any_space_the_user_is_told_how_to_name_one(sch: Sch) -> None:
    done = sch("jobs", "list", env={"SCHEDULER_SPACE": None})
    assert done.code == 2
    assert "No space is given. Use --space, set SCHEDULER_SPACE, or target one: cf target -s SPACE" in done.err


def test_the_targeted_space_is_the_last_resort(api: FakeApi, sch: Sch, tmp_path: Path) -> None:
    _target(tmp_path, SpaceFields={"GUID": OTHER, "Name": "staging"})
    api.answer_rows("/jobs")
    assert "in space staging as" in sch("jobs", "list", env={"SCHEDULER_SPACE": None}).out
    assert api.last().query == {"space_guid": OTHER}
    assert f"in space {SPACE} as" in sch("jobs", "list").out


@pytest.mark.parametrize("content", ["", "[]", "{", '{"SpaceFields": 5}', '{"SpaceFields": {"GUID": ""}}'])
def test_a_configuration_of_cf_that_says_nothing_is_none(sch: Sch, tmp_path: Path, content: str) -> None:
    (tmp_path / ".cf").mkdir()
    (tmp_path / ".cf" / "config.json").write_text(content)
    assert "No space is given" in sch("jobs", "list", env={"SCHEDULER_SPACE": None}).err


def test_the_name_of_the_targeted_space_needs_no_look_up(api: FakeApi, sch: Sch, tmp_path: Path) -> None:
    _target(tmp_path, SpaceFields={"GUID": OTHER, "Name": "staging"})
    api.answer_rows("/jobs")
    assert sch("jobs", "list", "--space", "staging").code == 0
    assert api.last().query == {"space_guid": OTHER}


def test_the_names_of_spaces_and_apps_are_looked_up_by_cf(api: FakeApi, sch: Sch, cf: Path) -> None:
    api.answer_rows("/jobs")
    assert "in space dev as" in sch("jobs", "list", "-s", "dev").out
    assert api.last().query == {"space_guid": OTHER}
    api.answer("POST", "/jobs", job(), status=201)
    assert sch("jobs", "create", "my-app", "nightly", "run").code == 0
    assert api.last().query == {"app_guid": APP}


def test_a_name_that_cf_does_not_know_is_quoted(api: FakeApi, sch: Sch, cf: Path) -> None:
    done = sch("jobs", "list", "-s", "production")
    assert (done.code, done.err) == (1, "cf space did not work: Object 'production' not found.\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("list", "-s", "dev"), "dev is no GUID, and no cf command is there to look the space up by its name."),
        (
            ("create", "my-app", "n", "c"),
            "my-app is no GUID, and no cf command is there to look the app up by its name.",
        ),
    ],
)
def test_without_cf_names_of_cloud_foundry_are_usage_errors(sch: Sch, arguments: tuple[str], sentence: str) -> None:
    done = sch("jobs", *arguments)
    assert (done.code, done.err) == (2, sentence + "\n")


def test_a_name_that_looks_like_an_option_is_never_given_to_cf(sch: Sch, cf: Path) -> None:
    done = sch("jobs", "list", "--space=--guid")
    assert done.code == 1
    assert "--guid is not a name that cf could be asked about" in done.err


@pytest.mark.parametrize("name", ["SCHEDULER_CA_CERT_FILE", "SCHEDULER_SKIP_SSL_VALIDATION"])
def test_settings_of_tls_that_make_no_sense_are_usage_errors(sch: Sch, name: str) -> None:
    done = sch("jobs", "get", JOB_GUID, env={name: "/does/not/exist"})
    assert (done.code, name in done.err) == (2, True)


def test_a_file_without_certificates_is_a_usage_error(sch: Sch, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    done = sch("jobs", "get", JOB_GUID, env={"SCHEDULER_CA_CERT_FILE": str(tmp_path / "ca.pem")})
    assert (done.code, "holds no certificates that can be read" in done.err) == (2, True)
