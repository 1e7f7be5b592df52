"""A bench's figures as a table for people and as JSON for machines."""

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from scheduler import __version__

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    return {
        "cpus": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "processor": _processor(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "version": __version__,
        "commit": _commit(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def publish(name: str, runs: Sequence[Mapping[str, Any]], **more: Any) -> None:
    """Print the table of the runs' medians and spreads, and write everything to results/NAME.json."""
    rows = {key: _summary([run[key] for run in runs]) for key in runs[0] if _is_number(runs[0][key])}
    print(f"\n{name}   ({len(runs)} runs)")
    print(f"   {'':34}{'median':>12}{'min':>12}{'max':>12}")
    for key, row in rows.items():
        print(f"   {key:34}{row['median']:>12,.6g}{row['min']:>12,.6g}{row['max']:>12,.6g}")
    RESULTS.mkdir(exist_ok=True)
    document = {"bench": name, "machine": machine(), "summary": rows, "runs": list(runs), **more}
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=2, default=str) + "\n")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _summary(values: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return p50, p99 and the maximum."""
    ordered = sorted(values)
    return {
        "p50": ordered[len(ordered) // 2],
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
        "max": ordered[-1],
    }
