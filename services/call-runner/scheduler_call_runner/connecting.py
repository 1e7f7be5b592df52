"""Connections to endpoints: to an address that was checked, verified where TLS is asked for, and in time."""

import contextlib
import socket
import ssl
import time

from scheduler.domain.states import Reason
from scheduler_call_runner.deadlines import BoundedSocket, BoundedTlsSocket, seconds_left
from scheduler_call_runner.failures import CallFailedError
from scheduler_call_runner.networks import Networks
from scheduler_call_runner.resolving import Address, Resolver
from scheduler_call_runner.targets import Origin


class Dialer:
    """Opens connections; safe to share between threads."""

    def __init__(self, networks: Networks, resolver: Resolver, trust: ssl.SSLContext | None = None) -> None:
        self._networks = networks
        self._resolver = resolver
        # From here on the context is only read: OpenSSL lets threads share one, but not change it.
        self._trust = trust or ssl.create_default_context()
        self._trust.set_alpn_protocols(["http/1.1"])
        self._trust.sslsocket_class = BoundedTlsSocket

    def connect(self, origin: Origin, deadline: float) -> BoundedSocket:
        """Return a connection on which nothing was sent yet, TLS included.

        Raises CallFailedError, whatever goes wrong.
        """
        try:
            connection = self._dial(self._permitted(origin, deadline), deadline)
            if origin.scheme == "https":
                connection = self._secure(connection, origin, deadline)
        except ssl.SSLError as error:
            fault = f"TLS: {_tls_fault(error)}"
        except TimeoutError:
            fault = "it took too long"
        except OSError as error:
            fault = (error.strerror or "it was closed").lower()
        else:
            connection.opened_at = time.monotonic()
            return connection
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

    def _secure(self, sock: BoundedSocket, origin: Origin, deadline: float) -> BoundedSocket:
        """Return the connection with TLS on it; the old one is used up in any case."""
        with sock:
            sock.settimeout(seconds_left(deadline))  # the limit of the whole handshake
            secured = self._trust.wrap_socket(sock, server_hostname=origin.host.rstrip("."))
        assert isinstance(secured, BoundedTlsSocket)
        return secured


def _tls_fault(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not accepted ({error.verify_message})"
    return str(error.reason or "the handshake failed").replace("_", " ").lower()


def discard(connection: BoundedSocket) -> None:
    """Close a connection, whatever state it is in."""
    with contextlib.suppress(OSError):
        connection.close()
