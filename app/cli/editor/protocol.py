"""Findings and changes in the types of the Language Server Protocol."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument

from ..reports.report import FindingData
from .checked_file import CheckedFile, LineReplacement

SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


def diagnostic_of(finding: FindingData, document: TextDocument) -> types.Diagnostic:
    """Convert a finding to a diagnostic on the text of its line."""
    related = [
        types.DiagnosticRelatedInformation(
            location=types.Location(
                uri=from_fs_path(place["file"]) or "", range=_range(place["line"] - 1, 1)
            ),
            message=place.get("text") or place["name"] or "the same cause",
        )
        for place in (*finding["accesses"], *finding["places"])
        if "cell" not in place
    ]
    return types.Diagnostic(
        range=_line_range(document, finding["line"] - 1),
        severity=SEVERITIES[finding["severity"]],
        code=finding["rule"],
        source="tilescope",
        message=f"{finding['message']} [{finding['confidence']}]",
        related_information=related,
    )


def code_actions(
    checked: CheckedFile, document: TextDocument, wanted: types.Range
) -> Iterator[types.CodeAction]:
    """Yield the proven remedies, and a suppression, for each finding on the wanted lines."""
    file = to_fs_path(document.uri) or ""
    for finding in checked.findings:
        if not wanted.start.line <= finding["line"] - 1 <= wanted.end.line:
            continue
        if fix := checked.fix(finding):
            title = f"{finding['remedy'][:1].upper()}{finding['remedy'][1:]}"
            yield _quick_fix(title, finding, document, fix, is_preferred=True)
        if suppression := checked.suppression(file, finding):
            title = f"Suppress {finding['rule']} here with a comment"
            yield _quick_fix(title, finding, document, suppression)


def _quick_fix(
    title: str,
    finding: FindingData,
    document: TextDocument,
    changes: list[LineReplacement],
    *,
    is_preferred: bool = False,
) -> types.CodeAction:
    edits = {document.uri: _text_edits(changes, document.source)}
    return types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic_of(finding, document)],
        is_preferred=is_preferred,
        edit=types.WorkspaceEdit(changes=edits),
    )


def _line_range(document: TextDocument, line: int) -> types.Range:
    """Return the range of a line without its indentation and its end."""
    lines = document.lines
    text = lines[line].rstrip() if 0 <= line < len(lines) else ""
    indentation = len(text) - len(text.lstrip())
    end = document.position_codec.client_num_units(text)
    return types.Range(types.Position(max(line, 0), indentation), types.Position(max(line, 0), end))


def _range(first: int, count: int) -> types.Range:
    return types.Range(types.Position(max(first, 0), 0), types.Position(max(first, 0) + count, 0))


def _text_edits(replacements: list[LineReplacement], text: str) -> list[types.TextEdit]:
    end = "\r\n" if "\r\n" in text else "\n"
    return [
        types.TextEdit(
            _range(replacement.first, replacement.removed),
            "".join(f"{line}{end}" for line in replacement.lines),
        )
        for replacement in replacements
    ]
