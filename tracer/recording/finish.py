"""From a recorded run to its trace: columns, barriers, sources, and what is said where rows are missing."""

from __future__ import annotations

import linecache
from contextlib import suppress
from typing import Any

import numpy as np
from msgspec.structs import astuple, replace
from numpy.typing import NDArray

from ..analysis.counters import totals_of_sums
from ..dataflow.load_uses import depends_on_outside
from ..model import launch as launches
from ..model.array_types import Columns, narrow
from ..model.trace import STOPPED, Barriers, Check, Op, Trace, no_barriers
from .recorder import Recorder
from .run_record import RunRecord


def finish(record: RunRecord, file: str, made_by: str) -> Trace:
    """Return the trace of a run of the kernel in `file` that has ended, however it ended."""
    recorder = record.recorder
    recorder.close()
    if not recorder.limit and not recorder.capped:  # nothing was to be kept, and there was nothing
        recorder.capped = True
        record.add_totals(totals_of_sums(recorder.buffers, np.zeros((0, len(Op), 3), np.int64)))
    sources = _sources(record, file)
    columns = recorder.columns()
    rows = len(columns["op"])
    if record.error is None and not record.notice and recorder.accesses > rows:
        record.notice = _missing_rows(rows, recorder)
    arrivals = [recorder.barriers(), recorder.barriers(warp=True)]  # before the sites: theirs are among them
    outside = recorder.outside()
    made = trace_of(record, columns, np.sort(np.array(record.chosen_blocks(), np.int64)))
    if recorder.capped:
        arrivals = [_of_blocks(barriers, made.recorded) for barriers in arrivals]
    made = replace(
        made,
        barriers=arrivals[0],
        warp_barriers=arrivals[1],
        outside=outside,
        sources=sources,
        made_by=f"{made_by}; {record.inexact}" if record.inexact else made_by,
    )
    return replace(made, check=_check(record, made))


def expect(record: RunRecord) -> None:
    """Have the results computed that `finish` compares a scenario's with: while it runs, that takes nobody's time."""
    if record.launch.scenario:
        from .reference_check import expect

        with suppress(Exception):  # which is raised once it is needed
            expect(record)


def _check(record: RunRecord, trace: Trace) -> Check | None:
    """Return what comparing with NumPy said, where there is something to compare with."""
    if record.error or record.notice.startswith(STOPPED) or not record.launch.scenario:
        return None
    from .reference_check import check  # imports the catalogue, which a program of a user's never needs

    found = check(record)
    if found is not None and found.equal and depends_on_outside(trace):
        return replace(found, equal=False, is_by_chance=True)
    return found


def _missing_rows(rows: int, recorder: Recorder) -> str:
    if not rows:
        pieces = (
            ", and those of loads and stores may be too many: accesses between two barriers that can't be held at "
            "once were counted in pieces"
        )
        return (
            f"None of the {recorder.accesses:,} accesses is kept: only the counters of the whole launch "
            f"are{pieces if recorder.in_pieces else ''}."
        )
    return (
        f"{rows:,} of {recorder.accesses:,} accesses are kept (the cap is {recorder.limit:,}): "
        "counters are of the whole launch, pictures of its first blocks. "
        "Choose fewer blocks or a smaller size to see all."
    )


def _sources(record: RunRecord, file: str) -> dict[str, str]:
    """Return the text of every file in which a site lies, the launch's own as it was run."""
    others = {site.file for site in record.recorder.sites} - {file}
    return {file: record.launch.source} | {
        other: "".join(linecache.getlines(other)) for other in sorted(others)
    }


def trace_of(record: RunRecord, columns: Columns, blocks: NDArray[np.int64]) -> Trace:
    """Return the trace of these rows, of these blocks: of accesses alone, without barriers, sources and check."""
    recorder = record.recorder
    kept = np.array(sorted(recorder.finished), np.int64)
    if recorder.capped:
        kept = kept[np.isin(kept, columns["block"])]
    records_only = all(np.dtype(b.dtype).kind == "V" for b in recorder.buffers)
    integers: dict[str, Any] = {k: narrow(v) for k, v in columns.items() if k != "value"}
    return Trace(
        **integers,
        value=None if records_only else columns["value"],
        steps=None,
        barriers=no_barriers(),
        missing=recorder.mask_faults.found(),
        buffers=tuple(recorder.buffers),
        sites=tuple(recorder.sites),
        initial=record.initial,
        launch=launches.encode(record.launch),
        kernel=record.launch.kernel.rpartition(":")[2],
        grid=record.grid,
        block_dim=record.dim,
        schedule=record.launch.schedule.kind,
        resident=record.resident,
        blocks=blocks,
        recorded=kept,
        accesses=recorder.accesses,
        totals=record.totals if recorder.capped else {},
        notice=record.notice,
        error=record.error,
    )


def _of_blocks(barriers: Barriers, blocks: NDArray[np.int64]) -> Barriers:
    """Return the arrivals of these blocks."""
    mine = np.isin(barriers.block, blocks)
    return Barriers(*(column[mine] for column in astuple(barriers)))
