"""A checked file as an editor shows it: its findings, and the counters of its lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ....tracer.model.counter_names import NAMES
from ..policy.add_ignore import with_ignores
from ..policy.fixes import Edit, fits
from ..policy.policy import is_cpp_file
from ..reports.report import FindingData

REASON = "accepted in the editor; state why"
Counters = dict[str, int]


class LineReplacement(NamedTuple):
    """Lines of a file, and the lines that replace them."""

    first: int  # from 0
    removed: int  # number of lines
    lines: tuple[str, ...]  # without line ends


class LineCounters(NamedTuple):
    """The counters of a line, summed over the launches that reach it."""

    launches: int
    kernels: tuple[str, ...]  # their names
    exact: Counters
    is_part: bool  # whether a launch kept only some accesses
    is_estimated: bool  # whether it is unknown which accesses of a launch are one request
    compiled: Counters | None  # None if a launch was not compiled
    at_least: frozenset[str]  # names of compiled counters that a GPU may count higher
    notes: tuple[str, ...]


class CheckedFile(NamedTuple):
    """The text that a check ran, and what it found there."""

    text: str
    findings: tuple[FindingData, ...] = ()
    lines: Mapping[int, LineCounters] = {}  # by line, from 1

    def hover_text(self, line: int) -> str:
        """Describe the memory accesses of a line in Markdown, "" without any."""
        counters = self.lines.get(line)
        if counters is None:
            return ""
        mark = "part" if counters.is_part else "estimated" if counters.is_estimated else "exact"
        rows = [f"| {_launches_text(counters)} | {mark} | compiled |", "| --- | ---: | ---: |"]
        for name in NAMES:
            compiled = counters.compiled.get(name, 0) if counters.compiled is not None else None
            if counters.exact.get(name) or compiled:
                bound = "at least " if name in counters.at_least else ""
                shown = "-" if compiled is None else f"{bound}{compiled:,}"
                rows.append(f"| {name.replace('_', ' ')} | {counters.exact.get(name, 0):,} | {shown} |")
        return "\n".join(rows) + "".join(f"\n\n{note}" for note in counters.notes)

    def fix(self, finding: FindingData) -> list[LineReplacement]:
        """List the changes of a proven remedy; none without one."""
        lines = self.text.splitlines()
        edits: list[Edit] = finding.get("fix") or []
        if not all(fits(lines, edit) for edit in edits):
            return []
        return [LineReplacement(edit["line"] - 1, len(edit["old"]), tuple(edit["new"])) for edit in edits]

    def suppression(self, file: str, finding: FindingData) -> list[LineReplacement]:
        """List the changes that suppress a finding with comments; none if that needs comments elsewhere.

        file: the name of this file.
        """
        places = [*_lines_of(finding)]
        if any(other != file for other, _ in places):
            return []
        wanted = {line: [finding["rule"]] for _, line in places}
        new = with_ignores(self.text, wanted, REASON, is_cpp_file(file))
        pairs = enumerate(zip(self.text.splitlines(), new.splitlines(), strict=True))
        return [LineReplacement(n, 1, (after,)) for n, (before, after) in pairs if before != after]


def checked_files(report: Mapping[str, Any]) -> dict[str, CheckedFile]:
    """Sort the report of a check by file, without the cells of notebooks and without files that can't be read."""
    findings: dict[str, list[FindingData]] = {}
    for finding in report["findings"]:
        if "cell" not in finding:
            findings.setdefault(finding["file"], []).append(finding)
    lines = _counters_by_line(report.get("launches", []))
    files = {}
    for file in dict.fromkeys([*findings, *(file for file, _ in lines)]):
        own_lines = {line: counters for (other, line), counters in lines.items() if other == file}
        if (text := _text_of(file)) is not None:
            files[file] = CheckedFile(text, tuple(findings.get(file, ())), own_lines)
    return files


def _lines_of(finding: FindingData) -> Iterator[tuple[str, int]]:
    """Yield each (file, line) that a finding is about."""
    yield finding["file"], finding["line"]
    for place in finding["places"]:
        yield place["file"], place["line"]


def _counters_by_line(launches: list[dict[str, Any]]) -> dict[tuple[str, int], LineCounters]:
    lines: dict[tuple[str, int], LineCounters] = {}
    for launch in launches:
        exact, compiled = _by_line(launch.get("lines", [])), _by_line(launch.get("compiled_lines", []))
        about = launch["compiled"]
        for line in [*exact, *(line for line in compiled if line not in exact)]:
            own = LineCounters(
                1,
                (launch["kernel"],),
                exact.get(line, {}),
                launch["part"],
                launch["estimated"],
                None if launch["compiled_counters"] is None else compiled.get(line, {}),
                frozenset(about.get("at_least", ())),
                (f"Not compiled: {about['reason']}",) if "reason" in about else tuple(about["notes"]),
            )
            lines[line] = _sum(lines[line], own) if line in lines else own
    return lines


def _by_line(entries: list[dict[str, Any]]) -> dict[tuple[str, int], Counters]:
    return {(entry["file"], entry["line"]): entry["counters"] for entry in entries}


def _sum(left: LineCounters, right: LineCounters) -> LineCounters:
    is_compiled = left.compiled is not None and right.compiled is not None
    return LineCounters(
        left.launches + right.launches,
        tuple(dict.fromkeys(left.kernels + right.kernels)),
        _added(left.exact, right.exact),
        left.is_part or right.is_part,
        left.is_estimated or right.is_estimated,
        _added(left.compiled or {}, right.compiled or {}) if is_compiled else None,
        left.at_least | right.at_least,
        tuple(dict.fromkeys(left.notes + right.notes)),
    )


def _added(left: Counters, right: Counters) -> Counters:
    return {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}


def _launches_text(counters: LineCounters) -> str:
    count = "1 launch" if counters.launches == 1 else f"{counters.launches:,} launches"
    return f"{count} of {', '.join(counters.kernels)}"


def _text_of(file: str) -> str | None:
    try:
        return Path(file).read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
