"""H spreads load: each job or call gets its own, unchanging place in a range.

The hash is FNV-1a of 64 bits over the key's UTF-8 bytes, as in the reference scheduler, so that a user who moves
here keeps the same minutes.
"""

from functools import lru_cache

PLACEHOLDER_KEY = "ocf-scheduler-validate"
"""Stands in for the job's or call's GUID when an expression is checked without one."""

_OFFSET_BASIS = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MASK = (1 << 64) - 1


@lru_cache(maxsize=4_096)
def fnv1a(key: str) -> int:
    """Return the hash of `key`."""
    value = _OFFSET_BASIS
    for byte in key.encode(errors="surrogatepass"):
        value = ((value ^ byte) * _PRIME) & _MASK
    return value
