"""The list of time zones (checklist 141, 307)."""

import pytest

from scheduler.timetable.posix_rules import read_rule
from scheduler.timetable.zone_list import zone_rows
from scheduler.timetable.zones import zone_names


def _document(name: str, server_zone: str = "UTC") -> dict[str, object]:
    return next(row.document() for row in zone_rows(server_zone) if row.name == name)


def test_a_zone_with_daylight_saving_has_every_member() -> None:
    assert _document("Europe/Berlin") == {
        "Name": "Europe/Berlin",
        "HasDst": True,
        "Std": "CET (UTC +01:00)",
        "Dst": "CEST (UTC +02:00)",
        "Aliases": [
            "Arctic/Longyearbyen",
            "Atlantic/Jan_Mayen",
            "Europe/Copenhagen",
            "Europe/Oslo",
            "Europe/Stockholm",
        ],
        "Rules": "Starts on the last Sunday of March at 02:00:00, Ends on the last Sunday of October at 03:00:00",
    }


def test_a_zone_without_daylight_saving_leaves_members_out() -> None:
    assert _document("Africa/Lagos")["HasDst"] is False
    assert _document("Asia/Kathmandu") == {
        "Name": "Asia/Kathmandu",
        "HasDst": False,
        "Std": "<+0545> (UTC +05:45)",
        "Aliases": ["Asia/Katmandu"],
    }


@pytest.mark.parametrize("server_zone", ["Europe/Berlin", "Europe/Oslo"])
def test_the_server_s_zone_is_marked_also_by_an_alias(server_zone: str) -> None:
    rows = zone_rows(server_zone)
    assert [row.name for row in rows if row.is_server_time_zone] == ["Europe/Berlin"]
    assert _document("Europe/Berlin", server_zone)["IsServerTimeZone"] == "yes"
    assert "IsServerTimeZone" not in _document("Europe/Paris", server_zone)


def test_every_name_of_the_database_is_there_once() -> None:
    names = [name for row in zone_rows("UTC") for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))
    assert set(names) == zone_names()


@pytest.mark.parametrize(
    ("text", "std", "dst", "rules"),
    [
        ("UTC0", "UTC (UTC +00:00)", None, None),
        ("<-0930>9:30", "<-0930> (UTC -09:30)", None, None),
        ("EST5EDT", "EST (UTC -05:00)", "EDT (UTC -04:00)", None),
        (
            "EST5EDT,M3.2.0,M11.1.0",
            "EST (UTC -05:00)",
            "EDT (UTC -04:00)",
            "Starts on the second Sunday of March at 02:00:00, Ends on the first Sunday of November at 02:00:00",
        ),
        (
            "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
            "<+1030> (UTC +10:30)",
            "<+11> (UTC +11:00)",
            "Starts on the first Sunday of October at 02:00:00, Ends on the first Sunday of April at 02:00:00",
        ),
        (
            "EET-2EEST,M3.4.4/50,M10.4.4/50",
            "EET (UTC +02:00)",
            "EEST (UTC +03:00)",
            (
                "Starts on the fourth Thursday of March at 02:00:00 2 days later, "
                "Ends on the fourth Thursday of October at 02:00:00 2 days later"
            ),
        ),
        (
            "IST-2IDT,M3.4.4/26,M10.5.0/24",
            "IST (UTC +02:00)",
            "IDT (UTC +03:00)",
            (
                "Starts on the fourth Thursday of March at 02:00:00 of the following day, "
                "Ends on the last Sunday of October at midnight of the next day"
            ),
        ),
        (
            "<-02>2<-01>,M3.5.0/-1,J300/0",
            "<-02> (UTC -02:00)",
            "<-01> (UTC -01:00)",
            "Starts on the last Sunday of March at 23:00:00 of the day before, Ends on day J300/0 of the year",
        ),
    ],
)
def test_a_rule_is_said_in_words(text: str, std: str, dst: str | None, rules: str | None) -> None:
    rule = read_rule(text)
    assert (rule.std, rule.dst, rule.rules) == (std, dst, rules)


def test_what_is_no_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a POSIX time zone rule"):
        read_rule("Europe/Berlin")
