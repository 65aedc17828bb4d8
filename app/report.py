"""Sessions and their counters without a window: what `tilescope counters` and `tilescope frames` print."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from ..tracer.cache import TraceCache
from ..tracer.client import Worker
from ..tracer.counters import NAMES
from ..tracer.plan import launch_of, parse_spec
from .folders import cache_folder
from .session import Session, build_session, session_of_file
from .views.wording import EXACT, PART, check_text, count_text, operands, part_text, times_text

Row = tuple[str, list[str]]


def sessions(specs: Iterable[str]) -> list[Session]:
    """Trace scenarios one after the other, or take them from the cache or a trace file.

    Shows progress on a terminal. Raises CatalogueError for what can't be launched, WorkerError for what gives
    no trace, and TraceFileError for a file that is none.
    """
    worker, cache = Worker(), TraceCache(cache_folder())
    try:
        return [_session(spec, worker, cache) for spec in specs]
    finally:
        worker.close()


def _session(spec: str, worker: Worker, cache: TraceCache) -> Session:
    if Path(spec).is_file():
        return session_of_file(Path(spec))
    scenario, values, options = parse_spec(spec)
    launch = launch_of(scenario, values, **options)
    trace = cache.get(launch)
    if trace is None:
        trace = worker.run(launch, _progress(scenario.title))
        cache.put(launch, trace)
    return build_session(launch, trace, scenario)


def _progress(title: str) -> Callable[[int, int], None] | None:
    if not sys.stderr.isatty():
        return None

    def show(done: int, of: int) -> None:
        end = "\r\x1b[K" if done == of else ""
        print(f"\r{title}: {done} of {of} blocks {end}", end="", file=sys.stderr, flush=True)

    return show


def counters_table(compared: list[Session]) -> str:
    """Return the counters of whole launches, a column per session; each number carries its mark."""
    rows = [("", [session.title for session in compared]), *_counter_rows(compared), *_read_rows(compared)]
    rows.append(("result", [check_text(session.trace)[0] for session in compared]))
    notes = [f"{s.title}: {part_text(s.trace)}" for s in compared if part_text(s.trace)]
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
        {name: _mean_reads(session, buffer) for buffer, name in operands(session)} for session in compared
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
