"""Findings as a Code Quality report of GitLab."""

from __future__ import annotations

import json

from .report import Report, file_and_cell
from .text import rule_text

SEVERITIES = {"error": "critical", "warning": "major", "note": "info"}


def gitlab(report: Report) -> str:
    """Print a list of issues, as in "Code Quality report format" of GitLab's documentation."""
    issues = []
    for finding in report.findings:
        path, cell = file_and_cell(finding["file"])
        where = "" if cell is None else f"cell {cell}, line {finding['line']}: "
        issues.append(
            {
                "description": f"{where}{finding['kind']}: {finding['message']}{rule_text(finding)}",
                "check_name": finding["rule"],
                "fingerprint": finding["fingerprint"],
                "severity": SEVERITIES[finding["severity"]],
                "location": {"path": path, "lines": {"begin": finding["line"] if cell is None else 1}},
            }
        )
    return json.dumps(issues, indent=1) + "\n"
