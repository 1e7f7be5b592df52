"""`python -m bench NAME…`: run named benches one after the other; without a name, all of them."""

import subprocess
import sys

BENCHES = ("burst", "steady", "ticker", "follow", "api", "history", "idle", "timetable", "peers")


def main() -> None:
    """Run each in a process of its own, so that none inherits another's memory."""
    names = sys.argv[1:] or list(BENCHES)
    unknown = sorted(set(names) - set(BENCHES))
    if unknown:
        sys.exit(f"There is no bench {', '.join(unknown)}; there are: {', '.join(BENCHES)}")
    failed = [name for name in names if subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode]
    if failed:
        sys.exit(f"FAILED: {', '.join(failed)}")


if __name__ == "__main__":
    main()
