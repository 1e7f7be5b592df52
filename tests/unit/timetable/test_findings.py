"""A mistake is reported with its field, value, valid range and byte offset (checklist 129, 303)."""

import pytest

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.schedules import Definition
from scheduler.timetable import compile_timetable
from scheduler.timetable.dialect import MAX_CHARACTERS

_MISTAKES = [
    ("60 * * * *", "minute", "60", "0-59", 0, "minute field value 60 is out of range (valid: 0-59)"),
    ("* 25 * * *", "hour", "25", "0-23", 2, "hour field value 25 is out of range (valid: 0-23)"),
    ("* * 32 * *", "day-of-month", "32", "1-31", 4, None),
    ("* * * 13 *", "month", "13", "1-12", 6, None),
    ("* * * * 8", "day-of-week", "8", "0-7", 8, None),
    ("99 * * * * *", "second", "99", "0-59", 0, None),
    ("0 0 1 1 * 10000", "year", "10000", "1-9999", 10, None),
    ("0 0 1 1 * 2030-2020", "year", "2030-2020", "1-9999", 10, "year field value 2030-2020 starts after it ends"),
    ("0 0 0 1 1 * */2", "year", "*/2", "1-9999", 12, None),
    ("0 0 0 1 1 * H", None, "H", None, 12, "year field value H cannot be hashed"),
    ("*/0 * * * *", "minute", "*/0", None, 0, "minute field value */0 has a step below 1"),
    ("*/x * * * *", "minute", "*/x", None, 0, "minute field value */x has a step that is not a number"),
    ("1/2/3 * * * *", "minute", "1/2/3", None, 0, None),
    ("*/60 * * * *", "minute", "*/60", "1-59", 0, None),
    ("3-5/3 * * * *", "minute", "3-5/3", "1-2", 0, None),
    ("/5 * * * *", "minute", "/5", "0-59", 0, None),
    ("5- * * * *", "minute", "5-", "0-59", 0, None),
    ("-5 * * * *", "minute", "-5", "0-59", 0, None),
    ("+5 * * * *", "minute", "+5", "0-59", 0, None),
    ("5,70 * * * *", "minute", "70", "0-59", 2, None),
    ("5,,,70 * * * *", "minute", "70", "0-59", 4, None),
    ("10-70 * * * *", "minute", "70", "0-59", 3, None),
    ("* * * * MON-FUN", "day-of-week", "FUN", "0-7", 12, "day-of-week field value FUN is not a number or name"),
    ("H(0-60) * * * *", "minute", "60", "0-59", 4, None),
    ("H(60-10) * * * *", "minute", "60", "0-59", 2, None),
    ("H(10) * * * *", "minute", "H(10)", None, 0, None),
    ("H/0 * * * *", "minute", "H/0", None, 0, None),
    ("h * * * *", "minute", "h", "0-59", 0, None),
    ("0 0 L-31 * *", "day-of-month", "L-31", "1-30", 4, None),
    ("0 0 1,32W * *", "day-of-month", "32W", "1-31", 6, None),
    ("0 0 * * L", "day-of-week", "L", "0-7", 8, None),
    ("0 0 * * 5L", "day-of-week", "5L", "0-7", 8, None),
    ("0 0 * * MON#6", "day-of-week", "MON#6", "1-5", 8, None),
    ("0 0 * * #2", "day-of-week", "#2", "0-7", 8, None),
    ("0 0 * * 9#1", "day-of-week", "9", "0-7", 8, None),
    ("ä * * * *", "minute", "ä", "0-59", 0, None),
    ("０ * * * *", "minute", "０", "0-59", 0, None),  # noqa: RUF001 - a digit, but not an ASCII one
    ("CRON_TZ=Mars/Base * * * * *", "time zone", "Mars/Base", None, 8, "Mars/Base is not a known time zone"),
    ("TZ='Mars/Base' * * * * *", "time zone", "Mars/Base", None, 4, None),
    ("CRON_TZ= * * * * *", "time zone", "", None, 8, "the time zone is empty"),
    ("TZ=../../etc/passwd * * * * *", "time zone", "../../etc/passwd", None, 3, None),
    ('TZ="Europe/Berlin * * * * *', "time zone", '"Europe/Berlin', None, 3, None),
    ("@fortnightly", "descriptor", "@fortnightly", None, 0, None),
    ("@reboot", "descriptor", "@reboot", None, 0, None),
    ("@DAILY", "descriptor", "@DAILY", None, 0, None),
    ("@daily extra", "descriptor", "extra", None, 7, None),
    ("@every", "@every", "@every", None, 0, None),
    ("@every 0s", "@every", "0s", None, 7, None),
    ("@every 1h 30m", "@every", "30m", None, 10, None),
    ("TZ=UTC @every 1d", "@every", "1d", None, 14, None),
]


@pytest.mark.parametrize(("expression", "field", "value", "valid_range", "offset", "message"), _MISTAKES)
def test_a_mistake_is_named_with_its_place(
    expression: str, field: str | None, value: str, valid_range: str | None, offset: int, message: str | None
) -> None:
    (finding,) = _findings(expression)
    assert (finding.code, finding.value, finding.offset) == ("parse_error", value, offset)
    if field is not None:
        assert finding.field == field
    if valid_range is not None:
        assert finding.valid_range == valid_range
    if message is not None:
        assert message in finding.message


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "the expression is empty"),
        ("   ", "the expression is empty"),
        ("TZ=UTC", "there is no schedule after the time zone"),
        ("CRON_TZ=Europe/Berlin", "there is no schedule after the time zone"),
        ("* * * *", "expected 5 to 7 fields, found 4"),
        ("* * * * * * * *", "expected 5 to 7 fields, found 8"),
    ],
)
def test_what_has_no_place_has_a_message(expression: str, message: str) -> None:
    (finding,) = _findings(expression)
    assert (finding.code, finding.message, finding.offset) == ("parse_error", message, None)


def test_every_mistake_is_reported_at_once() -> None:
    findings = _findings("61 25 * 13,14 9")
    assert [(finding.field, finding.value) for finding in findings] == [
        ("minute", "61"),
        ("hour", "25"),
        ("month", "13"),
        ("month", "14"),
        ("day-of-week", "9"),
    ]


def test_offsets_count_bytes_of_the_trimmed_expression() -> None:
    assert [finding.offset for finding in _findings("  ä 61 * * *")] == [0, 3]


def test_an_expression_may_have_256_characters() -> None:
    longest = "0," * 123 + "0 0 * * *"
    padded = longest + " " * (MAX_CHARACTERS - len(longest) - 1) + "*"
    assert len(longest) <= MAX_CHARACTERS
    compile_timetable(Definition(expression=f"  {longest}  "), hash_key="")
    (finding,) = _findings(padded + "*")
    assert finding.valid_range == "1-256"


def _findings(expression: str) -> tuple[Finding, ...]:
    with pytest.raises(InvalidInputError) as refusal:
        compile_timetable(Definition(expression=expression), hash_key="")
    return refusal.value.findings
