"""Explicit orders in both engines: the same accesses, and the same sentence for an order that is impossible."""

from __future__ import annotations

import random

import numpy as np
import pytest

from launching import Array, launch
from order_runs import run, run_order
from tilescope.tracer.model.order import order_of_turns
from tilescope.tracer.run.worker_client import WorkerError

BARRIERS = """\
@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    tile = cuda.shared.array(4, int64)
    if t == 0:
        tile[0] = a[b]
    cuda.syncthreads()
    if t == 0:
        tile[1] = a[b + 1]
    cuda.syncthreads()
    cuda.syncthreads()
    if t == 3:
        out[0] = tile[1]
    cuda.syncthreads()
    out[t] += tile[0]
    cuda.syncwarp()
    out[t] += cuda.shfl_down_sync(0xFFFFFFFF, tile[1] + t, 1)
"""
ARRAYS = (Array((8,), "int64", "arange"), Array((8,), "int64"))
COLUMNS = ("block", "thread", "phase", "op", "index", "step", "value")


def planned(folder, blocks=2):
    return launch(folder, BARRIERS, ARRAYS, grid=(blocks, 1, 1), block=(4, 1, 1), engine="compiled")


def run_both(kernel_launch, order):
    compiled, simulated = (run_order(kernel_launch, order, engine) for engine in ("compiled", "simulator"))
    assert "compiled" in compiled.made_by and "compiled" not in simulated.made_by
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(compiled, name), getattr(simulated, name), name)
    return compiled


@pytest.mark.parametrize(
    "order",
    [
        "t0x4+t3x2+t2x1", "b1+t0x4+t3x2+t0x2+t0", "b1w0x1+b1/1+w0", "all/4+b1t2x2+t1x1", "all/0", "b1/2+t0",
        "b0+b1", "b1+b0", "all/3+b1t3+t3",
    ],
)  # fmt: skip
def test_both_engines_run_the_same_order(order, tmp_path):
    run_both(planned(tmp_path), order)


def test_an_order_without_switches_is_that_of_lockstep(tmp_path):
    kernel_launch = launch(
        tmp_path, "@cuda.jit\ndef kernel(c):\n    c[0] += 1\n", (Array((1,), "int64"),), block=(3, 1, 1),
        engine="compiled",
    )  # fmt: skip
    ordered, lockstep = run_both(kernel_launch, "all/0"), run(kernel_launch)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(ordered, name), getattr(lockstep, name), name)


def test_the_turns_of_any_run_are_an_order_that_repeats_it(tmp_path):
    """Run random orders, and repeat each as an explicit order of single turns."""
    from msgspec.structs import replace

    from tilescope.tracer.model.launch import Schedule

    kernel_launch = planned(tmp_path)
    for seed in range(5):
        trace = run(replace(kernel_launch, schedule=Schedule("random", seed)))
        turns = list(zip(trace.block.tolist(), trace.thread.tolist(), strict=True))
        again = run_both(kernel_launch, str(order_of_turns(turns)))
        assert list(zip(again.block.tolist(), again.thread.tolist(), strict=True)) == turns
        np.testing.assert_array_equal(again.value, trace.value)


def test_random_texts_give_the_same_accesses_or_the_same_sentence(tmp_path):
    kernel_launch, dice = planned(tmp_path), random.Random(5)
    for _ in range(40):
        parts = [
            f"b{dice.randrange(2)}"
            + dice.choice(["", f"t{dice.randrange(4)}", "w0"])
            + dice.choice(["", f"x{dice.randrange(1, 4)}"])
            + dice.choice(["", "", f"/{dice.randrange(5)}"])
            for _ in range(dice.randrange(1, 5))
        ]
        order = "+".join(parts)
        sentences = []
        for engine in ("compiled", "simulator"):
            try:
                run_order(kernel_launch, order, engine)
            except WorkerError as error:
                sentences.append(str(error))
        if sentences:
            assert len(sentences) == 2 and sentences[0] == sentences[1], order
        else:
            run_both(kernel_launch, order)


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ("t0x9", "Part 1 of the order, t0x9, is too long: thread 0 of block 0 can make only 4 turns"),
        ("t0x4+t0", "Part 2 of the order, t0, can't run: thread 0 of block 0 waits"),
        ("t0x1@9", "The order states line 9 for t0x1@9, but the access is in line"),
        ("t7", "The order names thread 7"),
        ("b5", "The order names block 5"),
        ("t0x1@999", "The order names line 999"),
        ("v000000:t0", "The order is of another version"),
        ("nonsense", "'nonsense' is not a part of an order"),
    ],
)
def test_an_impossible_order_is_one_sentence(order, sentence, tmp_path):
    for engine in ("compiled", "simulator"):
        with pytest.raises(WorkerError) as caught:
            run_order(planned(tmp_path), order, engine)
        assert sentence in str(caught.value)


def test_a_block_that_has_not_begun_cannot_go_first(tmp_path):
    kernel_launch = launch(
        tmp_path, BARRIERS, ARRAYS, grid=(2, 1, 1), block=(4, 1, 1), engine="compiled", resident=1
    )
    for engine in ("compiled", "simulator"):
        with pytest.raises(WorkerError, match="has not begun"):
            run_order(kernel_launch, "b1t0", engine)
