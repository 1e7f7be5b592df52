"""A short run with every kind of fault, and runs with planted defects, each of which the checker must find."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.building import Servers
from tests.faults.checking.verdict import judge, report
from tests.faults.run import Result, RunOptions, run
from tests.faults.world import WorldOptions
from tests.fixtures.postgres import PostgresServer
from tests.fixtures.rabbitmq import RabbitNode

_LIVENESS_SECONDS = 6.0

_SHORT = RunOptions(
    seed=20_261_130,
    duration_seconds=75,
    schedules=100,
    bound_schedules=6,
    mean_gap_seconds=4,
    longest_fault_seconds=8,
    rest_seconds=8,
    quiet_seconds=90,
    world=WorldOptions(liveness_seconds=_LIVENESS_SECONDS),
)

# Where each defect is planted, and what the checker may call it.
_DEFECTS: Mapping[str, tuple[str, set[str]]] = {
    "drop-publish": ("ticker", {"left open"}),
    "claim-twice": ("call-runner", {"a call twice"}),
    "lose-finish": ("call-runner", {"left open", "lost without a cause"}),
    "plan-twice": ("ticker", {"an instant twice"}),
}


@pytest.mark.timeout(300)
def test_nothing_is_lost_or_doubled_in_a_short_run_with_faults() -> None:
    result = run(_SHORT)
    verdict = judge(result.seen)
    assert not result.troubles
    assert verdict.clean, report(verdict)
    assert len(result.seen.faults) >= 8
    assert len(result.seen.rows) >= 300


def _with_defect(defect: str, servers: Servers) -> Result:
    service, _ = _DEFECTS[defect]
    options = RunOptions(
        duration_seconds=8,
        schedules=25,
        actions_per_second=6,
        mean_gap_seconds=1_000,
        rest_seconds=1,
        quiet_seconds=10,
        world=WorldOptions(
            liveness_seconds=_LIVENESS_SECONDS,
            instances=1,
            services=("api", "ticker", "call-runner"),
            planted={service: defect},
        ),
    )
    return run(options, servers)


@pytest.fixture(scope="module")
def harmed(postgres: PostgresServer, rabbitmq_node: RabbitNode) -> Mapping[str, Result]:
    """All runs with a defect, side by side to save time."""
    postgres.drop_database(postgres.create_database())  # so that the migrated template is there for all
    servers = Servers(postgres=postgres, rabbit=rabbitmq_node)
    with ThreadPoolExecutor(len(_DEFECTS)) as pool:
        return dict(zip(_DEFECTS, pool.map(lambda defect: _with_defect(defect, servers), _DEFECTS), strict=True))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("defect", _DEFECTS)
def test_a_planted_defect_is_found(harmed: Mapping[str, Result], defect: str) -> None:
    verdict = judge(harmed[defect].seen)
    assert verdict.broken & _DEFECTS[defect][1], report(verdict)
