"""Trial of remedies: the edited kernel runs in several orders, and a remedy counts if its finding is gone in all.

A remedy of something else than a race or a barrier must also keep the results, and add no finding but notes.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ..analysis.counters import counters_of
from ..analysis.kernel_structure import kernel_file
from ..analysis.launch_results import differing_elements, results_of
from ..analysis.requests import requests_of
from ..findings.all_findings import findings_of
from ..model.array_types import AnyInts
from ..model.counter_names import SUMS, sum_of
from ..model.definitions_only import definitions_only
from ..model.finding import Finding
from ..model.launch import Launch, Schedule, decode, is_cuda_cpp_launch
from ..model.trace import Op, Trace
from ..processes.process_client import RunCancelledError
from ..processes.work_time import work_seconds
from ..run.worker_client import LaunchTooSlowError, Worker, WorkerError
from ..storage.folders import cache_folder
from ..storage.launch_inputs import with_inputs
from ..storage.temp_folders import new_process_folder
from ..type_inference.client import Operation, TypeInference, has_known_types, source_question
from ..type_inference.shared import FOLDER
from .candidates import candidates_of, has_edits, is_mechanical
from .kernel_statements import Edit, Fix

ORDERS = (Schedule("lockstep"), Schedule("sequential"), Schedule("random", 1), Schedule("random", 2))
CORRECTNESS = ("race", "barrier", "bounds", "unwritten", "launch")  # kinds that a remedy must not add
MOST_BARRIERS = 8  # that one remedy may add
MOST_BLOCKS = 4  # that a trial runs of a larger launch
MOST_ACCESSES = 2_000_000  # of a launch that all blocks of are tried
MOST_INPUT_BYTES = 1 << 26
PATIENCE = 3.0  # seconds of processor time that one run may take
TOTAL_SECONDS = 8.0  # of processor time that the trials of one program or pane may take
UNFINISHED = "the trial of a remedy was not finished"

Run = Callable[[Launch], Trace]
Infer = Callable[
    [Launch], tuple[Operation, ...] | None
]  # the float64 arithmetic of a kernel, None if unknown
Errors = Counter[tuple[str, str]]  # findings that matter, by kind and array
Place = tuple[str, str, frozenset[int]]  # the kind, array and lines of a finding


class TrialCase(Struct, frozen=True, eq=False):
    """A finding with the candidates for its remedy, and the launch that tries them."""

    launch: Launch
    source: str  # the text that the edits change
    fixes: tuple[Fix, ...]
    allowed: Errors  # what the launch may still report with the remedy
    place: Place  # of the finding
    others: tuple[Place, ...]  # of the launch's other findings

    @property
    def keeps_results(self) -> bool:
        """Whether the results must stay: those of a race or a missed barrier were wrong."""
        return self.place[0] not in ("race", "barrier")


class CounterChange(Struct, frozen=True):
    """A counter of the launch before and after a remedy."""

    name: str  # in SUMS
    before: int
    after: int


class ProvenFix(Struct, frozen=True):
    """A remedy that worked in all orders."""

    remedy: str
    edits: tuple[Edit, ...]
    text: str  # the complete text with the edits
    counters: tuple[CounterChange, ...] = ()  # of the blocks that were tried; none if there was no time


def trial_case(trace: Trace, finding: Finding, findings: list[Finding], folder: Path) -> TrialCase | None:
    """Prepare the trial of a finding's remedy; None if it is no edit, or the launch can't run again.

    folder: for the files of the launch's inputs.
    """
    if not trace.launch or not has_edits(finding):
        return None
    launch = decode(trace.launch)
    if is_cuda_cpp_launch(launch) and not launch.arguments:
        return None
    fixes = candidates_of(trace, finding, launch.source)
    size = sum(content.nbytes for content in trace.initial.values())
    if not fixes or (size > MOST_INPUT_BYTES and not launch.scenario):
        return None
    try:
        launch = with_inputs(launch, trace, folder)
    except (OSError, SyntaxError, ValueError):
        return None
    launch = replace(launch, blocks=_blocks(launch, trace, finding))
    allowed = _errors(findings) - Counter([(finding.kind, finding.name)])
    place, places = _place(trace, finding), [_place(trace, other) for other in findings]
    if place in places:
        places.remove(place)
    return TrialCase(launch, launch.source, tuple(fixes), allowed, place, tuple(places))


def prove(
    case: TrialCase, run: Run, is_over: Callable[[], bool], infer: Infer = lambda launch: None
) -> ProvenFix | None:
    """Try the candidates in order; return the first that works, None if none does before `is_over()`.

    infer: asks Numba's compiler, for remedies of float64 arithmetic.
    """
    before = _Before(case, run, infer)
    for fix in case.fixes:
        if after := _works(case, fix, run, is_over, before):
            return before.proven(fix, after, is_over)
        if is_over():
            return None
    return None if case.keeps_results else _prove_several(case, run, is_over, before)


class _Before:
    """The launch without a remedy, which runs on first use."""

    def __init__(self, case: TrialCase, run: Run, infer: Infer) -> None:
        self._case, self._run, self._infer = case, run, infer

    @cached_property
    def trace(self) -> Trace | None:
        """The trace of the blocks that are tried."""
        case = self._case
        return _run(case, Fix("", case.source), case.launch.schedule, self._run)

    @cached_property
    def findings(self) -> list[Finding] | None:
        """Its findings, None if they are unknown."""
        return None if self.trace is None else self._findings_of(self._case.source, self.trace)

    def is_improved(self, text: str, after: Trace) -> bool:
        """Check that an edited kernel lacks the finding, has no new one but notes, and leaves the same results."""
        trace, findings = self.trace, self._findings_of(text, after)
        if trace is None or findings is None or self.findings is None:
            return False
        if any(run.value is None or run.accesses > len(run) for run in (trace, after)):
            return False
        old, new = (Counter((f.kind, f.name) for f in some) for some in (self.findings, findings))
        if any(f.severity != "note" and new[f.kind, f.name] > old[f.kind, f.name] for f in findings):
            return False
        kind, name, _ = self._case.place
        return new[kind, name] < old[kind, name] and _have_equal_results(trace, after)

    def _findings_of(self, text: str, trace: Trace) -> list[Finding] | None:
        operations: tuple[Operation, ...] | None = ()
        if self._case.place[0] == "float64":
            operations = self._infer(replace(self._case.launch, source=_runnable(self._case, text)))
        return None if operations is None else findings_of(trace, requests_of(trace), operations)

    def proven(self, fix: Fix, after: Trace, is_over: Callable[[], bool]) -> ProvenFix:
        """Describe a remedy that works, with the counters before and after it."""
        changes: tuple[CounterChange, ...] = ()
        if (self._case.keeps_results or not is_over()) and self.trace is not None:
            old, new = (counters_of(trace, requests_of(trace)).total for trace in (self.trace, after))
            changes = tuple(CounterChange(name, sum_of(old, name), sum_of(new, name)) for name in SUMS)
        return ProvenFix(fix.remedy, fix.edits(self._case.source), fix.text, changes)


def _have_equal_results(before: Trace, after: Trace) -> bool:
    """Compare what two launches left in arrays, but for elements that may come from loads outside arrays."""
    outside = _elements_from_outside(before)
    for changed in differing_elements(before, results_of(before), after):
        excepted = outside.get(changed.buffer.name)
        if excepted is None or not np.isin(changed.elements, excepted).all():
            return False
    return True


def _elements_from_outside(trace: Trace) -> dict[str, AnyInts]:
    """Find the elements that threads wrote from their first load outside an array on, by the array's name."""
    outside = trace.outside
    loads = np.flatnonzero(outside.op == Op.LOAD)
    if not len(loads):
        return {}
    first = np.full(int(trace.blocks.max()) * trace.threads + trace.threads, np.iinfo(np.int64).max)
    thread = outside.block[loads].astype(np.int64) * trace.threads + outside.thread[loads]
    np.minimum.at(first, thread, outside.step[loads].astype(np.int64))
    writes = np.flatnonzero(trace.op != Op.LOAD)
    own = trace.block[writes].astype(np.int64) * trace.threads + trace.thread[writes]
    writes = writes[trace.steps_of(writes) >= first[own]]
    return {
        buffer.name: trace.index[writes[trace.buffer[writes] == number]]
        for number, buffer in enumerate(trace.buffers)
    }


def _prove_several(
    case: TrialCase, run: Run, is_over: Callable[[], bool], before: _Before
) -> ProvenFix | None:
    """Try several barriers in a row: each mends the first of the races that remain."""
    fix, lines = case.fixes[0], list[str]()
    for _ in range(MOST_BARRIERS):
        trace = _run(case, fix, case.launch.schedule, run)
        if trace is None or is_over():
            return None
        unexpected = _errors(findings := findings_of(trace, requests_of(trace))) - case.allowed
        rest = next((finding for finding in findings if (finding.kind, finding.name) in unexpected), None)
        if rest is None or not (fixes := candidates_of(trace, rest, fix.text)):
            break
        fix = fixes[0]
    edits = fix.edits(case.source)
    lines = [line.strip() for edit in edits for line in edit.new]
    if len(lines) != len(edits) or len(set(lines)) != 1:
        return None
    after = _works(case, fix, run, is_over, before)
    if after is None:
        return None
    places = [str(edit.line - 1) for edit in edits]
    remedy = f"put {lines[0].removesuffix(';')} after lines {', '.join(places[:-1])} and {places[-1]}"
    return before.proven(replace(fix, remedy=remedy), after, is_over)


def _run(case: TrialCase, fix: Fix, order: Schedule, run: Run) -> Trace | None:
    """Trace an edited kernel; return None if it does not run to its end."""
    launch = case.launch
    try:
        trace = run(replace(launch, source=_runnable(case, fix.text), schedule=order))
    except (WorkerError, RunCancelledError, SyntaxError):
        return None
    return None if trace.error is not None or trace.is_stopped else trace


def _runnable(case: TrialCase, text: str) -> str:
    """Return a text without the statements that run the program."""
    launch = case.launch
    is_runnable = launch.scenario or is_cuda_cpp_launch(launch)
    return text if is_runnable else definitions_only(text, launch.constants)


def _works(case: TrialCase, fix: Fix, run: Run, is_over: Callable[[], bool], before: _Before) -> Trace | None:
    """Run an edited kernel in the trace's order and the others.

    Returns the trace in its order if no run has an unexpected error, else None.
    """
    schedule = case.launch.schedule
    orders = [schedule, *(order for order in ORDERS if order != schedule)]
    own = None
    for order in orders[: len(ORDERS)]:
        trace = None if is_over() else _run(case, fix, order, run)
        if trace is None:
            return None
        findings = findings_of(trace, requests_of(trace))
        if _errors(findings) - case.allowed or _is_left(case, fix, trace, findings):
            return None
        if own is None and case.keeps_results and not before.is_improved(fix.text, trace):
            return None
        own = own or trace
    return own


def _is_left(case: TrialCase, fix: Fix, trace: Trace, findings: list[Finding]) -> bool:
    """Return True if an edited kernel still has the finding, and only other findings of its array are gone."""
    edits = fix.edits(case.source)
    kind, name, lines = case.place
    wanted = kind, name, frozenset(_common_line(line, edits) for line in lines)
    before = [
        (*other[:2], frozenset(_common_line(line, edits) for line in other[2])) for other in case.others
    ]
    places = (_place(trace, finding) for finding in findings)
    after = [
        (*place[:2], frozenset(_common_line(line, edits, new=True) for line in place[2])) for place in places
    ]
    return after.count(wanted) > before.count(wanted)


def _common_line(line: int, edits: Sequence[Edit], *, new: bool = False) -> int:
    """Number a line alike before and after edits: an edited part has the number of its first old line.

    new: whether the line is counted in the text with the edits.
    """
    moved = 0  # lines that the edits above have added
    for edit in edits:
        first = edit.line + (moved if new else 0)
        length = len(edit.new if new else edit.old)
        if line < first:
            break
        if line < first + length:
            return edit.line
        moved += len(edit.new) - len(edit.old)
    return line - (moved if new else 0)


def _place(trace: Trace, finding: Finding) -> Place:
    """Return the kind, array and lines in the kernel's file of a finding."""
    file = kernel_file(trace)
    sites = (trace.sites[number] for number in finding.sites)
    return finding.kind, finding.name, frozenset(site.line for site in sites if site.file == file)


def _errors(findings: list[Finding]) -> Errors:
    serious = (finding for finding in findings if finding.severity != "note" and finding.kind in CORRECTNESS)
    return Counter((finding.kind, finding.name) for finding in serious)


def _blocks(launch: Launch, trace: Trace, finding: Finding) -> tuple[int, ...] | None:
    """Choose the blocks of a trial: all of a small launch, else those of the example and the first few."""
    number = launch.grid[0] * launch.grid[1] * launch.grid[2]
    if number <= MOST_BLOCKS or (launch.blocks is None and trace.accesses <= MOST_ACCESSES):
        return launch.blocks
    example = [block for block, _ in finding.threads]
    chosen = dict.fromkeys([*example, *trace.blocks.tolist()])
    return tuple(sorted(list(chosen)[:MOST_BLOCKS]))


def without_remedy(statement: str, remedy: str) -> str:
    """Remove the remedy from a finding's statement: what remains is known."""
    if not remedy:
        return statement
    for end in (f"; {remedy}.", f"; else {remedy}."):
        if statement.endswith(end):
            return statement.removesuffix(end) + "."
    return statement.replace(f"; {remedy}", "")


def leave_out_untried(finding: Finding) -> Finding:
    """Return a finding without its remedy if that has to be tried first."""
    if not is_mechanical(finding):
        return finding
    return replace(finding, statement=without_remedy(finding.statement, finding.remedy), remedy="")


def with_fix(finding: Finding, remedy: str, text: str) -> Finding:
    """Return a finding with a proven remedy; text: the kernel's complete text with it."""
    statement = with_remedy(without_remedy(finding.statement, finding.remedy), remedy)
    return replace(finding, statement=statement, remedy=remedy, fixed_text=text)


def with_remedy(statement: str, remedy: str) -> str:
    """Add a remedy to a statement without one."""
    return f"{statement.removesuffix('.')}; {remedy}."


class Trials:
    """Runs trials in a worker process, which is started for the first one.

    seconds: of processor time that they may take, so that a busy computer does not change their results.
    """

    def __init__(self, seconds: float = TOTAL_SECONDS) -> None:
        self._seconds, self._worker = seconds, Worker()
        self._inference = TypeInference(cache_folder() / FOLDER)
        self._is_closed = self._is_slow = False
        self.finished: list[
            bool
        ] = []  # for each case of the last `prove_all`, whether its trial ended in time

    def prove_all(self, cases: list[TrialCase]) -> list[ProvenFix | None]:
        """Prove the remedies of several findings within the time limit."""
        self.finished = []
        if not cases:
            return []
        try:
            self._worker.start()
            end = self._seconds + work_seconds(self._worker.pid)
            return [self._prove(case, lambda: work_seconds(self._worker.pid) > end) for case in cases]
        finally:
            self._worker.close()
            self._inference.close()

    def prove_findings(
        self, trace: Trace, untried: list[Finding], findings: list[Finding]
    ) -> list[tuple[Finding, ProvenFix]]:
        """Prove the remedies of some of a launch's findings; return the findings with remedies that work."""
        folder = new_process_folder()
        try:
            cases = [(finding, trial_case(trace, finding, findings, folder)) for finding in untried]
            tried = [(finding, case) for finding, case in cases if case is not None]
            fixes = self.prove_all([case for _, case in tried])
            return [(finding, fix) for (finding, _), fix in zip(tried, fixes, strict=True) if fix is not None]
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """End the trials; `prove_all` then returns soon, in its own thread."""
        self._worker.cancel()
        self._inference.close()
        self._is_closed = True

    def _prove(self, case: TrialCase, is_over: Callable[[], bool]) -> ProvenFix | None:
        self._is_slow = False
        fix = prove(case, self._run, is_over, self._infer)
        self.finished.append(fix is not None or not (self._is_slow or is_over()))
        return fix

    def _infer(self, launch: Launch) -> tuple[Operation, ...] | None:
        if self._is_closed or not has_known_types(launch):
            return None
        answer = self._inference.answer_to(source_question(launch))
        return None if answer.program is None else answer.operations

    def _run(self, launch: Launch) -> Trace:
        if self._is_closed:
            raise RunCancelledError
        try:
            return self._worker.run(launch, patience=PATIENCE, is_of_processor=True)
        except LaunchTooSlowError:
            self._is_slow = True
            raise
