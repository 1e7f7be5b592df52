"""Whether every service would accept its settings."""

from collections.abc import Iterator, Mapping

from scheduler.runtime.settings import Service, Settings, SettingsError, read_settings
from scheduler_local.doctor.checks import Check, failed, ok, warning

_NAME = "settings"


def examine(variables: Mapping[str, str]) -> Iterator[Check]:
    """Report each mistake once, whichever services it stops."""
    accepted, mistakes = _read_all(variables)
    for mistake, services in mistakes.items():
        stopped = ", ".join(services)
        yield failed(_NAME, mistake, f"Set the variable as said; without it these refuse to start: {stopped}.")
    if not mistakes:
        yield ok(_NAME, f"all {len(Service)} services accept them")
    for sentence in sorted({sentence for settings in accepted for sentence in settings.warnings}):
        yield warning(_NAME, sentence, "Correct the variable, or leave it unset.")
    if accepted and not any(settings.encryption_keys for settings in accepted):
        yield warning(
            "secrets",
            "SCHEDULER_ENCRYPTION_KEYS is not set: auth_header and secret headers of calls are stored as they are.",
            "Set it, for all services, to a key made with: python -c 'from cryptography.fernet import Fernet; "
            "print(Fernet.generate_key().decode())'",
        )


def _read_all(variables: Mapping[str, str]) -> tuple[list[Settings], dict[str, list[str]]]:
    accepted: list[Settings] = []
    mistakes: dict[str, list[str]] = {}
    for service in Service:
        try:
            accepted.append(read_settings(service, variables))
        except SettingsError as error:
            for mistake in str(error).splitlines():
                mistakes.setdefault(mistake, []).append(service)
    return accepted, mistakes
