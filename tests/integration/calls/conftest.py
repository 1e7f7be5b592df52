"""What tests of calls ask for: endpoints that misbehave, and one attempt of a call to them."""

import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from scheduler.domain.calls import Call, Request
from scheduler.domain.claims import Outcome
from scheduler.testing.factories import make_call, make_claimed
from scheduler_call_runner.connecting import Dialer
from scheduler_call_runner.exchange import Exchange
from scheduler_call_runner.idle import IdleConnections
from scheduler_call_runner.networks import Networks
from scheduler_call_runner.performing import CallPerformer
from scheduler_call_runner.resolving import Resolver

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)

Attempt = Callable[..., Outcome]


@pytest.fixture
def exchange() -> Iterator[Exchange]:
    """Connections to wherever, this machine included."""
    idle = IdleConnections(limit=10)
    yield Exchange(Dialer(Networks(allowed=LOOPBACK), Resolver()), idle)
    idle.close()


@pytest.fixture
def attempt(exchange: Exchange) -> Attempt:
    """`attempt(url, method="PUT", …)`: make one attempt of a call with these options."""

    def run(url: str, *, through: Exchange = exchange, claimed: Any = None, **options: Any) -> Outcome:
        call = make_call_to(url, **options)
        execution = replace(claimed, work=call) if claimed else make_claimed(call)
        return CallPerformer(through).perform(execution, lambda: True)

    return run


def make_call_to(url: str, **options: Any) -> Call:
    request = Request(**{"url": url, "auth_header": "basic c2VjcmV0", "timeout_seconds": 10.0, **options})
    return make_call(request=request)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> "Authority":
    """Somebody who signs certificates for 127.0.0.1."""
    return Authority(tmp_path_factory.mktemp("tls"))


class Authority:
    """A certificate authority of the tests' own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority of the tests")])
        self._certificate = self._sign(self._name, self._key.public_key(), authority=True)

    def trusting(self) -> ssl.SSLContext:
        """Return a client's context that trusts this authority."""
        pem = self._certificate.public_bytes(serialization.Encoding.PEM).decode()
        return ssl.create_default_context(cadata=pem)

    def server(self, host: str = "127.0.0.1") -> ssl.SSLContext:
        """Return the context of a server whose certificate is for `host`."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an endpoint")])
        certificate = self._sign(name, key.public_key(), host=host)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path = self._folder / f"{threading.get_ident()}-{host}.pem"
        path.write_bytes(pem + certificate.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def _sign(self, name: x509.Name, key: Any, *, host: str = "", authority: bool = False) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if host:
            names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256())
