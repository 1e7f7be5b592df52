"""The call-runner's process: `python -m scheduler_call_runner`."""

from functools import partial

from scheduler.domain.states import RefType
from scheduler.running.process import Parts, Work, run
from scheduler.runtime.settings import Service, Settings
from scheduler_call_runner.connecting import Dialer
from scheduler_call_runner.exchange import Exchange
from scheduler_call_runner.idle import IdleConnections
from scheduler_call_runner.networks import DENIED_BY_DEFAULT, Networks
from scheduler_call_runner.performing import CallPerformer
from scheduler_call_runner.resolving import Resolver


def build(parts: Parts) -> Work:
    """Put the call-runner's own parts together."""
    idle = IdleConnections(limit=parts.settings.workers)
    exchange = Exchange(Dialer(_networks(parts.settings), Resolver()), idle)
    return Work(performer=CallPerformer(exchange), loops={"idle-connections": idle.sweep}, close=idle.close)


def _networks(settings: Settings) -> Networks:
    denied = DENIED_BY_DEFAULT if settings.denied_networks is None else settings.denied_networks
    return Networks(denied=denied, allowed=settings.allowed_networks)


main = partial(run, Service.CALL_RUNNER, RefType.CALL, build)

if __name__ == "__main__":
    main()
