"""What the application is made of; built in the composition root, or by a test."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scheduler.cloudfoundry.uaa import Caller
from scheduler_api.usecases.access import Access
from scheduler_api.usecases.audit_trail import AuditTrail
from scheduler_api.usecases.calls import Calls
from scheduler_api.usecases.controls import Controls
from scheduler_api.usecases.deletion import Deletion
from scheduler_api.usecases.executions import Executions
from scheduler_api.usecases.history import History
from scheduler_api.usecases.jobs import Jobs
from scheduler_api.usecases.orphans import Orphans
from scheduler_api.usecases.schedules import Schedules
from scheduler_api.usecases.validation import Validation
from scheduler_api.usecases.why import Reasons
from scheduler_api.usecases.works import Works


@dataclass(frozen=True, kw_only=True)
class Collaborators:
    """Everything that routes call."""

    verify: Callable[[str | None], Caller]  # from an Authorization header; raises UnverifiedTokenError
    close: Callable[[], None]  # lets connections to Cloud Foundry go
    access: Access
    works: Works
    jobs: Jobs
    calls: Calls
    executions: Executions
    history: History
    schedules: Schedules
    controls: Controls
    deletion: Deletion
    orphans: Orphans
    reasons: Reasons
    validation: Validation
    audit_trail: AuditTrail
    time_zones: Sequence[Mapping[str, object]]
