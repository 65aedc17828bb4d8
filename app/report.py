"""Sessions and their counters without a window: what `tilescope counters` and `tilescope frames` print."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from ..tracer.cache import TraceCache
from ..tracer.client import TakesLong, Worker
from ..tracer.counters import NAMES
from ..tracer.launch import Limits
from ..tracer.pace import Pace, duration_text, left_text
from ..tracer.plan import launch_of, parse_spec
from .counter_tables import readings_text
from .folders import cache_folder
from .parser import UsageError
from .session import Session, build_session, session_of_file
from .views.wording import EXACT, PART, check_text, count_text, operands, part_text, times_text

PATIENCE = 10.0  # seconds that a launch may take without anybody being asked
Row = tuple[str, list[str]]


def sessions(specs: Iterable[str], *, wait: bool = False) -> list[Session]:
    """Trace scenarios one after the other, or take them from the cache or a trace file.

    Shows progress on a terminal. A launch that takes long is only counted, and only after the user agreed, here
    (`wait`) or when asked on the terminal. Raises CatalogueError for what can't be launched, WorkerError for what
    gives no trace, UsageError where nobody agreed, and TraceFileError for a file that is none.
    """
    worker, cache = Worker(), TraceCache(cache_folder())
    try:
        return [_session(spec, worker, cache, wait) for spec in specs]
    finally:
        worker.close()


def _session(spec: str, worker: Worker, cache: TraceCache, wait: bool) -> Session:
    if Path(spec).is_file():
        return session_of_file(Path(spec))
    scenario, values, options = parse_spec(spec)
    launch = launch_of(scenario, values, **options)
    counted = msgspec.structs.replace(launch, limits=Limits(accesses=0))
    trace = cache.get(launch) or cache.get(counted)
    if trace is None:
        try:
            trace = worker.run(launch, _progress(scenario.title), patience=PATIENCE)
        except TakesLong as long:
            _agree(spec, long, wait)
            launch = counted
            trace = worker.run(launch, _progress(scenario.title))
        cache.put(launch, trace)
    return build_session(launch, trace, scenario)


def _agree(spec: str, long: TakesLong, wait: bool) -> None:
    """Ask whether to wait for a launch that takes long; raises UsageError where nobody says yes."""
    takes = f"{spec} takes about {duration_text(long.seconds)} for its {long.blocks:,} blocks"
    if wait:
        print(f"{takes}.", file=sys.stderr)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        one = f"{spec}{',' if ':' in spec else ':'}blocks=0"
        raise UsageError(f"{takes}; add --yes to wait for that, or choose one block, as {one}.")
    else:
        print(f"{takes}. Count them all? [y/N] ", end="", file=sys.stderr, flush=True)
        if input().strip().lower() not in ("y", "yes"):
            raise UsageError("nothing was counted.")


def _progress(title: str) -> Callable[[int, int], None] | None:
    if not sys.stderr.isatty():
        return None
    pace = Pace()

    def show(done: int, of: int) -> None:
        left = left_text(pace.left(done, of))
        end = "\r\x1b[K" if done == of else ""
        print(f"\r{title}: {done:,} of {of:,} blocks {left}\x1b[K{end}", end="", file=sys.stderr, flush=True)

    return show


def counters_table(compared: list[Session]) -> str:
    """Return the counters of whole launches, a column per session; each number carries its mark."""
    rows = [("", [session.title for session in compared]), *_counter_rows(compared), *_read_rows(compared)]
    rows.append(("result", [check_text(session.trace)[0] for session in compared]))
    notes = [f"{s.title}: {part_text(s.trace)}" for s in compared if part_text(s.trace)]
    notes += [line for session in compared for line in readings_text(session)]
    return "\n".join([*_aligned(rows), *notes])


def _counter_rows(compared: list[Session]) -> list[Row]:
    """Return the counters that are not 0 for all."""
    used = [name for name in NAMES if any(session.counters.total[name] for session in compared)]
    return [(name.replace("_", " "), [_total(session, name) for session in compared]) for name in used]


def _total(session: Session, name: str) -> str:
    # Past a cap the totals still count every access; a kernel that raised or some blocks alone are a part.
    whole = session.trace.totals or not session.trace.is_part
    mark = EXACT if whole and session.trace.error is None else PART
    return f"{count_text(session.counters.total[name])} {mark}"


def _read_rows(compared: list[Session]) -> list[Row]:
    """Return how often an element of each operand was read on average."""
    reads = [
        {name: _mean_reads(session, buffer) for buffer, name in operands(session)}
        if len(session.trace) or not session.trace.accesses
        else {}  # of which only counters were kept
        for session in compared
    ]
    names = dict.fromkeys(name for of_session in reads for name in of_session)
    return [(f"mean reads of {name}", [of_session.get(name, "") for of_session in reads]) for name in names]


def _mean_reads(session: Session, buffer: int) -> str:
    mark = PART if session.trace.is_part or session.trace.error else EXACT
    return f"{times_text(session.counters.mean_reads(buffer, session.end))} {mark}"


def _aligned(rows: list[Row]) -> list[str]:
    """Return lines with the first column to the left and the others to the right."""
    first = max(len(label) for label, _ in rows)
    widths = [max(len(cells[i]) for _, cells in rows) for i in range(len(rows[0][1]))]
    return [
        "  ".join(
            [label.ljust(first), *(cell.rjust(w) for cell, w in zip(cells, widths, strict=True))]
        ).rstrip()
        for label, cells in rows
    ]
