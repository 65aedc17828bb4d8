"""Launches that make a histogram: the additions, NumPy's counts, and the edges of the bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ...kernels.scenarios.scenario import Scenario
from ..model.array_types import Ints
from ..model.launch import Scalar, decode
from ..model.trace import Op, Trace
from .atomic_additions import Additions, additions_of, histogram_buffer, private_histogram_buffer
from .buffer_contents import BufferContents
from .requests import Requests

SAMPLES = 20_000  # on which candidate edges of the bins are tested


class HistogramLaunch(Struct, frozen=True, eq=False):
    """A launch that counts into the bins of an array."""

    result: Additions  # to the array of bins
    private: (
        Additions | None
    )  # to the arrays in shared memory in which blocks count first, None if there are none
    expected: Ints | None  # NumPy's counts, None for a partial launch, or one outside the catalogue
    edges: (
        tuple[float, float] | None
    )  # begin of the first bin, end of the last; None if the samples don't show them

    @property
    def of_samples(self) -> Additions:
        """The additions of samples: those in shared memory if there are any."""
        return self.private or self.result

    @property
    def bins(self) -> int:
        """Number of bins."""
        return self.result.size

    @property
    def races(self) -> bool:
        """Whether any addition is a separate load and store, between which another access may come."""
        return bool((self.result.load >= 0).any())


def histogram_launch_of(
    trace: Trace, requests: Requests, contents: BufferContents, scenario: Scenario | None
) -> HistogramLaunch | None:
    """Describe the histogram that a launch computes, None for another kind of launch."""
    roles = scenario.roles if scenario else {}
    buffer = histogram_buffer(trace, roles) if trace.value is not None else None
    if buffer is None:
        return None
    result, other = additions_of(trace, requests, buffer), private_histogram_buffer(trace, buffer)
    private = None if other is None else additions_of(trace, requests, other)
    expected = None if scenario is None or trace.is_part else _expected(trace, contents, scenario, buffer)
    return HistogramLaunch(result, private, expected, _edges(trace, private or result))


def counted_total(trace: Trace, buffer: int) -> int:
    """Sum a global buffer's elements as the launch left them; its elements are integers."""
    assert trace.value is not None
    content = trace.initial[buffer].astype(np.int64)
    writes = np.flatnonzero((trace.buffer == buffer) & (trace.op != Op.LOAD))
    content[trace.index[writes]] = trace.value[writes].real.astype(
        np.int64
    )  # of several stores NumPy keeps the last
    return int(content.sum())


def sum_of_additions(trace: Trace, additions: Additions) -> int:
    """Compute the value of a counter of one element if no addition to it were lost."""
    assert trace.value is not None
    values = trace.value.real.astype(np.int64)
    first = int(trace.initial[additions.buffer][0])
    writes = np.flatnonzero((trace.buffer == additions.buffer) & (trace.op != Op.LOAD))
    earlier = np.concatenate([[first], values[writes]])[np.searchsorted(writes, additions.row)]
    before = np.where(additions.load >= 0, values[additions.load], earlier)
    return first + int((values[additions.row] - before).sum())


def _expected(trace: Trace, contents: BufferContents, scenario: Scenario, buffer: int) -> Ints | None:
    """Compute NumPy's content of a buffer, None if the trace lacks an input of the reference."""
    numbers = {b.name: n for n, b in enumerate(trace.buffers) if b.space == "global"}
    if not set(scenario.roles) <= set(numbers):
        return None
    arrays: Mapping[str, NDArray[Any]] = {name: contents.values(n, 0) for name, n in numbers.items()}
    sizes = {"gridDim": np.array(trace.grid), "blockDim": np.array(trace.block_dim)}
    counts = scenario.reference({**arrays, **sizes}).get(trace.buffers[buffer].name)
    return None if counts is None else counts.astype(np.int64)


def _edges(trace: Trace, additions: Additions) -> tuple[float, float] | None:
    """Find two scalars of the launch between which equal bins would hold every sample where the launch put it."""
    rows = additions.sample[:SAMPLES]
    if not len(rows) or (rows < 0).any() or trace.value is None:
        return None
    try:
        scalars = [float(a.value) for a in decode(trace.launch).arguments if isinstance(a, Scalar)]
    except msgspec.MsgspecError:
        return None
    values, bins = trace.value[rows].real.astype(np.float64), additions.cell[:SAMPLES] % additions.size
    pairs = [(low, high) for low in scalars for high in scalars if high > low]
    return next(
        (pair for pair in pairs if np.mean(_binned(values, *pair, additions.size) == bins) > 0.999), None
    )


def _binned(values: NDArray[np.float64], low: float, high: float, count: int) -> NDArray[np.float64]:
    """Return the bin of each value; rounding may move one in thousands to its neighbour."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.floor((values - low) / ((high - low) / count)))
