"""The report as Markdown, for the summary of a job of GitHub Actions."""

from __future__ import annotations

from collections import Counter

from ....tracer.model.rules import CONFIDENCES, rule_of
from ...model.visible_text import escape_controls
from .report import (
    FindingData,
    Report,
    file_and_cell,
    not_selected_text,
    not_traced_text,
    suppressed_text,
    traced_text,
)

MOST_LISTED = 50  # findings
HEADING = "## Tilescope"


def markdown(report: Report) -> str:
    """Print what was traced, the number of findings of each rule as a table and as a chart, and the findings."""
    texts = [not_traced_text(report.traced), suppressed_text(report), not_selected_text(report)]
    traced = traced_text(report.traced) if report.traced["launches"] else "no kernel was launched."
    broken = [_escaped(part["program"]) for part in report.programs if not part["complete"]]
    state = (
        [] if report.is_complete else [f"**{', '.join(broken) or 'The program'} did not run to its end.**"]
    )
    parts = [HEADING, *state, _sentence(traced), *(_sentence(text) for text in texts if text)]
    if report.findings:
        parts += [_table(report.findings), _chart(report.findings), _list(report.findings)]
    elif report.empty_text:
        parts.append(_sentence(report.empty_text + "."))
    return "\n\n".join(parts) + "\n"


def _sentence(text: str) -> str:
    return _escaped(text[:1].upper() + text[1:])


def _table(findings: list[FindingData]) -> str:
    counts = Counter((finding["rule"], finding["confidence"]) for finding in findings)
    rows = [f"| rule | {' | '.join(CONFIDENCES)} |", f"| --- |{' ---: |' * len(CONFIDENCES)}"]
    for code in sorted({finding["rule"] for finding in findings}):
        cells = " | ".join(f"{counts[code, confidence] or ''}" for confidence in CONFIDENCES)
        rows.append(f"| {code} {rule_of(code).name} | {cells} |")
    return "\n".join(rows)


def _chart(findings: list[FindingData]) -> str:
    """Draw the number of findings of each rule, as a chart that GitHub and GitLab render."""
    counts = Counter(finding["rule"] for finding in findings)
    slices = [f'    "{code} {rule_of(code).name}" : {counts[code]}' for code in sorted(counts)]
    return "\n".join(["```mermaid", "pie showData title Findings by rule", *slices, "```"])


def _list(findings: list[FindingData]) -> str:
    lines = []
    for finding in findings[:MOST_LISTED]:
        path, cell = file_and_cell(finding["file"])
        where = (
            f"{path}:{finding['line']}" if cell is None else f"{path}, cell {cell}, line {finding['line']}"
        )
        lines.append(
            f"- `{escape_controls(where).replace('`', '')}` **{finding['rule']}** {_escaped(finding['message'])}"
        )
    if len(findings) > MOST_LISTED:
        lines.append(f"- and {len(findings) - MOST_LISTED:,} more")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Escape what Markdown and HTML would interpret; a line end becomes a space."""
    for character in "\\`*_[]<>|#":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())
