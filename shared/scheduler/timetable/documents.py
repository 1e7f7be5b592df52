"""An analysis as JSON, the same from the API and from the command line (checklist 129, 138)."""

from datetime import UTC, datetime
from typing import Any

from scheduler.domain.errors import Finding
from scheduler.timetable.analysis import Analysis

_OPTIONAL = ("field", "value", "valid_range", "offset")


def analysis_document(analysis: Analysis) -> dict[str, Any]:
    """Return the members that describe the expression; what does not apply is left out."""
    document: dict[str, Any] = {
        "expression": analysis.expression,
        "valid": analysis.valid,
        "description": analysis.description,
        "illustrative": analysis.illustrative,
        "hashed_fields": [
            {"field": hashed.field, "value": hashed.value, "resolved": hashed.resolved}
            for hashed in analysis.hashed_fields
        ],
        "next_runs": [instant_text(run) for run in analysis.next_runs],
        "prev_runs": [instant_text(run) for run in analysis.prev_runs],
        "errors": [finding_document(error) for error in analysis.errors],
        "warnings": [finding_document(warning) for warning in analysis.warnings],
    }
    if analysis.location is not None:
        document["location"] = analysis.location
    return document


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return an error or warning; members without a value are left out."""
    document: dict[str, Any] = {"code": finding.code, "message": finding.message}
    return document | {name: value for name in _OPTIONAL if (value := getattr(finding, name)) is not None}


def instant_text(instant: datetime) -> str:
    """Return an instant in RFC 3339, in UTC with a Z."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
