"""`--diff` and `--fix`: the remedies that a trial proved, as changes of files."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ....tracer.storage.atomic_write import write_atomically
from ...model.visible_text import escape_controls
from ..common.arguments import UsageError
from ..reports.report import FindingData

Edit = dict[str, Any]  # `line`, the lines `old` there, and their replacements `new`


class FileFix(NamedTuple):
    """A file with proven remedies."""

    file: str
    old: str
    new: str
    applied: int  # number of the remedies in `new`
    waiting: int  # of other remedies, which were not tried together with them
    effects: tuple[str, ...]  # a sentence about each of those in `new`


def diff_of(findings: list[FindingData], path_of: Callable[[str], str]) -> str:
    """Return a unified diff of all proven remedies, "" without any; a line above each file states their effects.

    path_of: returns the absolute path of a finding's file.
    """
    texts: list[str] = []
    for fix in file_fixes(findings, path_of):
        name = Path(fix.file).as_posix()
        old, new = fix.old.splitlines(keepends=True), fix.new.splitlines(keepends=True)
        texts += [f"{name}: {escape_controls(effect)}\n" for effect in fix.effects]
        texts += difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in texts
    )


def apply_fixes(findings: list[FindingData], named: Callable[[str], str]) -> list[str]:
    """Write the proven remedies into their files; return sentences about them. Raises UsageError."""
    sentences = []
    for fix in file_fixes(findings, lambda file: file):
        try:
            write_atomically(Path(fix.file), fix.new.encode("utf-8"))
        except OSError as error:
            raise UsageError(f"can't write {named(fix.file)}: {error.strerror}.") from error
        remedies = "1 remedy" if fix.applied == 1 else f"{fix.applied} remedies"
        wait = " Run the command again for the others." if fix.waiting else ""
        sentences.append(f"{remedies} written into {named(fix.file)}.{wait}")
        sentences += [f"{named(fix.file)}: {effect}" for effect in fix.effects]
    return sentences or [f"{reason_for_none(findings)}, so no file was changed."]


def reason_for_none(findings: list[FindingData]) -> str:
    """State why no file changes."""
    from ....tracer.model.finding import count_noun
    from ....tracer.remedies.trial import UNFINISHED

    if any(finding.get("fix") for finding in findings):
        return "the proven remedies are for cells of a notebook, or for files that have changed"
    unfinished = sum(UNFINISHED in finding["message"] for finding in findings)
    if unfinished:
        return f"no remedy is proven, and {count_noun(unfinished, 'trial')} of remedies did not end in time"
    return "no remedy is proven for these findings" if findings else "there are no findings"


def file_fixes(findings: list[FindingData], path_of: Callable[[str], str]) -> list[FileFix]:
    """List the files with proven remedies.

    A trial proves one remedy at a time, so each kernel gets one: the first of its worst finding.
    """
    files: dict[str, list[FindingData]] = {}
    for finding in findings:
        if finding.get("fix"):
            files.setdefault(finding["file"], []).append(finding)
    fixes = [_file_fix(file, path_of(file), listed) for file, listed in files.items()]
    return [fix for fix in fixes if fix is not None]


def _file_fix(name: str, path: str, findings: list[FindingData]) -> FileFix | None:
    try:
        text = Path(path).read_bytes().decode("utf-8")
        functions = _functions(text)
    except (OSError, ValueError):
        return None
    lines, end = text.splitlines(), "\r\n" if "\r\n" in text else "\n"
    chosen: list[Edit] = []
    changed: set[tuple[int, int]] = set()
    effects: list[str] = []
    for finding in findings:
        spans = {_span(functions, edit["line"]) for edit in finding["fix"]}
        if spans & changed or not all(fits(lines, edit) for edit in finding["fix"]):
            continue
        changed |= spans
        chosen += finding["fix"]
        effects.append(_effect(finding))
    if not chosen:
        return None
    for edit in sorted(chosen, key=lambda edit: -edit["line"]):
        lines[edit["line"] - 1 : edit["line"] - 1 + len(edit["old"])] = edit["new"]
    new = end.join(lines) + (end if text.endswith("\n") else "")
    return FileFix(name, text, new, len(effects), len(findings) - len(effects), tuple(effects))


def _effect(finding: FindingData) -> str:
    """Describe a remedy, and the counters that it changed in its trial."""
    counters = finding.get("counters", {})
    changed = [
        f"{name.replace('_', ' ')} {change['before']:,} -> {change['after']:,}"
        for name, change in counters.items()
        if change["before"] != change["after"]
    ]
    unchanged = "the counters stay the same" if counters else "no counters"
    return f"{finding['remedy']} ({', '.join(changed) or unchanged})."


def fits(lines: list[str], edit: Edit) -> bool:
    """Return True if the file has the lines that an edit replaces."""
    first = edit["line"] - 1
    return lines[first : first + len(edit["old"])] == list(edit["old"])


def _functions(text: str) -> list[tuple[int, int]]:
    """List the first and last lines of the outermost functions and classes, in Python or C++."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # it runs, so it is no Python
        from ....tracer.model import cpp_text  # lazy: --help does not wait for it

        return [(function.first, function.last + 1) for function in cpp_text.functions(text)]
    return [
        (node.lineno, (node.end_lineno or node.lineno) + 1)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


def _span(functions: list[tuple[int, int]], line: int) -> tuple[int, int]:
    return next(((first, last) for first, last in functions if first <= line <= last), (0, 0))
