"""A GPU's accesses against the simulator's: equal, or what differs, with thread, line, element and race."""

import numpy as np
import pytest
from msgspec.structs import replace

from noted_on_host import notes_on_host
from tilescope.tracer.compiled.driver.engine import run_compiled
from tilescope.tracer.hardware.accesses.comparison import (
    compare,
    contents,
    differ_beyond_rounding,
    stale_loads,
)
from tilescope.tracer.hardware.accesses.measured_trace import measured_run
from tilescope.tracer.model.plan import launch_of, parse_spec


def pair(spec, seed=None):
    """Return a launch as measured, and its trace by the engine in lockstep."""
    scenario, values, options = parse_spec(spec)
    launch = launch_of(scenario, values, **options)
    return measured_run(notes_on_host(launch, seed)), run_compiled(
        launch, lambda done, total: None, turns=True
    )


@pytest.fixture(scope="module")
def doubled():
    return pair("vector-double:count=40,threads=32")


@pytest.fixture(scope="module")
def racing():
    return pair("count-racing:num_blocks=2,threads=16", 1)


def with_column(trace, name, row, value):
    column = getattr(trace, name).copy()
    column[row] = value
    return replace(trace, **{name: column})


def test_equal_launches_differ_in_nothing(doubled):
    run, simulated = doubled
    comparison = compare(run.trace, run.results, simulated)
    assert comparison.differences == () and comparison.counters == {}
    assert (comparison.threads, comparison.accesses) == (64, 80)


def test_another_element_is_named_with_thread_line_and_both_elements(doubled):
    run, simulated = doubled
    row = int(np.flatnonzero((run.trace.thread == 3) & (run.trace.block == 1) & (run.trace.op == 0))[0])
    wrong = with_column(run.trace, "index", row, 9)
    results = compare(wrong, run.results, simulated).differs("accesses")
    assert results.count == 1 and results.cause == ""
    assert results.text == (
        "Thread 3 of block 1 loads data[9] on line 10 on the GPU, but in the simulator it loads data[35] on line 10."
    )


def test_a_thread_that_makes_fewer_accesses_is_named(doubled):
    run, simulated = doubled
    kept = np.arange(len(run.trace)) != len(run.trace) - 1
    names = ("block", "thread", "phase", "op", "buffer", "site", "index", "value")
    short = replace(run.trace, **{name: getattr(run.trace, name)[kept] for name in names})
    results = compare(short, run.results, simulated).differs("accesses")
    assert results.text == "Thread 7 of block 1 makes 1 accesses on the GPU and 2 in the simulator."


def test_another_value_is_named_with_both(doubled):
    run, simulated = doubled
    wrong = with_column(run.trace, "value", 0, 99.0)
    results = compare(wrong, run.results, simulated).differs("values")
    assert results.count == 1
    assert results.text.startswith("Thread 0 of block 0 loads data[0] on line 10: 99.0 on the GPU, ")


def test_another_result_is_named_with_its_element(doubled):
    run, simulated = doubled
    results = {"data": run.results["data"].copy()}
    results["data"][5] = -1
    comparison = compare(run.trace, results, simulated)
    assert comparison.differs("results").text.startswith("data[5] is -1.0 on the GPU and ")
    assert comparison.replayed == 1


def test_different_counters_are_reported_with_both_numbers(doubled):
    run, simulated = doubled
    wrong = with_column(run.trace, "index", slice(0, 32), np.arange(32)[::-1].copy())
    assert compare(wrong, run.results, simulated).differs("counters") is None
    far = with_column(run.trace, "index", 0, 39)
    results = compare(far, run.results, simulated)
    assert results.differs("counters").count == len(results.counters) >= 1


def test_a_racing_counter_is_reported_as_a_race(racing):
    run, simulated = racing
    comparison = compare(run.trace, run.results, simulated)
    assert comparison.differs("accesses") is None and comparison.differs("counters") is None
    for label in ("values", "results"):
        results = comparison.differs(label)
        assert "counter[0]" in results.text
        assert results.cause == "It is a race: accesses of blocks to counter[0] on line 15 are not ordered."
    assert comparison.replayed == 0 and comparison.stale == 0


def test_a_result_affected_by_a_race_is_reported_as_such():
    run, simulated = pair("matmul-tiled-one-barrier:m=16,k=32,n=16", 3)
    comparison = compare(run.trace, run.results, simulated)
    assert "It is a race" in comparison.differs("values").cause
    assert "It follows from a race" in comparison.differs("results").cause
    assert comparison.differs("accesses") is None


def test_accesses_outside_arrays_are_compared_by_where_a_gpu_touches_memory():
    run, simulated = pair("workitem-tiled:m=16,k=8,n=16")
    assert len(simulated.outside.step) > 0
    comparison = compare(run.trace, run.results, simulated)
    assert comparison.differs("accesses") is None
    assert "a GPU does that, the simulator does not" in comparison.differs("values").cause


def test_loads_that_find_an_older_value_are_counted(racing):
    run, _ = racing
    assert stale_loads(run.trace)[0] == 0
    loads = np.flatnonzero(run.trace.op == 0)
    late = with_column(run.trace, "value", loads[[0, -1]], 77)
    assert stale_loads(late) == (2, len(loads))


def test_stores_in_their_order_leave_the_memory_of_the_launch(racing):
    run, simulated = racing
    assert contents(run.trace)[0].tolist() == run.results["counter"].tolist()
    assert contents(simulated)[0].tolist() == [1]


def test_numbers_may_differ_only_by_rounding():
    single = np.array([1.0, np.nan, 1.0, np.inf], np.float32)
    other = np.array([1.00001, np.nan, 1.01, np.inf], np.float32)
    assert differ_beyond_rounding(single, other).tolist() == [False, False, True, False]
    assert differ_beyond_rounding(np.array([1, 2]), np.array([1, 3])).tolist() == [False, True]
