"""From a recorded run to its trace: columns, barriers, the check against NumPy, totals past a cap."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.catalogue import find
from . import launch as launches
from .array_types import Columns, narrow
from .counters import totals_of
from .loading import filled
from .recorder import Recorder
from .requests import requests_of
from .trace import Barriers, Check, Trace

if TYPE_CHECKING:
    from .execution import Run


def finish(run: Run, file: str, made_by: str) -> Trace:
    """Return the trace of a run of the kernel in `file` that has ended, however it ended."""
    run.recorder.close()
    sources = _sources(run, file)
    columns = run.recorder.columns()
    rows = len(columns["op"])
    if run.error is None and not run.notice and run.recorder.accesses > rows:
        run.notice = _missing_rows(rows, run.recorder)
    return _trace(run, columns, sources, made_by)


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


def _sources(run: Run, file: str) -> dict[str, str]:
    """Return the text of every file in which a site lies, the launch's own as it was run."""
    others = {site.file for site in run.recorder.sites} - {file}
    return {file: run.launch.source} | {other: "".join(linecache.getlines(other)) for other in sorted(others)}


def _trace(run: Run, columns: Columns, sources: dict[str, str], made_by: str, *, whole: bool = True) -> Trace:
    """Return a trace of these rows; one that is not `whole` is for counting: of their blocks, and accesses alone."""
    count = run.grid[0] * run.grid[1] * run.grid[2]
    ran = sorted(run.launch.blocks or range(count)) if whole else np.unique(columns["block"])
    blocks = np.array(ran, np.int64)
    others = run.recorder if whole else Recorder(0, run.recorder.count)
    kept = np.array(sorted(run.recorder.finished), np.int64)
    of_all = (others.barriers(), others.barriers(warp=True))
    if run.recorder.capped:
        kept = kept[np.isin(kept, columns["block"])]
        of_all = (_of_blocks(of_all[0], kept), _of_blocks(of_all[1], kept))
    records_only = all(np.dtype(b.dtype).names is not None for b in run.recorder.buffers)
    integers = {k: narrow(v) for k, v in columns.items() if k != "value"}
    return Trace(
        **integers,
        value=None if records_only else columns["value"],
        step=_steps(len(columns["op"])),
        barriers=of_all[0],
        warp_barriers=of_all[1],
        outside=others.outside(),
        missing=run.recorder.faults.found(),
        buffers=tuple(run.recorder.buffers),
        sites=tuple(run.recorder.sites),
        initial=run.initial,
        launch=launches.encode(run.launch),
        kernel=run.launch.kernel.rpartition(":")[2],
        grid=run.grid,
        block_dim=run.dim,
        schedule=run.launch.schedule.kind,
        resident=run.scheduler.slots,
        blocks=blocks,
        recorded=kept,
        accesses=run.recorder.accesses,
        totals=run.totals if run.recorder.capped else {},
        notice=run.notice,
        sources=sources,
        error=run.error,
        check=None if not whole or run.error or run.notice.startswith("Stopped") else check(run),
        made_by=made_by,
    )


def _of_blocks(barriers: Barriers, blocks: NDArray[np.int64]) -> Barriers:
    """Return the arrivals of these blocks."""
    mine = np.isin(barriers.block, blocks)
    return Barriers(*(getattr(barriers, field.name)[mine] for field in fields(Barriers)))


def _steps(rows: int) -> NDArray[np.unsignedinteger]:
    """Return 0 1 2 ... in the smallest unsigned dtype that holds them."""
    return np.arange(rows, dtype=np.min_scalar_type(max(0, rows - 1)))


def check(run: Run) -> Check | None:
    """Compare what the kernel left with the scenario's NumPy reference; None where only a part ran."""
    if not run.launch.scenario or run.launch.blocks is not None:
        return None
    return checked(run.launch, run.names, run.finals)


def checked(launch: launches.Launch, names: tuple[str, ...], finals: Mapping[str, NDArray[Any]]) -> Check:
    """Compare the arrays that a launch of a scenario left, by argument name, with the NumPy reference."""
    scenario = find(launch.scenario)
    given = zip(names, launch.arguments, strict=True)
    inputs = {name: filled(a) for name, a in given if isinstance(a, launches.Array)}
    inputs |= {"gridDim": np.array(launch.grid), "blockDim": np.array(launch.block)}
    expected = scenario.reference(inputs)
    errors = np.concatenate([_errors(finals[name], value) for name, value in expected.items()])
    largest, tolerance = float(errors.max(initial=0.0)), scenario.tolerance(inputs)
    differing = int(np.count_nonzero(errors > tolerance))
    return Check(largest, tolerance, largest <= tolerance, differing, len(errors))


def _errors(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    """Return the absolute error of each element, infinite where one is no number."""
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    difference = np.abs(got.astype(wide) - expected.astype(wide))
    return np.asarray(np.nan_to_num(difference, nan=np.inf)).ravel()


def totals_of_columns(run: Run, columns: Columns) -> dict[str, int]:
    """Return the counters of some whole blocks' rows."""
    trace = _trace(run, columns, {}, "", whole=False)
    return totals_of(trace, requests_of(trace))
