"""Secrets at rest: sealed with Fernet where a key is configured, stored as they are where none is.

A sealed value begins with a control character, which no header may contain, so the two cannot be mistaken.
"""

from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from scheduler.domain.errors import PermanentError

_MARK = "\x01fernet:"


class CannotUnsealError(PermanentError):
    """No configured key opens a stored secret: a key was removed before everything was sealed anew."""


class Seal:
    """Seals with the first key, opens with any of them."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self._fernet = MultiFernet([Fernet(key) for key in keys]) if keys else None

    def close(self, secret: str) -> str:
        """Return what to store."""
        return _MARK + self._fernet.encrypt(secret.encode()).decode() if self._fernet else secret

    def open(self, stored: str) -> str:
        """Return the secret.

        Raises CannotUnsealError.
        """
        if not stored.startswith(_MARK):
            return stored
        if self._fernet is None:
            raise CannotUnsealError("SCHEDULER_ENCRYPTION_KEYS is not set, but a stored secret is sealed")
        try:
            return self._fernet.decrypt(stored.removeprefix(_MARK)).decode()
        except InvalidToken:
            raise CannotUnsealError("none of SCHEDULER_ENCRYPTION_KEYS opens a stored secret") from None
