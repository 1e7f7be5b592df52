"""PostgreSQL with its usual guarantees, RabbitMQ, and an HTTP endpoint that answers 204, for the time of a bench."""

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fixtures.postgres import LocalPostgres, _binaries
from tests.fixtures.rabbitmq import LocalRabbit, _scripts
from tests.fixtures.reaper import Reaper
from tests.fixtures.session import free_port, wait_until

# As an operator of a small machine would set it. Every commit is on disk before it is confirmed.
POSTGRES_SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "512MB",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "15min",
    "timezone": "UTC",
}
NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log crit;
events {{ worker_connections 4096; }}
http {{ access_log off; client_body_temp_path {folder}/body; keepalive_requests 1000000;
  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ return 204; }} }} }}
"""


@dataclass
class Servers:
    """What a bench may use; databases and vhosts are its own."""

    reaper: Reaper
    folder: Path
    postgres: LocalPostgres
    rabbitmq: LocalRabbit
    endpoint: str
    pids: dict[str, int]  # of the main process of each, to account for its CPU


@contextmanager
def servers() -> Iterator[Servers]:
    """Start all of them; everything is gone afterwards."""
    reaper = Reaper()
    folder = Path(tempfile.mkdtemp(prefix="scheduler-bench-"))
    folder.chmod(0o755)
    reaper.folder(folder)
    try:
        scripts = _scripts()
        if scripts is None:
            sys.exit("The benches need rabbitmq-server (Debian: apt-get install rabbitmq-server).")
        postgres = LocalPostgres(_binaries(), folder / "postgres", reaper, POSTGRES_SETTINGS)
        postgres.start()
        rabbitmq = LocalRabbit(scripts, folder / "rabbitmq", reaper)
        rabbitmq.start()
        endpoint, endpoint_pid = _start_endpoint(folder, reaper)
        pids = {"postgres": postgres.pid, "rabbitmq": rabbitmq.pid, "endpoint": endpoint_pid}
        yield Servers(reaper, folder, postgres, rabbitmq, endpoint, pids)
        rabbitmq.close()
        postgres.close()
    finally:
        reaper.close()


def _start_endpoint(folder: Path, reaper: Reaper) -> tuple[str, int]:
    """Return URL and process of an nginx, or of a small server of our own where there is none."""
    port = free_port()
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if nginx:
        configuration = folder / "nginx.conf"
        configuration.write_text(NGINX.format(folder=folder, port=port))
        command = [nginx, "-c", str(configuration), "-e", str(folder / "error.log")]
    else:
        command = [sys.executable, "-m", "bench.endpoint", str(port)]
    process = subprocess.Popen(command, start_new_session=True)
    reaper.watch(process.pid, end_with=signal.SIGTERM)
    url = f"http://127.0.0.1:{port}/"
    wait_until(lambda: _listens(port), within=20, what="the endpoint listens")
    return url, process.pid


def _listens(port: int) -> bool:
    import socket  # noqa: PLC0415

    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
