"""Builds the trace of a recorded run: columns, barriers, sources, and a notice about missing rows."""

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


def finish(record: RunRecord, file: str, engine: str) -> Trace:
    """Build the trace of a finished or failed run of the kernel in `file`."""
    recorder = record.recorder
    recorder.close()
    if not recorder.limit and not recorder.capped:  # no rows were to be kept, and there were none
        recorder.capped = True
        record.add_totals(totals_of_sums(recorder.buffers, np.zeros((0, len(Op), 3), np.int64)))
    sources = _sources(record, file)
    columns = recorder.columns()
    rows = len(columns["op"])
    if record.error is None and not record.notice and recorder.accesses > rows:
        record.notice = _missing_rows(rows, recorder)
    arrivals = [recorder.barriers(), recorder.barriers(warp=True)]  # before the sites, which include theirs
    outside = recorder.outside()
    trace = trace_of(record, columns, np.sort(np.array(record.chosen_blocks(), np.int64)))
    if recorder.capped:
        arrivals = [_select_blocks(barriers, trace.recorded) for barriers in arrivals]
    trace = replace(
        trace,
        barriers=arrivals[0],
        warp_barriers=arrivals[1],
        outside=outside,
        sources=sources,
        made_by=f"{engine}; {record.inexact}" if record.inexact else engine,
    )
    if record.order is not None:
        record.order.check_lines(trace)
        trace = replace(trace, segment_ends=tuple(record.order.ends))
    return replace(trace, check=_check(record, trace))


def precompute_expected(record: RunRecord) -> None:
    """Compute the expected results for `finish` early, while a scenario's kernel runs and the core is idle."""
    if record.launch.scenario:
        from .reference_check import compute_expected

        with suppress(Exception):  # `finish` raises it again
            compute_expected(record)


def _check(record: RunRecord, trace: Trace) -> Check | None:
    """Compare the results with NumPy's, if there is a reference."""
    if record.error or record.notice.startswith(STOPPED) or not record.launch.scenario:
        return None
    from .reference_check import check  # lazy: imports the catalogue, which a user's program never needs

    result = check(record)
    if result is not None and result.equal and depends_on_outside(trace):
        return replace(result, equal=False, is_by_chance=True)
    return result


def _missing_rows(rows: int, recorder: Recorder) -> str:
    if not rows:
        pieces = (
            ", and those of loads and stores may be too high: accesses between two barriers were counted in pieces "
            "because they did not fit in memory"
        )
        return (
            f"None of the {recorder.accesses:,} accesses is kept: only the counters of the complete launch "
            f"are{pieces if recorder.in_pieces else ''}."
        )
    return (
        f"{rows:,} of {recorder.accesses:,} accesses are kept (the cap is {recorder.limit:,}): "
        "the counters cover the complete launch, the pictures only its first blocks. "
        "Choose fewer blocks or a smaller size to see all."
    )


def _sources(record: RunRecord, file: str) -> dict[str, str]:
    """Collect the text of every file with a site; the launch's file has the text that ran."""
    others = {site.file for site in record.recorder.sites} - {file}
    return {file: record.launch.source} | {
        other: "".join(linecache.getlines(other)) for other in sorted(others)
    }


def trace_of(record: RunRecord, columns: Columns, blocks: NDArray[np.int64]) -> Trace:
    """Build a trace of these rows and blocks that contains only accesses: no barriers, sources or check."""
    recorder = record.recorder
    kept = np.array(sorted(recorder.finished), np.int64)
    if recorder.capped:
        kept = kept[np.isin(kept, columns["block"])]
    records_only = all(np.dtype(buffer.dtype).kind == "V" for buffer in recorder.buffers)
    integers: dict[str, Any] = {name: narrow(column) for name, column in columns.items() if name != "value"}
    if "round" in integers:
        integers["round"] = narrow(np.unique(integers["round"], return_inverse=True)[1])
    return Trace(
        **integers,
        value=None if records_only else columns["value"],
        steps=None,
        barriers=no_barriers(),
        missing=recorder.mask_faults.faults(),
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


def _select_blocks(barriers: Barriers, blocks: NDArray[np.int64]) -> Barriers:
    """Select the arrivals of these blocks."""
    selected = np.isin(barriers.block, blocks)
    return Barriers(*(column[selected] for column in astuple(barriers)))
