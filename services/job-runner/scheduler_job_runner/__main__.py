"""The job-runner's process: `python -m scheduler_job_runner`."""

from functools import partial
from pathlib import Path

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.domain.states import RefType
from scheduler.running.process import Parts, Work, run
from scheduler.runtime.settings import CloudFoundry, Service
from scheduler_job_runner.cancelling import Canceller
from scheduler_job_runner.following import Follower
from scheduler_job_runner.recording import Recorder
from scheduler_job_runner.searching import Search
from scheduler_job_runner.starting import JobPerformer


def build(parts: Parts) -> Work:
    """Put the job-runner's own parts together."""
    engine, timing = parts.engine, parts.settings.timing
    controller = Controller(_cloud_foundry(parts.settings.cloud_foundry))
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


def _cloud_foundry(settings: CloudFoundry) -> CloudFoundrySettings:
    return CloudFoundrySettings(
        cf_endpoint=settings.cf_endpoint,
        uaa_endpoint=settings.uaa_endpoint,
        client_id=settings.client_id,
        client_secret=settings.client_secret,
        ca_file=Path(settings.ca_cert_file) if settings.ca_cert_file else None,
        skip_tls_validation=settings.skip_ssl_validation,
    )


main = partial(run, Service.JOB_RUNNER, RefType.JOB, build)

if __name__ == "__main__":
    main()
