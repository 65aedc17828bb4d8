"""Trial of remedies: the edited kernel runs in several orders, and a remedy counts if its finding is gone in all."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..analysis.kernel_structure import kernel_file
from ..analysis.requests import requests_of
from ..findings.all_findings import findings_of
from ..model.definitions_only import definitions_only
from ..model.finding import Finding
from ..model.launch import Launch, Schedule, decode, is_cuda_cpp_launch
from ..model.trace import Trace
from ..processes.process_client import RunCancelledError
from ..processes.work_time import work_seconds
from ..run.worker_client import Worker, WorkerError
from ..storage.launch_inputs import with_inputs
from ..storage.temp_folders import new_process_folder
from .candidates import candidates_of, is_mechanical
from .kernel_statements import Edit, Fix

ORDERS = (Schedule("lockstep"), Schedule("sequential"), Schedule("random", 1), Schedule("random", 2))
CORRECTNESS = ("race", "barrier", "bounds", "unwritten", "launch")  # kinds that a remedy must not add
MOST_BARRIERS = 8  # that one remedy may add
MOST_BLOCKS = 4  # that a trial runs of a larger launch
MOST_ACCESSES = 2_000_000  # of a launch that all blocks of are tried
MOST_INPUT_BYTES = 1 << 26
PATIENCE = 3.0  # seconds that one run may take
TOTAL_SECONDS = 8.0  # of processor time that the trials of one program or pane may take

Run = Callable[[Launch], Trace]
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


class ProvenFix(Struct, frozen=True):
    """A remedy that worked in all orders."""

    remedy: str
    edits: tuple[Edit, ...]
    text: str  # the complete text with the edits


def trial_case(trace: Trace, finding: Finding, findings: list[Finding], folder: Path) -> TrialCase | None:
    """Prepare the trial of a finding's remedy; None if it is no edit, or the launch can't run again.

    folder: for the files of the launch's inputs.
    """
    if not trace.launch or not is_mechanical(finding):
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
    allowed = _errors(findings)
    allowed[finding.kind, finding.name] -= 1
    place, places = _place(trace, finding), [_place(trace, other) for other in findings]
    if place in places:
        places.remove(place)
    return TrialCase(launch, launch.source, tuple(fixes), allowed, place, tuple(places))


def prove(case: TrialCase, run: Run, is_over: Callable[[], bool]) -> ProvenFix | None:
    """Try the candidates in order; return the first that works, None if none does before `is_over()`."""
    for fix in case.fixes:
        if _works(case, fix, run, is_over):
            return ProvenFix(fix.remedy, fix.edits(case.source), fix.text)
        if is_over():
            return None
    return _prove_several(case, run, is_over)


def _prove_several(case: TrialCase, run: Run, is_over: Callable[[], bool]) -> ProvenFix | None:
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
    if len(lines) != len(edits) or len(set(lines)) != 1 or not _works(case, fix, run, is_over):
        return None
    places = [str(edit.line - 1) for edit in edits]
    return ProvenFix(
        f"put {lines[0].removesuffix(';')} after lines {', '.join(places[:-1])} and {places[-1]}",
        edits,
        fix.text,
    )


def _run(case: TrialCase, fix: Fix, order: Schedule, run: Run) -> Trace | None:
    """Trace an edited kernel; return None if it does not run to its end."""
    launch = case.launch
    try:
        runs_as_it_is = launch.scenario or is_cuda_cpp_launch(launch)
        text = fix.text if runs_as_it_is else definitions_only(fix.text, launch.constants)
        trace = run(replace(launch, source=text, schedule=order))
    except (WorkerError, RunCancelledError, SyntaxError):
        return None
    return None if trace.error is not None or trace.is_stopped else trace


def _works(case: TrialCase, fix: Fix, run: Run, is_over: Callable[[], bool]) -> bool:
    """Run an edited kernel in the trace's order and the others; return whether no run has an unexpected error."""
    schedule = case.launch.schedule
    orders = [schedule, *(order for order in ORDERS if order != schedule)]
    for order in orders[: len(ORDERS)]:
        trace = None if is_over() else _run(case, fix, order, run)
        if trace is None:
            return False
        findings = findings_of(trace, requests_of(trace))
        if _errors(findings) - case.allowed or _is_left(case, fix, trace, findings):
            return False
    return True


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
    return replace(finding, statement=with_remedy(finding.statement, remedy), remedy=remedy, fixed_text=text)


def with_remedy(statement: str, remedy: str) -> str:
    """Add a remedy to a statement without one."""
    return f"{statement.removesuffix('.')}; {remedy}."


class Trials:
    """Runs trials in a worker process, which is started for the first one."""

    def __init__(self, seconds: float = TOTAL_SECONDS) -> None:
        self._seconds, self._worker = seconds, Worker()
        self._is_closed = False

    def prove_all(self, cases: list[TrialCase]) -> list[ProvenFix | None]:
        """Prove the remedies of several findings within the time limit."""
        if not cases:
            return []
        try:
            self._worker.start()
            end = self._seconds + work_seconds(self._worker.pid)
            return [prove(case, self._run, lambda: work_seconds(self._worker.pid) > end) for case in cases]
        finally:
            self._worker.close()

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
        self._is_closed = True

    def _run(self, launch: Launch) -> Trace:
        if self._is_closed:
            raise RunCancelledError
        return self._worker.run(launch, patience=PATIENCE)
