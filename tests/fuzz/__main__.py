"""`python -m tests.fuzz`: many made up requests to a running API, as a developer, an admin, a stranger and nobody.

Each answer must be documented, of the documented shape, and never a 5xx. Afterwards schemathesis itself goes over the
boundaries of every field once more. The exit status is 0 only when nothing was found.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from scheduler_local import seed
from scheduler_local.testing import StandInUaa, Start, start_controller, start_uaa
from tests.fixtures.contract import CHECKS
from tests.fixtures.postgres import LocalPostgres, _binaries
from tests.fixtures.reaper import Reaper
from tests.fixtures.session import free_port, wait_until
from tests.fixtures.world import World

_DOCUMENT = Path("docs/openapi.json")
_NOBODY = ""
_USERS = (seed.DEVELOPER, seed.ADMIN, seed.STRANGER, _NOBODY)


class Fuzz:
    """A running API that is asked whatever comes to mind."""

    def __init__(self, url: str, uaa: StandInUaa, world: World, counts: Counter[str]) -> None:
        self._url = url
        self._uaa = uaa
        self._world = world
        self._session = requests.Session()
        self._session.trust_env = False
        self.counts = counts
        self.findings: list[str] = []

    def run(self, requests_wanted: int) -> None:
        """Send about so many requests, evenly over operations, users, and good and bad input."""
        schema = schemathesis.openapi.from_dict(json.loads(_DOCUMENT.read_text(encoding="utf-8")))
        operations = [result.ok() for result in schema.get_all_operations()]
        modes = list(GenerationMode)
        each = max(1, -(-requests_wanted // (len(operations) * len(_USERS) * len(modes))))
        for number, operation in enumerate(operations, 1):
            print(f"{number:3} of {len(operations)}: {operation.label}", flush=True)  # noqa: T201
            for user in _USERS:
                for mode in modes:
                    self._ask_about(operation, user, mode, each)

    def _ask_about(self, operation: Any, user: str, mode: GenerationMode, count: int) -> None:
        headers = {"Authorization": f"bearer {self._uaa.token(user, seconds=86_400)}"} if user else {}

        @given(case=operation.as_strategy(mode))
        @settings(
            max_examples=count, deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        def ask(case: Any) -> None:
            self._world.lead(case)
            response = case.call(base_url=self._url, session=self._session, headers=headers)
            self.counts[str(response.status_code)] += 1
            case.validate_response(response, checks=CHECKS)

        try:
            ask()
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - a finding; others are looked for all the same
            if "Unsatisfiable" not in type(error).__name__:  # nothing about this operation can be wrong
                self.findings.append(f"{operation.label} as {user or 'nobody'}, {mode.value}:\n{error}")


@contextmanager
def running_api() -> Iterator[tuple[str, StandInUaa, World]]:
    """Run the API with all that it needs, until the end of the block."""
    reaper = Reaper()
    folder = Path(tempfile.mkdtemp(prefix="scheduler-fuzz-"))
    folder.chmod(0o755)
    reaper.folder(folder)
    logs = [Start(log=folder / f"{name}.log") for name in ("uaa", "controller")]
    postgres = LocalPostgres(_binaries(), folder / "postgres", reaper)
    postgres.start()
    try:
        with start_uaa(logs[0]) as uaa, start_controller(uaa, logs[1]) as controller:
            port = free_port()
            variables = {
                "DATABASE_URL": postgres.create_database(),
                "CF_ENDPOINT": controller.url,
                "UAA_ENDPOINT": uaa.url,
                "CLIENT_ID": seed.CLIENT_ID,
                "CLIENT_SECRET": seed.CLIENT_SECRET,
                "SCHEDULER_PORT": str(port),
                "ADMIN_PORT": "0",
                "LOG_LEVEL": "warn",
                "NO_PROXY": "127.0.0.1",
            }
            url = f"http://127.0.0.1:{port}"
            api = _start(variables, folder / "api.log", reaper)
            wait_until(lambda: _answers(url), within=60, what="the API answers")
            yield url, uaa, World(_asker(url, uaa), controller.add_app())
            api.terminate()
            api.wait(30)
            reaper.forget(api.pid)
    finally:
        postgres.close()
        reaper.close()


def _start(variables: dict[str, str], log: Path, reaper: Reaper) -> "subprocess.Popen[bytes]":
    with log.open("wb") as output:
        api = subprocess.Popen(
            [sys.executable, "-m", "scheduler_api"],
            env={**os.environ, **variables},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    reaper.watch(api.pid, end_with=signal.SIGTERM)
    return api


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/", timeout=5).ok
    except requests.RequestException:
        return False


def _asker(url: str, uaa: StandInUaa) -> Any:
    session = requests.Session()
    session.trust_env = False
    session.headers["Authorization"] = f"bearer {uaa.token(seconds=86_400)}"

    def ask(method: str, path: str, body: Any) -> tuple[int, Any]:
        answer = session.request(method, f"{url}{path}", json=body, timeout=60)
        return answer.status_code, answer.json()

    return ask


def _go_over_boundaries(url: str, uaa: StandInUaa) -> int:
    """Let schemathesis try the least, the most and the next beyond of everything; return its exit status."""
    names = ",".join(check.__name__ for check in CHECKS)
    program = Path(sys.executable).with_name("schemathesis")
    command = [str(program), "run", str(_DOCUMENT), "--url", url, "--phases", "examples,coverage", "--checks", names]
    header = f"Authorization: bearer {uaa.token(seconds=86_400)}"
    return subprocess.run([*command, "--header", header], check=False).returncode


def main() -> int:
    """Run as asked."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--requests", type=int, default=22_000)
    given_options = parser.parse_args()
    began = time.monotonic()
    with running_api() as (url, uaa, world):
        fuzz = Fuzz(url, uaa, world, Counter())
        fuzz.run(given_options.requests)
        boundaries = _go_over_boundaries(url, uaa)
    statuses = ", ".join(f"{status}: {count}" for status, count in sorted(fuzz.counts.items()))
    for finding in fuzz.findings:
        print(f"\nFOUND {finding}")  # noqa: T201
    print(  # noqa: T201
        f"\n{fuzz.counts.total()} made up requests in {time.monotonic() - began:.0f} s ({statuses}):"
        f" {len(fuzz.findings)} findings; the boundaries: {'none' if boundaries == 0 else 'see above'}."
    )
    return 1 if fuzz.findings or boundaries else 0


if __name__ == "__main__":
    sys.exit(main())
