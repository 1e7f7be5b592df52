"""The list of time zones that `GET /scheduler-time-zones` and `sch zones` show (the reference's tzlist)."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from scheduler.timetable.posix_rules import PosixRule, read_rule, rule_of
from scheduler.timetable.zones import zone_file

_SOURCE = ("tzdata.zoneinfo", "tzdata.zi")


@dataclass(frozen=True, slots=True)
class ZoneRow:
    """One zone; its links to older names are aliases."""

    name: str
    is_server_time_zone: bool
    rule: PosixRule
    aliases: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        """Return the row with the reference's names (checklist 141); what does not apply is left out."""
        fields: dict[str, object] = {"Name": self.name}
        if self.is_server_time_zone:
            fields["IsServerTimeZone"] = "yes"
        fields |= {"HasDst": self.rule.dst is not None, "Std": self.rule.std}
        if self.rule.dst is not None:
            fields["Dst"] = self.rule.dst
        if self.aliases:
            fields["Aliases"] = list(self.aliases)
        if self.rule.rules is not None:
            fields["Rules"] = self.rule.rules
        return fields


def zone_rows(server_zone: str) -> list[ZoneRow]:
    """Return every zone by name; `server_zone` is where schedules without a zone run."""
    return [
        ZoneRow(name, server_zone in (name, *aliases), _rules()[name], aliases) for name, aliases in _zones().items()
    ]


@lru_cache(maxsize=1)
def _rules() -> Mapping[str, PosixRule]:
    """Return each zone's rule; reading some 345 files once is enough."""
    return {name: read_rule(rule_of(zone_file(name))) for name in _zones()}


@lru_cache(maxsize=1)
def _zones() -> Mapping[str, tuple[str, ...]]:
    """Return each zone with its aliases, from the database's own source: Z lines are zones, L lines links."""
    package, name = _SOURCE
    lines = files(package).joinpath(name).read_text(encoding="ascii").splitlines()
    links: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines:
        if line.startswith("L "):
            _, target, alias = line.split()
            links[target].append(alias)
    zones = sorted(line.split()[1] for line in lines if line.startswith("Z "))
    return {zone: tuple(sorted(links[zone])) for zone in zones}
