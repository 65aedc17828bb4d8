"""Findings as JSON: the versioned object, and the list that `--format json` has printed since the first version."""

from __future__ import annotations

import json
from typing import Any

from .report import Report, split_cells

VERSION = 1  # of the object; it changes if a key goes or gets another meaning


def json_object(report: Report) -> str:
    """Print one object: the version, the findings, the suppressed ones, and what was traced."""
    data: dict[str, Any] = {
        "version": VERSION,
        "program": report.program,
        "complete": report.is_complete,
        "traced": report.traced,
        "findings": [split_cells(finding) for finding in report.findings],
        "not_selected": report.not_selected,
        "suppressed": [split_cells(finding) for finding in report.suppressed],
    }
    if report.programs:
        data["programs"] = list(report.programs)
    if report.launches is not None:
        data["launches"] = report.launches
    return json.dumps(data, indent=1) + "\n"


def json_list(report: Report) -> str:
    """Print the list of findings; an object with `findings` and `launches` if counters were asked for."""
    listed = [split_cells(finding) for finding in report.findings]
    data = listed if report.launches is None else {"findings": listed, "launches": report.launches}
    return json.dumps(data, indent=1) + "\n"
