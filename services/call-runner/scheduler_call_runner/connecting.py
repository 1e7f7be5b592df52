"""Connections to endpoints: urllib3's, but to an address that was checked, and within the call's time."""

import contextlib
import socket
import ssl
import time

from urllib3.connection import HTTPConnection, HTTPSConnection

from scheduler.domain.states import Reason
from scheduler_call_runner.deadlines import BoundedSocket, BoundedTlsSocket, seconds_left
from scheduler_call_runner.failures import CallFailedError
from scheduler_call_runner.networks import Networks
from scheduler_call_runner.resolving import Address, Resolver
from scheduler_call_runner.targets import Origin


class Connection(HTTPConnection):
    """Is handed its socket; looking up names and connecting is the dialer's work."""

    sock: BoundedSocket
    dialled: BoundedSocket
    born_at: float

    def _new_conn(self) -> socket.socket:
        return self.dialled


class TlsConnection(HTTPSConnection):
    """The same over TLS, which urllib3 sets up."""

    sock: BoundedSocket
    dialled: BoundedSocket
    born_at: float

    def _new_conn(self) -> socket.socket:
        return self.dialled


AnyConnection = Connection | TlsConnection


class Dialer:
    """Opens connections; safe to share between threads."""

    def __init__(self, networks: Networks, resolver: Resolver, trust: ssl.SSLContext | None = None) -> None:
        self._networks = networks
        self._resolver = resolver
        self._trust = trust or ssl.create_default_context()
        self._trust.sslsocket_class = BoundedTlsSocket

    def connect(self, origin: Origin, deadline: float) -> AnyConnection:
        """Return a connection on which nothing was sent yet, TLS included.

        Raises CallFailedError, whatever goes wrong.
        """
        try:
            return self._open(origin, self._dial(self._permitted(origin, deadline), deadline), deadline)
        except ssl.SSLError as error:
            fault = f"TLS: {_tls_fault(error)}"
        except TimeoutError:
            fault = "it took too long"
        except OSError as error:
            fault = (error.strerror or "it was closed").lower()
        raise CallFailedError(Reason.CONNECT_ERROR, f"no connection to {origin}: {fault}")

    def _permitted(self, origin: Origin, deadline: float) -> list[Address]:
        addresses = self._resolver.addresses(origin.host, origin.port, timeout=seconds_left(deadline))
        permitted = [address for address in addresses if self._networks.permit(address[1][0])]
        if not permitted:
            raise CallFailedError(Reason.DENIED, f"{origin} is in a network that calls must not reach")
        return permitted

    def _dial(self, addresses: list[Address], deadline: float) -> BoundedSocket:
        """Connect to the first address that answers; each gets an equal share of the time that is left."""
        fault = OSError()
        for tried, (family, address) in enumerate(addresses):
            sock = BoundedSocket(family, socket.SOCK_STREAM)
            try:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.settimeout(seconds_left(deadline) / (len(addresses) - tried))
                sock.connect(address)
            except OSError as error:
                sock.close()
                fault = error
            else:
                return sock
        raise fault

    def _open(self, origin: Origin, sock: BoundedSocket, deadline: float) -> AnyConnection:
        connection = (
            TlsConnection(origin.host, origin.port, ssl_context=self._trust)
            if origin.scheme == "https"
            else Connection(origin.host, origin.port)
        )
        connection.dialled, connection.born_at = sock, time.monotonic()
        try:
            sock.settimeout(seconds_left(deadline))  # also the limit of the whole TLS handshake
            connection.connect()
        except OSError:
            discard(connection)
            raise
        return connection


def _tls_fault(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not accepted ({error.verify_message})"
    return str(error.reason or "the handshake failed").replace("_", " ").lower()


def discard(connection: AnyConnection) -> None:
    """Close a connection, whatever state it is in."""
    with contextlib.suppress(OSError):
        connection.close()
