"""Everything that is looked at, in the order in which the services need it."""

from collections.abc import Iterator, Mapping

from scheduler.runtime.vcap import with_bound_services
from scheduler_local.doctor import certificates, cloud_foundry, database, queue, settings
from scheduler_local.doctor.checks import Check


def doctor(environ: Mapping[str, str]) -> list[Check]:
    """Look at the installation that these variables describe."""
    return list(_examine(with_bound_services(environ)))


def _examine(variables: Mapping[str, str]) -> Iterator[Check]:
    yield from settings.examine(variables)
    yield from database.examine(variables)
    yield from queue.examine(variables)
    yield from certificates.examine(variables)
    yield from cloud_foundry.examine(variables)
