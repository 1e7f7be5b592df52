"""One finding of the doctor."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How it stands."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"  # it could not be looked at, because something else has failed or is not set


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """What was looked at, what was found, and what to do about it."""

    name: str
    status: Status
    finding: str
    advice: str = ""


def ok(name: str, finding: str) -> Check:
    """Return the finding that all is well."""
    return Check(name=name, status=Status.OK, finding=finding)


def warning(name: str, finding: str, advice: str) -> Check:
    """Return the finding that something works but should not stay so."""
    return Check(name=name, status=Status.WARNING, finding=finding, advice=advice)


def failed(name: str, finding: str, advice: str) -> Check:
    """Return the finding that something does not work."""
    return Check(name=name, status=Status.FAILED, finding=finding, advice=advice)


def skipped(name: str, finding: str) -> Check:
    """Return the finding that nothing could be found out."""
    return Check(name=name, status=Status.SKIPPED, finding=finding)
