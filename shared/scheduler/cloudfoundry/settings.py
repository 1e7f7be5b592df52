"""What both clients must know; read from the environment elsewhere."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudFoundrySettings:
    """Where Cloud Foundry is, who we are there, and how long we wait for it."""

    cf_endpoint: str
    uaa_endpoint: str
    client_id: str
    client_secret: str = field(repr=False)
    ca_file: Path | None = None  # trusted beside the usual authorities
    skip_tls_validation: bool = False
    connect_timeout_seconds: float = 3.05  # slightly over a multiple of 3, TCP's retransmission window
    read_timeout_seconds: float = 30.0
    get_attempts: int = 3
    longest_wait_seconds: float = 2.0  # a GET sleeps no longer than this for a Retry-After; it gives up instead
    key_cooldown_seconds: float = 5.0  # unknown key ids make us ask UAA at most this often
