"""The environment, read once: what is missing, what falls back with a warning, what keeps a service from starting."""

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from scheduler.runtime.settings import LOG_LEVELS, Service, Settings, SettingsError, read_settings

BASE = {
    "DATABASE_URL": "postgres://scheduler@localhost/scheduler",
    "QUEUE_URL": "postgres",
    "CF_ENDPOINT": "https://api.example.com",
    "UAA_ENDPOINT": "https://uaa.example.com",
    "CLIENT_ID": "scheduler",
    "CLIENT_SECRET": "a-client-secret",
}


def _read(service: Service = Service.API, /, **changes: str | None) -> Settings:
    variables: dict[str, str | None] = {**BASE, **changes}
    return read_settings(service, {name: value for name, value in variables.items() if value is not None})


def _mistakes(service: Service = Service.API, /, **changes: str | None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        _read(service, **changes)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("name", ["DATABASE_URL", "CF_ENDPOINT", "UAA_ENDPOINT", "CLIENT_ID", "CLIENT_SECRET"])
@pytest.mark.parametrize("value", [None, ""])
def test_what_is_required_is_named_when_it_is_missing(name: str, value: str | None) -> None:
    # checklist 1, 2, 3, 4, 5, 6
    (mistake,) = _mistakes(**{name: value})
    assert mistake.startswith(name)


def test_all_mistakes_are_told_at_once() -> None:
    mistakes = _mistakes(
        DATABASE_URL=None, CF_ENDPOINT="example.com", CLIENT_ID="", ADMIN_PORT="x", SCHEDULER_TIME_ZONE="Mars"
    )
    assert {mistake.split()[0] for mistake in mistakes} == {
        "DATABASE_URL",
        "CF_ENDPOINT",
        "CLIENT_ID",
        "ADMIN_PORT",
        "SCHEDULER_TIME_ZONE",
    }


@pytest.mark.parametrize(
    ("value", "port"), [(None, 8_000), ("", 8_000), ("9123", 9_123), ("x", 8_000), ("-1", 8_000), ("70000", 8_000)]
)
def test_the_port_is_8000_unless_a_usable_one_is_given(value: str | None, port: int) -> None:
    # checklist 7, 8, 9
    settings = _read(SCHEDULER_PORT=value)
    assert settings.port == port
    assert bool(settings.warnings) is (value in {"x", "-1", "70000"})


@pytest.mark.parametrize(("value", "workers"), [(None, 20), ("10", 10), ("50", 50), ("1000", 1_000)])
def test_there_are_as_many_workers_as_wanted(value: str | None, workers: int) -> None:
    # checklist 10, 11, 12
    settings = _read(SCHEDULER_WORKERS=value)
    assert (settings.workers, settings.warnings) == (workers, ())


@pytest.mark.parametrize("value", ["9", "0", "-5", "abc", "1.5", "", " 20", "1001", "\uff11\uff12"])
def test_too_few_workers_or_no_number_fall_back_with_a_warning(value: str) -> None:
    # checklist 13, 14, 15, 16
    settings = _read(SCHEDULER_WORKERS=value)
    assert settings.workers == 20
    (warning,) = settings.warnings
    assert "SCHEDULER_WORKERS" in warning


@pytest.mark.parametrize(
    ("value", "level"),
    [(None, "info"), ("", "info"), ("DEBUG", "debug"), ("Warn", "warn"), ("WARNING", "warn"),
     *[(level, "warn" if level == "warning" else level) for level in LOG_LEVELS]],
)  # fmt: skip
def test_the_log_level_is_read_as_logrus_reads_it(value: str | None, level: str) -> None:
    # checklist 17, 18, 19, 20, 21
    settings = _read(LOG_LEVEL=value)
    assert (settings.log_level, settings.warnings) == (level, ())


@pytest.mark.parametrize("value", ["loud", "information", " info", "0"])
def test_another_log_level_falls_back_with_one_warning(value: str) -> None:
    # checklist 22
    settings = _read(LOG_LEVEL=value)
    assert settings.log_level == "info"
    (warning,) = settings.warnings
    assert "LOG_LEVEL" in warning


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://localhost/x"),
        ("QUEUE_URL", "http://localhost"),
        ("CF_ENDPOINT", "ftp://example.com"),
        ("UAA_ENDPOINT", "/relative"),
        ("ADMIN_PORT", "65536"),
        ("ADMIN_PORT", "-1"),
        ("LOG_FORMAT", "xml"),
        ("SCHEDULER_TIME_ZONE", "Europe/Atlantis"),
        ("SCHEDULER_MIN_INTERVAL", "often"),
        ("SCHEDULER_MIN_INTERVAL", "-5"),
        ("SCHEDULER_HISTORY_RETENTION_DAYS", "0"),
        ("SCHEDULER_AUDIT_RETENTION_DAYS", "forever"),
        ("SCHEDULER_ENCRYPTION_KEYS", "short"),
        ("SCHEDULER_CALL_DENIED_NETWORKS", "10.0.0.0/99"),
        ("SCHEDULER_CALL_ALLOWED_NETWORKS", "localhost"),
        ("RELAY_WINDOW", "0"),
        ("SHUTDOWN_GRACE_SECONDS", "soon"),
        ("CF_SKIP_SSL_VALIDATION", "yes"),
    ],
)
def test_what_cannot_be_meant_is_a_mistake(name: str, value: str) -> None:
    (mistake,) = _mistakes(**{name: value})
    assert mistake.startswith(name)


def test_a_wrong_value_is_not_repeated_since_it_may_be_a_secret() -> None:
    (mistake,) = _mistakes(DATABASE_URL="mysql://user:secret@host/db")
    assert "secret" not in mistake


@pytest.mark.parametrize(
    ("value", "seconds"), [(None, 0), ("90", 90), ("30s", 30), ("5m", 300), ("1h", 3_600), ("0.5", 0.5)]
)
def test_a_length_of_time_may_have_a_unit(value: str | None, seconds: float) -> None:
    assert _read(SCHEDULER_MIN_INTERVAL=value).min_interval_seconds == seconds


def test_only_services_that_use_the_queue_need_it() -> None:
    assert _read(Service.API, QUEUE_URL=None).queue_url == ""
    for service in (Service.TICKER, Service.JOB_RUNNER, Service.CALL_RUNNER):
        (mistake,) = _mistakes(service, QUEUE_URL=None)
        assert mistake.startswith("QUEUE_URL")


def test_secrets_are_told_to_the_log_and_shown_nowhere() -> None:
    # checklist 50
    key = Fernet.generate_key().decode()
    settings = _read(SCHEDULER_ENCRYPTION_KEYS=f"{key}, ", CLIENT_SECRET="s3cret")
    assert set(settings.secrets()) == {"s3cret", key}
    assert not any(secret in repr(settings) for secret in settings.secrets())


def test_bound_services_bring_what_is_not_set(tmp_path: Path) -> None:
    services = """{"postgres": [{"credentials": {"uri": "postgres://bound/db"}}],
        "rabbit": [{"credentials": {"uri": "amqps://bound/vhost", "port": 5}}],
        "odd": [5, null, {"credentials": []}]}"""
    bound = _read(Service.TICKER, DATABASE_URL=None, QUEUE_URL=None, VCAP_SERVICES=services)
    assert (bound.database_url, bound.queue_url) == ("postgres://bound/db", "amqps://bound/vhost")
    assert _read(Service.TICKER, VCAP_SERVICES=services).queue_url == "postgres"
    path = tmp_path / "services.json"
    path.write_text(services)
    assert _read(DATABASE_URL=None, VCAP_SERVICES_FILE_PATH=str(path)).database_url == "postgres://bound/db"
    for nonsense in ("{", "[]", '{"a": 5}'):
        assert _mistakes(DATABASE_URL=None, VCAP_SERVICES=nonsense)[0].startswith("DATABASE_URL")
