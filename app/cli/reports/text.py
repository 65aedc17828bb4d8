"""Findings as text: a line for each, or with the source, the accesses and the page."""

from __future__ import annotations

import linecache
from pathlib import Path

from ....tracer.model.rules import rule_of
from ...model.visible_text import escape_controls
from .report import FindingData, Report, file_and_cell, lines_text, with_advice_once

CONTEXT = 2  # lines of the source above and below


def concise(report: Report) -> str:
    """Print a line for each finding: `file:line: severity: kind: message [TS101 possible]`."""
    return _joined([text_line(finding) for finding in with_advice_once(report.findings)], report)


def full(report: Report) -> str:
    """Print each finding with its source, both accesses of a race, and the command that explains it."""
    return _joined(["\n".join(_block(finding)) + "\n" for finding in report.findings], report)


def _joined(texts: list[str], report: Report) -> str:
    texts = texts or [report.empty_text]
    return "".join(f"{text}\n" for text in texts if text)


def text_line(finding: FindingData) -> str:
    """Format a finding as one line."""
    label = finding["severity"]
    kind = f"{finding['kind']}: " if label == "error" else ""
    line = f"{finding['file']}:{finding['line']}: {label}: {kind}{finding['message']}{rule_text(finding)}"
    return escape_controls(line)


def rule_text(finding: FindingData) -> str:
    """Name the rule of a finding and how sure it is, in brackets; "" for a finding without a rule."""
    if not finding.get("rule"):
        return ""
    more = f", also {lines_text(finding['more'])}" if finding.get("more") else ""
    return f" [{finding['rule']} {finding['confidence']}{more}]"


def _block(finding: FindingData) -> list[str]:
    lines = [text_line(finding), *_source(finding["file"], finding["line"])]
    lines += [f"  {escape_controls(access_line(access))}" for access in finding.get("accesses", [])]
    if witness := finding.get("witness"):
        lines.append(f"  witness: --schedule {witness['schedule']} --seed {witness['seed']}")
        lines += [f"  order: {escape_controls(witness['order'])}"] if "order" in witness else []
        lines += [f"  replay: tilescope open --witness {witness['file']}"] if "file" in witness else []
    if finding.get("fix"):
        in_file = file_and_cell(finding["file"])[1] is None
        how = ": tilescope check --diff shows it, --fix applies it" if in_file else ""
        lines.append(f"  a trial proved this remedy{how}")
    return [*lines, f"  = tilescope explain {finding['rule']} ({rule_of(finding['rule']).name})"]


def access_line(access: FindingData) -> str:
    """Describe one access of a race with its line."""
    return f"{access['file']}:{access['line']}: {access['text']}"


def _source(file: str, line: int) -> list[str]:
    """Print the lines around a finding, with a mark at its own; none if the text is not available."""
    path, cell = file_and_cell(file)
    texts = linecache.getlines(file if cell is not None else str(Path(path)))
    first, last = max(1, line - CONTEXT), min(len(texts), line + CONTEXT)
    width = len(str(last))
    return [
        f"{'>' if number == line else ' '} {number:{width}} | {escape_controls(texts[number - 1].rstrip())}"
        for number in range(first, last + 1)
    ]
