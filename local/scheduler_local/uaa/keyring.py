"""The key that signs, and the keys that are shown at `/token_keys`."""

import base64
from pathlib import Path
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa


class Key:
    """One RSA key pair and its id."""

    def __init__(self, private: rsa.RSAPrivateKey, key_id: str) -> None:
        self.private = private
        self.key_id = key_id

    @classmethod
    def new(cls) -> "Key":
        """Make a key pair."""
        return cls(rsa.generate_private_key(public_exponent=65_537, key_size=2_048), f"key-{uuid4().hex[:8]}")

    def public_pem(self) -> str:
        """Return the public key as PEM, what UAA shows as `value`."""
        return (
            self.private.public_key()
            .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
            .decode()
        )

    def shown(self) -> dict[str, Any]:
        """Return the key as `/token_keys` shows it."""
        numbers = self.private.public_key().public_numbers()
        return {
            "kty": "RSA",
            "alg": "RS256",
            "use": "sig",
            "kid": self.key_id,
            "n": _base64(numbers.n),
            "e": _base64(numbers.e),
            "value": self.public_pem(),
        }


class KeyRing:
    """Signs with the newest key; shows those that a verifier may know. Kept in `folder`, if there is one."""

    def __init__(self, folder: Path | None) -> None:
        self._first = _load(folder) if folder else Key.new()
        self.signing = self._first
        self._shown = [self._first]

    def reset(self) -> None:
        """Return to the first key, so that verifiers need not ask again."""
        self.signing = self._first
        self._shown = [self._first]

    def rotate(self, *, keep_old: bool, show_new: bool) -> Key:
        """Sign with a new key from now on."""
        self.signing = Key.new()
        self._shown = [*(self._shown if keep_old else []), *([self.signing] if show_new else [])]
        return self.signing

    def shown(self) -> list[dict[str, Any]]:
        """Return the keys as `/token_keys` shows them, among them one that no verifier may use."""
        symmetric = {"kty": "MAC", "alg": "HS256", "use": "sig", "kid": "legacy", "value": "tokenkey"}
        return [*(key.shown() for key in self._shown), symmetric]

    def find(self, key_id: str) -> Key | None:
        """Return the shown key with this id."""
        return next((key for key in self._shown if key.key_id == key_id), None)


def _load(folder: Path) -> Key:
    """Read the folder's key, making it first if need be: tokens survive a restart."""
    path = folder / "uaa-key.pem"
    if not path.exists():
        key = Key.new()
        pem = key.private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.touch(mode=0o600)
        path.write_bytes(pem)
    private = serialization.load_pem_private_key(path.read_bytes(), password=None)
    assert isinstance(private, rsa.RSAPrivateKey)
    return Key(private, "key-1")


def _base64(number: int) -> str:
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
