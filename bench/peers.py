"""peers: the burst on APScheduler 3 and on Procrastinate, beside ours, alternating, in one run."""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from bench import report
from bench.burst import SERVICES, burst
from bench.servers import Servers, servers

PROGRAMS = Path(__file__).parent / "peer_programs"
PEERS = {
    "apscheduler": ["APScheduler>=3.10,<4", "SQLAlchemy>=2", "psycopg2-binary", "requests", "tzdata"],
    "procrastinate": ["procrastinate>=3", "psycopg[binary,pool]>=3", "requests"],
}
PEER_SECONDS = 900


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--schedules", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scheduler-peers-") as folder, servers() as running:
        pythons = {name: _environment(Path(folder) / name, PEERS[name]) for name in given.peers}
        runs = [_round(running, pythons, given.schedules, given.workers) for _ in range(given.runs)]
    report.publish("peers", runs, services=SERVICES)


def _environment(folder: Path, packages: list[str]) -> Path:
    """Return the Python of a fresh virtual environment with the packages."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def _round(servers: Servers, pythons: dict[str, Path], schedules: int, workers: int) -> dict[str, Any]:
    ours = burst(servers, schedules, SERVICES, {"SCHEDULER_WORKERS": str(workers)})
    figures = {"ours_calls_per_second": ours["calls_per_second"]}
    for name, python in pythons.items():
        rate = _peer(servers, name, python, schedules, workers)
        figures[f"{name}_calls_per_second"] = rate
        figures[f"ratio_to_{name}"] = ours["calls_per_second"] / rate
    return figures


def _peer(servers: Servers, name: str, python: Path, schedules: int, workers: int) -> float:
    url = servers.postgres.create_database(migrated=False)
    command = [str(python), str(PROGRAMS / f"{name}_burst.py"), url, servers.endpoint, str(schedules), str(workers)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PEER_SECONDS, check=False)
    finally:
        servers.postgres.drop_database(url)
    if done.returncode:
        sys.exit(f"{name} failed: {done.stderr[-2000:]}")
    figures = json.loads(done.stdout.strip().splitlines()[-1])
    if figures["failed"]:
        sys.exit(f"{name}: {figures['failed']} calls failed")
    return float(figures["calls_per_second"])


if __name__ == "__main__":
    main()
