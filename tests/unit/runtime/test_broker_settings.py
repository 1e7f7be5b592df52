"""The broker's settings: what fits together, and what keeps a service from starting."""

from typing import Any

import pytest

from scheduler.runtime.settings import Service, SettingsError, read_settings

BASE = {
    "DATABASE_URL": "postgres://scheduler@localhost/scheduler",
    "CF_ENDPOINT": "https://api.example.com",
    "UAA_ENDPOINT": "https://uaa.example.com",
    "CLIENT_ID": "scheduler",
    "CLIENT_SECRET": "secret",
}
PASSWORD = "exactly16letters"
BROKER = {
    "SCHEDULER_BROKER_ENABLED": "true",
    "SCHEDULER_BROKER_USERNAME": "cloud-controller",
    "SCHEDULER_BROKER_PASSWORD": PASSWORD,
    "SCHEDULER_BROKER_API_URL": "https://scheduler.example.com",
}
BOTH = pytest.mark.parametrize("service", [Service.API, Service.BROKER])


def _mistakes(service: Service, **changes: str | None) -> str:
    variables: dict[str, Any] = {**BASE, **BROKER, **changes}
    with pytest.raises(SettingsError) as caught:
        read_settings(service, {name: value for name, value in variables.items() if value is not None})
    return str(caught.value)


@BOTH
@pytest.mark.parametrize("name", [name for name in BROKER if name != "SCHEDULER_BROKER_ENABLED"])
@pytest.mark.parametrize("value", [None, ""])
def test_a_broker_that_is_on_needs_all_of_its_settings(service: Service, name: str, value: str | None) -> None:
    # checklist 29, 30, 31
    assert name in _mistakes(service, **{name: value})


@BOTH
def test_the_password_has_at_least_sixteen_characters_and_is_not_repeated(service: Service) -> None:
    # checklist 32, 33, 49
    assert read_settings(service, {**BASE, **BROKER}).broker.password == PASSWORD
    mistakes = _mistakes(service, SCHEDULER_BROKER_PASSWORD=PASSWORD[:-1])
    assert "SCHEDULER_BROKER_PASSWORD" in mistakes
    assert PASSWORD[:-1] not in mistakes


@BOTH
@pytest.mark.parametrize("username", [" user", "user ", "\tuser", "user\n", " "])
def test_a_username_has_no_white_space_at_its_ends(service: Service, username: str) -> None:
    # checklist 34, 35
    assert "SCHEDULER_BROKER_USERNAME" in _mistakes(service, SCHEDULER_BROKER_USERNAME=username)


@BOTH
def test_a_username_may_have_white_space_inside(service: Service) -> None:
    # checklist 36
    settings = read_settings(service, {**BASE, **BROKER, "SCHEDULER_BROKER_USERNAME": "cloud controller"})
    assert settings.broker.username == "cloud controller"


@BOTH
@pytest.mark.parametrize(
    "url",
    ["/x", "scheduler.example.com", "scheduler.example.com:8000", "ftp://scheduler.example.com", "https://", "https:///x",
     "https://:8000", "https://[", "https://host:port"],
)  # fmt: skip
def test_the_api_url_is_an_absolute_http_url_with_a_host(service: Service, url: str) -> None:
    # checklist 37, 38, 39
    assert "SCHEDULER_BROKER_API_URL" in _mistakes(service, SCHEDULER_BROKER_API_URL=url)


@BOTH
@pytest.mark.parametrize(
    "url", ["http://scheduler.example.com", "https://scheduler.example.com:8443/path", "https://[::1]"]
)
def test_the_api_url_may_be_http_or_https(service: Service, url: str) -> None:
    # checklist 40
    assert read_settings(service, {**BASE, **BROKER, "SCHEDULER_BROKER_API_URL": url}).broker.api_url == url


@pytest.mark.parametrize("service", list(Service))
@pytest.mark.parametrize("name", ["SCHEDULER_BROKER_ENABLED", "SCHEDULER_BROKER_REQUIRE_BINDING"])
@pytest.mark.parametrize("word", ["yes", "maybe", "tRUE", "2", " true", "on"])
def test_a_boolean_is_one_of_gos_words(service: Service, name: str, word: str) -> None:
    # checklist 41, 42
    variables = {**BASE, "QUEUE_URL": "postgres", name: word}
    with pytest.raises(SettingsError, match=name):
        read_settings(service, variables)


@pytest.mark.parametrize(
    ("words", "meaning"),
    [(("1", "t", "T", "TRUE", "true", "True"), True), (("0", "f", "F", "FALSE", "false", "False", ""), False)],
)
def test_every_word_of_gos_is_understood(words: tuple[str, ...], *, meaning: bool) -> None:
    # checklist 43
    for word in words:
        settings = read_settings(Service.BROKER, {**BASE, **BROKER, "SCHEDULER_BROKER_ENABLED": word})
        assert settings.broker.enabled is meaning


@BOTH
def test_requiring_a_binding_needs_the_broker(service: Service) -> None:
    # checklist 44
    variables = {**BASE, "SCHEDULER_BROKER_REQUIRE_BINDING": "true"}
    with pytest.raises(SettingsError, match="SCHEDULER_BROKER_ENABLED"):
        read_settings(service, variables)


@BOTH
def test_no_binding_is_required_unless_asked_for(service: Service) -> None:
    # checklist 45
    assert read_settings(service, {**BASE, **BROKER}).broker.require_binding is False


@BOTH
def test_with_the_broker_off_its_other_settings_do_not_matter(service: Service) -> None:
    # checklist 51
    odd = {
        "SCHEDULER_BROKER_USERNAME": " ",
        "SCHEDULER_BROKER_PASSWORD": "short",
        "SCHEDULER_BROKER_API_URL": "nowhere",
    }
    for enabled in ({}, {"SCHEDULER_BROKER_ENABLED": "false"}):
        assert read_settings(service, {**BASE, **odd, **enabled}).broker.enabled is False


def test_all_mistakes_are_told_at_once() -> None:
    mistakes = _mistakes(
        Service.BROKER,
        SCHEDULER_BROKER_USERNAME=None,
        SCHEDULER_BROKER_PASSWORD="short",
        SCHEDULER_BROKER_API_URL="nowhere",
        CLIENT_ID=None,
    )
    names = ("SCHEDULER_BROKER_USERNAME", "SCHEDULER_BROKER_PASSWORD", "SCHEDULER_BROKER_API_URL", "CLIENT_ID")
    assert all(name in mistakes for name in names)
