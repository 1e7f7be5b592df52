"""What runs in the local mode, with which settings."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scheduler_local import seed
from scheduler_local.up.ports import LOOPBACK, choose_ports

SERVICES = ("api", "ticker", "job-runner", "call-runner", "broker")
BROKER_USERNAME = "cloud-controller"

# The reference's usual ports first; then those that are ours.
_USUAL = (
    ("api", 8000),
    ("uaa", 8001),
    ("cc", 8002),
    ("broker", 8003),
    ("echo", 8004),
    *((f"{service} internal", 9000 + number) for number, service in enumerate(SERVICES)),
)


@dataclass(frozen=True)
class Process:
    """One process to start."""

    name: str
    arguments: list[str]
    variables: Mapping[str, str]
    ready_url: str


class Suite:
    """Ports, URLs and processes of one local installation."""

    def __init__(self, folder: Path, database_url: str, secrets: Mapping[str, str]) -> None:
        self._folder = folder
        self._database_url = database_url
        self._secrets = secrets
        self.ports = choose_ports(_USUAL)

    def url(self, name: str) -> str:
        """Return the URL of api, uaa, cc, broker or echo."""
        return f"http://{LOOPBACK}:{self.ports[name]}"

    def moved_ports(self) -> list[tuple[str, int, int]]:
        """Return name, usual and chosen port where the usual one was taken."""
        return [(name, usual, self.ports[name]) for name, usual in _USUAL if self.ports[name] != usual]

    def stand_ins(self) -> Iterator[Process]:
        """Yield the processes that the services talk to."""
        uaa, cc, echo = (["--port", str(self.ports[name])] for name in ("uaa", "cc", "echo"))
        state = ["--state", str(self._folder / "stand-ins")]
        yield self._stand_in("uaa", [*uaa, *state], "/_standin/health")
        yield self._stand_in("cc", [*cc, *state, "--uaa", self.url("uaa")], "/_standin/health")
        yield self._stand_in("echo", echo, "/")

    def _stand_in(self, name: str, arguments: list[str], path: str) -> Process:
        module = {"uaa": "scheduler_local.uaa", "cc": "scheduler_local.controller", "echo": "scheduler_local.echo"}
        return Process(f"stand-in-{name}", [module[name], *arguments], {}, f"{self.url(name)}{path}")

    def services(self) -> Iterator[Process]:
        """Yield the five services."""
        for service in SERVICES:
            port = self.ports[f"{service} internal"]
            variables = {
                **self._settings(),
                "ADMIN_PORT": str(port),
                "SCHEDULER_PORT": str(self.ports["broker" if service == "broker" else "api"]),
            }
            ready = f"http://{LOOPBACK}:{port}/readyz"
            yield Process(service, ["scheduler_local.main", service], variables, ready)

    def _settings(self) -> dict[str, str]:
        return {
            "DATABASE_URL": self._database_url,
            "QUEUE_URL": "postgres",
            "CF_ENDPOINT": self.url("cc"),
            "UAA_ENDPOINT": self.url("uaa"),
            "CLIENT_ID": seed.CLIENT_ID,
            "CLIENT_SECRET": seed.CLIENT_SECRET,
            "SCHEDULER_ENCRYPTION_KEYS": self._secrets["encryption_key"],
            "SCHEDULER_BROKER_ENABLED": "true",
            "SCHEDULER_BROKER_USERNAME": BROKER_USERNAME,
            "SCHEDULER_BROKER_PASSWORD": self._secrets["broker_password"],
            "SCHEDULER_BROKER_API_URL": self.url("api"),
            # The echo endpoint is on this very machine, so calls may go there; never do this in a real installation.
            "SCHEDULER_CALL_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",
            "LOG_FORMAT": "plain",
            "LOG_LEVEL": os.environ.get("LOG_LEVEL", "info"),
        }
