"""Zones come from the pinned database only, and no change of any of their clocks is overlooked."""

import itertools
from datetime import UTC, datetime, timedelta, tzinfo
from importlib import import_module
from struct import unpack
from zoneinfo import ZoneInfo

import pytest

from scheduler.domain.errors import InvalidInputError
from scheduler.domain.schedules import Definition
from scheduler.domain.states import ExpressionType
from scheduler.timetable import compile_timetable, tz_database_version, zone_of
from scheduler.timetable.clock import ZoneClock, clock_of
from scheduler.timetable.zones import UnknownZoneError, load_zone, zone_file, zone_names


@pytest.mark.parametrize("name", ["Local", "", "europe/berlin", "W. Europe Standard Time", "../../etc/passwd", "/UTC"])
def test_names_that_are_not_in_the_database_are_refused(name: str) -> None:
    with pytest.raises(UnknownZoneError):
        load_zone(name)


@pytest.mark.parametrize(
    "name", ["A" * 65, "Europe", "tzdata.zi", "zone.tab", "GMT+24", "GMT+2:60", "GMT+002", "UTC+1:5"]
)
def test_what_looks_like_a_name_must_be_a_zone(name: str) -> None:
    with pytest.raises(UnknownZoneError):
        load_zone(name)


@pytest.mark.parametrize(
    ("name", "minutes"),
    [("GMT+2:00", 120), ("GMT-05:30", -330), ("UTC+1", 60), ("UTC-11", -660), ("GMT+0", 0), ("UTC+05:45", 345)],
)
def test_fixed_offsets_count_eastwards(name: str, minutes: int) -> None:
    assert datetime(2026, 7, 1, tzinfo=load_zone(name)).utcoffset() == timedelta(minutes=minutes)


def test_the_system_database_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoneinfo.TZPATH", ())
    load_zone.cache_clear()
    assert isinstance(load_zone("Europe/Berlin"), ZoneInfo)
    assert load_zone("Europe/Berlin") is not ZoneInfo("Europe/Berlin")
    assert tz_database_version() == import_module("tzdata").IANA_VERSION


@pytest.mark.parametrize(
    ("expression", "time_zone", "zone"),
    [
        ("0 2 * * *", None, "America/Havana"),
        ("0 2 * * *", "Europe/Berlin", "Europe/Berlin"),
        ("CRON_TZ=Europe/Berlin 0 2 * * *", None, "Europe/Berlin"),
        ('TZ="Europe/Berlin" 0 2 * * *', "Europe/Berlin", "Europe/Berlin"),
        ("TZ='GMT+2:00' 0 2 * * *", None, "GMT+2:00"),
        ("TZ=Local 0 2 * * *", None, "America/Havana"),
    ],
)
def test_the_zone_is_the_expression_s_or_the_field_s_or_the_server_s(
    expression: str, time_zone: str | None, zone: str
) -> None:
    # checklist 132
    assert zone_of(Definition(expression=expression, time_zone=time_zone), "America/Havana") == zone


@pytest.mark.parametrize("expression", ["CRON_TZ=Europe/Berlin 0 2 * * *", "TZ=Europe/Berlin @every 1h"])
def test_two_different_zones_are_refused(expression: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        compile_timetable(Definition(expression=expression, time_zone="UTC"), hash_key="")
    assert [finding.code for finding in refusal.value.findings] == ["time_zone_conflict"]


def test_a_field_that_names_no_zone_is_refused_whatever_the_expression() -> None:
    for kind, text in ((ExpressionType.CRON, "0 2 * * *"), (ExpressionType.ONE_TIME, "2027-01-01T10:30")):
        definition = Definition(expression=text, expression_type=kind, time_zone="Local")
        with pytest.raises(InvalidInputError) as refusal:
            compile_timetable(definition, hash_key="")
        assert [(finding.field, finding.value) for finding in refusal.value.findings] == [("time zone", "Local")]


@pytest.mark.parametrize("initial", sorted({name[0] for name in zone_names()}))
def test_no_change_of_any_clock_since_1970_is_overlooked(initial: str) -> None:
    start, end = datetime(1970, 1, 2), datetime(2037, 12, 31)  # noqa: DTZ001 - naive UTC
    for name in zone_names():
        if name.startswith(initial) and name != "UTC":
            written = {moment for moment in _transitions(name) if start <= moment < end}
            found = {change.at for change in clock_of(name).changes(start, end)}
            last = max(written, default=start)
            assert {moment for moment in found if moment <= last} == written, name


def test_stretches_join_without_gap_or_overlap() -> None:
    for name in ("Europe/Lisbon", "Africa/Casablanca", "Pacific/Apia", "Asia/Kathmandu"):
        clock = clock_of(name)
        stretches = list(clock.stretches(datetime(1900, 1, 1), datetime(2030, 1, 1)))  # noqa: DTZ001 - naive UTC
        for before, after in itertools.pairwise(stretches):
            assert before.end == after.start
            assert before.left == after.entered
            assert (before.left is None) == (before.offset == after.offset)


class _ForwardAtNewYear(tzinfo):
    """A clock that is put forward by an hour at 2027-01-01T00:00Z."""

    _AT = datetime(2027, 1, 1)  # noqa: DTZ001 - naive UTC

    def utcoffset(self, dt: datetime | None) -> timedelta:
        assert dt is not None
        return timedelta(hours=1 if dt.replace(tzinfo=None) >= self._AT else 0)

    def fromutc(self, dt: datetime) -> datetime:
        return dt + self.utcoffset(dt)

    def dst(self, dt: datetime | None) -> None:  # noqa: ARG002 - the base class's signature
        return None

    def tzname(self, dt: datetime | None) -> str:  # noqa: ARG002 - the base class's signature
        return "Test"


def test_a_change_at_the_very_turn_of_a_year_is_seen_from_both_sides() -> None:
    clock = ZoneClock(_ForwardAtNewYear())
    turn = datetime(2027, 1, 1)  # noqa: DTZ001 - naive UTC
    before, after = clock.stretch_at(turn - timedelta(seconds=1)), clock.stretch_at(turn)
    assert before.end == after.start == turn
    assert before.left is not None
    assert before.left == after.entered
    assert after.offset == timedelta(hours=1)


def _transitions(name: str) -> set[datetime]:
    """Return the instants at which the compiled file changes the offset (RFC 9636, the 64-bit block)."""
    data = zone_file(name)
    counts = unpack(">6l", data[20:44])
    isut, isstd, leap, times, types, chars = counts
    second = 44 + times * 5 + types * 6 + chars + leap * 8 + isstd + isut
    isut, isstd, leap, times, types, chars = unpack(">6l", data[second + 20 : second + 44])
    at = second + 44
    moments = unpack(f">{times}q", data[at : at + 8 * times])
    indices = data[at + 8 * times : at + 9 * times]
    offsets = [unpack(">l", data[at + 9 * times + 6 * n : at + 9 * times + 6 * n + 4])[0] for n in range(types)]
    before = offsets[0]
    found = set()
    for moment, index in zip(moments, indices, strict=True):
        if offsets[index] != before and moment > 0:
            found.add(datetime.fromtimestamp(moment, UTC).replace(tzinfo=None))
        before = offsets[index]
    return found
