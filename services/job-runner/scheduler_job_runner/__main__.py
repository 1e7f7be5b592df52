"""The job-runner's process: `python -m scheduler_job_runner`."""

from functools import partial

from scheduler.cloudfoundry.controller import Controller
from scheduler.domain.states import RefType
from scheduler.running.cloud_foundry import client_settings
from scheduler.running.process import Parts, Work, run
from scheduler.runtime.settings import Service
from scheduler_job_runner.cancelling import Canceller
from scheduler_job_runner.following import Follower
from scheduler_job_runner.recording import Recorder
from scheduler_job_runner.searching import Search
from scheduler_job_runner.starting import JobPerformer


def build(parts: Parts) -> Work:
    """Put the job-runner's own parts together."""
    engine, timing = parts.engine, parts.settings.timing
    controller = Controller(client_settings(parts.settings.cloud_foundry))
    search = Search(controller)
    performer = JobPerformer(
        engine=engine,
        controller=controller,
        search=search,
        recorder=Recorder(engine, search, parts.stop),
        timing=timing,
    )
    canceller = Canceller(controller, timing.task_pending_limit_seconds)
    follower = Follower(engine, controller, canceller, timing)
    return Work(performer=performer, loops={"follow": follower.run_once}, close=controller.close)


main = partial(run, Service.JOB_RUNNER, RefType.JOB, build)

if __name__ == "__main__":
    main()
