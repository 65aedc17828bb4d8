"""What `tilescope run` and `tilescope check` say of a program's launches, as plain data and as text."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any, TextIO

from ..model.visible_text import visible
from .text_output import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...tracer.analysis.requests import Requests
    from ...tracer.model.finding import Finding
    from ...tracer.model.trace import Trace
    from ...tracer.type_inference.client import Operation, Refusal
    from ...tracer.type_inference.live_kernel import LaunchedKernels

FindingData = dict[str, Any]  # a finding as plain data
Moments = dict[tuple[str, int], int]  # when each (file, line) makes its first request
NUMBER = re.compile(r"(?<!line )\b\d[\d,.]*")


def summary(
    number: int, trace: Trace, seconds: float, requests: Requests, also: Sequence[int] = ()
) -> dict[str, Any]:
    """Return one launch as plain data: who ran, how long with recording, what it asked of memory, findings.

    also: blocks beside those of the trace that were examined.
    """
    from ...tracer.analysis.counters import counters_of
    from ...tracer.findings.all_findings import findings_of
    from ...tracer.findings.partial_launch import of_part, part_findings

    found = [*(of_part(f, trace) for f in findings_of(trace, requests)), *part_findings(trace, also)]
    caller = _caller(trace)
    if caller is not None:  # what is slow in a library's kernel, the user can't mend
        found = [f for f in found if f.severity == "error" or not f.sites]
    return {
        "launch": number, "kernel": trace.kernel, "grid": list(trace.grid), "block": list(trace.block_dim),
        "seconds": seconds, "accesses": trace.accesses, "counters": counters_of(trace, requests).total,
        "findings": [finding_data(finding, trace, caller) for finding in found],
    }  # fmt: skip


def _caller(trace: Trace) -> tuple[str, int] | None:
    """Return the (file, line) of the program under way that leads to a library's kernel; None for one of its own."""
    from ...tracer.analysis.kernel_structure import kernel_file
    from ...tracer.model.user_code import user_code_for

    file = kernel_file(trace)
    mine = user_code_for(file)
    return None if mine.owns(file) else mine.calling_line(sys._getframe())


def finding_data(finding: Finding, trace: Trace, caller: tuple[str, int] | None = None) -> FindingData:
    """Return a finding as plain data; it is reported at the line of the caller, where a library's kernel has one."""
    from ...tracer.model.finding import source_location

    file, line = source_location(finding, trace)
    message = finding.message
    if caller is not None:
        message = f"{message.removesuffix('.')} (in {trace.kernel} of {file})."
        file, line = caller
    return {
        "kind": finding.kind, "severity": finding.severity, "file": file, "line": line, "count": finding.count,
        "message": message, "remedy": finding.remedy, "moment": finding.moment,
        "threads": [list(thread) for thread in finding.threads],
    }  # fmt: skip


def in_order(findings: list[FindingData]) -> list[FindingData]:
    """Return findings as `findings_of` orders them: errors first, then by kind and moment."""
    from ...tracer.model.finding import sort_key

    return sorted(findings, key=lambda f: sort_key(f["severity"], f["kind"], f["moment"]))


class CompilerFindings:
    """What Numba's compiler makes of a program's kernels: asked as they are launched, waited for at the end."""

    def __init__(self) -> None:
        from ...tracer.storage.folders import cache_folder
        from ...tracer.type_inference.client import TypeInference

        self._inference = TypeInference(cache_folder() / "compiler")
        self._kernels: LaunchedKernels | None = None
        self._key = ""  # of the question about the launch under way
        self._launches: list[tuple[int, str, str, Moments]] = []

    def ask(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        """Ask about a launch that begins."""
        from ...tracer.type_inference.live_kernel import LaunchedKernels

        self._kernels = self._kernels or LaunchedKernels()
        self._key = self._inference.ask(self._kernels.question(kernel, arguments))

    def note(self, number: int, trace: Trace, requests: Requests) -> None:
        """Keep what must be known of the launch that was asked about last, unless its kernel is a library's."""
        if _caller(trace) is None:
            self._launches.append((number, self._key, trace.kernel, _moments(trace, requests)))

    def findings(self) -> dict[int, list[FindingData]]:
        """Return the findings of each launch that has some, by its number; waits for what is not answered yet."""
        known = self._inference.answers()
        found: dict[int, list[FindingData]] = {}
        for number, key, kernel, moments in self._launches:
            answer = known.get(key)
            told = answer and [
                *_refusal_data(answer.refusal, kernel),
                *_float64_data(answer.operations, moments),
            ]
            if told:
                found[number] = told
        return found


def _refusal_data(refusal: Refusal | None, kernel: str) -> list[FindingData]:
    from ...tracer.findings.not_compiled import KIND, SEVERITY, refusal_message

    if refusal is None:
        return []
    return [
        {
            "kind": KIND, "severity": SEVERITY, "file": refusal.file, "line": refusal.line, "count": 1,
            "message": refusal_message(kernel, refusal), "remedy": refusal.remedy, "moment": 0, "threads": [],
        }
    ]  # fmt: skip


def _moments(trace: Trace, requests: Requests) -> Moments:
    import numpy as np

    site, first = np.unique(requests.site, return_index=True)  # requests are in the order of their moments
    found: Moments = {}
    for number, moment in zip(site.tolist(), requests.moment[first].tolist(), strict=True):
        line = trace.sites[number].file, trace.sites[number].line
        found[line] = min(moment, found.get(line, moment))
    return found


def _float64_data(operations: tuple[Operation, ...], moments: Moments) -> list[FindingData]:
    from ...tracer.findings.float64 import KIND, float64_lines

    return [
        {
            "kind": KIND, "severity": found.severity, "file": found.file, "line": found.line, "count": found.number,
            "message": found.message, "remedy": found.remedy, "moment": moments.get((found.file, found.line), 0),
            "threads": [],
        }
        for found in float64_lines(operations)
    ]  # fmt: skip


def _mistake_of(finding: FindingData) -> tuple[Any, ...]:
    """Return what findings of the same mistake have in common."""
    return tuple(finding[name] for name in ("file", "line", "kind", "severity"))


class FindingCollector:
    """What `tilescope check` has found: what several launches do alike is reported once."""

    def __init__(self) -> None:
        self._found: dict[tuple[Any, ...], FindingData] = {}
        self._kernels: list[str] = []
        self._also: list[int] = []  # blocks of the launch to come that were examined by themselves
        self._last: list[FindingData] = []  # what was found there
        self.compiler = CompilerFindings()

    def take(self, trace: Trace, seconds: float) -> None:
        from ...tracer.analysis.requests import requests_of

        requests = requests_of(trace)
        self.compiler.note(len(self._kernels), trace, requests)
        self._kernels.append(trace.kernel)
        self._add(summary(0, trace, seconds, requests, self._also)["findings"], trace.kernel)
        known = {_mistake_of(finding) for finding in self._found.values()}
        self._add([finding for finding in self._last if _mistake_of(finding) not in known], trace.kernel)
        self._also, self._last = [], []

    def take_last(self, trace: Trace) -> None:
        """Take in the last block of a launch that is too large to be kept; the launch itself is taken in next."""
        from ...tracer.analysis.requests import requests_of

        self._also = trace.recorded.tolist()
        found = summary(0, trace, 0.0, requests_of(trace))["findings"]
        self._last = [finding for finding in found if finding["kind"] != "part"]

    def _add(self, findings: list[FindingData], kernel: str) -> None:
        for finding in findings:
            alike = NUMBER.sub("#", finding["message"])
            key = (*_mistake_of(finding), alike)
            self._found.setdefault(key, finding | {"kernel": kernel})

    def found(self) -> list[FindingData]:
        """Return what is known while the program runs."""
        return list(self._found.values())

    @property
    def launches(self) -> int:
        """How many launches were taken in."""
        return len(self._kernels)

    def findings(self) -> list[FindingData]:
        """Return everything, worst first, once the program has ended."""
        for number, found in self.compiler.findings().items():
            self._add(found, self._kernels[number])
        return in_order(list(self._found.values()))


def print_findings(findings: list[FindingData], form: str, output: TextIO, none: str = "no findings") -> None:
    """Print findings as `file:line: severity: kind: message`, as JSON, or as GitHub's annotations.

    none: what is said as text where there are no findings, "" for nothing.
    """
    if form == "json":
        print(json.dumps(findings, indent=1), file=output)
        return
    line = _github_line if form == "github" else _text_line
    for finding in findings:
        say(line(finding), output)
    if not findings and none and form == "text":
        print(none, file=output)


def _text_line(finding: FindingData) -> str:
    label = finding["severity"]
    kind = f"{finding['kind']}: " if label == "error" else ""
    return visible(f"{finding['file']}:{finding['line']}: {label}: {kind}{finding['message']}")


def _github_line(finding: FindingData) -> str:
    """Return an annotation, as "Workflow commands for GitHub Actions" describes them."""
    level = {"error": "error", "warning": "warning"}.get(finding["severity"], "notice")
    file = _escaped(finding["file"], ":,")
    return f"::{level} file={file},line={finding['line']},title={finding['kind']}::{_escaped(finding['message'])}"


def _escaped(text: str, more: str = "") -> str:
    """Return text in which characters that end a part of a workflow command are percent-encoded."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
