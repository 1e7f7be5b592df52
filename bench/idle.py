"""idle: what the five services cost while nothing is due, CPU and proportional memory."""

import argparse
import time

from bench import report
from bench.burst import installation
from bench.rows import add_calls, add_schedules, analyze
from bench.servers import Servers, servers
from bench.services import Meter, services

SERVICES = ("api", "ticker", "job-runner", "call-runner", "broker")
IDLE_SCHEDULES = 1_000


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60)
    given = parser.parse_args()
    with servers() as running:
        report.publish("idle", [_run(running, given.seconds) for _ in range(given.runs)], seconds=given.seconds)


def _run(servers: Servers, seconds: int) -> dict[str, float]:
    with installation(servers) as (engine, url, amqp):
        add_calls(engine, servers.endpoint, first=1, last=IDLE_SCHEDULES)
        add_schedules(
            engine, first=1, last=IDLE_SCHEDULES, prefix="idle", expression="PT24H", anchor="2026-01-01",
            due="2099-01-01",
        )  # fmt: skip
        analyze(engine)
        with services(servers, url, amqp, list(SERVICES)) as running:
            time.sleep(5)  # what starting costs is not what idling costs
            meter = Meter(servers, running)
            time.sleep(seconds)
            cpu, memory = meter.cpu_seconds(), meter.megabytes()
        return {
            "services_percent_of_a_core": 100 * sum(cpu[name] for name in SERVICES) / seconds,
            "services_pss_mb": sum(memory[name] for name in SERVICES),
            **{f"{name}_percent_of_a_core": 100 * cpu[name] / seconds for name in (*SERVICES, "postgres", "rabbitmq")},
            **{f"{name}_pss_mb": memory[name] for name in SERVICES},
        }


if __name__ == "__main__":
    main()
