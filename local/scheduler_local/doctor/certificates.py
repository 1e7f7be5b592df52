"""TLS to Cloud Foundry: whom our certificates authorities vouch for, and for how long."""

import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from requests.utils import DEFAULT_CA_BUNDLE_PATH

from scheduler.runtime.environment import Environment
from scheduler_local.doctor.checks import Check, failed, ok, warning

_SECONDS = 5.0
_SOON_DAYS = 14
_DAY_SECONDS = 86_400
_ENDPOINTS = ("UAA_ENDPOINT", "CF_ENDPOINT")


def examine(variables: Mapping[str, str]) -> Iterator[Check]:
    """Look at the certificates of both endpoints."""
    if Environment(variables).boolean("CF_SKIP_SSL_VALIDATION"):
        yield warning(
            "TLS",
            "CF_SKIP_SSL_VALIDATION is on: anybody on the way can read and change what we send, secrets included",
            "Name the platform's certificate authority in CF_CA_CERT_FILE and unset CF_SKIP_SSL_VALIDATION.",
        )
        return
    try:
        context = _trust(variables.get("CF_CA_CERT_FILE", ""))
    except OSError as error:  # also of the ssl module
        finding = f"CF_CA_CERT_FILE cannot be used: {error.strerror or error}"
        yield failed("TLS", finding, "Name a file of certificates in PEM format.")
        return
    for variable in _ENDPOINTS:
        url = variables.get(variable, "")
        if url.startswith(("http://", "https://")):
            yield _examine(variable, url, context)


def _trust(ca_file: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    if ca_file:
        context.load_verify_locations(cafile=ca_file)
    return context


def _examine(variable: str, url: str, context: ssl.SSLContext) -> Check:
    name = f"TLS {variable}"
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme != "https":
        return _unencrypted(name, variable, host)
    try:
        days = _days_left(host, parts.port or 443, context)
    except ssl.SSLCertVerificationError as error:
        advice = "Name the certificate authority of the platform in CF_CA_CERT_FILE, in PEM format."
        return failed(name, f"the certificate of {host} is not trusted: {error.verify_message}", advice)
    except OSError as error:
        return failed(
            name, f"{host} cannot be reached: {error.strerror or error}", f"Check {variable} and the network."
        )
    finding = f"the certificate of {host} is trusted and good for {days:.0f} days"
    return ok(name, finding) if days > _SOON_DAYS else warning(name, finding, "Have it renewed.")


def _unencrypted(name: str, variable: str, host: str) -> Check:
    if host in {"localhost", "127.0.0.1", "::1"}:
        return ok(name, "not encrypted, and does not leave this host")
    return warning(name, f"{variable} is an http URL: secrets travel unencrypted to {host}", "Use an https URL.")


def _days_left(host: str, port: int, context: ssl.SSLContext) -> float:
    with (
        socket.create_connection((host, port), timeout=_SECONDS) as connection,
        context.wrap_socket(connection, server_hostname=host) as secured,
    ):
        certificate = secured.getpeercert() or {}
    return (ssl.cert_time_to_seconds(str(certificate["notAfter"])) - time.time()) / _DAY_SECONDS
