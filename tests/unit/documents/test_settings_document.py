"""docs/settings.md lists every variable that a service reads, and no other."""

import re
from pathlib import Path

import pytest

from scheduler.runtime.environment import Environment
from scheduler.runtime.settings import Service, read_settings

_FOUND_IN_BOUND_SERVICES = {"VCAP_SERVICES", "VCAP_SERVICES_FILE_PATH"}


def test_every_variable_is_documented_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()

    def noted(_: Environment, name: str) -> bool:
        asked.add(name)
        return True

    text = Environment.text

    def noted_text(environment: Environment, name: str, default: str = "") -> str:
        asked.add(name)
        return text(environment, name, default)

    monkeypatch.setattr(Environment, "is_set", noted)
    monkeypatch.setattr(Environment, "text", noted_text)
    variables = {
        "DATABASE_URL": "postgres://localhost/x",
        "CF_ENDPOINT": "https://api.example.com",
        "UAA_ENDPOINT": "https://uaa.example.com",
        "CLIENT_ID": "x",
        "CLIENT_SECRET": "x",
        "SCHEDULER_BROKER_ENABLED": "true",
        "SCHEDULER_BROKER_USERNAME": "x",
        "SCHEDULER_BROKER_PASSWORD": "x" * 16,
        "SCHEDULER_BROKER_API_URL": "https://example.com",
    }
    read_settings(Service.API, variables)
    rows = [
        line for line in Path("docs/settings.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    documented = {name for row in rows for name in re.findall(r"`([A-Z_]{5,})`", row.split("|")[1])}
    assert documented == asked | _FOUND_IN_BOUND_SERVICES


def test_the_documented_defaults_are_the_real_ones() -> None:
    required = {
        "DATABASE_URL": "postgres://localhost/x",
        "CF_ENDPOINT": "https://api.example.com",
        "UAA_ENDPOINT": "https://uaa.example.com",
        "CLIENT_ID": "x",
        "CLIENT_SECRET": "x",
    }
    settings = read_settings(Service.API, required)
    document = Path("docs/settings.md").read_text(encoding="utf-8")
    defaults = dict(re.findall(r"^\| `([A-Z_]+)` \| `([^`]+)` \|", document, re.MULTILINE))
    shown = {
        "SCHEDULER_PORT": settings.port,
        "ADMIN_PORT": settings.admin_port,
        "SCHEDULER_WORKERS": settings.workers,
        "SHUTDOWN_GRACE_SECONDS": f"{settings.shutdown_grace_seconds:g}",
        "LOG_LEVEL": settings.log_level,
        "LOG_FORMAT": settings.log_format,
        "SCHEDULER_TIME_ZONE": settings.time_zone,
        "SCHEDULER_MIN_INTERVAL": f"{settings.min_interval_seconds:g}",
        "RELAY_WINDOW": settings.relay_window,
        "SCHEDULER_LIVENESS_SECONDS": f"{settings.timing.liveness_seconds:g}",
        "SCHEDULER_HISTORY_RETENTION_DAYS": settings.history_retention_days,
        "SCHEDULER_AUDIT_RETENTION_DAYS": settings.audit_retention_days,
        "CF_SKIP_SSL_VALIDATION": "false",
        "SCHEDULER_BROKER_ENABLED": "false",
        "SCHEDULER_BROKER_REQUIRE_BINDING": "false",
    }
    assert defaults == {name: str(value) for name, value in shown.items()}
