"""An audit event: who did what to which job, call, schedule or execution."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditEvent:
    """One row of `audit_events`; `data` never holds a secret."""

    guid: UUID
    action: str  # noun and verb, such as schedule.pause
    actor_guid: str  # a user of Cloud Foundry, or the service that acted by itself
    actor_name: str
    target_type: str
    target_guid: str
    space_guid: str
    data: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime
