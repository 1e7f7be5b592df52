"""Running something now, looking at one execution, cancelling it."""

from uuid import UUID

from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.executions import Execution
from scheduler.store import executions as store
from scheduler.store.database import Database
from scheduler.store.executions import Started
from scheduler_api.usecases.access import Access
from scheduler_api.usecases.audit import audit, noun_of
from scheduler_api.usecases.bindings import BindingRule
from scheduler_api.usecases.errors import AbsentError
from scheduler_api.usecases.works import Work, kind_of


class Executions:
    """Executions in spaces in which the caller may act."""

    def __init__(self, database: Database, access: Access, bindings: BindingRule) -> None:
        self._database = database
        self._access = access
        self._bindings = bindings

    def execute(self, caller: Caller, work: Work, *, key: str | None) -> Started:
        """Run the job or call once, now; the same key gives the same execution.

        Raises AbsentError when it is gone, ForbiddenError when the app needs a binding.
        """
        with self._database.write() as connection:
            self._bindings.check(connection, caller, work.app_guid)
            started = store.execute(connection, kind_of(work), work.guid, key=key)
            if started is None:
                raise AbsentError(noun_of(work))
            if started.is_new:
                audit(connection, caller, "execute", work, execution_guid=str(started.execution.guid))
        return started

    def find(self, caller: Caller, guid: UUID) -> Execution:
        """Return one execution.

        Raises AbsentError, also when it is somebody else's.
        """
        with self._database.read() as connection:
            execution = store.get_execution(connection, guid)
        if execution is None or not self._access.may_act_in(caller, execution.space_guid):
            raise AbsentError("execution")
        return execution

    def cancel(self, caller: Caller, execution: Execution) -> Execution:
        """Keep a PENDING execution from being started, or ask for the end of a RUNNING one.

        A call that is under way is not interrupted, but not tried again either. Raises InvalidInputError when the
        execution has ended.
        """
        with self._database.write() as connection:
            cancelled = store.cancel(connection, execution.guid)
            if cancelled is None:
                raise InvalidInputError(Finding(code="already_ended", message="the execution has ended already"))
            audit(connection, caller, "cancel", cancelled)
        return cancelled
