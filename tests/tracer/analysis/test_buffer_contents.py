"""Memory at any moment, against a replay access by access."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import force_setattr, replace

from tilescope.kernels.scenarios import catalogue
from tilescope.tracer.analysis import access_history, buffer_contents
from tilescope.tracer.analysis.buffer_contents import (
    INTO_RESULT,
    INTO_SHARED,
    NOWHERE,
    BufferContents,
    contents_of,
)
from tilescope.tracer.analysis.requests import Requests, requests_of
from tilescope.tracer.compiled.driver.engine import run_compiled
from tilescope.tracer.dataflow.load_destinations import LoadDestinations
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Buffer, Op, Trace, poison
from traces import BUFFERS, Programs, programs, trace_of

L, S, A, R = (int(op) for op in Op)
PLAIN, COLUMNS, EVERY_OTHER, FIELD, TILE, WIDE, BYTES, OWN, TABLE = range(len(BUFFERS))
KIND = st.sampled_from(["lockstep", "sequential", "random"])
examples = settings(max_examples=80, print_blob=True)


@dataclass
class Replay:
    """What a replay of the accesses up to a moment leaves, by (buffer, copy, access index)."""

    value: dict[tuple[int, int, int], complex] = field(default_factory=dict)
    writer: dict[tuple[int, int, int], int] = field(default_factory=dict)
    reads: dict[tuple[int, int, int], int] = field(default_factory=dict)


def copy_of(buffer: Buffer, trace: Trace, block: int, thread: int) -> int:
    return {"shared": block, "local": block * trace.threads + thread}.get(buffer.space, -1)


def replay(trace: Trace, requests: Requests, moment: int) -> Replay:
    done = Replay()
    built = requests.moment[requests.request]
    for row in sorted(np.flatnonzero(built <= moment).tolist(), key=lambda r: trace.step[r]):
        buffer = int(trace.buffer[row])
        copy = copy_of(BUFFERS[buffer], trace, int(trace.block[row]), int(trace.thread[row]))
        key = buffer, copy, int(trace.index[row])
        if trace.op[row] != Op.STORE:
            done.reads[key] = done.reads.get(key, 0) + 1
        if trace.op[row] != Op.LOAD:
            done.value[key], done.writer[key] = complex(trace.value[row]), row
    return done


def shown(buffer: Buffer, known_names: dict[Any, Any], otherwise: Any, dtype: Any) -> np.ndarray:
    """Return an array in the buffer's shape of what is known of each access index, or otherwise of it."""
    elements = buffer.elements()
    entries = [known_names.get(i, otherwise(i)) for i in elements.ravel().tolist()]
    return np.array(entries).astype(dtype).reshape(elements.shape)


def see(
    trace: Trace, requests: Requests, held: dict[int, complex], writer: dict[int, int], moment: int, number: int,
    block: int, thread: int,
) -> None:  # fmt: skip
    """Give each element that is accessed at the moment what that access saw or left."""
    buffer = BUFFERS[number]
    copy = copy_of(buffer, trace, block, thread)
    built = requests.moment[requests.request]

    def is_ours(row: int) -> bool:
        own = copy_of(buffer, trace, int(trace.block[row]), int(trace.thread[row]))
        return (int(trace.buffer[row]), own) == (number, copy)

    def is_looked_at(row: int) -> bool:
        return (trace.block[row], trace.thread[row]) == (block, thread) and trace.op[row] <= Op.STORE

    now = [row for row in np.flatnonzero(built == moment).tolist() if is_ours(row)]
    writes = [row for row in np.flatnonzero(trace.op != Op.LOAD).tolist() if is_ours(row)]
    for row in sorted(now, key=lambda r: (is_looked_at(r), r)) if moment < requests.end else []:
        index = int(trace.index[row])
        seen = [w for w in writes if w < row + (trace.op[row] != Op.LOAD) and trace.index[w] == index]
        held.pop(index, None), writer.pop(index, None)
        if seen:
            held[index], writer[index] = complex(trace.value[seen[-1]]), seen[-1]


def compare(
    trace: Trace,
    requests: Requests,
    contents: BufferContents,
    done: Replay,
    moment: int,
    number: int,
    block: int,
    thread: int,
):
    buffer, dtype = BUFFERS[number], np.dtype(BUFFERS[number].dtype)
    copy = copy_of(buffer, trace, block, thread)
    value, reads, writer = (
        {i: v for (b, c, i), v in kept.items() if (b, c) == (number, copy)}
        for kept in (done.value, done.reads, done.writer)
    )
    see(trace, requests, value, writer, moment, number, block, thread)
    held = {i: v if dtype.kind == "c" else v.real for i, v in value.items()}
    first = trace.initial[number] if number in trace.initial else np.full(buffer.size, poison(dtype))
    values = contents.values(number, moment, block, thread)
    assert values.dtype == dtype
    np.testing.assert_array_equal(values, shown(buffer, held, lambda i: first[i], dtype))
    np.testing.assert_array_equal(
        contents.reads(number, moment, block, thread), shown(buffer, reads, lambda i: 0, int)
    )
    expected = shown(buffer, writer, lambda i: -1, int)
    np.testing.assert_array_equal(contents.written(number, moment, block, thread), expected >= 0)
    for place, row in enumerate(expected.ravel().tolist()):
        assert contents.writer(number, place, moment, block, thread) == (row if row >= 0 else None)

    compare_few(contents, moment, number, block, thread)


def compare_few(contents: BufferContents, moment: int, number: int, block: int, thread: int):
    """What is kept of the few elements that are touched is what is there of all."""
    reads = contents.sparse_reads(number, moment, block, thread)
    if reads is not None:
        complete = contents.reads(number, moment, block, thread).ravel()
        assert reads[1].tolist() == complete[reads[0]].tolist()
        assert reads[1].sum() == complete.sum()
    writes = contents.sparse_writes(number, moment, block, thread)
    if writes is not None:
        elements, values, written = writes
        np.testing.assert_array_equal(
            values, contents.values(number, moment, block, thread).ravel()[elements]
        )
        complete = contents.written(number, moment, block, thread).ravel()
        assert written.tolist() == complete[elements].tolist()
        assert written.sum() == complete.sum()


@pytest.mark.parametrize(
    ("spacing", "width"), [(2, access_history.MANY), (access_history.SPACING, access_history.MANY), (2, 0)]
)
@examples
@given(programs(), KIND, st.integers(1, 3), st.data())
def test_memory_at_any_moment_matches_a_replay(
    spacing: int, width: int, programs: Programs, kind: str, resident: int, data: st.DataObject
):
    trace = trace_of(programs, kind, resident)
    requests = requests_of(trace)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access_history, "SPACING", spacing)
        patch.setattr(access_history, "MANY", width)
        patch.setattr(access_history, "FEW", 1)
        contents = contents_of(trace, requests)
        for moment in data.draw(st.lists(st.integers(0, requests.end), min_size=1, max_size=4)):
            done = replay(trace, requests, moment)
            block, thread = data.draw(st.sampled_from(sorted(programs)))
            for number in range(len(BUFFERS)):
                compare(trace, requests, contents, done, moment, number, block, thread)


@examples
@given(programs(), KIND)
def test_accesses_of_a_moment_are_those_of_its_requests(programs: Programs, kind: str):
    trace = trace_of(programs, kind, 2)
    requests = requests_of(trace)
    contents = contents_of(trace, requests)
    for moment in range(-1, requests.end + 3):
        assert list(contents.request_rows(moment)) == np.flatnonzero(requests.moment == moment).tolist()
        rows = contents.accesses_at(moment)
        assert (requests.moment[requests.request[rows]] == moment).all()
    everything = np.concatenate([contents.accesses_at(m) for m in range(requests.end + 1)])
    assert sorted(everything.tolist()) == list(range(len(trace)))


def touched(trace: Trace, block: int) -> dict[tuple[int, int], set[int]]:
    """Return the access indices that a block touches of global and constant memory, by buffer and phase."""
    results: dict[tuple[int, int], set[int]] = {}
    for row in np.flatnonzero(trace.block == block).tolist():
        number = int(trace.buffer[row])
        if BUFFERS[number].space in ("global", "constant"):
            results.setdefault((number, int(trace.phase[row])), set()).add(int(trace.index[row]))
    return results


@pytest.mark.parametrize("sparse", [0, buffer_contents.SPARSE])  # elements as they come, or each once
@examples
@given(programs(), KIND)
def test_a_block_touches_the_elements_of_its_accesses(sparse: int, programs: Programs, kind: str):
    trace = trace_of(programs, kind, 2)
    contents = contents_of(trace, requests_of(trace))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffer_contents, "SPARSE", sparse)
        for block in trace.blocks.tolist():
            results = {
                (number, phase): set(part.tolist())
                for number, (elements, phases, first) in contents.touched(block).items()
                for phase, part in zip(phases.tolist(), np.split(elements, first[1:]), strict=True)
            }
            expected = {
                (number, phase): set(contents.element_numbers(number, np.array(sorted(index))).tolist())
                - {-1}
                for (number, phase), index in touched(trace, block).items()
            }
            assert results == {key: elements for key, elements in expected.items() if elements}


@examples
@given(programs(), KIND)
def test_the_first_stores_of_a_block_are_one_of_each_thread_to_each_element(programs: Programs, kind: str):
    trace = trace_of(programs, kind, 2)
    contents = contents_of(trace, requests_of(trace))
    for block in trace.blocks.tolist():
        first: dict[tuple[int, ...], int] = {}
        for row in np.flatnonzero((trace.block == block) & (trace.op != Op.LOAD)).tolist():
            if BUFFERS[trace.buffer[row]].space == "global":
                first.setdefault((trace.thread[row], trace.buffer[row], trace.index[row]), row)
        assert sorted(contents.first_stores(block).tolist()) == sorted(first.values())


def destination(trace: Trace, row: int) -> int | None:
    """Return the row of the store that a load's element goes to, where there is no source: the next alike."""
    if trace.op[row] != Op.LOAD:
        return None
    same = (trace.block == trace.block[row]) & (trace.thread == trace.thread[row])
    same &= (trace.op == Op.STORE) & (trace.phase == trace.phase[row]) & (trace.value == trace.value[row])
    return next((other for other in np.flatnonzero(same).tolist() if other > row), None)


@examples
@given(programs(), KIND, st.integers(0, 9))
def test_elements_fly_to_where_their_thread_puts_them(programs: Programs, kind: str, seed: int):
    trace = trace_of(programs, kind, 2, seed)
    kinds, buffers, indices = contents_of(trace, requests_of(trace)).destinations(np.arange(len(trace)))
    for row in range(len(trace)):
        target = destination(trace, row)
        got = int(kinds[row]), int(buffers[row]), int(indices[row])
        if target is None:
            assert got == (NOWHERE, -1, -1)
        else:
            space = BUFFERS[trace.buffer[target]].space
            kind_there = INTO_SHARED if space == "shared" else INTO_RESULT
            assert got == (kind_there, trace.buffer[target], trace.index[target])


@examples
@given(programs(), KIND)
def test_elements_of_blocks_far_apart_fly_as_those_of_neighbours(programs: Programs, kind: str):
    trace = trace_of(programs, kind, 2)
    apart = 1_000_003
    far = replace(
        trace, block=trace.block.astype(np.int64) * apart, blocks=trace.blocks.astype(np.int64) * apart
    )
    rows = np.arange(len(trace))
    assert LoadDestinations(far).stores_of(rows).tolist() == LoadDestinations(trace).stores_of(rows).tolist()


@pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
@pytest.mark.parametrize("kernel", ["matmul-naive-col-on-x", "matmul-tiled"])
def test_a_finished_matmul_has_its_product_and_its_minimum_reads(kernel: str, schedule: str):
    from tilescope.tracer.simulator.numba_patch import run

    launch = launch_of(
        catalogue.find(kernel), {"m": 5, "k": 23, "n": 7, "tile": 8}, schedule=Schedule(schedule, 3)
    )
    trace = run(launch, lambda done, total: None)
    requests = requests_of(trace)
    contents = contents_of(trace, requests)
    a, b, c = (contents.values(number, requests.end) for number in range(3))
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    assert (contents.reads(0, requests.end) == (1 if "tiled" in kernel else 7)).all()
    assert (contents.reads(1, requests.end) == (1 if "tiled" in kernel else 5)).all()
    assert contents.written(2, requests.end).all()
    assert not contents.written(2, 0).any()


def test_without_a_source_an_element_flies_to_where_its_value_is_stored_next():
    program = [[(0, L, PLAIN, 5), (1, S, TILE, 3)], [(2, L, TILE, 3)], [(3, S, COLUMNS, 2)]]
    trace = trace_of({(0, 0): program})
    force_setattr(trace, "value", np.array([8.0, 8.0, 8.0, 1.0]))
    kinds, buffers, indices = contents_of(trace, requests_of(trace)).destinations(np.arange(4))
    assert kinds.tolist() == [INTO_SHARED, NOWHERE, NOWHERE, NOWHERE]
    assert buffers.tolist() == [TILE, -1, -1, -1]
    assert indices.tolist() == [3, -1, -1, -1]


def test_a_shared_buffer_is_poison_until_its_block_writes_it():
    store = [[(0, S, TILE, 0)]]
    trace = trace_of({(0, 0): store, (1, 0): store})
    contents = contents_of(trace, requests_of(trace))
    assert np.isnan(contents.values(TILE, 1, block=1)).all()
    assert not np.isnan(contents.values(TILE, 1, block=0)[0, 0])
    assert not np.isnan(contents.values(TILE, 2, block=1)[0, 0])
    assert np.isnan(contents.values(TILE, 2, block=7)).all()


def test_values_of_a_jump_do_not_change_those_of_an_earlier_one():
    trace = trace_of({(0, 0): [[(0, S, PLAIN, 0), (1, S, PLAIN, 0)]]})
    contents = contents_of(trace, requests_of(trace))
    before = contents.values(PLAIN, 1)
    copy = before.copy()
    contents.values(PLAIN, 2)[:] = 99
    np.testing.assert_array_equal(before, copy)
    assert contents.values(PLAIN, 2)[0, 0] == 1


def test_an_access_index_names_its_place_in_the_shape():
    contents = contents_of(trace := trace_of({(0, 0): [[]]}), requests_of(trace))
    assert contents.element_numbers(COLUMNS, np.array([0, 1, 3, 5, 6])).tolist() == [0, 2, 1, 5, -1]
    assert contents.element_numbers(EVERY_OTHER, np.array([0, 1, 8])).tolist() == [0, -1, 4]


def test_value_range_spans_initial_and_stored_finite_values():
    trace = trace_of({(0, 0): [[(0, S, PLAIN, 0), (1, S, PLAIN, 1), (2, S, OWN, 0), (3, S, WIDE, 0)]]})
    force_setattr(trace, "value", np.array([-3.0, math.inf, 4.0, 3 + 4j]))
    contents = contents_of(trace, requests_of(trace))
    assert contents.value_range(PLAIN) == (-3.0, 11.5)
    assert contents.value_range(OWN) == (4.0, 4.0)
    assert contents.value_range(WIDE) == (5.0, 5.0)
    assert contents.value_range(TILE) == (0.0, 0.0)


def test_value_range_leaves_out_the_poison_of_integers():
    trace = trace_of({(0, 0): [[(0, S, EVERY_OTHER, 0)]]})
    force_setattr(trace, "value", np.array([30.0]))
    content = np.full(BUFFERS[EVERY_OTHER].size, poison(np.dtype("int16")))
    content[2] = 7
    trace.initial[EVERY_OTHER] = content
    assert contents_of(trace, requests_of(trace)).value_range(EVERY_OTHER) == (7.0, 30.0)


@pytest.mark.parametrize("kind", ["sequential", "random"])
def test_at_the_end_an_element_holds_the_value_of_the_last_step(kind: str):
    add = [[(0, A, PLAIN, 0), (1, L, PLAIN, 3), (0, A, PLAIN, 0)]]
    trace = trace_of({(0, t): add for t in range(64)}, kind)
    requests = requests_of(trace)
    assert contents_of(trace, requests).writer(PLAIN, 0, requests.end) == np.flatnonzero(trace.op == A)[-1]


def test_a_trace_without_values_still_has_reads_and_writers():
    trace = trace_of({(0, 0): [[(0, S, PLAIN, 4), (1, L, PLAIN, 4), (2, S, TILE, 0)]]})
    force_setattr(trace, "value", None)
    contents = contents_of(trace, requests_of(trace))
    assert contents.values(PLAIN, 3)[1, 1] == 4.5
    assert contents.reads(PLAIN, 3)[1, 1] == 1
    assert contents.writer(PLAIN, 4, 3) == 0
    assert contents.value_range(PLAIN) == (0.5, 11.5)
    assert contents.destinations(np.arange(3))[0].tolist() == [NOWHERE, INTO_SHARED, NOWHERE]


def test_sampled_values_of_a_large_buffer_include_extremes_and_writes():
    sizes = {"m": 512, "k": 512, "n": 512, "tile": 8}
    traced = run_compiled(
        launch_of(catalogue.find("matmul-tiled"), sizes, blocks=[0]), lambda done, total: None
    )
    requests = requests_of(traced)
    memory = contents_of(traced, requests)
    for number, buffer in enumerate(traced.buffers):
        if buffer.space == "global":
            some, every = memory.sampled_values(number, requests.end), memory.values(number, requests.end)
            written = memory.written(number, requests.end)
            assert len(some) < every.size / 2
            assert {*every[written].tolist()} <= {*some.tolist()}
            assert {*memory.value_range(number)} <= {*some.tolist()}
        else:
            assert np.array_equal(
                memory.sampled_values(number, 1), memory.values(number, 1).ravel(), equal_nan=True
            )
