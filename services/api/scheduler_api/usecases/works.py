"""Finding the job or call that a request is about, or saying that there is none."""

from uuid import UUID

from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.calls import Call
from scheduler.domain.jobs import Job
from scheduler.domain.states import RefType
from scheduler.store.calls import show_call
from scheduler.store.database import Database
from scheduler.store.jobs import get_job
from scheduler.store.sealing import Seal
from scheduler_api.usecases.access import Access
from scheduler_api.usecases.errors import AbsentError

Work = Job | Call


class Works:
    """Jobs and calls by guid, for callers who may act in the space in which these were created."""

    def __init__(self, database: Database, access: Access, seal: Seal) -> None:
        self._database = database
        self._access = access
        self._seal = seal

    def find(self, caller: Caller, kind: RefType, guid: UUID) -> Work:
        """Return the job or call.

        Raises AbsentError, also when it is somebody else's: others cannot learn that it exists.
        """
        work = self._read(kind, guid)
        if work is None or not self._access.may_act_in(caller, work.space_guid):
            raise AbsentError(kind)
        return work

    def job(self, caller: Caller, guid: UUID) -> Job:
        """Return the job; raises AbsentError."""
        work = self.find(caller, RefType.JOB, guid)
        assert isinstance(work, Job)
        return work

    def call(self, caller: Caller, guid: UUID) -> Call:
        """Return the call, its auth_header left out; raises AbsentError."""
        work = self.find(caller, RefType.CALL, guid)
        assert isinstance(work, Call)
        return work

    def _read(self, kind: RefType, guid: UUID) -> Work | None:
        with self._database.read() as connection:
            return get_job(connection, guid) if kind is RefType.JOB else show_call(connection, guid, self._seal)


def kind_of(work: Work) -> RefType:
    """Return which of the two it is."""
    return RefType.JOB if isinstance(work, Job) else RefType.CALL
