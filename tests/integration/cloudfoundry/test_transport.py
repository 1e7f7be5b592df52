"""How requests reach Cloud Foundry: TLS is verified unless told otherwise, and nothing from the outside interferes."""

import datetime as dt
import gzip
import ipaddress
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from scheduler.cloudfoundry import transport as module
from scheduler.cloudfoundry.errors import LostError, UnsentError
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.transport import Bearer, Transport

SETTINGS = CloudFoundrySettings(
    cf_endpoint="http://cf", uaa_endpoint="http://uaa", client_id="scheduler", client_secret="secret"
)
Answering = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for 127.0.0.1 with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "certificate.pem"
    pem = serialization.Encoding.PEM
    path.write_bytes(
        made.public_bytes(pem) + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[str]:
    with _serve(_ok, certificate) as url:
        yield url


def test_an_unknown_authority_is_refused_before_anything_is_sent(tls_server: str) -> None:
    with closing(Transport(SETTINGS)) as transport, pytest.raises(UnsentError):  # checklist 310
        transport.send("GET", tls_server)


def test_an_authority_can_be_added(tls_server: str, certificate: Path) -> None:
    settings = CloudFoundrySettings(
        cf_endpoint="x", uaa_endpoint="x", client_id="x", client_secret="x", ca_file=certificate
    )
    with closing(Transport(settings)) as transport:
        assert transport.send("GET", tls_server).body == b"ok"


def test_an_added_authority_replaces_none_of_the_usual_ones(certificate: Path) -> None:
    settings = CloudFoundrySettings(
        cf_endpoint="x", uaa_endpoint="x", client_id="x", client_secret="x", ca_file=certificate
    )
    context = module._trust(settings)
    assert context is not None
    assert len(context.get_ca_certs()) > 50


@pytest.mark.parametrize("bundle", [True, False])
def test_verification_can_be_turned_off_whatever_the_environment_says(
    tls_server: str, certificate: Path, monkeypatch: pytest.MonkeyPatch, *, bundle: bool
) -> None:
    if bundle:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", DEFAULT_CA_BUNDLE_PATH)
    settings = CloudFoundrySettings(
        cf_endpoint="x", uaa_endpoint="x", client_id="x", client_secret="x", skip_tls_validation=True
    )
    with closing(Transport(settings)) as transport:
        assert transport.send("GET", tls_server).body == b"ok"


def test_a_netrc_does_not_replace_our_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    seen: list[str | None] = []

    def look(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.headers["Authorization"])
        _ok(handler)

    with _serve(look) as url, closing(Transport(SETTINGS)) as transport:
        transport.get(url, auth=Bearer("our-token"))
    assert seen == ["bearer our-token"]


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", "http://127.0.0.1:1/")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with _serve(redirect) as url, closing(Transport(SETTINGS)) as transport:
        assert transport.get(url).status == 302


def test_cookies_are_not_kept() -> None:
    seen: list[str | None] = []

    def bake(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.headers["Cookie"])
        handler.send_response(200)
        handler.send_header("Set-Cookie", "__VCAP_ID__=x; Path=/")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with _serve(bake) as url, closing(Transport(SETTINGS)) as transport:
        transport.get(url)
        transport.get(url)
    assert seen == [None, None]


def test_a_body_that_trickles_in_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BODY_SECONDS", 0.3)

    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(100):
            handler.wfile.write(b"x")
            time.sleep(0.05)

    with (
        _serve(trickle) as url,
        closing(Transport(SETTINGS)) as transport,
        pytest.raises(LostError, match="took longer"),
    ):
        transport.send("GET", url)


def test_a_compressed_body_is_bounded_by_what_it_grows_to() -> None:
    bomb = gzip.compress(b"\0" * (50 * 1024 * 1024))

    def explode(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", str(len(bomb)))
        handler.end_headers()
        handler.wfile.write(bomb)

    with _serve(explode) as url, closing(Transport(SETTINGS)) as transport, pytest.raises(LostError, match="larger"):
        transport.send("GET", url)


def test_a_body_that_breaks_off_is_no_answer() -> None:
    def break_off(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"a":')

    with _serve(break_off) as url, closing(Transport(SETTINGS)) as transport, pytest.raises(LostError):
        transport.send("GET", url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://name.invalid/"])
def test_no_connection_means_that_nothing_was_sent(url: str) -> None:
    with closing(Transport(SETTINGS)) as transport, pytest.raises(UnsentError):
        transport.send("POST", url)


def test_errors_name_the_host_and_no_more_of_the_address() -> None:
    with closing(Transport(SETTINGS)) as transport, pytest.raises(UnsentError) as raised:
        transport.send("GET", "http://127.0.0.1:9/v3/apps?secret=x")
    assert str(raised.value) == "GET to 127.0.0.1:9 failed: ConnectionError"


def test_a_repeated_get_waits_longer_each_time() -> None:
    waits: list[float] = []
    with closing(Transport(SETTINGS, sleep=waits.append)) as transport, pytest.raises(UnsentError):
        transport.get("http://127.0.0.1:9/")
    assert waits == [pytest.approx(0.2), pytest.approx(0.4)]


def _ok(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "2")
    handler.end_headers()
    handler.wfile.write(b"ok")


@contextmanager
def _serve(answer: Answering, certificate: Path | None = None) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Clients leave in the middle here; that is what is tested."""

    with Server(("127.0.0.1", 0), Handler) as server:
        scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            scheme = "https"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"{scheme}://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
