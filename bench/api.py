"""api: what creating and reading costs, with the token verified and the role asked for each request.

`per_core_second` counts requests per CPU second of the API's process alone: what one core of it can serve.
"""

import argparse
from collections.abc import Callable, Iterator

from bench import report
from bench.api_client import Api, running_api
from bench.burst import installation
from bench.servers import servers


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--requests", type=int, default=1_000, help="of each kind")
    given = parser.parse_args()
    with servers() as running:
        runs = []
        for _ in range(given.runs):
            with installation(running) as (_, url, _amqp), running_api(running, url) as api:
                runs.append(_run(api, given.requests))
        report.publish("api", runs, requests=given.requests)


def _run(api: Api, count: int) -> dict[str, float]:
    figures: dict[str, float] = {}
    for name, requests, ask in _steps(api, count):
        measured = api.measure(requests, ask)
        figures |= {f"{name}_{figure}": value for figure, value in measured.items()}
    return figures


def _steps(api: Api, count: int) -> Iterator[tuple[str, int, Callable[[int], object]]]:
    creating, listing = f"/jobs?app_guid={api.app.guid}", f"/jobs?space_guid={api.app.space_guid}"
    yield "create_job", count, lambda n: api.ask("POST", creating, {"name": f"job {n}", "command": "true"})
    job = f"/jobs/{api.ask('GET', f'{listing}&per_page=1').json()['resources'][0]['guid']}"
    yield "read_job", count, lambda _: api.ask("GET", job)
    yield "list_100_jobs", count // 2, lambda _: api.ask("GET", f"{listing}&per_page=100")
    yield "create_schedule", count, lambda n: api.ask("POST", f"{job}/schedules", {"expression": f"{n % 60} 2 * * *"})
    yield "execute", count, lambda _: api.ask("POST", f"{job}/execute")
    yield "history_of_50", count, lambda _: api.ask("GET", f"{job}/history?per_page=50")
    schedules = api.ask("GET", f"{job}/schedules?per_page=1").json()["resources"]
    pausing = f"{job}/schedules/{schedules[0]['guid']}/actions"
    yield "pause_and_resume", count // 2, lambda n: api.ask("POST", f"{pausing}/{'resume' if n % 2 else 'pause'}")


if __name__ == "__main__":
    main()
