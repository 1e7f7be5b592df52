"""How long a run waits before Cloud Controller is asked again."""

import random

LEAST_SECONDS = 5.0
MOST_SECONDS = 60.0
LONGEST_ASKED_SECONDS = 3_600.0
JITTER = 0.2  # many runs meet the same quota at the full hour; they should not come back in one crowd


def start_delay(waited_seconds: float, retry_after: float | None) -> float:
    """Return the wait before the next try to create a task: half of what the run has waited so far, so it grows."""
    growing = min(max(waited_seconds / 2, LEAST_SECONDS), MOST_SECONDS)
    asked = min(retry_after or 0.0, LONGEST_ASKED_SECONDS)
    return max(growing, asked) * (1 + JITTER * random.random())  # noqa: S311 - no secret


def poll_delay(age_seconds: float) -> float:
    """Return the distance between two looks at a task: soon for a young one, up to half a minute for an old one."""
    return min(max(age_seconds / 20, 5.0), 30.0)
