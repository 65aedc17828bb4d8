"""The findings and counters of a program's launches as plain data, for `tilescope run` and `tilescope check`."""

from __future__ import annotations

import math
import re
import shutil
import sys
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from ....tracer.model.rules import code_of, confidence_of
from ..common.text_output import is_stderr_a_terminal, print_error
from ..reports.report import FindingData, TracedData, kernel_name, traced_data
from ..reports.text import text_line
from .order_trials import OrderTrials, is_harmful_race, order_finding, with_changed_result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ....tracer.analysis.requests import Requests
    from ....tracer.cuda_cpp.session import ProgramFault
    from ....tracer.model.finding import Finding
    from ....tracer.model.trace import Trace
    from ....tracer.orders.other_orders import ChangedResult
    from ....tracer.remedies.trial import ProvenFix, TrialCase
    from ....tracer.type_inference.client import Operation, Refusal, TypeInference
    from ....tracer.type_inference.question import Question

    TrialEnd = tuple[ProvenFix | None, bool]  # a remedy that works, and whether its trial ended in time
    PrepareTrial = Callable[[Trace, Finding, list[Finding]], TrialCase | None]

SECONDS_WITH_ADVICE = 60.0  # that the trials may take if remedies of waste are tried
MOST_LAUNCHES_TRIED = 64  # launches of a program from which remedies are tried
SECONDS_BEFORE_NOTICE = 3.0  # of waiting for Numba's compiler before a terminal shows a notice
Moments = dict[tuple[str, int], int]  # the first request of each (file, line)
Kernel = tuple[str, str]  # name and file
Key = tuple[str, int, str, str]  # file, line, name and statement of a finding
Caller = tuple[str, int]  # the file and line of the program that lead to a library's kernel
NUMBER = re.compile(r"-?(?<!line )\b(?:\d[\d,.]*(?:e[-+]?\d+)?|nan|inf)(?:[-+][\d.e]+j)?")
INTERNAL = (
    "statement",
    "cause",
    "name",
    "trial",
    "launched",
)  # keys for merging findings and trying remedies
LEAKS = "leak"  # the kind of a program's fault that is a warning
COMPILED = ", compiled"  # the end of the first part of `made_by` for compiled code


def summary(
    number: int, trace: Trace, seconds: float, requests: Requests, caller: Caller | None,
    prepare: PrepareTrial | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Describe a launch as plain data: its kernel, time with tracing, memory counters and findings.

    prepare: as in `launch_findings`.
    """
    from ....tracer.analysis.counters import counters_of

    return {
        "launch": number, "kernel": trace.kernel, "grid": list(trace.grid), "block": list(trace.block_dim),
        "seconds": seconds, "accesses": trace.accesses, "counters": counters_of(trace, requests).total,
        "engine": engine_of(trace), "made_by": trace.made_by,
        "findings": launch_findings(trace, requests, caller, (), prepare),
    }  # fmt: skip


def launch_findings(
    trace: Trace, requests: Requests, caller: Caller | None, also: Sequence[int] = (),
    prepare: PrepareTrial | None = None, operations: tuple[Operation, ...] = (),
) -> list[FindingData]:  # fmt: skip
    """List the findings of a launch, as plain data.

    caller: see `caller_of`. also: examined blocks that the trace does not have. prepare: prepares the trial of a
    remedy; then a remedy that may be wrong is left out until it is proven. operations: float64 arithmetic.
    """
    from ....tracer.findings.all_findings import findings_of
    from ....tracer.findings.partial_launch import mark_partial, part_findings

    findings = [
        *(mark_partial(f, trace) for f in findings_of(trace, requests, operations)),
        *part_findings(trace, also),
    ]
    if _is_librarys(trace):  # slow code in a library's kernel can't be fixed by the user
        findings = [f for f in findings if f.severity == "error" or f.kind == "part"]
    data = [finding_data(finding, trace, caller) for finding in findings]
    if prepare is None:
        return data
    return [
        _with_trial(entry, finding, prepare(trace, finding, findings))
        for entry, finding in zip(data, findings, strict=True)
    ]


def _with_trial(data: FindingData, finding: Finding, case: TrialCase | None) -> FindingData:
    """Add the trial of a remedy, and leave out a remedy that has to be tried first."""
    from ....tracer.remedies.candidates import is_mechanical
    from ....tracer.remedies.trial import without_remedy

    if not is_mechanical(finding):
        return data if case is None else data | {"trial": case}
    statement = without_remedy(data["statement"], finding.remedy)
    return data | {
        "statement": statement,
        "message": without_remedy(data["message"], finding.remedy),
        "remedy": "",
        "trial": case,
    }


def engine_of(trace: Trace) -> str:
    """Return the name of the engine that ran a launch: "compiled" or "simulator"."""
    return "compiled" if trace.made_by.partition(";")[0].endswith(COMPILED) else "simulator"


def _is_librarys(trace: Trace) -> bool:
    from ....tracer.analysis.kernel_structure import kernel_file
    from ....tracer.model.user_code import user_code_for

    file = kernel_file(trace)
    return not user_code_for(file).owns(file)


def caller_of(trace: Trace) -> Caller | None:
    """Find the (file, line) of the running program that leads to a library's kernel; None for the program's kernels."""
    from ....tracer.analysis.kernel_structure import kernel_file
    from ....tracer.model.user_code import user_code_for

    file = kernel_file(trace)
    user_code = user_code_for(file)
    return None if user_code.owns(file) else user_code.calling_line(sys._getframe())


def finding_data(finding: Finding, trace: Trace, caller: Caller | None = None) -> FindingData:
    """Convert a finding to plain data; a finding in a library's kernel is reported at the caller's line."""
    from ....tracer.model.finding import RelatedPlace, message_of, source_location

    file, line = source_location(finding, trace)
    statement, also = finding.statement, finding.also
    if caller is not None:
        statement, also = f"{statement.removesuffix('.')} (in {trace.kernel} of {file}).", ()
        file, line = caller
    return {
        "kind": finding.kind, "severity": finding.severity, "file": file, "line": line, "count": finding.count,
        "message": message_of(statement, also), "remedy": finding.remedy, "moment": finding.moment,
        "threads": [list(thread) for thread in finding.threads],
        "name": finding.name, "places": [RelatedPlace(p.file or file, p.line, p.name)._asdict() for p in also],
        "statement": statement, "cause": finding.cause, "rule": finding.code, "confidence": finding.confidence,
        "accesses": _accesses(finding, trace),
    }  # fmt: skip


def _accesses(finding: Finding, trace: Trace) -> list[dict[str, Any]]:
    """Describe the two conflicting accesses of a race, in the order in which they ran; none for other findings."""
    from ....tracer.findings.races import access_text

    if finding.kind != "race":
        return []
    entries = []
    for row in sorted(finding.example):
        site = trace.sites[int(trace.site[row])]
        place = {
            "file": site.file,
            "line": site.line,
            "block": int(trace.block[row]),
            "thread": int(trace.thread[row]),
        }
        entries.append(place | {"text": access_text(trace, row)})
    return entries


def with_rule(data: FindingData) -> FindingData:
    """Add the rule of its kind, its confidence and no accesses to a finding that no trace shows."""
    rule = {"rule": code_of(data["kind"]), "confidence": confidence_of(data["kind"], data["severity"])}
    return data | rule | {"accesses": []}


def sort_findings(findings: list[FindingData]) -> list[FindingData]:
    """Sort findings like `findings_of`: errors first, then by kind and moment."""
    from ....tracer.model.finding import sort_key

    return sorted(findings, key=lambda f: sort_key(f["severity"], f["kind"], f["moment"]))


class CompilerFindings:
    """The findings of Numba's compiler: requested at each launch, collected at the end.

    seconds: the longest time to wait.
    """

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._inference: TypeInference | None = None  # NumPy must not be imported before the program does
        self.key = ""  # of the question about the launch that started last
        self._question: Question | None = None  # it
        self._launches: list[
            tuple[int, str, str, Moments | None]
        ] = []  # None: its float64 arithmetic is reported

    def ask(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        """Ask about a launch that starts, unless it is a library's kernel or the answer is obvious."""
        from ....tracer.model.user_code import user_code_for
        from ....tracer.type_inference.shared import shared_kernels

        self.key, file = "", getattr(getattr(kernel.fn, "__code__", None), "co_filename", "")
        if not file or not user_code_for(file).owns(file):
            return
        self._question = shared_kernels().question(kernel, arguments)
        self.key = self.ask_question(self._question)

    def ask_question(self, question: Question) -> str:
        """Ask a question about a launch; return the key of its answer."""
        from ....tracer.type_inference.shared import shared_inference

        self._inference = shared_inference()
        return self._inference.ask(question)

    def note_launch(self, number: int, question: Question, trace: Trace, requests: Requests) -> None:
        """Ask about a launch that was made elsewhere, unless its kernel is a library's."""
        if not _is_librarys(trace):
            self._launches.append(
                (number, self.ask_question(question), trace.kernel, _moments(trace, requests))
            )

    def note(
        self, number: int, key: str, trace: Trace, requests: Requests, *, has_float64: bool = False
    ) -> None:
        """Store the data of a launch of the program's own kernel, with the key of its question.

        has_float64: whether its float64 arithmetic is reported already.
        """
        from ....tracer.analysis.kernel_structure import is_in_cuda_cpp

        if is_in_cuda_cpp(trace):
            return
        self._launches.append((number, key, trace.kernel, None if has_float64 else _moments(trace, requests)))

    def operations(self) -> tuple[Operation, ...]:
        """Wait for the float64 arithmetic of the launch that started last; none if it is unknown."""
        if self._inference is None or self._question is None or not self.key:
            return ()
        return self._inference.answer_to(self._question).operations

    def findings(self) -> dict[int, list[FindingData]]:
        """Collect the findings of each launch that has some, by its number; waits for missing answers."""
        answers = self._inference.answers(SECONDS_BEFORE_NOTICE, _report_waiting) if self._inference else {}
        findings: dict[int, list[FindingData]] = {}
        for number, key, kernel, moments in self._launches:
            answer = answers.get(key)
            data = answer and [
                *_refusal_data(answer.refusal, kernel),
                *([] if moments is None else _float64_data(answer.operations, moments)),
            ]
            if data:
                findings[number] = data
        return findings


def _report_waiting() -> None:
    if is_stderr_a_terminal():
        print_error("waiting for Numba's compiler to check the kernels.")


def _refusal_data(refusal: Refusal | None, kernel: str) -> list[FindingData]:
    from ....tracer.findings.not_compiled import KIND, SEVERITY, refusal_message

    if refusal is None:
        return []
    message = refusal_message(kernel, refusal)
    data = {
        "kind": KIND, "severity": SEVERITY, "file": refusal.file, "line": refusal.line, "count": 1,
        "message": message, "remedy": refusal.remedy, "moment": 0, "threads": [], "name": "", "places": [],
        "statement": message, "cause": "",
    }  # fmt: skip
    return [with_rule(data)]


def mismatch_data(function: Any, sentence: str) -> FindingData:
    """Build the finding for an array whose type differs from the kernel's signature, at the kernel's first line."""
    remedy = "pass an array of the declared type, or remove the signature"
    message = f"{sentence}; {remedy}."
    data = {
        "kind": "dtype mismatch", "severity": "error", "file": function.__code__.co_filename,
        "line": function.__code__.co_firstlineno, "count": 1, "message": message, "remedy": remedy, "moment": 0,
        "threads": [], "name": "", "places": [], "statement": message, "cause": sentence,
    }  # fmt: skip
    return with_rule(data)


def data_of_fault(fault: ProgramFault, file: str = "") -> FindingData:
    """Convert a fault of a program to a finding; file: that of faults without one."""
    kind = {"compile": "compile", "streams": "race"}.get(fault.kind, "launch")
    severity = "warning" if fault.kind == LEAKS else "error"
    kernel = (fault.kernel, fault.kernel_file)
    return fault_data(kind, severity, fault.file or file, fault.line or 1, fault.text, kernel)


def fault_data(
    kind: str, severity: str, file: str, line: int, text: str, kernel: Kernel = ("", "")
) -> FindingData:
    """Build a finding that no trace shows. kernel: name and file of the kernel whose launch left no trace."""
    data = {
        "kind": kind, "severity": severity, "file": file, "line": line, "count": 1, "message": text, "remedy": "",
        "moment": 0, "threads": [], "name": "", "places": [], "statement": text, "cause": text,
        "launched": kernel,
    }  # fmt: skip
    return with_rule(data)


def _moments(trace: Trace, requests: Requests) -> Moments:
    import numpy as np

    site, first = np.unique(requests.site, return_index=True)  # requests are sorted by moment
    moments: Moments = {}
    for number, moment in zip(site.tolist(), requests.moment[first].tolist(), strict=True):
        line = trace.sites[number].file, trace.sites[number].line
        moments[line] = min(moment, moments.get(line, moment))
    return moments


def _float64_data(operations: tuple[Operation, ...], moments: Moments) -> list[FindingData]:
    from ....tracer.findings.float64 import KIND, float64_lines
    from ....tracer.model.finding import message_of

    entries = [
        {
            "kind": KIND, "severity": line.severity, "file": line.file, "line": line.line, "count": line.number,
            "message": message_of(line.message, line.also), "remedy": line.remedy,
            "moment": moments.get((line.file, line.line), 0), "threads": [], "name": "",
            "places": [{"file": line.file, "line": place.line, "name": ""} for place in line.also],
            "statement": line.message, "cause": "",
        }
        for line in float64_lines(operations)
    ]  # fmt: skip
    return [with_rule(entry) for entry in entries]


class RemedyTrials:
    """Tries the remedies of a program's findings in a separate process, once the program has ended.

    Equal trials run once. tries_advice: whether remedies of waste are tried too, in addition to those of errors.
    """

    def __init__(self, *, tries_advice: bool = False) -> None:
        self.tries_advice = tries_advice
        self._tried: dict[tuple[object, ...], TrialEnd] = {}
        self._inputs: Path | None = None  # the folder of the inputs of the launches that try remedies

    def prepare(
        self, number: int, trace: Trace, finding: Finding, findings: list[Finding]
    ) -> TrialCase | None:
        """Prepare the trial of a remedy, in the first launches of a program; None if it can't be tried.

        number: of the launch, from 0.
        """
        from ....tracer.remedies.candidates import has_edits, is_edit_of_waste
        from ....tracer.remedies.trial import trial_case
        from ....tracer.storage.temp_folders import new_process_folder

        if not has_edits(finding) or number >= MOST_LAUNCHES_TRIED:
            return None
        if is_edit_of_waste(finding) and not self.tries_advice:
            return None
        if self._inputs is None:
            self._inputs = new_process_folder()
        return trial_case(trace, finding, findings, self._inputs)

    def prove(self, cases: list[TrialCase]) -> list[TrialEnd]:
        """Try all cases, and remove their inputs; return each remedy that works, and whether its trial ended."""
        from ....tracer.remedies.trial import TOTAL_SECONDS, Trials

        keys = [(case.source, case.fixes, frozenset(case.allowed.items())) for case in cases]
        untried = {key: case for key, case in zip(keys, cases, strict=True) if key not in self._tried}
        trials = Trials(SECONDS_WITH_ADVICE if self.tries_advice else TOTAL_SECONDS)
        try:
            fixes = trials.prove_all(list(untried.values())) if untried else []
            self._tried.update(zip(untried, zip(fixes, trials.finished, strict=True), strict=True))
            return [self._tried[key] for key in keys]
        finally:
            if self._inputs is not None:
                shutil.rmtree(self._inputs, ignore_errors=True)
            self._inputs = None


def with_trial_end(data: FindingData, end: TrialEnd) -> FindingData:
    """Add the remedy that worked to a finding, or that its trial was not finished."""
    from ....tracer.remedies.trial import UNFINISHED, with_remedy

    fix, is_finished = end
    if fix is not None:
        return with_proven_fix(data, fix)
    if is_finished:
        return data
    return data | {key: with_remedy(data[key], UNFINISHED) for key in ("statement", "message")}


def with_proven_fix(data: FindingData, fix: ProvenFix) -> FindingData:
    """Add a remedy that worked, and its edits, to a finding."""
    from ....tracer.model.finding import RelatedPlace, message_of
    from ....tracer.remedies.trial import with_remedy, without_remedy

    edits = [{"line": edit.line, "old": list(edit.old), "new": list(edit.new)} for edit in fix.edits]
    file = data["file"]
    statement = with_remedy(without_remedy(data["statement"], data["remedy"]), fix.remedy)
    also = [
        RelatedPlace("" if p["file"] == file else p["file"], p["line"], p["name"]) for p in data["places"]
    ]
    fixed = {"statement": statement, "message": message_of(statement, tuple(also)), "remedy": fix.remedy}
    counters = {c.name: {"before": c.before, "after": c.after} for c in fix.counters}
    return data | fixed | {"fix": edits} | ({"counters": counters} if counters else {})


class EnginesUsed:
    """The engines that ran each kernel's launches, with counts and reasons."""

    def __init__(self) -> None:
        self._ran: dict[tuple[str, str], int] = {}

    def note(self, trace: Trace) -> None:
        """Count a launch."""
        ran = trace.kernel, _how_run(engine_of(trace), trace.made_by)
        self._ran[ran] = self._ran.get(ran, 0) + 1

    def report(self) -> None:
        """Report the engines on standard error, in a line for each kernel and reason."""
        from ....tracer.model.finding import count_noun

        for (kernel, how), number in self._ran.items():
            print_error(f"{count_noun(number, 'launch')} of {kernel} {how}.")


class OutsideReport:
    """Reports accesses outside arrays as launches end, each cause once."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, ...]] = set()

    def report(self, trace: Trace) -> None:
        """Print the new causes of a launch to standard error: its results may depend on them."""
        if not len(trace.outside.block):
            return
        from ....tracer.analysis.kernel_structure import kernel_file
        from ....tracer.analysis.requests import requests_of
        from ....tracer.findings.out_of_bounds import out_of_bounds_findings
        from ....tracer.findings.same_cause import merge_by_cause

        findings = out_of_bounds_findings(trace, requests_of(trace))
        for finding in merge_by_cause(findings, trace):
            cause = trace.kernel, kernel_file(trace), finding.cause
            if cause not in self._reported:
                self._reported.add(cause)
                print_error(text_line(finding_data(finding, trace, caller_of(trace))))


class FindingCollector:
    """The findings of `tilescope check`; findings of one cause are merged, across lines and launches.

    seconds: the longest time to wait for Numba's compiler. orders: the number of other orders in which each launch
    runs at the end. remedies: tries remedies; several collectors may share it. witnesses: the folder for orders
    that change a result, None to write none.
    """

    def __init__(
        self,
        seconds: float = 60.0,
        orders: int = 0,
        remedies: RemedyTrials | None = None,
        witnesses: Path | None = None,
    ) -> None:
        self._orders = OrderTrials(orders, witnesses)
        self._definitions: dict[int, tuple[str, int]] = {}  # file and line of each launch's own kernel
        self._found: dict[tuple[str, ...], _Cause] = {}
        self._kernels: list[Kernel] = []
        self._blocks = self._grid_blocks = 0  # examined ones, and those of all grids
        self._refused = 0  # launches that Numba refused
        self._untraced: list[Kernel] = []  # whose launches left no trace
        self._traced_kernels: dict[str, None] = {}  # their names with their files
        self.engines = EnginesUsed()
        self._faults: list[FindingData] = []  # of the program, in no launch
        self._fault_places: set[tuple[str, int, str]] = set()  # of those that were noted: file, line and text
        self._mismatches: list[FindingData] = []  # of the next launch
        self._also: list[int] = []  # blocks of the next launch that were examined separately
        self._last: list[FindingData] = []  # the findings there
        self.compiler = CompilerFindings(seconds)
        self._remedies = remedies or RemedyTrials()

    def add(self, trace: Trace, question: Question | None = None) -> None:
        """Add a launch; question: for Numba's compiler, unless it was asked already."""
        from ....tracer.analysis.kernel_structure import kernel_file
        from ....tracer.analysis.requests import requests_of
        from ....tracer.model.finding import definition_of

        requests, number, caller = requests_of(trace), len(self._kernels), caller_of(trace)
        operations: tuple[Operation, ...] = ()
        if question is not None:
            self.compiler.note_launch(number, question, trace, requests)
        elif caller is None:
            operations = self.compiler.operations() if self._remedies.tries_advice else ()
            key, has_float64 = self.compiler.key, self._remedies.tries_advice
            self.compiler.note(number, key, trace, requests, has_float64=has_float64)
        self._kernels.append((trace.kernel, kernel_file(trace)))
        self._traced_kernels[kernel_name(*self._kernels[-1])] = None
        prepare = None if caller else partial(self._remedies.prepare, number)
        findings = launch_findings(trace, requests, caller, self._also, prepare, operations)
        self.engines.note(trace)
        self._blocks += len({*trace.recorded.tolist(), *self._also})
        self._grid_blocks += math.prod(trace.grid)
        self._add([*self._mismatches, *findings], number)
        self._mismatches = []
        if caller is None:
            self._definitions[number] = definition_of(trace)
            self._orders.add(number, trace)
        causes = {self._cause_of(finding, number) for finding in findings}
        self._add([f for f in self._last if self._cause_of(f, number) not in causes], number)
        self._also, self._last = [], []

    def _prove_remedies(self) -> None:
        """Add the remedies that work to the findings."""
        causes = [(cause, trial) for cause in self._found.values() if (trial := cause.trial) is not None]
        ends = self._remedies.prove([trial for _, trial in causes])
        for (cause, _), end in zip(causes, ends, strict=True):
            cause.end_trial(end)

    def _add_changed(self, number: int, changed: ChangedResult) -> None:
        """Confirm the races of a launch's kernel, or report that its atomics depend on the order."""
        kernel = self._kernels[number]
        causes = [cause for key, cause in self._found.items() if key[:2] == kernel]
        races = [cause for cause in causes if cause.is_harmful_race]
        for race in races:
            race.confirm(changed)
        if not races:
            file, line = self._definitions[number]
            self._add([order_finding(file, line, kernel[0], changed)], number)

    def refuse(self, kernel: Any, refusal: Refusal) -> None:
        """Add a launch that Numba refuses, unless its kernel is a library's."""
        from ....tracer.model.user_code import user_code_for

        file, number = kernel.fn.__code__.co_filename, len(self._kernels)
        self._kernels.append((kernel.fn.__name__, file))
        self._refused += 1
        if user_code_for(file).owns(file):
            self._add(_refusal_data(refusal, kernel.fn.__name__), number)

    def mismatch(self, kernel: Any, sentence: str) -> None:
        """Record that the next launch passes an array of another type than its kernel declares."""
        self._mismatches.append(mismatch_data(kernel.fn, sentence))

    def add_fault(self, fault: FindingData) -> None:
        """Add a finding about the program, or about a launch that left no trace."""
        if fault["launched"][0]:
            self._untraced.append(fault["launched"])
        self._faults.append(without_internal_keys(fault) | {"kernel": "", "launches": 0})

    def note_fault(self, fault: ProgramFault) -> None:
        """Add a fault of the program, once."""
        data = data_of_fault(fault)
        place = data["file"], data["line"], data["message"]
        if place not in self._fault_places:
            self._fault_places.add(place)
            self.add_fault(data)

    def add_last_block(self, trace: Trace) -> None:
        """Add the last block of a launch that is too large to store; the launch itself is added next."""
        from ....tracer.analysis.requests import requests_of

        self._also = trace.recorded.tolist()
        prepare = partial(self._remedies.prepare, len(self._kernels))
        findings = launch_findings(trace, requests_of(trace), caller_of(trace), (), prepare)
        self._last = [finding for finding in findings if finding["kind"] != "part"]

    def _cause_of(self, finding: FindingData, launch: int) -> tuple[str, ...]:
        """Return the key of findings to merge: a kernel's, of one rule and cause."""
        cause = finding["cause"] or f"{finding['line']} {NUMBER.sub('#', finding['statement'])}"
        return (*self._kernels[launch], finding["rule"], cause)

    def _add(self, findings: list[FindingData], launch: int) -> None:
        for finding in findings:
            with_kernel = finding | {"kernel": self._kernels[launch][0]}
            self._found.setdefault(self._cause_of(finding, launch), _Cause(with_kernel)).add(
                with_kernel, launch
            )

    def current_findings(self) -> list[FindingData]:
        """Return the findings so far, while the program runs."""
        return [*self._faults, *(cause.merged() for cause in self._found.values())]

    @property
    def launches(self) -> int:
        """The number of added launches."""
        return len(self._kernels)

    @property
    def kernels(self) -> list[Kernel]:
        """The name and file of each launched kernel."""
        return list(dict.fromkeys([*self._kernels, *self._untraced]))

    def traced(self, schedule: str) -> TracedData:
        """Describe what was traced so far; the names of files are absolute.

        schedule: the order of the threads.
        """
        from ....tracer.model.finding import count_noun

        refused = [f"{count_noun(self._refused, 'launch')} that Numba refuses"] if self._refused else []
        return traced_data(
            self.launches - self._refused,
            [*self._traced_kernels],
            self._blocks,
            self._grid_blocks,
            schedule + self._orders.schedule_text,
            [*refused, *self._orders.not_traced()],
        )

    def findings(self) -> list[FindingData]:
        """Return all findings, worst first, once the program has ended."""
        for number, findings in self.compiler.findings().items():
            self._add(findings, number)
        self._prove_remedies()
        for number, changed in self._orders.run().items():
            self._add_changed(number, changed)
        return sort_findings(self.current_findings())


def _how_run(engine: str, origin: str) -> str:
    """Describe the engine of a launch: compiled, or the simulator with the reason."""
    reason = origin.partition("; ")[2]
    return (
        "ran compiled" if engine == "compiled" else f"ran in the simulator{f' ({reason})' if reason else ''}"
    )


def without_internal_keys(finding: FindingData) -> FindingData:
    """Drop the keys that are used only to merge findings."""
    return {key: value for key, value in finding.items() if key not in INTERNAL}


class _Cause:
    """Findings with one cause in several launches: the first of the worst, and all positions."""

    def __init__(self, first: FindingData) -> None:
        self._worst, self._worst_key = first, _key(first)
        self._equal: Counter[Key] = Counter()  # launches with the same statement at the same place
        self._places: set[tuple[str, int, str]] = set()
        self._launches, self._last = 0, -1

    def add(self, finding: FindingData, launch: int) -> None:
        """Add a finding; all findings of a launch come before those of the next."""
        from ....tracer.model.finding import SEVERITIES

        if SEVERITIES.index(finding["severity"]) < SEVERITIES.index(self._worst["severity"]):
            self._worst, self._worst_key = finding, _key(finding)
        self._equal[_key(finding)] += 1
        self._places.add(_position(finding))
        self._places.update(_position(place) for place in finding["places"])
        self._launches += launch != self._last
        self._last = launch

    @property
    def trial(self) -> TrialCase | None:
        """The trial of the remedy, None without one."""
        trial: TrialCase | None = self._worst.get("trial")
        return trial

    @property
    def is_harmful_race(self) -> bool:
        """Whether it is a race that is an error."""
        return is_harmful_race(self._worst)

    def confirm(self, changed: ChangedResult) -> None:
        """Add an order that changes the result, unless there is one already."""
        if "witness" not in self._worst:
            self._worst = with_changed_result(self._worst, changed)

    def end_trial(self, end: TrialEnd) -> None:
        """Add the remedy that worked in the trial, if one did."""
        self._worst = with_trial_end(self._worst | {"trial": None}, end)

    def merged(self) -> FindingData:
        """Merge them to one finding."""
        from ....tracer.model.finding import RelatedPlace, message_of

        worst, others = self._worst, sorted(self._places - {_position(self._worst)})
        also = [
            RelatedPlace("" if file == worst["file"] else file, line, name) for file, line, name in others
        ]
        # Some findings, such as types, do not depend on the number of launches.
        launches = self._launches if worst["threads"] else 1
        return without_internal_keys(worst) | {
            "message": message_of(
                worst["statement"], also, launches,
                holds_for_each=self._equal[self._worst_key] >= self._launches,
            ),
            "launches": self._launches,
            "places": [{"file": file, "line": line, "name": name} for file, line, name in others],
        }  # fmt: skip


def _key(finding: FindingData) -> Key:
    return (*_position(finding), finding["statement"])


def _position(finding: FindingData) -> tuple[str, int, str]:
    return finding["file"], finding["line"], finding["name"]
