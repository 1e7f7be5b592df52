"""A job and the facts of one execution, as the task that Cloud Controller is asked for."""

import shlex
from datetime import UTC, datetime

from scheduler.cloudfoundry.resources import EXECUTION_LABEL, NewTask
from scheduler.domain.claims import Claimed
from scheduler.domain.errors import PermanentError
from scheduler.domain.jobs import MAX_COMMAND_CHARACTERS, Job

MAX_NAME_CHARACTERS = 255
_PREFIX = EXECUTION_LABEL.partition("/")[0]


class CommandTooLongError(PermanentError):
    """Command and context together are longer than Cloud Controller takes."""


def new_task(job: Job, claimed: Claimed) -> NewTask:
    """Return the task to ask for.

    Raises CommandTooLongError.
    """
    return NewTask(
        command=_command(job, claimed),
        name=task_name(job.name),
        memory_in_mb=job.memory_in_mb,
        disk_in_mb=job.disk_in_mb,
        log_rate_in_bps=job.log_rate_in_bps,
        labels=_labels(job, claimed),
        annotations=_annotations(job, claimed),
    )


def task_name(name: str) -> str:
    """Return the job's name with what Cloud Controller or a log reader would choke on replaced."""
    printable = "".join(character if character.isprintable() else "-" for character in name)
    return printable[:MAX_NAME_CHARACTERS].strip() or "job"


def _labels(job: Job, claimed: Claimed) -> dict[str, str]:
    """Return what can be searched for; the first one finds the task again after a crash."""
    labels = {EXECUTION_LABEL: str(claimed.guid), f"{_PREFIX}/job": str(job.guid)}
    if claimed.schedule_guid:
        labels[f"{_PREFIX}/schedule"] = str(claimed.schedule_guid)
    return labels


def _annotations(job: Job, claimed: Claimed) -> dict[str, str]:
    facts = {
        "job": str(job.guid),
        "execution": str(claimed.guid),
        "schedule": claimed.schedule_guid and str(claimed.schedule_guid),
        "scheduled-time": claimed.scheduled_time and _instant(claimed.scheduled_time),
        "previous-execution": claimed.previous_execution_guid and str(claimed.previous_execution_guid),
        "previous-task": claimed.previous_task_guid,
    }
    return {f"{_PREFIX}/{name}": value for name, value in facts.items() if value}


def _command(job: Job, claimed: Claimed) -> str:
    if not job.pass_context:
        return job.command
    command = f"{_exports(claimed)}\n{job.command}"
    if len(command) > MAX_COMMAND_CHARACTERS:
        raise CommandTooLongError(
            f"the command and its context have {len(command)} characters; "
            f"Cloud Controller takes {MAX_COMMAND_CHARACTERS}"
        )
    return command


def _exports(claimed: Claimed) -> str:
    """Return one line for the shell; what there is not is empty, so that nothing is inherited by mistake."""
    context = {
        "SCHEDULER_EXECUTION_GUID": str(claimed.guid),
        "SCHEDULER_SCHEDULED_TIME": _instant(claimed.scheduled_time) if claimed.scheduled_time else "",
        "SCHEDULER_PREVIOUS_EXECUTION_GUID": str(claimed.previous_execution_guid or ""),
        "SCHEDULER_PREVIOUS_TASK_GUID": claimed.previous_task_guid or "",
    }
    return "export " + " ".join(f"{name}={shlex.quote(value)}" for name, value in context.items())


def _instant(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
