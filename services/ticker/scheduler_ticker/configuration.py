"""The file named by SCHEDULER_CONFIG_FILE: system jobs, and schedules that an installation brings with it.

Read once, at the start; all mistakes are reported together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from marshmallow import ValidationError

from scheduler.domain.errors import PermanentError
from scheduler_ticker.declarations import Declaration
from scheduler_ticker.file_schemas import FileSchema

HISTORY_CLEAN_UP = "history_clean_up"
AUDIT_CLEAN_UP = "audit_clean_up"


class ConfigurationError(PermanentError):
    """The file cannot be used; the message has one line per mistake."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemJobSettings:
    """When a system job runs, if at all."""

    enabled: bool = True
    expression: str
    time_zone: str | None = None


DEFAULT_SYSTEM_JOBS: Mapping[str, SystemJobSettings] = {
    HISTORY_CLEAN_UP: SystemJobSettings(expression="0 3 * * *"),
    AUDIT_CLEAN_UP: SystemJobSettings(expression="30 3 * * *"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """What the file says, completed by the defaults."""

    system_jobs: Mapping[str, SystemJobSettings] = field(default_factory=lambda: dict(DEFAULT_SYSTEM_JOBS))
    declarations: Sequence[Declaration] = ()


def read_configuration(path: str) -> Configuration:
    """Return what the file at `path` says; without a path, the defaults.

    Raises ConfigurationError.
    """
    if not path:
        return Configuration()
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    try:
        return _configuration(FileSchema().load({} if content is None else content))
    except ValidationError as error:
        raise ConfigurationError("\n".join(_lines(error.messages, path))) from error


def _configuration(loaded: Mapping[str, Any]) -> Configuration:
    jobs = dict(DEFAULT_SYSTEM_JOBS)
    for name, wish in loaded["system_jobs"].items():
        default = jobs[name]
        jobs[name] = SystemJobSettings(**{"expression": default.expression, **wish})
    return Configuration(system_jobs=jobs, declarations=loaded["schedules"])


def _lines(messages: Any, place: str) -> list[str]:
    """Return one line for each mistake, with the way to it."""
    if isinstance(messages, Mapping):
        return [line for key, inner in messages.items() for line in _lines(inner, _step(place, key))]
    return [f"{place}: {message}" for message in messages]


def _step(place: str, key: Any) -> str:
    if key in {"_schema", "value"}:
        return place
    return f"{place}[{key + 1}]" if isinstance(key, int) else f"{place}: {key}"
