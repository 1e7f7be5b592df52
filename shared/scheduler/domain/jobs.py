"""A job: a named command for an app, run as a Cloud Foundry task."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

DEFAULT_DISK_IN_MB = 1_024
DEFAULT_MEMORY_IN_MB = 1_024
MAX_COMMAND_CHARACTERS = 4_096  # Cloud Controller's own limit for a task's command

CONTEXT_CHARACTERS = 300  # more than the exports that `pass_context` puts before a command


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A stored job."""

    guid: UUID
    name: str
    command: str
    disk_in_mb: int = DEFAULT_DISK_IN_MB
    memory_in_mb: int = DEFAULT_MEMORY_IN_MB
    log_rate_in_bps: int = 0  # 0: the operator's default
    state: str = "PENDING"
    pass_context: bool = False
    app_guid: str
    space_guid: str
    created_at: datetime
    updated_at: datetime
