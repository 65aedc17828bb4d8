"""What requests cost: compiled, in plain Python and in NumPy, against the rules read literally."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import bank_passes
from tilescope.tracer.analysis import request_cost
from tilescope.tracer.analysis.counters import totals_of_sums
from tilescope.tracer.analysis.request_cost import cost_of, costs_of, new_scratch, rules_of
from tilescope.tracer.compiled.rows.request_cost import add_request
from tilescope.tracer.model.counter_names import GROUPS, NAMES
from tilescope.tracer.model.trace import Buffer, Op, Trace
from traces import OPS, trace_of

DTYPES = (*(f"V{size}" for size in range(1, 17)), "float32", "complex64", "complex128")
examples = settings(max_examples=300, print_blob=True)


@dataclass(frozen=True)
class Request:
    """A request: its buffer, its op, the lanes that make an access, and the index of each."""

    buffer: Buffer
    op: Op
    lanes: tuple[int, ...]
    index: tuple[int, ...]

    @property
    def mask(self) -> int:
        """A bit for each lane."""
        return sum(1 << lane for lane in self.lanes)

    @property
    def low(self) -> list[int]:
        """The first byte of each access."""
        return [self.buffer.address + i * self.buffer.unit for i in self.index]

    def pieces(self, size: int) -> set[int]:
        """Return the pieces of so many bytes that are touched."""
        return {byte // size for first in self.low for byte in range(first, first + self.buffer.itemsize)}


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Draw a request of some lanes: at a stride, round a ring or anywhere, near and far, of one element or more."""
    space, dtype = draw(st.sampled_from(sorted(OPS))), draw(st.sampled_from(DTYPES))
    size = np.dtype(dtype).itemsize
    unit = size + draw(st.sampled_from([0, 0, 0, 1, 4, 13]))
    buffer = Buffer("a", space, dtype, (1 << 30,), (unit,), draw(st.integers(0, 300)), unit, 1 << 30)
    lanes = sorted(draw(st.sets(st.integers(0, 31), min_size=1)))
    if draw(st.booleans()):
        lanes = list(range(32))
    stride, ring = draw(st.integers(-70, 70)), draw(st.sampled_from([1, 2, 7, 16, 32, 1000, 1 << 20]))
    near = st.integers(0, draw(st.sampled_from([0, 3, 40, 5000, 1 << 29])))
    anywhere = st.lists(near, min_size=len(lanes), max_size=len(lanes))
    shared = draw(st.sampled_from([0, 0, 1, 2, 3, 16]))  # bits of lanes that ask for the same
    strided = [(lane & ~shared) * stride % ring for lane in lanes]
    index = draw(st.one_of(st.just(strided), anywhere))
    return Request(buffer, draw(st.sampled_from(OPS[space])), tuple(lanes), tuple(index))


def literally(request: Request) -> int:
    """Return the sectors or wavefronts of a request, from the bytes that it touches."""
    if request.buffer.space == "shared":
        first = dict(zip(request.lanes, request.low, strict=True))
        return bank_passes.count_wavefronts(first, request.buffer.itemsize)
    if request.buffer.space != "global":
        return 0
    if request.op < Op.ATOMIC:
        return len(request.pieces(32))
    most: Counter[int] = Counter()
    for address, times in Counter(request.low).items():
        most[address // 32] = max(most[address // 32], times)
    return most.total()


def trace_with(results: list[Request]) -> Trace:
    """Return a trace whose rows are the accesses of these requests, one after the other, a buffer each."""
    lanes = [len(request.index) for request in results]
    return replace(
        trace_of({(0, 0): [[]]}),
        buffers=tuple(request.buffer for request in results),
        buffer=np.repeat(np.arange(len(results)), lanes).astype(np.uint8),
        op=np.repeat([int(request.op) for request in results], lanes).astype(np.uint8),
        thread=np.concatenate([np.add(request.lanes, 64) for request in results]).astype(np.uint16),
        index=np.concatenate([request.index for request in results]).astype(np.uint32),
    )


@examples
@given(st.lists(requests(), min_size=1, max_size=8), st.sampled_from([1, 3, 1024]))
def test_every_form_of_the_rules_gives_the_same_counts(lane_requests: list[Request], chunk: int):
    wanted = [literally(request) for request in lane_requests]
    rules, scratch = rules_of([request.buffer for request in lane_requests]), new_scratch()
    plain = [cost_of(r.low, len(r.low), r.mask, r.op, n, rules, scratch) for n, r in enumerate(lane_requests)]
    assert plain == wanted
    assert [int(sums_of([request])[0, request.op, 1]) for request in lane_requests] == wanted
    start = np.cumsum([0, *(len(request.index) for request in lane_requests)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_cost, "CHUNK", chunk)
        sectors, wavefronts = costs_of(trace_with(lane_requests), np.arange(start[-1]), start)
    spaces = [request.buffer.space for request in lane_requests]
    assert sectors.tolist() == [c if s == "global" else 0 for c, s in zip(wanted, spaces, strict=True)]
    assert wavefronts.tolist() == [c if s == "shared" else 0 for c, s in zip(wanted, spaces, strict=True)]


def sums_of(results: list[Request]) -> np.ndarray:
    """Return requests as compiled code adds them up, by buffer (one each) and Op."""
    rules, scratch = rules_of([request.buffer for request in results]), new_scratch()
    sums = np.zeros((len(results), len(Op), 3), np.int64)
    for number, r in enumerate(results):
        add_request(np.array(r.low), len(r.low), r.mask, np.uint8(r.op), number, rules, scratch, sums)
    return sums


@examples
@given(st.lists(requests(), max_size=8))
def test_counters_are_the_sums_of_their_requests(lane_requests: list[Request]):
    wanted = Counter(dict.fromkeys(NAMES, 0))
    for request in lane_requests:
        space, size, lanes = request.buffer.space, request.buffer.itemsize, len(request.index)
        each = 2 if request.buffer.dtype.startswith("complex") else 1
        groups = [name for name, (where, ops) in GROUPS.items() if where == space and request.op in ops]
        if space == "global":
            wanted[f"{groups[0]}_requests"] += each
            wanted[f"{groups[0]}_sectors"] += each * literally(request)
            wanted[f"{groups[0]}_bytes"] += size * lanes
        if space == "shared":
            wanted[f"{groups[0]}_instructions"] += 1
            wanted[f"{groups[0]}_wavefronts"] += literally(request)
    sums = sums_of(lane_requests) if lane_requests else np.zeros((0, len(Op), 3), np.int64)
    assert totals_of_sums([request.buffer for request in lane_requests], sums) == dict(wanted)
