"""The exploration of orders against all interleavings: the same classes and the same outcomes, each class once."""

from __future__ import annotations

import random
from itertools import groupby

import pytest

from launching import Array, launch
from order_runs import run_order
from tilescope.tracer.model.order import order_of_turns
from tilescope.tracer.orders.explore import Exploration
from tilescope.tracer.orders.linearise import with_few_switches
from tilescope.tracer.orders.outcome import outcome_of
from tilescope.tracer.orders.run_events import Execution
from tilescope.tracer.run.worker_client import WorkerError

ARRAYS = (Array((4,), "int64", "arange"), Array((4,), "int64"))
STATEMENTS = (
    "r += s[{}]",
    "s[{}] = t + 1",
    "s[{}] = r",
    "out[{}] = r",
    "cuda.atomic.add(s, {}, t + 1)",
    "r += cuda.atomic.exch(s, {}, t)",
)
SEEDS = (*range(5), *range(6, 12))  # each has at most 30 interleavings: all of them run


def random_kernel(seed: int) -> tuple[str, int]:
    """Return a kernel whose threads make a few accesses each to few elements, with barriers, and its threads."""
    dice = random.Random(seed)
    threads = dice.choice([2, 2, 3])
    lines = ["@cuda.jit", "def kernel(a, out):", "    t = cuda.threadIdx.x"]
    lines += ["    s = cuda.shared.array(2, int64)", "    r = t", "    if t == 0:", "        s[0] = s[1] = 0"]
    lines.append("    cuda.syncthreads()")
    for _ in range(dice.choice([1, 2])):
        for thread in range(threads):
            lines.append(f"    if t == {thread}:")
            statements = [
                dice.choice(STATEMENTS).format(dice.randrange(2)) for _ in range(dice.choice([1, 2]))
            ]
            lines += [f"        {statement}" for statement in statements]
        lines.append("    cuda.syncthreads()")
    lines += ["    if t == 0:", "        out[2] = s[0]", "        out[3] = s[1]"]
    return "\n".join(lines) + "\n", threads


def all_runs(planned, threads: int):
    """Yield the run of every interleaving: after each beginning, each thread that can go next."""
    beginnings = [()]
    while beginnings:
        longer = []
        for turns in beginnings:
            for thread in range(threads):
                candidate = (*turns, (0, thread))
                try:
                    trace = run_order(planned, str(order_of_turns(candidate)))
                except WorkerError:
                    continue
                if len(trace) == len(candidate):
                    yield trace
                else:
                    longer.append(candidate)
        beginnings = longer


def followed(planned):
    def run_one(order):
        try:
            return run_order(planned, str(order))
        except WorkerError:
            return None

    return run_one


@pytest.mark.parametrize("seed", SEEDS)
def test_exploration_visits_the_classes_of_all_interleavings_once(seed, tmp_path):
    source, threads = random_kernel(seed)
    planned = launch(tmp_path, source, ARRAYS, block=(threads, 1, 1), engine="compiled")
    first = run_order(planned, "all/0")
    exploration = Exploration(followed(planned), first, 5000)
    visits = list(exploration.visits())
    assert exploration.is_complete
    classes = [Execution(visit.trace).signature() for visit in visits]
    assert len(set(classes)) == len(classes) == exploration.classes
    expected, outcomes = set(), set()
    for trace in all_runs(planned, threads):
        expected.add(Execution(trace).signature())
        outcomes.add(outcome_of(trace).digest)
    assert set(classes) == expected
    assert {outcome_of(visit.trace).digest for visit in visits} == outcomes


@pytest.mark.parametrize("seed", SEEDS)
def test_an_order_with_few_switches_is_of_the_same_class(seed, tmp_path):
    source, threads = random_kernel(seed)
    planned = launch(tmp_path, source, ARRAYS, block=(threads, 1, 1), engine="compiled")
    exploration = Exploration(followed(planned), run_order(planned, "all/0"), 20)
    for visit in exploration.visits():
        order = with_few_switches(visit.trace)
        again = run_order(planned, str(order))
        assert Execution(again).signature() == Execution(visit.trace).signature()
        turns = zip(visit.trace.phase.tolist(), visit.trace.thread.tolist(), strict=True)
        assert order.switches <= len(list(groupby(turns)))
