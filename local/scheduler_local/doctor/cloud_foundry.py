"""UAA and Cloud Controller: reachable, and our client allowed to do what the services do."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import UUID

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.errors import CannotTellError, NotFoundError, TokenUnavailableError
from scheduler.cloudfoundry.resources import Role
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.transport import Transport
from scheduler.cloudfoundry.uaa import ADMIN_SCOPE, GLOBAL_READ_SCOPES, Uaa
from scheduler.runtime.environment import Environment
from scheduler_local.doctor.checks import Check, failed, ok, skipped, warning

_VARIABLES = ("CF_ENDPOINT", "UAA_ENDPOINT", "CLIENT_ID", "CLIENT_SECRET")
_NOBODY = str(UUID(int=0))  # a user who does not exist: only whether one may ask is asked
_GRANT = f"uaac client update CLIENT_ID --authorities cloud_controller.read,{ADMIN_SCOPE},uaa.resource"


def examine(variables: Mapping[str, str]) -> Iterator[Check]:
    """Look at both, with the client's own token."""
    missing = [name for name in _VARIABLES if not variables.get(name)]
    if missing:
        yield skipped("Cloud Foundry", f"not set: {', '.join(missing)}")
        return
    settings = _settings(variables)
    try:
        transport = Transport(settings)
    except OSError:  # also of the ssl module
        yield skipped("Cloud Foundry", "CF_CA_CERT_FILE cannot be used")
        return
    try:
        yield _uaa(transport, settings)
        yield from _client(transport, settings)
    finally:
        transport.close()


def _settings(variables: Mapping[str, str]) -> CloudFoundrySettings:
    ca_file = variables.get("CF_CA_CERT_FILE")
    return CloudFoundrySettings(
        cf_endpoint=variables["CF_ENDPOINT"].rstrip("/"),
        uaa_endpoint=variables["UAA_ENDPOINT"].rstrip("/"),
        client_id=variables["CLIENT_ID"],
        client_secret=variables["CLIENT_SECRET"],
        ca_file=Path(ca_file) if ca_file else None,
        skip_tls_validation=Environment(variables).boolean("CF_SKIP_SSL_VALIDATION"),
        read_timeout_seconds=10.0,
        get_attempts=1,
    )


def _uaa(transport: Transport, settings: CloudFoundrySettings) -> Check:
    advice = "Check UAA_ENDPOINT: it is the URL that `cf curl /` shows under links.uaa."
    try:
        answers = [
            transport.get(settings.uaa_endpoint + path) for path in ("/.well-known/openid-configuration", "/token_keys")
        ]
    except CannotTellError as error:
        return failed("UAA", str(error), advice)
    issuer, keys = (answer.json() for answer in answers)
    if not isinstance(issuer, dict) or not isinstance(keys, dict) or not issuer.get("issuer") or not keys.get("keys"):
        return failed("UAA", "it shows neither its name nor its keys; this may not be UAA", advice)
    return ok("UAA", f"it answers as {issuer['issuer']}")


def _client(transport: Transport, settings: CloudFoundrySettings) -> Iterator[Check]:
    try:
        scopes = Uaa(settings, transport=transport).own_scopes()
    except TokenUnavailableError as error:
        yield failed(
            "client", str(error), "Check CLIENT_ID and CLIENT_SECRET, and that the client may use client_credentials."
        )
        yield skipped("Cloud Controller", "without a token of the client it cannot be asked")
        return
    yield _scopes(scopes)
    yield from _controller(Controller(settings, transport=transport))


def _scopes(scopes: frozenset[str]) -> Check:
    if ADMIN_SCOPE in scopes:
        return ok("client", f"its token carries {ADMIN_SCOPE}")
    reading = sorted(scopes & set(GLOBAL_READ_SCOPES))
    if reading:
        return warning(
            "client",
            f"its token carries only {', '.join(reading)}: jobs cannot start tasks",
            f"{_GRANT}, then restart.",
        )
    finding = f"its token carries none of {', '.join(GLOBAL_READ_SCOPES)}: every user would be refused"
    return failed("client", finding, f"{_GRANT}, then restart the services.")


def _controller(controller: Controller) -> Iterator[Check]:
    name = "Cloud Controller"
    try:
        info = controller.info()
    except (CannotTellError, NotFoundError) as error:
        yield failed(name, str(error), "Check CF_ENDPOINT: it is what `cf api` shows.")
        return
    yield ok(
        name, f"it answers{f' as {info.name}' if info.name else ''}{f', build {info.build}' if info.build else ''}"
    )
    try:
        controller.has_role([Role.SPACE_DEVELOPER], _NOBODY, None)
    except (CannotTellError, NotFoundError) as error:
        yield failed(
            "roles", f"they cannot be read: {error}", "Without them every user is refused; see the client's scopes."
        )
    else:
        yield ok("roles", "they can be read")
