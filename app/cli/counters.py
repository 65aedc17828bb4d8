"""`tilescope counters`: sessions without a window, and their counters as tables, also by line, buffer or block."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import numpy as np

from ...tracer.analysis.counters import totals_by
from ...tracer.analysis.request_cost import SECTOR
from ...tracer.hardware.profiling.profile_text import (
    MEASURED,
    MODELLED,
    basis_text,
    limiters_text,
    origin_text,
    percent_text,
    share_text,
)
from ...tracer.hardware.profiling.profiles import profile_of_launch, recorded_profiles
from ...tracer.hardware.profiling.recorded_kernels import occupancy_of
from ...tracer.hardware.times.recorded_counters import recorded_counters_of
from ...tracer.model.array_types import Ints
from ...tracer.model.counter_names import NAMES
from ...tracer.model.finding import block_text, line_text
from ...tracer.model.launch import Limits
from ...tracer.model.plan import launch_of, parse_spec
from ...tracer.run.kept_traces import trace_cache
from ...tracer.run.time_estimate import TimeEstimate, duration_text, left_text
from ...tracer.run.worker_client import LaunchTooSlowError, Worker
from ...tracer.storage.trace_cache import TraceCache
from ..model.first_bookmark import DEFAULT_PAIR
from ..model.named_file import is_file
from ..model.session import Session, session_of_file, session_of_launch
from ..model.visible_text import escape_controls
from ..views.common.wording import (
    PART,
    count_text,
    counter_mark_of,
    estimate_text,
    mark_of,
    notice_text,
    operands,
    times_text,
    verdict_text,
)
from .common.arguments import Parser, UsageError, add_scenarios, check_scenarios
from .common.depths import DEPTHS, compiled_lines_text, depths_table
from .common.text_output import align_columns, print_escaped, show_progress

MAX_SECONDS_WITHOUT_ASKING = 10.0  # seconds that a launch may take without asking the user
GROUPINGS = ("line", "buffer", "block")


def add_arguments(parser: Parser) -> None:
    parser.description = "Trace and print the counters as a table."
    add_scenarios(parser, "*")
    parser.add_argument("--yes", action="store_true", help="wait for slow launches without asking")
    parser.add_argument(
        "--by",
        choices=GROUPINGS,
        help="print a table of each, by line, buffer or block",
    )
    parser.add_argument(
        "--as",
        dest="depths",
        action="append",
        choices=DEPTHS,
        help="the accesses in the source, those that a compiler leaves, or those that a GPU counted; may be repeated",
    )


def execute(chosen: Namespace) -> int:
    """Print the counters of scenarios side by side, or a table of each."""
    specs = chosen.scenario or DEFAULT_PAIR
    check_scenarios(specs)
    depths = list(dict.fromkeys(chosen.depths or ()))
    if chosen.by and depths not in ([], ["written"]) and (chosen.by, depths) != ("line", ["compiled"]):
        raise UsageError("--by takes one depth: written, or compiled by line.")
    compared = trace_sessions(specs, wait=chosen.yes)
    if chosen.by and depths == ["compiled"]:
        print_escaped("\n\n".join(map(compiled_lines_text, compared)))
        return 0
    if depths not in ([], ["written"]):
        print_escaped(depths_table(compared, depths))
        return 0
    tables = [table_by(s, chosen.by) for s in compared] if chosen.by else [counters_table(compared)]
    print_escaped("\n\n".join(tables))
    return 0


def trace_sessions(specs: Iterable[str], *, wait: bool = False) -> list[Session]:
    """Trace scenarios one after the other, or take them from the cache or a trace file.

    Shows progress on a terminal. A launch that takes long is only counted, and only after the user agreed, either with
    `wait` or on the terminal. Raises CatalogueError for scenarios that can't be launched, WorkerError for launches
    without a trace, UsageError if the user does not agree, and TraceFileError for a file that is not a trace.
    """
    worker, cache = Worker(), trace_cache()
    try:
        return [_session(spec, worker, cache, wait) for spec in specs]
    finally:
        worker.close()


def _session(spec: str, worker: Worker, cache: TraceCache, wait: bool) -> Session:
    if is_file(spec):
        return session_of_file(Path(spec))
    scenario, values, options = parse_spec(spec)
    launch = launch_of(scenario, values, **options)
    counted = msgspec.structs.replace(launch, limits=Limits(accesses=0))
    trace = cache.get(launch) or cache.get(counted)
    if trace is None:
        try:
            trace = worker.run(launch, _progress(scenario.title), patience=MAX_SECONDS_WITHOUT_ASKING)
        except LaunchTooSlowError as long:
            _agree(spec, long, wait)
            launch = counted
            trace = worker.run(launch, _progress(scenario.title))
        cache.put(launch, trace)
    return session_of_launch(launch, trace)


def _agree(spec: str, long: LaunchTooSlowError, wait: bool) -> None:
    """Ask whether to wait for a launch that takes long; raises UsageError unless the answer is yes."""
    takes = f"{spec} takes about {duration_text(long.seconds)} for its {long.blocks:,} blocks"
    if wait:
        print_escaped(f"{takes}.", sys.stderr)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        example = f"{spec}{',' if ':' in spec else ':'}blocks=0"
        raise UsageError(f"{takes}; add --yes to wait for it, or choose one block, as in {example}.")
    else:
        print(escape_controls(f"{takes}. Count them all? [y/N] "), end="", file=sys.stderr, flush=True)
        if input().strip().lower() not in ("y", "yes"):
            raise UsageError("nothing was counted.")


def _progress(title: str) -> Callable[[int, int], None] | None:
    if not sys.stderr.isatty():
        return None
    pace = TimeEstimate()

    def show(done: int, total: int) -> None:
        left = left_text(pace.seconds_left(done, total))
        show_progress(f"{title}: {done:,} of {total:,} blocks {left}" if done < total else "")

    return show


def counters_table(compared: list[Session]) -> str:
    """Format the counters of complete launches, a column per session; each number carries its mark."""
    rows = [["", *(session.title for session in compared)], *_counter_rows(compared), *_read_rows(compared)]
    rows += _gpu_rows(compared)
    rows.append(["result", *(verdict_text(session.with_findings())[0] for session in compared)])
    notes = [f"{s.title}: {notice_text(s.trace)}" for s in compared if notice_text(s.trace)]
    notes += [f"{s.title}: {estimate_text(s.trace)}" for s in compared if estimate_text(s.trace)]
    notes += [line for session in compared for line in (*_gpu_notes(session), *readings_text(session))]
    return "\n".join([*align_columns(rows), *notes])


def _counter_rows(compared: list[Session]) -> list[list[str]]:
    """Return the rows of counters that are not 0 for all sessions."""
    used = [name for name in NAMES if any(session.counters.total[name] for session in compared)]
    return [[name.replace("_", " "), *(_total(session, name) for session in compared)] for name in used]


def _total(session: Session, name: str) -> str:
    # Past a limit the totals still count every access; an exception or a choice of blocks makes them a part.
    is_complete = session.trace.totals or not session.trace.is_part
    is_complete = is_complete and session.trace.error is None
    covers = bool(session.trace.totals)
    mark = counter_mark_of(session.trace, name, of_launch=covers) if is_complete else PART
    return f"{count_text(session.counters.total[name])} {mark}"


def _read_rows(compared: list[Session]) -> list[list[str]]:
    """Return rows with the mean number of reads of an element of each operand."""
    reads = [
        {name: _mean_reads(session, buffer) for buffer, name in operands(session)}
        if len(session.trace) or not session.trace.accesses
        else {}  # only counters were stored
        for session in compared
    ]
    names = dict.fromkeys(name for of_session in reads for name in of_session)
    return [[f"mean reads of {name}", *(of_session.get(name, "") for of_session in reads)] for name in names]


def _mean_reads(session: Session, buffer: int) -> str:
    mark = mark_of(session.trace)
    return f"{times_text(session.counters.mean_reads(buffer, session.end))} {mark}"


def _gpu_rows(compared: list[Session]) -> list[list[str]]:
    """Return rows with the modelled occupancy of each launch and its measured values; none where they are unknown."""
    figures = [_gpu_figures(session) for session in compared]
    names = dict.fromkeys(name for of_session in figures for name in of_session)
    return [[name, *(of_session.get(name, "") for of_session in figures)] for name in names]


def _gpu_figures(session: Session) -> dict[str, str]:
    figures = {}
    if room := occupancy_of(session.launch):
        figures["occupancy"] = f"{share_text(room.occupancy.share)} {MODELLED}"
        figures["limited by"] = limiters_text(room)
    if profile := profile_of_launch(session.launch, "warm"):
        figures["warps active"] = f"{percent_text(profile.warps_active)} {MEASURED}"
        figures["DRAM bytes read"] = f"{profile.dram_read:,.0f} {MEASURED}"
        figures["DRAM bytes written"] = f"{profile.dram_written:,.0f} {MEASURED}"
        rates = {"L1 hits": profile.l1_hits, "L2 hits": profile.l2_hits}
        figures |= {n: f"{percent_text(rate)} {MEASURED}" for n, rate in rates.items() if rate is not None}
    return figures


def _gpu_notes(session: Session) -> list[str]:
    """Describe the basis of the GPU figures."""
    room, record = occupancy_of(session.launch), recorded_profiles()
    profile = profile_of_launch(session.launch, "warm")
    texts = [basis_text(room)] if room else []
    texts += [origin_text(profile, record)] if profile and record else []
    return [f"{session.title}: {text}" for text in texts]


def groups_of(session: Session, by: str) -> tuple[list[str], Ints]:
    """Return the names of the lines, buffers or blocks of a launch, and each request's index among them."""
    trace, requests = session.trace, session.requests
    if by == "buffer":
        return [f"{b.name} ({b.space})" for b in trace.buffers], requests.buffer
    if by == "block":
        blocks = [block_text(trace, block) for block in trace.blocks.tolist()]
        return blocks, np.searchsorted(trace.blocks, requests.block)
    texts = [line_text(trace, site) for site in range(len(trace.sites))]
    lines = sorted(set(texts), key=texts.index)
    number = np.array([lines.index(text) for text in texts], np.int64)
    return lines, number[requests.site]


def table_by(session: Session, by: str) -> str:
    """Format the non-zero counters of each line, buffer or block, one a line, under the title and the mark."""
    names, group = groups_of(session, by)
    totals = totals_by(session.trace, session.requests, group, len(names))
    counted = [
        [(c, int(totals[c][number])) for c in NAMES if totals[c][number]] for number in range(len(names))
    ]
    if by == "buffer":
        counted = [[*rows, *_elements(session, number)] for number, rows in enumerate(counted)]
    rows = [
        [name if not row else "", counter.replace("_", " "), count_text(amount)]
        for name, counters in zip(names, counted, strict=True)
        for row, (counter, amount) in enumerate(counters)
    ]
    widths = (max(map(len, names), default=0), 26, 13)
    return "\n".join(
        [f"{session.title}, by {by} ({counter_mark_of(session.trace)})", *align_columns(rows, "<<>", widths)]
    )


def _elements(session: Session, buffer: int) -> list[tuple[str, int]]:
    """Return the distinct elements of a buffer and, in global memory, the bytes requested and moved."""
    trace, requests = session.trace, session.requests
    distinct = len(np.unique(trace.index[trace.buffer == buffer]))
    if trace.buffers[buffer].space != "global":
        return [("distinct elements", distinct)]
    totals = totals_by(trace, requests, np.where(requests.buffer == buffer, 0, 1), 2)
    requested, sectors = (
        sum(int(n[0]) for name, n in totals.items() if name.startswith("global") and name.endswith(measure))
        for measure in ("bytes", "sectors")
    )
    return [
        ("distinct elements", distinct),
        ("bytes requested", requested),
        ("bytes moved", SECTOR * sectors),
    ]


def readings_text(session: Session) -> list[str]:
    """Compare the counters to those of a GPU: a line for each difference, with the reason, or one line if equal."""
    recorded = recorded_counters_of(session.launch)
    if recorded is None or session.trace.error is not None:
        return []
    counted, device = session.counters.total, recorded.device
    lines = [
        f"{session.title}: {count_text(recorded.counters[name])} {name.replace('_', ' ')} measured on an {device}, "
        f"{count_text(counted[name])} exact: {recorded.reason}."
        for name in NAMES
        if name in recorded.counters and recorded.counters[name] != counted[name]
    ]
    return lines or [
        f"{session.title}: every counter above except bytes equals the measurement on an {device}."
    ]
