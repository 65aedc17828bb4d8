"""Both engines on one launch, what it means that their traces are the same, and what holds of any trace."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from launching import Array, Limits
from tilescope.tracer.analysis import request_order
from tilescope.tracer.analysis.counters import totals_of
from tilescope.tracer.analysis.requests import Requests, requests_of
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.rows.block_counters import count_block_rows
from tilescope.tracer.model.launch import Launch, Schedule
from tilescope.tracer.model.trace import Barriers, Trace
from tilescope.tracer.races.detect import races_of
from tilescope.tracer.races.missed_barriers import missed_barriers_of
from tilescope.tracer.simulator import numba_patch

numba_patch.install()  # kernels may be given what they are compiled with, as by numba-cuda

# What most kernels from a text are given.
LONGS = (Array((64,), "int64", "arange"), Array((64,), "int64"))
THREAD_BY_THREAD, SEEDS = Schedule("sequential"), (1, 2, 3)
SMALL = 2000  # accesses that the simulator makes in a moment
COLUMNS = ("block", "thread", "phase", "op", "index", "step")
KEPT = (
    "buffers", "notice", "check", "kernel", "grid", "block_dim", "resident", "accesses", "totals", "schedule", "error",
)  # fmt: skip


def kernel_source(body: str, arguments: str = "a, out") -> str:
    """Return the source of a kernel of this body."""
    return f"@cuda.jit\ndef kernel({arguments}):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def ignore_progress(done: int, total: int) -> None:
    """Take a report of progress."""


def run_both(launch: Launch, schedule: Schedule = THREAD_BY_THREAD) -> tuple[Trace, Trace]:
    """Return the traces of a launch by the compiled engine and the simulator, in the order of a schedule."""
    launch = msgspec.structs.replace(launch, schedule=schedule)
    turns = schedule.kind != "sequential"
    return compiled.run_compiled(launch, ignore_progress, turns=turns), numba_patch.run(
        launch, ignore_progress
    )


def resolve_sites(trace: Trace, column: NDArray[Any]) -> list[Any]:
    """Return the sites that a column of site numbers names."""
    return [trace.sites[s] for s in column.tolist()]


def assert_engines_agree(launch: Launch, tolerance: float = 0.0) -> Trace:
    """Assert that both engines give the same trace of a launch in every order; return that of thread by thread."""
    ours, theirs = run_both(launch)
    assert_same(ours, theirs, tolerance)
    randoms = (Schedule("random", seed) for seed in SEEDS if len(ours) <= SMALL)
    for schedule in (Schedule("lockstep"), *randoms):
        assert_same(*run_both(launch, schedule), tolerance)
    return ours


def traces_equal(ours: Trace, theirs: Trace, tolerance: float) -> bool:
    """Compare two traces, values to a tolerance."""
    try:
        assert_same(ours, theirs, tolerance)
    except AssertionError:
        return False
    return True


def assert_same(ours: Trace, theirs: Trace, tolerance: float) -> None:
    """Assert that two traces are the same, values to a tolerance."""
    for name in COLUMNS:
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist(), name
    for name in KEPT:
        assert getattr(ours, name) == getattr(theirs, name), name
    assert resolve_sites(ours, ours.site) == resolve_sites(theirs, theirs.site)
    assert [ours.buffers[b] for b in ours.buffer.tolist()] == [
        theirs.buffers[b] for b in theirs.buffer.tolist()
    ]
    assert_same_barriers(ours, ours.barriers, theirs, theirs.barriers)
    assert_same_barriers(ours, ours.warp_barriers, theirs, theirs.warp_barriers)
    assert_same_misses(ours, theirs)
    assert missing_lanes(ours) == missing_lanes(theirs)
    assert ours.recorded.tolist() == theirs.recorded.tolist()
    assert ours.initial.keys() == theirs.initial.keys()
    if ours.value is None or theirs.value is None:  # there is no array of numbers
        assert ours.value is theirs.value
        return
    assert ours.value.dtype == theirs.value.dtype
    assert values_close(ours.value, theirs.value, tolerance)


def values_close(ours: NDArray[Any], theirs: NDArray[Any], tolerance: float) -> bool:
    """Compare values to a tolerance; of complex ones that are not nan, each part separately."""
    if ours.dtype.kind in "mM":
        return np.array_equal(ours.view(np.int64), theirs.view(np.int64))
    if ours.dtype.kind != "c":
        return bool(np.allclose(ours, theirs, tolerance, tolerance, equal_nan=ours.dtype.kind == "f"))
    is_number = ~np.isnan(ours)
    if (is_number == np.isnan(theirs)).any():
        return False
    parts = ((ours.real, theirs.real), (ours.imag, theirs.imag))
    return all(np.allclose(a[is_number], b[is_number], tolerance, tolerance) for a, b in parts)


def assert_same_barriers(ours: Trace, own_barriers: Barriers, theirs: Trace, other: Barriers) -> None:
    """Assert that arrivals are the same."""
    for name in ("block", "thread", "phase", "step", "reach", "part"):
        assert getattr(own_barriers, name).tolist() == getattr(other, name).tolist(), name
    assert resolve_sites(ours, own_barriers.site) == resolve_sites(theirs, other.site)


def assert_same_misses(ours: Trace, theirs: Trace) -> None:
    """Assert that the accesses outside arrays are the same."""
    for name in ("block", "thread", "phase", "op", "step", "cell"):
        assert getattr(ours.outside, name).tolist() == getattr(theirs.outside, name).tolist(), name
    assert ours.outside.text == theirs.outside.text
    assert resolve_sites(ours, ours.outside.site) == resolve_sites(theirs, theirs.outside.site)


def missing_lanes(trace: Trace) -> list[Any]:
    """Return a trace's messages about lanes at warp operations, with the sites that it names."""
    missing = [
        (m, trace.sites[m.site], trace.sites[m.other] if m.other >= 0 else None) for m in trace.missing
    ]
    return [(m.block, m.warp, m.mask, m.missing, m.step, m.why, site, other) for m, site, other in missing]


def count_past_cap(trace: Trace) -> dict[str, int] | None:
    """Return the counters of a trace as the compiled engine counts them past a cap; None where it leaves that."""
    names = ("block", "phase", "thread", "op", "buffer", "site", "index")
    columns = {name: getattr(trace, name) for name in names}
    return count_block_rows(columns, list(trace.buffers), len(trace.sites), trace.threads)


def limit_accesses(launch: Launch, accesses: int) -> Launch:
    """Return a launch thread by thread of which so many accesses are kept."""
    return msgspec.structs.replace(launch, schedule=Schedule("sequential"), limits=Limits(accesses=accesses))


def assert_counted(complete: Trace, summary: Trace) -> None:
    """Assert that a trace without accesses has the counters of the complete one."""
    assert summary.totals == totals_of(complete, requests_of(complete))
    assert len(summary) == len(summary.barriers.step) == 0
    assert summary.accesses == len(complete)
    assert summary.check == complete.check


def requests_as_irregular(trace: Trace) -> Requests:
    """Return the requests of a trace as if it were not regular."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_order, "access_matrices", lambda trace: None)
        return requests_of(trace)


def assert_same_request_order(trace: Trace) -> None:
    """Assert that both ways lead to the same requests."""
    short, long = requests_of(trace), requests_as_irregular(trace)
    columns = set(Requests.__struct_fields__) - {"exchanges", "accesses"}
    for name in (*sorted(columns), "order", "start"):
        assert np.array_equal(getattr(short, name), getattr(long, name)), name
    assert np.array_equal(short.exchanges.moment, long.exchanges.moment)
    assert np.array_equal(short.request[short.order], np.repeat(np.arange(len(short)), short.lanes))


def has_harmful_race(trace: Trace) -> bool:
    """Search for a harmful race."""
    return any(race.harmful for race in races_of(trace, missed_barriers_of(trace)))


def assert_identical(first: Any, other: Any, name: str = "trace") -> None:
    """Assert that two traces, or parts of them, are the same to the byte, types included."""
    assert type(first) is type(other), name
    if isinstance(first, msgspec.Struct):
        for field in first.__struct_fields__:
            assert_identical(getattr(first, field), getattr(other, field), f"{name}.{field}")
    elif isinstance(first, np.ndarray):
        assert (first.dtype, first.shape) == (other.dtype, other.shape), name
        assert first.tobytes() == other.tobytes(), name
    elif isinstance(first, dict):
        assert list(first) == list(other), name
        for key in first:
            assert_identical(first[key], other[key], f"{name}[{key}]")
    else:
        assert first == other, name
