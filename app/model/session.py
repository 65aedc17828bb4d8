"""A session: one traced launch and what is derived from it, ready to be drawn. Neither Qt nor numba."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from ...kernels.scenarios.catalogue import CatalogueError, Scenario, find
from ...tracer.analysis.background import in_background
from ...tracer.analysis.buffer_contents import BufferContents, contents_of, destinations_in_background
from ...tracer.analysis.counters import Counters, counters_of
from ...tracer.analysis.histogram_launch import HistogramLaunch, histogram_launch_of
from ...tracer.analysis.requests import Requests, requests_of
from ...tracer.model.finding import SEVERITIES, Finding, sort_key
from ...tracer.model.launch import Launch, decode, is_cuda_cpp, is_cuda_cpp_launch, is_python_program
from ...tracer.model.notebook_cells import cell_of
from ...tracer.model.plan import kernel_source
from ...tracer.model.skipped_lines import barrier_lines
from ...tracer.model.trace import WARP, Buffer, Op, Trace
from ...tracer.storage.trace_file import TraceFileError, load
from .visible_text import escape_controls

if TYPE_CHECKING:
    from ...tracer.as_compiled.job import CompiledCounters
    from ...tracer.listing.listing import Listing
    from ...tracer.orders.search import SearchResult
    from ...tracer.type_inference.client import Answer


class TextbookBuffer(Buffer, frozen=True):
    """A matrix of the catalogue, labelled with a capital as in a textbook; a user's array keeps its name."""


def buffer_text(buffer: Buffer) -> str:
    """Label a buffer with the name in its kernel; a matrix of the catalogue with a capital, as in a textbook."""
    return buffer.name.upper() if isinstance(buffer, TextbookBuffer) else buffer.name


class Selection(Struct, frozen=True):
    """The selected block and its selected thread, both linear numbers, x fastest."""

    block: int = 0
    thread: int = 0


def have_same_inputs(first: Session, second: Session) -> bool:
    """Return True if the arrays that both kernels read had the same contents before both launches."""
    own, other = first.input_digests, second.input_digests
    return all(own[name] == other[name] for name in own.keys() & other.keys())


class Session(Struct, frozen=True, eq=False, dict=True, weakref=True):
    """One launch, its trace and its analyses."""

    launch: Launch  # what was run
    trace: Trace  # every access that was recorded
    requests: Requests  # the trace's accesses, grouped
    counters: Counters  # at every moment
    memory: BufferContents  # what the buffers hold at every moment
    scenario: Scenario | None = None  # None for a kernel outside the catalogue
    title: str = ""  # of a pane

    def name_as(self, saved: Session) -> None:
        """Use the title of the trace file whose kernel ran again, unless there is one."""
        if not self.title:
            msgspec.structs.force_setattr(self, "title", saved.title)

    @property
    def end(self) -> int:
        """The last moment."""
        return self.requests.end

    @property
    def lanes(self) -> int:
        """The number of lanes drawn for a warp: 32, or the threads of a smaller block."""
        return min(WARP, self.trace.threads)

    @property
    def is_python_program(self) -> bool:
        """Whether a plain Python program ran on the CPU, without warps, sectors and banks."""
        return is_python_program(self.launch)

    @property
    def is_cuda_cpp(self) -> bool:
        """Whether the kernel is in CUDA C++, which Numba does not compile."""
        return is_cuda_cpp_launch(self.launch)

    @property
    def is_unmodified(self) -> bool:
        """Whether the kernel is the catalogue's original: measurements apply to no other kernel."""
        kernel = self.scenario.kernel if self.scenario else ""
        return self.launch.kernel == kernel and self.launch.source == kernel_source(kernel)[1]

    @property
    def order_words(self) -> str:
        """The result of a search for an order that changes this launch's result, "" without a search."""
        words: str = vars(self).get("_order_words", "")
        return words

    def describe_order(self, words: str) -> None:
        """Keep the result of a search for another order."""
        vars(self)["_order_words"] = words

    @property
    def final_values(self) -> SearchResult | None:
        """The search that counted the final values of an element, None without one."""
        result: SearchResult | None = vars(self).get("_final_values")
        return result

    def keep_final_values(self, result: SearchResult) -> None:
        """Keep the final values of an element over the orders of the launch."""
        vars(self)["_final_values"] = result

    @cached_property
    def input_digests(self) -> dict[str, str]:
        """Digests of the arrays in global memory that the kernel reads, with their contents before it, by name."""
        digests = {}
        for number in np.unique(self.requests.buffer[self.requests.op != Op.STORE]).tolist():
            content = self.trace.initial.get(number)
            if content is not None and self.trace.buffers[number].space == "global":
                form = f"{content.dtype} {content.shape} ".encode()
                digest = hashlib.blake2b(form + content.tobytes(), digest_size=16).hexdigest()
                digests[self.trace.buffers[number].name] = digest
        return digests

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The visible findings of the launch, errors first; slow on first access."""
        findings, own = self.all_findings, vars(self)
        if "_hide" not in own:
            return findings
        if own.get("_hidden_of") is not findings:
            own["_hidden_of"], own["_shown"] = findings, own["_hide"](findings)
        shown: tuple[Finding, ...] = own["_shown"]
        return shown

    def hide_findings(self, hide: Callable[[tuple[Finding, ...]], tuple[Finding, ...]]) -> None:
        """Show only the findings that `hide` returns."""
        vars(self).pop("_hidden_of", None)
        vars(self)["_hide"] = hide

    @cached_property
    def all_findings(self) -> tuple[Finding, ...]:
        """All findings of the launch, errors first; slow on first access."""
        from ...tracer.findings.all_findings import findings_of  # the first picture does not need it
        from ...tracer.remedies.trial import leave_out_untried

        findings = findings_of(self.trace, self.requests)
        shown = tuple(map(leave_out_untried, findings))
        self._note_untried(findings, shown)
        return shown

    def _note_untried(self, findings: Sequence[Finding], shown: Sequence[Finding]) -> None:
        """Remember the findings with remedies to try, and the same as shown until then.

        The catalogue's kernels are slow on purpose: of them, only errors are mended.
        """
        from ...tracer.remedies.candidates import has_edits, is_edit_of_waste

        pairs = [
            (finding, left)
            for finding, left in zip(findings, shown, strict=True)
            if has_edits(finding) and (self.scenario is None or not is_edit_of_waste(finding))
        ]
        vars(self)["untried"] = [*vars(self).get("untried", ()), *pairs]

    @property
    def untried_remedies(self) -> list[Finding]:
        """The findings with remedies to try."""
        return [finding for finding, _ in vars(self).get("untried", ())]

    def add_fixes(self, tried: Sequence[Finding], fixes: Mapping[int, tuple[str, str]]) -> None:
        """Add remedies that work, with the kernel's text.

        tried: the findings of `untried_remedies` that were tried. fixes: by id of the finding.
        """
        from ...tracer.remedies.trial import with_fix

        fixed = {
            id(left): fixes[id(finding)] for finding, left in vars(self)["untried"] if id(finding) in fixes
        }
        vars(self)["all_findings"] = tuple(
            with_fix(finding, *fixed[id(finding)]) if id(finding) in fixed else finding
            for finding in self.all_findings
        )
        done = {id(finding) for finding in tried}
        vars(self)["untried"] = [pair for pair in vars(self)["untried"] if id(pair[0]) not in done]

    @cached_property
    def histogram_launch(self) -> HistogramLaunch | None:
        """The histogram that the launch counts, or None; slow on first access."""
        return histogram_launch_of(self.trace, self.requests, self.memory, self.scenario)

    @cached_property
    def is_only_histogram(self) -> bool:
        """Whether the launch writes only its histogram to global memory, or its lesson is about the histogram."""
        if self.histogram_launch is None or self.scenario is not None:
            return self.histogram_launch is not None
        written = np.unique(self.requests.buffer[self.requests.op != Op.LOAD]).tolist()
        spaces = {
            self.trace.buffers[number].space
            for number in written
            if number != self.histogram_launch.result.buffer
        }
        return "global" not in spaces

    def add_answer(self, answer: Answer) -> bool:
        """Add the findings from Numba's compiler; return whether there are more findings now."""
        from ...tracer.findings.float64 import float64_findings
        from ...tracer.findings.not_compiled import refusal_findings

        new_findings = [
            *float64_findings(self.trace, self.requests, answer.operations),
            *refusal_findings(self.trace, answer.refusal),
        ]
        if not new_findings or any(finding.kind == new_findings[0].kind for finding in self.all_findings):
            return False
        findings = sorted(
            [*self.all_findings, *new_findings], key=lambda f: sort_key(f.severity, f.kind, f.moment)
        )
        vars(self)["all_findings"] = tuple(findings)
        self._note_untried(new_findings, new_findings)
        return True

    @property
    def compiled(self) -> CompiledCounters | None:
        """Its compiled counters, None while they are not known."""
        counters: CompiledCounters | None = vars(self).get("compiled counters")
        return counters

    def add_compiled(self, counters: CompiledCounters) -> None:
        """Store the compiled counters, or the reason why there are none."""
        vars(self)["compiled counters"] = counters

    @property
    def listing(self) -> Listing | None:
        """The compiled code of its kernel, None while it is not known."""
        listing: Listing | None = vars(self).get("listing of code")
        return listing

    def add_listing(self, listing: Listing) -> None:
        """Store the compiled code of its kernel."""
        vars(self)["listing of code"] = listing

    @property
    def is_examined(self) -> bool:
        """Whether its findings are computed, so that reading them takes no time."""
        return "all_findings" in vars(self)

    def prepared(self) -> Session:
        """Compute what the session's pictures need, in a background thread, and return the session."""
        counted = in_background(self.counters.prepare, len(self.trace))
        _ = self.is_only_histogram
        self.memory.prepare()
        counted()
        return self

    def with_findings(self) -> Session:
        """Compute the findings, in a thread once the pictures are drawn, and return the session."""
        _ = self.all_findings
        return self


def build_session(launch: Launch, trace: Trace, scenario: Scenario | None, title: str = "") -> Session:
    """Build the session of a trace: group its accesses, count them, and follow the memory. Slow."""
    if scenario:
        scenario = _without_stale_phases(scenario, launch)
        trace = replace(trace, buffers=tuple(map(_with_textbook_name, trace.buffers)))
    destinations = destinations_in_background(trace)
    requests = requests_of(trace)
    counters, memory = counters_of(trace, requests), contents_of(trace, requests, destinations)
    return Session(
        launch, trace, requests, counters, memory, scenario, title or (scenario.title if scenario else "")
    )


def session_of_launch(launch: Launch, trace: Trace) -> Session:
    """Build the session of a launch, or of the Numba twin that was traced in its place."""
    if is_cuda_cpp_launch(launch) and trace.launch:
        traced = decode(trace.launch)
        launch = launch if is_cuda_cpp_launch(traced) else traced
    return build_session(launch, trace, scenario_of(launch))


def _without_stale_phases(scenario: Scenario, launch: Launch) -> Scenario:
    """Drop the texts of a scenario's phases if the kernel was edited and has other barriers."""
    own, name = kernel_source(scenario.kernel)[1], scenario.kernel.rpartition(":")[2]
    if launch.source == own or not scenario.phases:
        return scenario
    barriers = [len(barrier_lines(text, name)) for text in (own, launch.source)]
    return scenario if barriers[0] == barriers[1] else replace(scenario, phases=(), last=None)


def _with_textbook_name(buffer: Buffer) -> Buffer:
    is_matrix = len(buffer.name) == 1 and buffer.space == "global"
    return TextbookBuffer(**asdict(buffer)) if is_matrix else buffer


def session_of_file(path: Path) -> Session:
    """Load the session of a trace file; its title is the launch's name or the file's. Raises TraceFileError."""
    trace = with_visible_names(load(path))
    try:
        launch = decode(trace.launch)
    except msgspec.DecodeError as error:
        raise TraceFileError(
            f"{path} does not say which launch it is of ({error}); trace it again."
        ) from error
    title = launch_name(path, launch.kernel) or path.stem
    return build_session(launch, trace, scenario_of(launch), escape_controls(title))


def with_visible_names(trace: Trace) -> Trace:
    """Escape invisible characters in a trace's names and sentences; a file may contain any."""
    error, outside = trace.error, trace.outside
    return replace(
        trace,
        kernel=escape_controls(trace.kernel),
        notice=escape_controls(trace.notice),
        made_by=escape_controls(trace.made_by),
        buffers=tuple(replace(b, name=escape_controls(b.name)) for b in trace.buffers),
        sites=tuple(
            replace(s, function=escape_controls(s.function), file=escape_controls(s.file))
            for s in trace.sites
        ),
        sources={escape_controls(file): text for file, text in trace.sources.items()},
        outside=replace(outside, text=tuple(map(escape_controls, outside.text))),
        error=error
        and replace(
            error,
            type=escape_controls(error.type),
            message=escape_controls(error.message),
            file=escape_controls(error.file),
        ),
    )


def are_versions(before: Session, after: Session) -> bool:
    """Return True if two sessions run different texts of one kernel on the same data."""
    old, new = before.launch, after.launch
    same = (old.kernel, old.grid, old.block, old.arguments, old.scenario, old.constants)
    changed = (new.kernel, new.grid, new.block, new.arguments, new.scenario, new.constants)
    return same == changed and old.source != new.source


def launch_name(path: Path, kernel: str = "") -> str:
    """Name the launch of a trace that `tilescope run` saved: "reverse · race.py · launch 1"; "" for another file.

    kernel: the kernel of its launch, "file:function", if it is known.
    """
    match = re.fullmatch(r"(\d{3,})-(.+)", path.stem)
    if not match:
        return ""
    file, _, function = kernel.rpartition(":")
    is_program = file.endswith(".py") or is_cuda_cpp(file) or cell_of(file) is not None
    program = Path(file).name if is_program and function == match[2] else ""
    return " · ".join(filter(None, (match[2], program, f"launch {int(match[1]) + 1}")))


def scenario_of(launch: Launch) -> Scenario | None:
    """Look up the catalogue's scenario of a launch, or that of its Numba twin, or None."""
    try:
        scenario = find(launch.scenario) if launch.scenario else None
    except CatalogueError:
        return None
    if scenario and scenario.twin and launch.kernel == scenario.twin.kernel:
        return scenario.twin
    return scenario


def known_findings(session: Session | None) -> tuple[Finding, ...]:
    """Return the findings of a session if they are computed already, without waiting for them."""
    return session.findings if session and session.is_examined else ()


def count_by_severity(session: Session | None) -> dict[str, int]:
    """Count the known findings of a session by severity."""
    counts = Counter(finding.severity for finding in known_findings(session))
    return {name: counts[name] for name in SEVERITIES}
