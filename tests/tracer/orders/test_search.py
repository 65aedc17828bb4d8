"""The search for an order that changes a result: racing kernels, their correct twins, and the catalogue."""

from __future__ import annotations

import time
from math import comb, factorial

import numpy as np
import pytest

from order_runs import racing_launch, run, run_order
from racing_kernels import KERNELS, RacingKernel
from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.orders.elements import ElementError
from tilescope.tracer.orders.outcome import outcome_of, outcomes_differ
from tilescope.tracer.orders.search import OrderSearchError, SearchLimits, search_orders

CATALOGUE = ("count-racing", "matmul-tiled-one-barrier")  # the scenarios with races
MOST_SWITCHES = 4
QUICK = SearchLimits(orders=3000, seconds=120)


def scenario(spec: str):
    scenario, values, options = parse_spec(spec)
    return launch_of(scenario, values, **options)


def assert_same_accesses(first: Trace, second: Trace) -> None:
    for name in ("block", "thread", "phase", "op", "index", "value"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), name)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_race_that_needs_several_switches_is_detected_and_replays_in_both_engines(
    kernel: RacingKernel, tmp_path
):
    planned = racing_launch(tmp_path, kernel.racing, kernel.threads)
    result = search_orders(planned, run, QUICK)
    assert result.changing_order is not None, result.verdict
    assert 2 <= result.changing_order.switches <= MOST_SWITCHES
    assert result.changing_order.cells[0].name == "out[0]"
    compiled, simulated = (
        run_order(planned, result.changing_order.order, engine) for engine in ("compiled", "simulator")
    )
    assert_same_accesses(compiled, simulated)
    own = outcome_of(run(planned))
    assert outcomes_differ(own, outcome_of(compiled))
    assert outcomes_differ(own, outcome_of(simulated))
    assert result.changing_order.cells[0].after == str(outcome_of(compiled).values["out"][0])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_no_order_changes_the_result_of_a_correct_twin(kernel: RacingKernel, tmp_path):
    result = search_orders(racing_launch(tmp_path, kernel.twin, kernel.threads), run, QUICK)
    assert result.changing_order is None
    assert result.is_complete
    assert "proof" in result.verdict


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_bad_order_of_a_racing_scenario_is_detected_within_a_second(name):
    planned = scenario(name)
    run(planned)  # compiles the kernel
    begin = time.process_time()
    result = search_orders(planned, run, QUICK)
    assert time.process_time() - begin < 5  # a second on an idle computer
    assert result.changing_order is not None
    assert 1 <= result.changing_order.switches <= MOST_SWITCHES
    assert result.changing_order.sentence
    compiled, simulated = (
        run_order(planned, result.changing_order.order, engine) for engine in ("compiled", "simulator")
    )
    assert_same_accesses(compiled, simulated)


@pytest.mark.parametrize("spec", ["sum-in-global", "transpose-tile", "histogram-private", "jacobi-step"])
def test_a_scenario_without_races_has_a_proof(spec):
    result = search_orders(scenario(spec), run, QUICK)
    assert result.changing_order is None and result.is_complete and result.is_race_free


def test_three_threads_with_barriers_are_searched_completely():
    result = search_orders(scenario("barrier-three-threads"), run, QUICK)
    assert result.is_complete and result.changing_order is None


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_all_orders_of_a_racing_counter_are_counted(threads):
    """Stores have n! orders; the load of the k-th store comes after any of the k - 1 stores before it."""
    result = search_orders(
        scenario(f"count-racing:num_blocks=1,threads={threads}"), run, QUICK, element="counter[0]"
    )
    assert result.is_complete
    assert result.orders == factorial(threads) ** 2
    assert sum(value.orders for value in result.values) == result.orders
    assert [value.value for value in result.values] == [str(n) for n in range(1, threads + 1)]
    assert result.values[-1].orders == factorial(threads)  # one after the other
    assert result.at_most == pytest.approx(np.prod([comb(2 * n, 2) for n in range(1, threads + 1)]), rel=1e-9)


def test_each_final_value_replays(tmp_path):
    planned = scenario("count-racing:num_blocks=1,threads=3")
    result = search_orders(planned, run, QUICK, element="counter[0]")
    for value in result.values:
        trace = run_order(planned, value.order) if value.order else run(planned)
        assert str(outcome_of(trace).values["counter"][0]) == value.value


def test_the_sentence_names_both_accesses(tmp_path):
    kernel = next(k for k in KERNELS if k.name == "lost update")
    result = search_orders(racing_launch(tmp_path, kernel.racing, kernel.threads), run, QUICK)
    assert result.changing_order is not None
    assert "s[0]" in result.changing_order.sentence
    assert "before thread" in result.changing_order.sentence
    reversal = result.changing_order.reversal
    assert reversal is not None and reversal.early < reversal.late


def test_a_limit_is_stated_and_is_no_proof(tmp_path):
    kernel = next(k for k in KERNELS if k.name == "two torn pairs")
    result = search_orders(
        racing_launch(tmp_path, kernel.racing, kernel.threads), run, SearchLimits(orders=2)
    )
    assert result.changing_order is None and not result.is_complete
    assert "ended after 2 orders" in result.verdict and "no proof" in result.verdict


def test_a_search_can_be_stopped(tmp_path):
    runs = []

    def progress(tried: int, at_most: float) -> None:
        runs.append((tried, at_most))

    result = search_orders(
        scenario("count-racing:num_blocks=1,threads=4"),
        run,
        QUICK,
        element="counter[0]",
        stopped=lambda: len(runs) >= 20,
        progress=progress,
    )
    assert not result.is_complete
    assert result.why_incomplete == "the search was stopped"
    assert len(runs) == 20 and runs[0][1] == pytest.approx(2520)


def test_other_schedules_are_compared_with_lockstep():
    result = search_orders(scenario("count-racing:num_blocks=1,threads=4,schedule=sequential"), run, QUICK)
    assert result.changing_order is not None
    assert (result.changing_order.cells[0].before, result.changing_order.cells[0].after) == ("4", "1")
    assert result.changing_order.was_correct and not result.changing_order.is_correct


def test_too_many_accesses_are_refused():
    planned = scenario("matmul-tiled-one-barrier:m=256,k=256,n=256")
    from msgspec.structs import replace

    from tilescope.tracer.model.launch import Limits

    with pytest.raises(OrderSearchError, match="choose a smaller size"):
        search_orders(replace(planned, limits=Limits(accesses=1000)), run)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("foo[0]", "writes no array named 'foo'"),
        ("counter[4]", "is outside counter"),
        ("counter[0, 0]", "is outside counter"),
        ("counter[-1]", "is outside counter"),
        ("1 + 1", "is not an element"),
    ],
)
def test_a_bad_element_is_one_sentence(text, sentence):
    with pytest.raises(ElementError, match=sentence.replace("[", r"\[")):
        search_orders(scenario("count-racing:num_blocks=1,threads=2"), run, element=text)
