"""Whether a trace holds together, so that nothing that draws or counts it needs to ask again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..model.launch import decode
from ..model.trace import FENCE, GRID_SCOPE, SPACES, Buffer, Op, Trace

LARGEST_BYTES = 2**31  # bytes that a trace, or one of its buffers, may take; entries of a table made from it
LONGEST_TEXT = 10_000  # characters of a name, a path or a message
ACCESS_COLUMNS = ("block", "thread", "phase", "op", "buffer", "site", "index", "step")
BARRIER_COLUMNS = ("block", "thread", "phase", "site", "step", "reach")
OUTSIDE_COLUMNS = ("block", "thread", "phase", "op", "buffer", "site", "step")
DTYPES = frozenset(np.dtype(kind).name for kind in "?bhilqBHILQefdFD")
DTYPE = re.compile(r"[<|](?:b1|[iu][1248]|f[248]|c8|c16|V[1-9]\d{0,3})")


def check_trace(trace: Trace) -> None:
    """Raise ValueError, saying what does not fit, unless all numbers and names of the trace are in range."""
    _check_sizes(trace)
    _check_texts(trace)
    _check_launch(trace)
    for buffer in trace.buffers:
        _check_buffer(buffer)
    _check_initial(trace)
    _check_blocks(trace)
    _check_accesses(trace)
    _check_barriers(trace)
    _check_warp_barriers(trace)
    _check_outside(trace)
    for lost in trace.missing:
        _require(lost.block in trace.blocks and 0 <= lost.warp < trace.warps, "a warp that did not run")
        _require(0 <= lost.site < len(trace.sites) and 0 <= lost.step <= trace.accesses, "a warp operation")
        _require(0 <= lost.mask < 2**32 and 0 < lost.missing < 2**32, "lanes of a warp")
        _require(
            lost.other < len(trace.sites) and (lost.other >= 0) == (lost.why == "apart"), "a warp operation"
        )


def _require(holds: bool | np.bool_, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _below(column: NDArray[Any], limit: int) -> bool:
    return not len(column) or int(column.max()) < limit


def _rising(column: NDArray[Any]) -> bool:
    return bool(np.all(column[:-1] <= column[1:]))


def _check_sizes(trace: Trace) -> None:
    _require(all(1 <= n < 2**31 for n in (*trace.grid, *trace.block_dim)), "grid or block size")
    _require(trace.threads <= 1024, "threads in a block")
    _require(1 <= trace.resident < 2**63, "resident blocks")
    _require(len(trace) <= trace.accesses < 2**63, "number of accesses")
    _require(all(0 <= n < 2**63 for n in trace.totals.values()), "totals")
    _require(all(0 <= n < 2**31 for s in trace.sites for n in (s.line, s.column)), "line or column of a site")


def _texts(trace: Trace) -> Iterator[str]:
    yield from (trace.kernel, trace.schedule, trace.notice, trace.made_by, *trace.totals, *trace.sources)
    yield from (text for b in trace.buffers for text in (b.name, b.space, b.dtype))
    yield from (text for s in trace.sites for text in (s.function, s.file))
    if trace.error is not None:
        yield from (trace.error.type, trace.error.message, trace.error.file)


def _check_texts(trace: Trace) -> None:
    _require(all(len(text) <= LONGEST_TEXT for text in _texts(trace)), "a text that is too long")


def _check_launch(trace: Trace) -> None:
    try:
        launch = decode(trace.launch)
    except msgspec.MsgspecError as error:
        raise ValueError(f"launch: {error}") from error
    _require(launch.grid == trace.grid and launch.block == trace.block_dim, "launch of another grid or block")


def _check_buffer(buffer: Buffer) -> None:
    _require(buffer.space in SPACES, "space of a buffer")
    _require(buffer.dtype in DTYPES or DTYPE.fullmatch(buffer.dtype) is not None, "dtype of a buffer")
    _require(len(buffer.shape) == len(buffer.strides) <= 32, "dimensions of a buffer")
    _require(0 <= buffer.address < 2**62 and 1 <= buffer.unit <= LARGEST_BYTES, "address or unit of a buffer")
    _require(0 <= buffer.size * buffer.unit <= LARGEST_BYTES, "size of a buffer")
    _require(all(0 <= n <= LARGEST_BYTES for n in buffer.shape), "shape of a buffer")
    _require(math.prod(buffer.shape) <= max(buffer.size, 1), "shape of a buffer")
    if math.prod(buffer.shape):
        steps = [stride // buffer.unit for stride in buffer.strides]
        ends = [(n - 1) * step for n, step in zip(buffer.shape, steps, strict=True)]
        lowest, highest = (sum(pick(end, 0) for end in ends) for pick in (min, max))
        _require(lowest >= 0 and highest < max(buffer.size, 1), "strides of a buffer")


def _check_initial(trace: Trace) -> None:
    for number, content in trace.initial.items():
        _require(0 <= number < len(trace.buffers), "initial contents of no buffer")
        buffer = trace.buffers[number]
        _require(content.shape == (buffer.size,), "length of initial contents")
        _require(content.dtype == np.dtype(buffer.dtype), "dtype of initial contents")


def _check_blocks(trace: Trace) -> None:
    for blocks in (trace.blocks, trace.recorded):
        _require(bool(np.all(np.diff(blocks) > 0)), "order of the blocks")
        _require(not len(blocks) or blocks[0] >= 0, "a block outside the grid")
        _require(_below(blocks, math.prod(trace.grid)), "a block outside the grid")
    _require(np.isin(trace.recorded, trace.blocks).all(), "a recorded block that did not run")


def _check_accesses(trace: Trace) -> None:
    columns = [getattr(trace, name) for name in ACCESS_COLUMNS]
    values = [] if trace.value is None else [trace.value]
    _require(all(c.shape == (len(trace),) for c in (*columns, *values)), "length of a column")
    _require(_below(trace.op, len(Op)), "op of an access")
    _require(_below(trace.thread, trace.threads), "a thread outside its block")
    _require(_below(trace.buffer, len(trace.buffers)), "an access to no buffer")
    _require(_below(trace.site, len(trace.sites)), "an access from no site")
    _require(np.isin(trace.block, trace.blocks).all(), "an access of a block that did not run")
    sizes = np.array([buffer.size for buffer in trace.buffers], np.int64)
    _require(not len(trace) or np.all(trace.index < sizes[trace.buffer]), "an access outside its buffer")
    _require(_rising(trace.step), "order of the accesses")


def _check_barriers(trace: Trace) -> None:
    barriers = trace.barriers
    _require(
        all(getattr(barriers, name).shape == barriers.step.shape for name in BARRIER_COLUMNS), "barriers"
    )
    _require(_below(barriers.thread, trace.threads), "a thread outside its block at a barrier")
    _require(_below(barriers.site, len(trace.sites)), "a barrier at no site")
    _require(_below(barriers.reach, GRID_SCOPE + 1), "reach of a barrier")
    _require(np.isin(barriers.block, trace.blocks).all(), "a barrier of a block that did not run")
    # Who passed p barriers has p rows here, so phases are as many as the tables made from them may have.
    _require(_below(barriers.phase, len(barriers.phase)), "phase of a barrier")
    phases = int(barriers.phase.max()) + 2 if len(barriers.phase) else 1
    _require(_below(trace.phase, phases), "phase of an access")
    _require(phases * len(trace.blocks) * 16 <= LARGEST_BYTES, "too many phases")


def _check_warp_barriers(trace: Trace) -> None:
    barriers = trace.warp_barriers
    _require(
        all(getattr(barriers, name).shape == barriers.step.shape for name in BARRIER_COLUMNS), "warp barriers"
    )
    _require(_below(barriers.thread, trace.threads), "a thread outside its block at a warp operation")
    _require(_below(barriers.site, len(trace.sites)), "a warp operation at no site")
    _require(_below(barriers.reach, FENCE + 1), "reach of a warp operation")
    _require(np.isin(barriers.block, trace.blocks).all(), "a warp operation of a block that did not run")


def _check_outside(trace: Trace) -> None:
    outside = trace.outside
    columns = [getattr(outside, name) for name in (*OUTSIDE_COLUMNS, "cell")]
    _require(all(c.shape == (len(outside.text),) for c in columns), "accesses outside their buffers")
    _require(outside.cell.dtype == np.int64, "dtype of indices outside their buffers")
    _require(all(len(text) <= LONGEST_TEXT for text in outside.text), "a text that is too long")
    _require(_below(outside.op, len(Op)) and _below(outside.thread, trace.threads), "an access outside")
    _require(_below(outside.buffer, len(trace.buffers)), "an access outside of no buffer")
    _require(_below(outside.site, len(trace.sites)), "an access outside from no site")
    _require(np.isin(outside.block, trace.blocks).all(), "an access outside of a block that did not run")
