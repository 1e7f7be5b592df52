"""`scheduler doctor`: looks at everything that the services need, changes nothing, says what to do.

`doctor(environ)` returns the findings, `run(as_json=…)` prints them and returns the exit code: 0 when nothing has
failed (warnings may be there), 1 otherwise.
"""

from scheduler_local.doctor.checks import Check, Status
from scheduler_local.doctor.examining import doctor
from scheduler_local.doctor.report import run

__all__ = ["Check", "Status", "doctor", "run"]
