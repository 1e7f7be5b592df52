"""Log lines: a sentence, a stable `action`, ids; as JSON or plain text, on standard error."""

import json
import logging
import os
import sys
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, NoReturn

TRACE = 5
PANIC = 60
_LEVELS = {
    "trace": TRACE,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "fatal": logging.CRITICAL,
    "panic": PANIC,
}
_NAMES = {number: name for name, number in _LEVELS.items()}
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_HIDDEN = "[hidden]"
_ids: ContextVar[Mapping[str, object] | None] = ContextVar("ids", default=None)
# A library may name a URL with its query, so these are only heard when something is wrong.
_QUIET = {"urllib3": logging.ERROR, "pika": logging.ERROR, "werkzeug": logging.ERROR, "alembic": logging.WARNING}


def configure_logs(level: str, log_format: str, *, service: str, secrets: Iterable[str] = ()) -> None:
    """Send all log lines from here on to standard error; values in `secrets` never show."""
    formatter = (_Plain if log_format == "plain" else _Json)(service, tuple(secrets))
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=_LEVELS[level], handlers=[handler], force=True)
    for name, quiet in _QUIET.items():
        logging.getLogger(name).setLevel(max(quiet, _LEVELS[level]))


def fatal(log: logging.Logger, sentence: str, *, exit_code: int = 1, **ids: object) -> NoReturn:
    """Log at level fatal, then end the process at once, whatever its other threads do (checklist 25)."""
    log.critical(sentence, extra={"action": "fatal", **ids})
    logging.shutdown()
    sys.stderr.flush()
    os._exit(exit_code)


def keep_ids(**ids: object) -> None:
    """Put these ids into every further log line of this thread's present work, until `forget_ids`."""
    _ids.set({**(_ids.get() or {}), **ids})


def forget_ids() -> None:
    """End what `keep_ids` began."""
    _ids.set(None)


class _Formatter(logging.Formatter):
    def __init__(self, service: str, secrets: tuple[str, ...]) -> None:
        super().__init__()
        self._service = service
        # As they are, and as JSON would write them.
        self._secrets = {form for secret in secrets if secret for form in (secret, *_escaped(secret))}

    def format(self, record: logging.LogRecord) -> str:
        own = {key: value for key, value in vars(record).items() if key not in _OWN and value is not None}
        line = self._line(record, {**own, **(_ids.get() or {})})
        for secret in self._secrets:
            line = line.replace(secret, _HIDDEN)
        return line

    def _line(self, record: logging.LogRecord, extra: dict[str, Any]) -> str:
        raise NotImplementedError

    def _error(self, record: logging.LogRecord) -> str:
        return self.formatException(record.exc_info) if record.exc_info else ""


def _escaped(secret: str) -> tuple[str, ...]:
    return tuple(json.dumps(secret, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))


class _Json(_Formatter):
    def _line(self, record: logging.LogRecord, extra: dict[str, Any]) -> str:
        fields = {
            "time": _time(record),
            "level": _level(record),
            "service": self._service,
            "message": record.getMessage(),
            **extra,
        }
        if error := self._error(record):
            fields["error"] = error
        return json.dumps(fields, default=str, ensure_ascii=False)


class _Plain(_Formatter):
    def _line(self, record: logging.LogRecord, extra: dict[str, Any]) -> str:
        words = " ".join(f"{key}={_one_line(str(value))}" for key, value in extra.items())
        head = f"{_time(record)} {_level(record):5} {self._service}: {_one_line(record.getMessage())}"
        error = self._error(record)
        return f"{head}  {words}".rstrip() + (f"\n{error}" if error else "")


def _one_line(words: str) -> str:
    """Nothing a user sends can begin a line of its own or move the cursor."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in words)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _level(record: logging.LogRecord) -> str:
    return _NAMES.get(record.levelno, record.levelname.lower())
