"""A job-runner in the test's own hands: real rows, the stand-in Cloud Controller, one step at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.domain.claims import Claimed, Outcome
from scheduler.domain.guids import new_guid
from scheduler.domain.jobs import Job
from scheduler.domain.states import RefType
from scheduler.runtime.loops import Stop
from scheduler.runtime.timing import Timing
from scheduler.store.claims import Claimant, claim
from scheduler.store.outcomes import write_outcomes
from scheduler.store.sealing import Seal
from scheduler.testing.factories import make_job
from scheduler_job_runner.cancelling import Canceller
from scheduler_job_runner.following import Follower
from scheduler_job_runner.recording import Recorder
from scheduler_job_runner.searching import Search
from scheduler_job_runner.starting import JobPerformer
from scheduler_local.testing import StandInController
from tests.fixtures.rows import Rows


@dataclass
class JobRunner:
    """One runner; the test says when it claims, performs and follows."""

    rows: Rows
    cc: StandInController
    controller: Controller
    performer: JobPerformer
    follower: Follower

    def job(self, **fields: Any) -> Job:
        """Store a job of an app that exists."""
        app = self.cc.add_app()
        job = make_job(app_guid=app.guid, space_guid=app.space_guid, **fields)
        self.rows.add(job)
        return job

    def claim(self, guid: UUID) -> Claimed:
        """Claim an execution, due or not."""
        self.rows.run("UPDATE executions SET not_before = NULL WHERE guid = :guid", guid=guid)
        with self.rows.engine.begin() as connection:
            (claimed,) = claim(connection, RefType.JOB, [guid], Claimant(runner=new_guid(), token=new_guid()), Seal())
        return claimed

    def perform(self, claimed: Claimed) -> Outcome | None:
        """Perform, and write what came of it."""
        outcome = self.performer.perform(claimed, lambda: True)
        if outcome is not None:
            self.write(claimed, outcome)
        return outcome

    def write(self, claimed: Claimed, outcome: Outcome) -> None:
        with self.rows.engine.begin() as connection:
            write_outcomes(connection, [(claimed, outcome)])

    def start(self, job: Job, **fields: Any) -> UUID:
        """Make a new execution of the job and perform it; return its guid."""
        guid = self.rows.execution(job, **fields)
        self.perform(self.claim(guid))
        return guid

    def follow(self) -> None:
        """Look at every running task now."""
        self.rows.run("UPDATE executions SET next_poll_at = now() WHERE task_guid IS NOT NULL AND state = 'RUNNING'")
        self.follower.run_once()

    def grow_older(self, guid: UUID, seconds: float) -> None:
        """Let an execution have started so much earlier."""
        self.rows.run(
            "UPDATE executions SET execution_start_time = execution_start_time - :age * interval '1 second'"
            " WHERE guid = :guid",
            guid=guid,
            age=seconds,
        )


@pytest.fixture
def job_runner(rows: Rows, cc: StandInController, cloud_foundry: CloudFoundrySettings) -> Iterator[JobRunner]:
    """A runner with the usual limits."""
    controller, timing = Controller(cloud_foundry), Timing()
    search = Search(controller)
    performer = JobPerformer(
        engine=rows.engine,
        controller=controller,
        search=search,
        recorder=Recorder(rows.engine, search, Stop()),
        timing=timing,
    )
    canceller = Canceller(controller, timing.task_pending_limit_seconds)
    yield JobRunner(rows, cc, controller, performer, Follower(rows.engine, controller, canceller, timing))
    controller.close()
