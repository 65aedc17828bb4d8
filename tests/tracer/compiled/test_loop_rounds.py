"""Requests of loops in which only some rounds access memory: a warp makes a request for each round."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from compiled_counts import count_launches, launch_of_text, nonzero_counters
from launching import Array, Limits, launch
from launching import trace as simulate
from random_loops import RandomLoops
from tilescope.app.views.common.wording import counter_mark_of, estimate_text
from tilescope.tracer.analysis.counters import totals_of
from tilescope.tracer.analysis.loop_rounds import are_rounds_unknown
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.compiled.driver.engine import run_compiled
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.storage.trace_file import load, save

FLOATS = Array((4096,), "float32", "arange"), Array((4096,), "float32")
SEEDS = range(200, 206)

# Loops of which some rounds do not access memory, with the load requests of `a` by a warp, counted by hand.
LOOPS = {
    "if": ("for j in range(5):\n    if (j + t) % 2 == 0:\n        s += a[j * 32 + t]", 5),
    "continue": ("for j in range(5):\n    if (j + t) % 2:\n        continue\n    s += a[j * 32 + t]", 5),
    "expression": ("for j in range(6):\n    s += a[j * 32 + t] if (j + t) % 3 == 0 else 1", 6),
    "and": ("for j in range(4):\n    if (j + t) % 2 == 0 and a[j * 32 + t] > 0:\n        s += 1", 4),
    "while": (
        "j = 0\nwhile j < 5:\n    j += 1\n    if (j + t) % 2 == 0:\n        s += a[j * 32 + t]",
        5,
    ),
    "test of while": ("j = 0\nwhile j < 4 and ((j + t) % 2 == 0 or a[j * 32 + t] >= 0):\n    j += 1", 4),
    "two loops": (
        "for i in range(3):\n    for j in range(4):\n        if (i + j + t) % 2 == 0:\n            s += a[t]",
        12,
    ),
    "lanes with other numbers of rounds": (
        "for i in range(3):\n    for j in range(t % 3):\n        s += a[t]",
        6,
    ),
    "two loops in a row": (
        "for k in range(2):\n    if (k + t) % 2:\n        s += a[t]\n"
        "for k in range(2):\n    if (k + t) % 2:\n        s += a[t]",
        4,
    ),
    "device function": ("for j in range(5):\n    if (j + t) % 2 == 0:\n        s += pick(a, j * 32 + t)", 5),
    "return": ("for j in range(5):\n    s += chosen(a, j, t)", 5),
    "return from a loop": ("for j in range(2):\n    s += first(a, j, t)", 6),
}
# Loops in which each lane's accesses are numbered like its rounds.
PLAIN = [
    "for j in range(5):\n    s += a[j * 32 + t]",
    "for j in range(t % 4):\n    s += a[j * 32 + t]",
    "for j in range(4):\n    if t < 7:\n        s += a[j * 32 + t]",
    "for j in range(4):\n    if j % 2 == 0:\n        s += a[j * 32 + t]",
    "for j in range(4):\n    if a[j * 32 + t] > 900:\n        break\n    s += a[j]",
    "for j in range(4):\n    if (j + t) % 2 == 0:\n        s += a[j]\n    cuda.syncthreads()",
    "for i in range(3):\n    for j in range(i + 1):\n        s += a[i + j + t]",
    "if t % 2:\n    s += a[t]",
]
DEVICES = """
@cuda.jit(device=True)
def pick(a, i):
    return a[i]

@cuda.jit(device=True)
def chosen(a, j, t):
    if (j + t) % 2:
        return float32(0)
    return a[j * 32 + t]

@cuda.jit(device=True)
def first(a, j, t):
    s = float32(0)
    for k in range(3):
        if (j + k + t) % 2 == 0:
            s += a[k * 32 + t]
        if s > 1000000:
            return s
    return s
"""


def source_of(body: str) -> str:
    lines = "\n    ".join(body.split("\n"))
    head = "@cuda.jit\ndef kernel(a, out):\n    t = cuda.threadIdx.x\n    s = float32(0)\n    "
    return f"{DEVICES}\n{head}{lines}\n    out[t] = s\n"


def compiled(folder: Path, body: str, *, turns: bool = False, **options: object) -> Trace:
    described = launch(folder, source_of(body), FLOATS, block=(32, 1, 1), **options)
    return run_compiled(described, lambda done, total: None, turns=turns)


def counters(trace: Trace) -> dict[str, int]:
    return totals_of(trace, requests_of(trace))


@pytest.mark.parametrize("name", LOOPS)
def test_a_round_is_a_request(name: str, tmp_path: Path) -> None:
    body, requests = LOOPS[name]
    trace = compiled(tmp_path, body)
    assert counters(trace)["global_load_requests"] == requests
    assert not are_rounds_unknown(trace)
    assert counter_mark_of(trace) == "exact"


@pytest.mark.parametrize("body", PLAIN)
def test_other_loops_record_no_rounds(body: str, tmp_path: Path) -> None:
    trace = compiled(tmp_path, body)
    assert trace.round is None
    assert not are_rounds_unknown(trace)


def test_turns_and_dropped_accesses_give_the_same_counters(tmp_path: Path) -> None:
    body = LOOPS["return from a loop"][0]
    expected = counters(compiled(tmp_path, body))
    assert counters(compiled(tmp_path, body, turns=True)) == expected
    counted = compiled(tmp_path, body, limits=Limits(accesses=0))
    assert counted.totals == expected
    assert counter_mark_of(counted, of_launch=True) == "exact"


def test_requests_are_in_the_order_of_the_program(tmp_path: Path) -> None:
    body = "for j in range(6):\n    if (j + t // 16) % 3 == 0:\n        s += a[j * 32 + t]\ns += a[1024 + t]"
    trace = compiled(tmp_path, body)
    requests = requests_of(trace)
    first = trace.index[requests.accesses.heads()][requests.buffer == 0].astype(int)
    assert (first // 32).tolist() == [0, 2, 3, 5, 32]
    assert np.all(np.diff(requests.moment) > 0)


def test_a_file_keeps_the_rounds(tmp_path: Path) -> None:
    trace = compiled(tmp_path, LOOPS["two loops"][0])
    for compress in (False, True):
        path = tmp_path / f"{compress}.npz"
        save(trace, path, compress)
        for loaded in (load(path), load(path, aside=tmp_path)):
            assert loaded.round is not None and trace.round is not None
            assert np.array_equal(loaded.round, trace.round)
            assert counters(loaded) == counters(trace)


def test_the_simulator_estimates(tmp_path: Path) -> None:
    trace = simulate(tmp_path, source_of(LOOPS["if"][0]), FLOATS, block=(32, 1, 1))
    assert counter_mark_of(trace, "global_load_requests") == "estimated"
    assert counter_mark_of(trace, "global_load_bytes") == "exact"
    assert "the same round" in estimate_text(trace)


def test_random_loops_count_as_their_machine_code(tmp_path: Path) -> None:
    jobs = []
    for seed in SEEDS:
        kernel, folder = RandomLoops(seed), tmp_path / str(seed)
        folder.mkdir()
        text = kernel.text()
        values = np.random.default_rng(seed).integers(0, 1000, kernel.elements)
        jobs.append(launch_of_text(text, values, np.zeros_like(values), 3, folder=folder))
    recorded = 0
    for seed, job, answer in zip(SEEDS, jobs, count_launches([*jobs]), strict=True):
        trace = run_compiled(job.launch, lambda done, total: None)
        recorded += trace.round is not None
        counted = {name: amount for name, amount in counters(trace).items() if amount}
        assert counted == nonzero_counters(answer), f"seed {seed}: {msgspec.to_builtins(job.launch)}"
    assert recorded, "no kernel of these seeds needs rounds"
