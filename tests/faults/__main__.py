"""`python -m tests.faults`: long runs against every kind of fault, or the recovery times of single ones.

Run in the project's folder. The exit status is 0 only when no rule was broken.
"""

import argparse
import pickle
import sys
from pathlib import Path

from tests.faults.checking.verdict import judge, report
from tests.faults.recovery import measure_all
from tests.faults.run import Result, RunOptions, run
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
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the services' logs and what was seen there")
    parser.add_argument("--judge", type=Path, metavar="FOLDER", help="judge anew what a run has kept there")
    given = parser.parse_args()
    if given.recovery:
        return measure_all(given.liveness)
    result = _kept(given.judge) if given.judge else _run(given)
    verdict = judge(result.seen)
    print(report(verdict))  # noqa: T201
    for trouble in result.troubles:
        print(f"trouble with the run: {trouble}")  # noqa: T201
    return 0 if verdict.clean and not result.troubles else 1


def _run(given: argparse.Namespace) -> Result:
    options = RunOptions(
        seed=given.seed,
        duration_seconds=given.duration,
        schedules=given.schedules,
        mean_gap_seconds=given.gap,
        world=WorldOptions(liveness_seconds=given.liveness, keep_logs_in=given.keep),
    )
    result = run(options)
    if given.keep:
        (given.keep / "result.pickle").write_bytes(pickle.dumps(result))
    return result


def _kept(folder: Path) -> Result:
    result = pickle.loads((folder / "result.pickle").read_bytes())
    assert isinstance(result, Result)
    return result


if __name__ == "__main__":
    sys.exit(main())
