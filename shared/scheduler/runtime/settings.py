"""The environment, read once into a typed value; all mistakes are reported together, each naming its variable."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from cryptography.fernet import Fernet

from scheduler.domain.errors import PermanentError
from scheduler.runtime.environment import Environment, Network
from scheduler.runtime.timing import LIVENESS_SECONDS, Timing
from scheduler.runtime.vcap import with_bound_services
from scheduler.timetable.zones import UnknownZoneError, load_zone

MIN_WORKERS = 10
DEFAULT_WORKERS = 20
MIN_BROKER_PASSWORD_CHARACTERS = 16
LOG_LEVELS = ("trace", "debug", "info", "warn", "warning", "error", "fatal", "panic")


class Service(StrEnum):
    """The five services."""

    API = "api"
    TICKER = "ticker"
    JOB_RUNNER = "job-runner"
    CALL_RUNNER = "call-runner"
    BROKER = "broker"


NEEDS_QUEUE = frozenset({Service.TICKER, Service.JOB_RUNNER, Service.CALL_RUNNER})
NEEDS_CLOUD_FOUNDRY = frozenset({Service.API, Service.JOB_RUNNER, Service.BROKER})


class SettingsError(PermanentError):
    """The environment has mistakes; the message lists all of them."""


@dataclass(frozen=True, kw_only=True)
class CloudFoundry:
    """How to reach Cloud Controller and UAA, and as whom."""

    cf_endpoint: str
    uaa_endpoint: str
    client_id: str
    client_secret: str = field(repr=False)
    ca_cert_file: str = ""
    skip_ssl_validation: bool = False


@dataclass(frozen=True, kw_only=True)
class Broker:
    """The Open Service Broker's settings."""

    enabled: bool = False
    username: str = ""
    password: str = field(default="", repr=False)
    api_url: str = ""
    require_binding: bool = False


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything a service is told from outside."""

    service: Service
    database_url: str = field(repr=False)
    queue_url: str = field(repr=False)
    cloud_foundry: CloudFoundry
    broker: Broker
    port: int = 8_000
    admin_port: int = 9_000
    workers: int = DEFAULT_WORKERS
    log_level: str = "info"
    log_format: str = "json"
    time_zone: str = "UTC"
    min_interval_seconds: float = 0  # 0: off
    history_retention_days: int = 150
    audit_retention_days: int = 365
    encryption_keys: tuple[str, ...] = field(default=(), repr=False)
    denied_networks: tuple[Network, ...] | None = None  # None: the defaults
    allowed_networks: tuple[Network, ...] = ()
    config_file: str = ""
    relay_window: int = 2_000
    shutdown_grace_seconds: float = 8.0
    timing: Timing = field(default_factory=Timing)
    warnings: tuple[str, ...] = ()

    def secrets(self) -> tuple[str, ...]:
        """Return what must never be seen in a log line."""
        return tuple(
            filter(None, (self.cloud_foundry.client_secret, self.broker.password, *self.encryption_keys)),
        )


def read_settings(service: Service, variables: Mapping[str, str]) -> Settings:
    """Return the settings of `service`.

    Raises SettingsError with one line per mistake.
    """
    environment = Environment(with_bound_services(variables))
    settings = Settings(
        service=service,
        database_url=_database_url(environment),
        queue_url=_queue_url(environment, service),
        cloud_foundry=_cloud_foundry(environment, required=service in NEEDS_CLOUD_FOUNDRY),
        broker=_broker(environment, used=service in {Service.API, Service.BROKER}),
        port=_lenient_port(environment),
        admin_port=environment.number("ADMIN_PORT", 9_000, least=0, most=65_535),
        workers=_workers(environment),
        log_level=_log_level(environment),
        log_format=environment.word("LOG_FORMAT", "json", ("json", "plain")),
        time_zone=_time_zone(environment),
        min_interval_seconds=environment.seconds("SCHEDULER_MIN_INTERVAL", 0),
        history_retention_days=environment.number("SCHEDULER_HISTORY_RETENTION_DAYS", 150, least=1, most=36_500),
        audit_retention_days=environment.number("SCHEDULER_AUDIT_RETENTION_DAYS", 365, least=1, most=36_500),
        encryption_keys=_encryption_keys(environment),
        denied_networks=environment.networks("SCHEDULER_CALL_DENIED_NETWORKS"),
        allowed_networks=environment.networks("SCHEDULER_CALL_ALLOWED_NETWORKS") or (),
        config_file=environment.text("SCHEDULER_CONFIG_FILE"),
        relay_window=environment.number("RELAY_WINDOW", 2_000, least=1, most=1_000_000),
        shutdown_grace_seconds=environment.seconds("SHUTDOWN_GRACE_SECONDS", 8),
        timing=Timing(environment.seconds("SCHEDULER_LIVENESS_SECONDS", LIVENESS_SECONDS) or LIVENESS_SECONDS),
        warnings=tuple(environment.warnings),
    )
    if environment.mistakes:
        raise SettingsError("\n".join(environment.mistakes))
    return settings


def _database_url(environment: Environment) -> str:
    url = environment.required("DATABASE_URL", "the PostgreSQL connection string")
    if url and not url.startswith(("postgres://", "postgresql://", "postgresql+psycopg2://")):
        environment.mistakes.append("DATABASE_URL must begin with postgres://")
    return url


def _queue_url(environment: Environment, service: Service) -> str:
    hint = "amqp://… for RabbitMQ, or postgres to use the database"
    url = environment.required("QUEUE_URL", hint) if service in NEEDS_QUEUE else environment.text("QUEUE_URL")
    if url and url != "postgres" and not url.startswith(("amqp://", "amqps://")):
        environment.mistakes.append(f"QUEUE_URL must be {hint}")
    return url


def _cloud_foundry(environment: Environment, *, required: bool) -> CloudFoundry:
    def read(name: str, hint: str) -> str:
        return environment.required(name, hint) if required else environment.text(name)

    cloud_foundry = CloudFoundry(
        cf_endpoint=read("CF_ENDPOINT", "the Cloud Foundry API URL").rstrip("/"),
        uaa_endpoint=read("UAA_ENDPOINT", "the UAA server URL").rstrip("/"),
        client_id=read("CLIENT_ID", "the UAA client's id"),
        client_secret=read("CLIENT_SECRET", "the UAA client's secret"),
        ca_cert_file=environment.text("CF_CA_CERT_FILE"),
        skip_ssl_validation=environment.boolean("CF_SKIP_SSL_VALIDATION"),
    )
    for name, url in (("CF_ENDPOINT", cloud_foundry.cf_endpoint), ("UAA_ENDPOINT", cloud_foundry.uaa_endpoint)):
        if url:
            environment.http_url(name, url)
    return cloud_foundry


def _broker(environment: Environment, *, used: bool) -> Broker:
    broker = Broker(
        enabled=environment.boolean("SCHEDULER_BROKER_ENABLED"),
        username=environment.text("SCHEDULER_BROKER_USERNAME"),
        password=environment.text("SCHEDULER_BROKER_PASSWORD"),
        api_url=environment.text("SCHEDULER_BROKER_API_URL"),
        require_binding=environment.boolean("SCHEDULER_BROKER_REQUIRE_BINDING"),
    )
    if broker.require_binding and not broker.enabled:
        environment.mistakes.append("SCHEDULER_BROKER_REQUIRE_BINDING needs SCHEDULER_BROKER_ENABLED to be true")
    if broker.enabled and used:
        _check_broker(environment, broker)
    return broker


def _check_broker(environment: Environment, broker: Broker) -> None:
    username = environment.required("SCHEDULER_BROKER_USERNAME", "Cloud Controller needs one to reach the broker")
    if username != username.strip():
        environment.mistakes.append("SCHEDULER_BROKER_USERNAME must not start or end with white space")
    password = environment.required("SCHEDULER_BROKER_PASSWORD", "Cloud Controller needs one to reach the broker")
    if password and len(password) < MIN_BROKER_PASSWORD_CHARACTERS:
        environment.mistakes.append(
            f"SCHEDULER_BROKER_PASSWORD must have at least {MIN_BROKER_PASSWORD_CHARACTERS} characters",
        )
    if environment.required("SCHEDULER_BROKER_API_URL", "the scheduler URL that binding credentials hand out"):
        environment.http_url("SCHEDULER_BROKER_API_URL", broker.api_url)


def _lenient_port(environment: Environment) -> int:
    value = environment.text("SCHEDULER_PORT")
    usable = value.isascii() and value.isdigit() and int(value[:20]) <= 65_535
    if value and not usable:
        environment.warnings.append("SCHEDULER_PORT is not a port number; using 8000")
    return int(value) if usable else 8_000


def _workers(environment: Environment) -> int:
    if not environment.is_set("SCHEDULER_WORKERS"):
        return DEFAULT_WORKERS
    value = environment.text("SCHEDULER_WORKERS")
    if value.isascii() and value.isdigit() and MIN_WORKERS <= int(value[:20]) <= 1_000:
        return int(value)
    environment.warnings.append(f"SCHEDULER_WORKERS must be at least {MIN_WORKERS}; using {DEFAULT_WORKERS}")
    return DEFAULT_WORKERS


def _log_level(environment: Environment) -> str:
    level = environment.text("LOG_LEVEL", "info").lower()
    if level not in LOG_LEVELS:
        environment.warnings.append(f"LOG_LEVEL must be one of {', '.join(LOG_LEVELS)}; using info")
        return "info"
    return "warn" if level == "warning" else level


def _time_zone(environment: Environment) -> str:
    zone = environment.text("SCHEDULER_TIME_ZONE", "UTC")
    try:
        load_zone(zone)
    except UnknownZoneError:
        environment.mistakes.append("SCHEDULER_TIME_ZONE must be an IANA time zone such as Europe/Berlin")
        return "UTC"
    return zone


def _encryption_keys(environment: Environment) -> tuple[str, ...]:
    keys = tuple(filter(None, (key.strip() for key in environment.text("SCHEDULER_ENCRYPTION_KEYS").split(","))))
    for number, key in enumerate(keys, 1):
        try:
            Fernet(key)
        except ValueError:
            environment.mistakes.append(f"SCHEDULER_ENCRYPTION_KEYS: key {number} is no Fernet key (32 bytes, base64)")
    return keys
