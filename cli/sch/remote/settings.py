"""What the environment says about the scheduler: where it is, who is asking, what to trust."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from sch.errors import UsageError
from sch.remote.cf import Cf

_TRUE = {"1", "t", "true", "yes", "on"}
_FALSE = {"", "0", "f", "false", "no", "off"}
_BEARER = re.compile(r"bearer\s+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to reach the scheduler, and as whom."""

    url: str
    token: str = field(repr=False)
    ca_cert_file: Path | None = None  # trusted beside the usual authorities
    skip_ssl_validation: bool = False


def read_settings(environment: Mapping[str, str], cf: Cf) -> Settings:
    """Return the settings.

    Raises UsageError naming the variable that is missing or wrong.
    """
    return Settings(
        url=_url(environment, cf),
        token=_token(environment, cf),
        ca_cert_file=_ca_cert_file(environment),
        skip_ssl_validation=_boolean(environment, "SCHEDULER_SKIP_SSL_VALIDATION"),
    )


def _url(environment: Mapping[str, str], cf: Cf) -> str:
    url = environment.get("SCHEDULER_URL", "").strip().rstrip("/")
    if not url:
        likely = cf.scheduler_url() or "https://scheduler.SYSTEM_DOMAIN"
        raise UsageError(f"SCHEDULER_URL is not set. Set it to the scheduler's URL: export SCHEDULER_URL={likely}")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or "@" in url:
        raise UsageError("SCHEDULER_URL must be an http or https URL such as https://scheduler.example.com")
    return url


def _token(environment: Mapping[str, str], cf: Cf) -> str:
    given = environment.get("SCHEDULER_TOKEN", "").strip() or cf.oauth_token()
    if not given:
        raise UsageError(
            "SCHEDULER_TOKEN is not set and no cf command is there to ask. "
            'Set it to a token: export SCHEDULER_TOKEN="$(cf oauth-token)"'
        )
    token = _BEARER.sub("", given, count=1)
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError('SCHEDULER_TOKEN is not a token. Set it with: export SCHEDULER_TOKEN="$(cf oauth-token)"')
    return token


def _ca_cert_file(environment: Mapping[str, str]) -> Path | None:
    name = environment.get("SCHEDULER_CA_CERT_FILE", "")
    if not name:
        return None
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"SCHEDULER_CA_CERT_FILE names {name}, which is no file")
    return path


def _boolean(environment: Mapping[str, str], name: str) -> bool:
    value = environment.get(name, "").strip().lower()
    if value not in _TRUE | _FALSE:
        raise UsageError(f"{name} must be true or false")
    return value in _TRUE
