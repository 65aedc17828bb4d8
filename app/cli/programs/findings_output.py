"""What `tilescope run` and `tilescope check` say of a program's launches, as plain data and as text."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any, TextIO

from ....tracer.model.notebook_cells import cell_of
from ...model.visible_text import visible
from ..common.text_output import complain, is_read_by_someone, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....tracer.analysis.requests import Requests
    from ....tracer.model.finding import Finding
    from ....tracer.model.trace import Trace
    from ....tracer.type_inference.client import Operation, Refusal, TypeInference
    from ....tracer.type_inference.question import Question

PATIENCE = 3.0  # seconds of waiting for Numba's compiler before a terminal is told
FindingData = dict[str, Any]  # a finding as plain data
Moments = dict[tuple[str, int], int]  # when each (file, line) makes its first request
Kernel = tuple[str, str]  # its name and file
Caller = tuple[str, int]  # the file and line of the program that lead to a library's kernel
NUMBER = re.compile(r"-?(?<!line )\b(?:\d[\d,.]*(?:e[-+]?\d+)?|nan|inf)(?:[-+][\d.e]+j)?")
INTERNAL = ("statement", "cause", "name")  # what a finding holds for whoever puts those of one cause together
COMPILED = ", compiled"  # how the first part of `made_by` ends where compiled code ran


def summary(
    number: int, trace: Trace, seconds: float, requests: Requests, caller: Caller | None
) -> dict[str, Any]:
    """Return one launch as plain data: who ran, how long with recording, what it asked of memory, findings."""
    from ....tracer.analysis.counters import counters_of

    return {
        "launch": number, "kernel": trace.kernel, "grid": list(trace.grid), "block": list(trace.block_dim),
        "seconds": seconds, "accesses": trace.accesses, "counters": counters_of(trace, requests).total,
        "engine": engine_of(trace), "made_by": trace.made_by, "findings": found_in(trace, requests, caller),
    }  # fmt: skip


def found_in(
    trace: Trace, requests: Requests, caller: Caller | None, also: Sequence[int] = ()
) -> list[FindingData]:
    """Return what a launch does wrong, as plain data.

    caller: see `caller_of`. also: blocks beside those of the trace that were examined.
    """
    from ....tracer.findings.all_findings import findings_of
    from ....tracer.findings.partial_launch import of_part, part_findings

    found = [*(of_part(f, trace) for f in findings_of(trace, requests)), *part_findings(trace, also)]
    if _is_librarys(trace):  # what is slow in a library's kernel, the user can't mend
        found = [f for f in found if f.severity == "error" or f.kind == "part"]
    return [finding_data(finding, trace, caller) for finding in found]


def engine_of(trace: Trace) -> str:
    """Return which engine ran a launch: "compiled" or "simulator"."""
    return "compiled" if trace.made_by.partition(";")[0].endswith(COMPILED) else "simulator"


def _is_librarys(trace: Trace) -> bool:
    from ....tracer.analysis.kernel_structure import kernel_file
    from ....tracer.model.user_code import user_code_for

    file = kernel_file(trace)
    return not user_code_for(file).owns(file)


def caller_of(trace: Trace) -> Caller | None:
    """Return the (file, line) of the program under way that leads to a library's kernel; None for one of its own."""
    from ....tracer.analysis.kernel_structure import kernel_file
    from ....tracer.model.user_code import user_code_for

    file = kernel_file(trace)
    mine = user_code_for(file)
    return None if mine.owns(file) else mine.calling_line(sys._getframe())


def finding_data(finding: Finding, trace: Trace, caller: Caller | None = None) -> FindingData:
    """Return a finding as plain data; it is reported at the line of the caller, where a library's kernel has one."""
    from ....tracer.model.finding import Place, message_of, source_location

    file, line = source_location(finding, trace)
    statement, also = finding.statement, finding.also
    if caller is not None:
        statement, also = f"{statement.removesuffix('.')} (in {trace.kernel} of {file}).", ()
        file, line = caller
    return {
        "kind": finding.kind, "severity": finding.severity, "file": file, "line": line, "count": finding.count,
        "message": message_of(statement, also), "remedy": finding.remedy, "moment": finding.moment,
        "threads": [list(thread) for thread in finding.threads],
        "name": finding.name, "places": [Place(p.file or file, p.line, p.name)._asdict() for p in also],
        "statement": statement, "cause": finding.cause,
    }  # fmt: skip


def in_order(findings: list[FindingData]) -> list[FindingData]:
    """Return findings as `findings_of` orders them: errors first, then by kind and moment."""
    from ....tracer.model.finding import sort_key

    return sorted(findings, key=lambda f: sort_key(f["severity"], f["kind"], f["moment"]))


class CompilerFindings:
    """What Numba's compiler makes of a program's kernels: asked as they are launched, waited for at the end.

    seconds: that are waited at most.
    """

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._inference: TypeInference | None = None  # NumPy is not imported before the program does
        self.key = ""  # of the question about the launch that began last
        self._launches: list[tuple[int, str, str, Moments]] = []

    def ask(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        """Ask about a launch that begins, unless it is a library's kernel, or the answer is plain."""
        from ....tracer.model.user_code import user_code_for
        from ....tracer.type_inference.shared import shared_kernels

        self.key, file = "", getattr(getattr(kernel.fn, "__code__", None), "co_filename", "")
        if not file or not user_code_for(file).owns(file):
            return
        self.key = self.ask_question(shared_kernels().question(kernel, arguments))

    def ask_question(self, question: Question) -> str:
        """Ask a question about a launch; return the key by which the answer is found."""
        from ....tracer.type_inference.shared import shared_inference

        self._inference = shared_inference()
        return self._inference.ask(question)

    def note_launch(self, number: int, question: Question, trace: Trace, requests: Requests) -> None:
        """Ask about a launch that has been made elsewhere, unless its kernel is a library's."""
        if not _is_librarys(trace):
            self._launches.append(
                (number, self.ask_question(question), trace.kernel, _moments(trace, requests))
            )

    def note(self, number: int, key: str, trace: Trace, requests: Requests) -> None:
        """Keep what must be known of a launch of the program's own, to whose question this key leads."""
        self._launches.append((number, key, trace.kernel, _moments(trace, requests)))

    def findings(self) -> dict[int, list[FindingData]]:
        """Return the findings of each launch that has some, by its number; waits for what is not answered yet."""
        known = self._inference.answers(PATIENCE, _say_what_is_waited_for) if self._inference else {}
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


def _say_what_is_waited_for() -> None:
    if is_read_by_someone():
        complain("Numba's compiler is still looking at the kernels.")


def _refusal_data(refusal: Refusal | None, kernel: str) -> list[FindingData]:
    from ....tracer.findings.not_compiled import KIND, SEVERITY, refusal_message

    if refusal is None:
        return []
    said = refusal_message(kernel, refusal)
    return [
        {
            "kind": KIND, "severity": SEVERITY, "file": refusal.file, "line": refusal.line, "count": 1,
            "message": said, "remedy": refusal.remedy, "moment": 0, "threads": [], "name": "", "places": [],
            "statement": said, "cause": "",
        }
    ]  # fmt: skip


def mismatch_data(function: Any, sentence: str) -> FindingData:
    """Return the finding about an array of another type than a kernel declares, at the kernel's first line."""
    remedy = "pass an array of the declared type, or leave the signature out"
    said = f"{sentence}; {remedy}."
    return {
        "kind": "dtype mismatch", "severity": "error", "file": function.__code__.co_filename,
        "line": function.__code__.co_firstlineno, "count": 1, "message": said, "remedy": remedy, "moment": 0,
        "threads": [], "name": "", "places": [], "statement": said, "cause": sentence,
    }  # fmt: skip


def _moments(trace: Trace, requests: Requests) -> Moments:
    import numpy as np

    site, first = np.unique(requests.site, return_index=True)  # requests are in the order of their moments
    found: Moments = {}
    for number, moment in zip(site.tolist(), requests.moment[first].tolist(), strict=True):
        line = trace.sites[number].file, trace.sites[number].line
        found[line] = min(moment, found.get(line, moment))
    return found


def _float64_data(operations: tuple[Operation, ...], moments: Moments) -> list[FindingData]:
    from ....tracer.findings.float64 import KIND, float64_lines
    from ....tracer.model.finding import message_of

    return [
        {
            "kind": KIND, "severity": found.severity, "file": found.file, "line": found.line, "count": found.number,
            "message": message_of(found.message, found.also), "remedy": found.remedy,
            "moment": moments.get((found.file, found.line), 0), "threads": [], "name": "",
            "places": [{"file": found.file, "line": place.line, "name": ""} for place in found.also],
            "statement": found.message, "cause": "",
        }
        for found in float64_lines(operations)
    ]  # fmt: skip


class EnginesUsed:
    """Which engine ran how many launches of each kernel, and why."""

    def __init__(self) -> None:
        self._ran: dict[tuple[str, str], int] = {}

    def note(self, trace: Trace) -> None:
        """Take in a launch."""
        ran = trace.kernel, _how_run(engine_of(trace), trace.made_by)
        self._ran[ran] = self._ran.get(ran, 0) + 1

    def report(self) -> None:
        """Say it on standard error, in a line for each kernel and reason."""
        from ....tracer.model.finding import counted

        for (kernel, how), number in self._ran.items():
            complain(f"{counted(number, 'launch')} of {kernel} {how}.")


class OutsideReport:
    """Report accesses outside arrays as launches end: each cause once, however many launches have it."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, ...]] = set()

    def report(self, trace: Trace) -> None:
        """Print what is new in a launch to standard error: its results may depend on it."""
        if not len(trace.outside.block):
            return
        from ....tracer.analysis.kernel_structure import kernel_file
        from ....tracer.analysis.requests import requests_of
        from ....tracer.findings.out_of_bounds import out_of_bounds_findings
        from ....tracer.findings.same_cause import one_for_each_cause

        found = out_of_bounds_findings(trace, requests_of(trace))
        for finding in one_for_each_cause(found, trace):
            cause = trace.kernel, kernel_file(trace), finding.cause
            if cause not in self._reported:
                self._reported.add(cause)
                complain(text_line(finding_data(finding, trace, caller_of(trace))))


class FindingCollector:
    """What `tilescope check` has found: what has one cause is one finding, in however many places and launches.

    seconds: that Numba's compiler is waited for at most.
    """

    def __init__(self, seconds: float = 60.0) -> None:
        self._found: dict[tuple[str, ...], _Cause] = {}
        self._kernels: list[Kernel] = []
        self.engines = EnginesUsed()
        self._mismatches: list[FindingData] = []  # of the launch to come
        self._also: list[int] = []  # blocks of the launch to come that were examined by themselves
        self._last: list[FindingData] = []  # what was found there
        self.compiler = CompilerFindings(seconds)

    def take(self, trace: Trace, question: Question | None = None) -> None:
        """Take in a launch; question: what to ask Numba's compiler of it, where that was not done before."""
        from ....tracer.analysis.kernel_structure import kernel_file
        from ....tracer.analysis.requests import requests_of

        requests, number, caller = requests_of(trace), len(self._kernels), caller_of(trace)
        if question is not None:
            self.compiler.note_launch(number, question, trace, requests)
        elif caller is None:
            self.compiler.note(number, self.compiler.key, trace, requests)
        self._kernels.append((trace.kernel, kernel_file(trace)))
        found = found_in(trace, requests, caller, self._also)
        self.engines.note(trace)
        self._add([*self._mismatches, *found], number)
        self._mismatches = []
        known = {self._cause_of(finding, number) for finding in found}
        self._add([f for f in self._last if self._cause_of(f, number) not in known], number)
        self._also, self._last = [], []

    def refuse(self, kernel: Any, refusal: Refusal) -> None:
        """Take in a launch that Numba refuses, unless its kernel is a library's."""
        from ....tracer.model.user_code import user_code_for

        file, number = kernel.fn.__code__.co_filename, len(self._kernels)
        self._kernels.append((kernel.fn.__name__, file))
        if user_code_for(file).owns(file):
            self._add(_refusal_data(refusal, kernel.fn.__name__), number)

    def mismatch(self, kernel: Any, sentence: str) -> None:
        """Take in that a launch, which is taken in next, passes an array of another type than its kernel declares."""
        self._mismatches.append(mismatch_data(kernel.fn, sentence))

    def take_last(self, trace: Trace) -> None:
        """Take in the last block of a launch that is too large to be kept; the launch itself is taken in next."""
        from ....tracer.analysis.requests import requests_of

        self._also = trace.recorded.tolist()
        found = found_in(trace, requests_of(trace), caller_of(trace))
        self._last = [finding for finding in found if finding["kind"] != "part"]

    def _cause_of(self, finding: FindingData, launch: int) -> tuple[str, ...]:
        """Return what findings have in common that are one: a kernel's, of one kind and cause."""
        told = finding["cause"] or f"{finding['line']} {NUMBER.sub('#', finding['statement'])}"
        return (*self._kernels[launch], finding["kind"], told)

    def _add(self, findings: list[FindingData], launch: int) -> None:
        for finding in findings:
            named = finding | {"kernel": self._kernels[launch][0]}
            self._found.setdefault(self._cause_of(finding, launch), _Cause(named)).add(named, launch)

    def found(self) -> list[FindingData]:
        """Return what is known while the program runs."""
        return [cause.told() for cause in self._found.values()]

    @property
    def launches(self) -> int:
        """How many launches were taken in."""
        return len(self._kernels)

    def findings(self) -> list[FindingData]:
        """Return everything, worst first, once the program has ended."""
        for number, found in self.compiler.findings().items():
            self._add(found, number)
        return in_order(self.found())


def _how_run(engine: str, made_by: str) -> str:
    """Return how a launch ran, in words: compiled, or by the simulator and why."""
    why = made_by.partition("; ")[2]
    return "ran compiled" if engine == "compiled" else f"ran in the simulator{f' ({why})' if why else ''}"


def public(finding: FindingData) -> FindingData:
    """Return a finding without what is for those alone who put findings of one cause together."""
    return {key: value for key, value in finding.items() if key not in INTERNAL}


def with_cells(finding: FindingData) -> FindingData:
    """Return a finding in whose plain data a notebook's file and its cell stand apart: "file", and "cell" (from 1)."""
    places = [place | _file_and_cell(place["file"]) for place in finding["places"]]
    return finding | _file_and_cell(finding["file"]) | {"places": places}


def _file_and_cell(file: str) -> dict[str, str | int]:
    cell = cell_of(file)
    return {"file": cell[0], "cell": cell[1]} if cell else {"file": file}


class _Cause:
    """What has one cause in several launches: the first of the worst findings, and all places."""

    def __init__(self, first: FindingData) -> None:
        self._worst = first
        self._places: set[tuple[str, int, str]] = set()
        self._launches, self._last = 0, -1

    def add(self, finding: FindingData, launch: int) -> None:
        """Take in a finding of a launch; of one launch all come before those of the next."""
        from ....tracer.model.finding import SEVERITIES

        if SEVERITIES.index(finding["severity"]) < SEVERITIES.index(self._worst["severity"]):
            self._worst = finding
        self._places.add(_place(finding))
        self._places.update(_place(place) for place in finding["places"])
        self._launches += launch != self._last
        self._last = launch

    def told(self) -> FindingData:
        """Return them as one finding."""
        from ....tracer.model.finding import Place, message_of

        worst, others = self._worst, sorted(self._places - {_place(self._worst)})
        also = [Place("" if file == worst["file"] else file, line, name) for file, line, name in others]
        # Of what is so by itself, such as a type, how often it was launched says nothing.
        launches = self._launches if worst["threads"] else 1
        return public(worst) | {
            "message": message_of(worst["statement"], also, launches), "launches": self._launches,
            "places": [{"file": file, "line": line, "name": name} for file, line, name in others],
        }  # fmt: skip


def _place(finding: FindingData) -> tuple[str, int, str]:
    return finding["file"], finding["line"], finding["name"]


def print_findings(findings: list[FindingData], form: str, output: TextIO, none: str = "no findings") -> None:
    """Print findings as `file:line: severity: kind: message`, as JSON, or as GitHub's annotations.

    none: what is said as text where there are no findings, "" for nothing.
    """
    if form == "json":
        print(json.dumps([with_cells(finding) for finding in findings], indent=1), file=output)
        return
    line = _github_line if form == "github" else text_line
    for finding in findings:
        say(line(finding), output)
    if not findings and none and form == "text":
        say(none, output)


def text_line(finding: FindingData) -> str:
    """Return a finding as the line that is printed of it."""
    label = finding["severity"]
    kind = f"{finding['kind']}: " if label == "error" else ""
    return visible(f"{finding['file']}:{finding['line']}: {label}: {kind}{finding['message']}")


def _github_line(finding: FindingData) -> str:
    """Return an annotation, as "Workflow commands for GitHub Actions" describes them."""
    level = {"error": "error", "warning": "warning"}.get(finding["severity"], "notice")
    cell = cell_of(finding["file"])  # of a notebook, in whose file the line has another number
    file = _escaped(cell[0] if cell else finding["file"], ":,")
    line, where = (
        ("", f"cell {cell[1]}, line {finding['line']}: ") if cell else (f",line={finding['line']}", "")
    )
    return f"::{level} file={file}{line},title={finding['kind']}::{where}{_escaped(finding['message'])}"


def _escaped(text: str, more: str = "") -> str:
    """Return text in which characters that end a part of a workflow command are percent-encoded."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
