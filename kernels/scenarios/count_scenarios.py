"""Counting as a lesson: many threads add to one counter, or to the bins of a histogram."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .program_scenarios import zero_tolerance
from .scenario import Argument, Arrays, Baseline, Parameter, PhaseText, Plan, Scenario, Values
from .vector_scenarios import MILLION, blocks_parameter, count_parameter, line_plan, threads_parameter

LOW, HIGH, BINS = -4.0, 4.0, 150
Result = dict[str, NDArray[Any]]


def _counter_plan(values: Values) -> Plan:
    blocks, threads = int(values["num_blocks"]), int(values["threads"])
    return Plan((Argument("counter", (1,), "int32"),), (blocks, 1, 1), (threads, 1, 1), {})


def _threads_counted(arguments: Arrays) -> Result:
    return {"counter": np.array([arguments["gridDim"].prod() * arguments["blockDim"].prod()])}


_counter = partial(
    Scenario,
    group="Counting",
    parameters=(blocks_parameter(32), threads_parameter(32)),
    plan=_counter_plan,
    reference=_threads_counted,
    tolerance=zero_tolerance,
    roles={"counter": "result"},
)

RACING = _counter(
    name="count-racing",
    title="Counter, racing",
    lesson="Load, add and store are three steps: threads that load the same number lose additions.",
    pitfall="Without an atomic, the additions of threads that run at once are lost: in "
    "lockstep 1024 threads count to 1.",
    group="Pitfalls",
    kernel="tilescope.kernels.histogram:count_racing",
    works=({"num_blocks": 1, "threads": 1},),
    breaks=({}, {"num_blocks": 1, "threads": 2}),
    phases=(PhaseText("one phase: no barrier", "Every thread loads the counter, adds 1 and stores it."),),
)


def _histogram_plan(values: Values, *, private: bool = False) -> Plan:
    samples = Argument("values", (int(values["count"]),), fill="normal")
    bins = Argument("bins", (int(values["bins"]),), "int32")
    edges = Argument("low", value=LOW), Argument("high", value=HIGH)
    constants = {"BINS": bins.shape[0]} if private else {}
    return line_plan(values, samples, *edges, bins, blocks=int(values["num_blocks"]), **constants)


def _histogram(arguments: Arrays) -> Result:
    # In float64, like the kernel: NumPy rounds the edges to the type of the samples, and in float32 that moves a
    # few of a million to the next bin. Its last bin includes its upper edge; no sample is exactly 4.0.
    samples = arguments["values"].astype(np.float64)
    return {"bins": np.histogram(samples, len(arguments["bins"]), (LOW, HIGH))[0]}


_binned = partial(
    Scenario,
    group="Counting",
    parameters=(
        count_parameter(4096, "Samples"),
        blocks_parameter(8),
        threads_parameter(64),
        Parameter("bins", "Bins", BINS, 1, 4096, step=0),
    ),
    reference=_histogram,
    tolerance=zero_tolerance,
    roles={"values": "left", "bins": "result"},
    timed=tuple(
        {"count": MILLION, "num_blocks": blocks, "threads": threads}
        for blocks, threads in ((64, 64), (528, 256))
    ),
)

COUNTS = (
    _counter(
        name="count-atomic",
        title="Counter, atomic",
        lesson="An atomic addition loads, adds and stores in one step, so that every thread counts.",
        kernel="tilescope.kernels.histogram:count_atomic",
        phases=(PhaseText("one phase: no barrier", "Every thread adds 1 to the counter in one step."),),
    ),
    _binned(
        name="histogram-global",
        title="Histogram, global atomics",
        lesson="Threads whose samples fall into one bin wait for each other at its atomic addition.",
        kernel="tilescope.kernels.histogram:histogram_global",
        plan=_histogram_plan,
        phases=(
            PhaseText(
                "one phase: no barrier", "Every thread bins its samples, each with an atomic addition."
            ),
        ),
        baselines=(Baseline("numpy", "NumPy", "tilescope.kernels.baselines:histogram_numpy"),),
    ),
    _binned(
        name="histogram-private",
        title="Histogram, privatised",
        lesson="Each block counts in shared memory and adds its bins to the result once: few atomics reach "
        "global memory.",
        kernel="tilescope.kernels.histogram:histogram_private",
        plan=partial(_histogram_plan, private=True),
        phases=(
            PhaseText("clear", "The threads set the block's own bins to 0."),
            PhaseText("count", "Every thread bins its samples with atomic additions in shared memory."),
        ),
        last=PhaseText("add up", "The threads add the block's bins to those in global memory."),
    ),
    _binned(
        name="histogram-floor",
        title="Histogram, bins by math.floor",
        lesson="`math.floor` gives an integer on a GPU, so it can be the index of an atomic addition.",
        kernel="tilescope.kernels.rounding:histogram_floor",
        plan=_histogram_plan,
        phases=(
            PhaseText(
                "one phase: no barrier",
                "Every thread bins the samples in range, each with an atomic addition.",
            ),
        ),
        timed=({},),
    ),
)
