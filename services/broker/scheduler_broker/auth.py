"""Who may talk to the broker: a platform of a known version, with the credentials of the registration."""

import hmac
import re

from scheduler_broker.errors import OldVersionError, UnauthorizedError

VERSION_HEADER = "X-Broker-API-Version"
_MAJOR, _MINOR = 2, 13
_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")


def check_version(version: str | None) -> None:
    """Return if the platform speaks version 2.13 or a later 2.x.

    Raises OldVersionError. Numbers are compared as such: 2.100 is later than 2.13.
    """
    match = _VERSION.fullmatch(version or "")
    if match is None or int(match[1]) != _MAJOR or int(match[2]) < _MINOR:
        raise OldVersionError(f"{VERSION_HEADER} must be {_MAJOR}.{_MINOR} or a later {_MAJOR}.x")


def check_credentials(sent: tuple[str, str] | None, *, username: str, password: str) -> None:
    """Return if `sent` is the right username and password.

    Raises UnauthorizedError. The time taken does not tell how much of a guess was right.
    """
    given = ":".join(sent) if sent else ""
    if not hmac.compare_digest(given.encode(), f"{username}:{password}".encode()):
        raise UnauthorizedError("the broker's username or password is wrong")
