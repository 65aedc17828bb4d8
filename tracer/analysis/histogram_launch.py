"""A launch that makes a histogram: where its threads add, what NumPy says, and what its samples are."""

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

SAMPLES = 20_000  # that the edges of the bins are tried on


class HistogramLaunch(Struct, frozen=True, eq=False):
    """A launch that counts into the bins of an array."""

    result: Additions  # to that array
    private: (
        Additions | None
    )  # to the arrays in shared memory in which blocks count first, None where there are none
    expected: Ints | None  # NumPy's counts, None for a launch of which a part ran, or outside the catalogue
    edges: (
        tuple[float, float] | None
    )  # begin of the first bin, end of the last; None where samples don't show them

    @property
    def of_samples(self) -> Additions:
        """The additions of samples: those in shared memory where there are any."""
        return self.private or self.result

    @property
    def bins(self) -> int:
        """How many elements are counted into."""
        return self.result.size

    @property
    def races(self) -> bool:
        """Whether any addition is a load and a store, which others may come between."""
        return bool((self.result.load >= 0).any())


def histogram_launch_of(
    trace: Trace, requests: Requests, contents: BufferContents, scenario: Scenario | None
) -> HistogramLaunch | None:
    """Return what a launch counts, None for a launch that does something else."""
    roles = scenario.roles if scenario else {}
    buffer = histogram_buffer(trace, roles) if trace.value is not None else None
    if buffer is None:
        return None
    result, other = additions_of(trace, requests, buffer), private_histogram_buffer(trace, buffer)
    private = None if other is None else additions_of(trace, requests, other)
    expected = None if scenario is None or trace.is_part else _expected(trace, contents, scenario, buffer)
    return HistogramLaunch(result, private, expected, _edges(trace, private or result))


def counted_total(trace: Trace, buffer: int) -> int:
    """Return the sum of a global buffer's elements as the launch left them; its elements are whole numbers."""
    assert trace.value is not None
    content = trace.initial[buffer].astype(np.int64)
    mine = np.flatnonzero((trace.buffer == buffer) & (trace.op != Op.LOAD))
    content[trace.index[mine]] = trace.value[mine].real.astype(np.int64)  # of several NumPy keeps the last
    return int(content.sum())


def _expected(trace: Trace, contents: BufferContents, scenario: Scenario, buffer: int) -> Ints | None:
    """Return NumPy's content of a buffer, None where the trace lacks what the reference asks for."""
    numbers = {b.name: n for n, b in enumerate(trace.buffers) if b.space == "global"}
    if not set(scenario.roles) <= set(numbers):
        return None
    arrays: Mapping[str, NDArray[Any]] = {name: contents.values(n, 0) for name, n in numbers.items()}
    sizes = {"gridDim": np.array(trace.grid), "blockDim": np.array(trace.block_dim)}
    found = scenario.reference({**arrays, **sizes}).get(trace.buffers[buffer].name)
    return None if found is None else found.astype(np.int64)


def _edges(trace: Trace, additions: Additions) -> tuple[float, float] | None:
    """Return the two of the launch's scalars between which bins of equal width put every sample as it was put."""
    rows = additions.sample[:SAMPLES]
    if not len(rows) or (rows < 0).any() or trace.value is None:
        return None
    try:
        scalars = [float(a.value) for a in decode(trace.launch).arguments if isinstance(a, Scalar)]
    except msgspec.MsgspecError:
        return None
    values, place = trace.value[rows].real.astype(np.float64), additions.cell[:SAMPLES] % additions.size
    pairs = [(low, high) for low in scalars for high in scalars if high > low]
    return next((p for p in pairs if np.mean(_binned(values, *p, additions.size) == place) > 0.999), None)


def _binned(values: NDArray[np.float64], low: float, high: float, count: int) -> NDArray[np.float64]:
    """Return the bin of each value; a rounding may move one in thousands to its neighbour."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.floor((values - low) / ((high - low) / count)))
