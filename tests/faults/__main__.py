"""`python -m tests.faults`: long runs against every kind of fault, or the recovery times of single ones.

Run in the project's folder. The exit status is 0 only when no rule was broken.
"""

import argparse
import sys
from pathlib import Path

from tests.faults.checking.verdict import report
from tests.faults.recovery import measure_all
from tests.faults.run import RunOptions, run
from tests.faults.world import WorldOptions


def main() -> int:
    """Run as asked."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--duration", type=float, default=1_200.0, metavar="SECONDS", help="of faults (default 1200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schedules", type=int, default=320)
    parser.add_argument("--gap", type=float, default=6.0, metavar="SECONDS", help="mean time between faults")
    parser.add_argument("--liveness", type=float, default=60.0, metavar="SECONDS", help="SCHEDULER_LIVENESS_SECONDS")
    parser.add_argument("--recovery", action="store_true", help="measure recovery times from single faults instead")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the services' logs there")
    given = parser.parse_args()
    if given.recovery:
        return measure_all(given.liveness)
    options = RunOptions(
        seed=given.seed,
        duration_seconds=given.duration,
        schedules=given.schedules,
        mean_gap_seconds=given.gap,
        world=WorldOptions(liveness_seconds=given.liveness, keep_logs_in=given.logs),
    )
    result = run(options)
    print(report(result.verdict))  # noqa: T201
    for trouble in result.troubles:
        print(f"trouble with the run: {trouble}")  # noqa: T201
    return 0 if result.verdict.clean and not result.troubles else 1


if __name__ == "__main__":
    sys.exit(main())
