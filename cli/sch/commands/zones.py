"""`sch zones`: the reference's tzlist (checklist 307)."""

import json
from collections.abc import Mapping

import click

from sch.errors import UsageError
from sch.grammar.commands import command
from sch.grammar.options import json_option
from sch.offline.zones import zone_lines, zones_document
from sch.surroundings import Surroundings
from scheduler.timetable.zones import UnknownZoneError, load_zone


@command(
    "zones",
    "List the time zones, without a scheduler\n\nThey are those of the release that is installed here. "
    "A star marks the default, SCHEDULER_TIME_ZONE or UTC.",
    examples=("sch zones", "sch zones --json > timezones.json", "sch zones | grep -i lisbon"),
    see_also="next",
)
@json_option
@click.pass_obj
def zones(surroundings: Surroundings) -> None:
    """List the zones."""
    screen, zone = surroundings.screen, default_zone(surroundings.environment)
    if screen.json_only:
        screen.json(json.dumps(zones_document(zone), indent=2))
        return
    for line in zone_lines(zone):
        screen.say(line)


def default_zone(environment: Mapping[str, str]) -> str:
    """Return the zone of expressions that name none; raises UsageError for one that does not exist."""
    zone = environment.get("SCHEDULER_TIME_ZONE") or "UTC"
    try:
        load_zone(zone)
    except UnknownZoneError as error:
        raise UsageError("SCHEDULER_TIME_ZONE must be an IANA time zone such as Europe/Berlin") from error
    return zone
