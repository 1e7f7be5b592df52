"""Typed reading of environment variables that collects every mistake instead of stopping at the first."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

# Go's strconv.ParseBool, which the reference uses (checklist 43).
_TRUE = {"1", "t", "T", "TRUE", "true", "True"}
_FALSE = {"0", "f", "F", "FALSE", "false", "False"}
_MAX_PORT = 65_535

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Environment:
    """Variables and the mistakes found in them; an empty value counts as unset."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.mistakes: list[str] = []
        self.warnings: list[str] = []

    def is_set(self, name: str) -> bool:
        """Tell whether the variable exists at all, even if empty."""
        return name in self._variables

    def text(self, name: str, default: str = "") -> str:
        """Return the variable as it stands."""
        return self._variables.get(name) or default

    def required(self, name: str, hint: str) -> str:
        """Return the variable; its absence is a mistake."""
        value = self.text(name)
        if not value:
            self.mistakes.append(f"{name} is not set: {hint}")
        return value

    def boolean(self, name: str) -> bool:
        """Return false when unset; anything but Go's words for a boolean is a mistake."""
        value = self.text(name)
        if value and value not in _TRUE | _FALSE:
            self.mistakes.append(f"{name} must be true or false")
        return value in _TRUE

    def number(self, name: str, default: int, *, least: int, most: int) -> int:
        """Return a whole number between the limits."""
        value = self.text(name)
        if not value:
            return default
        if not (value.isascii() and value.isdigit()) or not least <= int(value[:20]) <= most:
            self.mistakes.append(f"{name} must be a whole number from {least} to {most}")
            return default
        return int(value)

    def seconds(self, name: str, default: float) -> float:
        """Return a length of time: a number of seconds, or a number with the unit s, m or h."""
        value = self.text(name)
        units = {"s": 1, "m": 60, "h": 3_600}
        unit = units.get(value[-1:], 0)
        try:
            seconds = float(value[:-1] if unit else value or default) * (unit or 1)
        except ValueError:
            seconds = -1
        if not 0 <= seconds < float("inf"):
            self.mistakes.append(f"{name} must be a number of seconds, or such as 30s, 5m or 1h")
            return default
        return seconds

    def word(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """Return one of the allowed words."""
        value = self.text(name, default)
        if value not in allowed:
            self.mistakes.append(f"{name} must be one of {', '.join(allowed)}")
            return default
        return value

    def http_url(self, name: str, value: str) -> None:
        """Record a mistake unless the value is an absolute http or https URL."""
        try:
            parts = urlsplit(value)
            usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) <= _MAX_PORT
        except ValueError:
            usable = False
        if not usable:
            self.mistakes.append(f"{name} must be an absolute http or https URL")

    def networks(self, name: str) -> tuple[Network, ...] | None:
        """Return a comma list of networks such as 10.0.0.0/8; None when unset."""
        if not self.is_set(name):
            return None
        found = []
        for item in filter(None, (part.strip() for part in self.text(name).split(","))):
            try:
                found.append(ipaddress.ip_network(item, strict=False))
            except ValueError:
                self.mistakes.append(f"{name} must list networks such as 10.0.0.0/8, separated by commas")
        return tuple(found)
