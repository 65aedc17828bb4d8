"""Findings in the diagnostic format of reviewdog."""

from __future__ import annotations

import json
from typing import Any

from .report import FindingData, Report, file_and_cell

SEVERITIES = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def rdjson(report: Report) -> str:
    """Print one object with all diagnostics, and the proven remedies as suggestions."""
    data = {
        "source": {"name": "tilescope"},
        "diagnostics": [_diagnostic(finding) for finding in report.findings],
    }
    return json.dumps(data, indent=1) + "\n"


def _diagnostic(finding: FindingData) -> dict[str, Any]:
    path, cell = file_and_cell(finding["file"])
    where = "" if cell is None else f"cell {cell}, line {finding['line']}: "
    location: dict[str, Any] = {"path": path}
    if cell is None:
        location["range"] = {"start": {"line": finding["line"]}}
    data: dict[str, Any] = {
        "message": f"{where}{finding['kind']}: {finding['message']} ({finding['confidence']})",
        "location": location,
        "severity": SEVERITIES[finding["severity"]],
        "code": {"value": finding["rule"]},
    }
    suggestions = [_suggestion(edit) for edit in finding.get("fix", [])] if cell is None else []
    return data | ({"suggestions": suggestions} if suggestions else {})


def _suggestion(edit: dict[str, Any]) -> dict[str, Any]:
    """Convert an edit; an empty range before a line inserts there."""
    start, end = {"line": edit["line"], "column": 1}, {"line": edit["line"] + len(edit["old"]), "column": 1}
    text = "".join(f"{line}\n" for line in edit["new"])
    return {"range": {"start": start, "end": end}, "text": text}
