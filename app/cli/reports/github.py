"""Findings as annotations of GitHub Actions."""

from __future__ import annotations

from ...model.visible_text import escape_controls
from .report import FindingData, Report, file_and_cell, with_advice_once
from .text import rule_text

LEVELS = {"error": "error", "warning": "warning"}


def github(report: Report) -> str:
    """Print a workflow command for each finding."""
    return "".join(f"{_line(finding)}\n" for finding in with_advice_once(report.findings))


def _line(finding: FindingData) -> str:
    level = LEVELS.get(finding["severity"], "notice")
    path, cell = file_and_cell(finding["file"])  # the file of a notebook counts lines differently
    file = _escaped(path, ":,")
    line, where = (
        (f",line={finding['line']}", "") if cell is None else ("", f"cell {cell}, line {finding['line']}: ")
    )
    message = _escaped(finding["message"] + rule_text(finding))
    return escape_controls(f"::{level} file={file}{line},title={finding['kind']}::{where}{message}")


def _escaped(text: str, more: str = "") -> str:
    """Percent-encode the characters that end a part of a workflow command."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
