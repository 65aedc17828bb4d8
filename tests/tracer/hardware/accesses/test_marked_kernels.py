"""Marked kernels note what the compiled engine records: of every form of access, and of the catalogue's kernels."""

import numpy as np
import pytest

from engines import kernel_source, run_both
from launching import Array, Scalar, launch
from noted_on_host import notes_on_host
from numba_catalogue import numba_scenarios
from tilescope.tracer.analysis.counters import totals_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.hardware.accesses.comparison import compare
from tilescope.tracer.hardware.accesses.marked_kernel import ENTRY, NotMarkable, noting_kernel
from tilescope.tracer.hardware.accesses.measured_trace import measured_run
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.recording.kernel_loader import load_kernel

# Small launches of the catalogue's kernels that Numba compiles; those that do nothing with data-dependent values.
CATALOGUE = (
    "matmul-naive-row-on-x:m=5,k=6,n=7,tile=4",
    "matmul-naive-col-on-x:m=5,k=6,n=7,tile=4",
    "matmul-tiled:m=9,k=6,n=7,tile=4",
    "matmul-add-into-global:m=4,k=3,n=5,tile=4",
    "matmul-tiled-dynamic:m=9,k=6,n=7,tile=4",
    "workitem-naive:m=8,k=4,n=8,tile=4",
    "barrier-three-threads",
    "vector-double:count=70,threads=32",
    "vector-increment:count=70,threads=32",
    "vector-multiply:count=100,num_blocks=2,threads=32",
    "copy-stride:count=64,stride=3,threads=32",
    "copy-offset:count=64,offset=5,threads=32",
    "count-atomic:num_blocks=3,threads=32",
    "histogram-global:count=128,num_blocks=2,threads=32,bins=16",
    "histogram-private:count=128,num_blocks=2,threads=32,bins=16",
    "transpose-naive:rows=8,cols=5",
    "transpose-tile:rows=8,cols=5",
    "transpose-padded:rows=8,cols=5",
    "sum-interleaved:count=150,threads=64",
    "sum-sequential:count=150,threads=64",
    "matmul-tiled-by-gridsize:m=8,k=16,n=8",
    "matmul-tiled-early-return:m=16,k=16,n=16",
    "vector-too-few-threads:count=64,num_blocks=1,threads=32",
)
# Bodies of kernels of `a` and `out`, 64 whole numbers of 64 bits each, by 32 threads in two blocks.
FORMS = {
    "load and store": "i = cuda.grid(1)\nout[i] = a[i] + 1",
    "augmented": "i = cuda.grid(1)\nout[i] += a[i]\nout[i] *= 3",
    "negative index": "i = cuda.grid(1)\nout[-1 - i] = a[i - 64]",
    "chained": "i = cuda.grid(1)\nout[i] = out[32 + i] = a[i]",
    "both at once": "i = cuda.grid(1)\nout[i], out[i + 32] = a[i], a[i + 32]",
    "index by a load": "i = cuda.grid(1)\nout[a[i]] = i",
    "part of an array": "i = cuda.grid(1)\npart = a[32:]\nout[i] = part[i]",
    "every other": "i = cuda.grid(1)\npart = a[::2]\nout[i] = part[i]",
    "other shape": "i = cuda.grid(1)\ntable = a.reshape(8, 8)\nout[i] = table[i // 8, i % 8]",
    "turned": "i = cuda.grid(1)\ntable = a.reshape(8, 8).T\nout[i] = table[i // 8, i % 8]",
    "fill of a part": "i = cuda.grid(1)\nout[2 * i : 2 * i + 2] = i",
    "loop over elements": "i = cuda.grid(1)\ntotal = 0\nfor x in a:\n    total += x\nout[i] = total",
    "loop with numbers": "i = cuda.grid(1)\nfor n, x in enumerate(a[:4]):\n    out[i] += n * x",
    "while": "i = cuda.grid(1)\nn = 0\nwhile a[n] < 5:\n    n += 1\nout[i] = n",
    "shared": (
        "tile = cuda.shared.array((4, 4), int64)\nt, i = cuda.threadIdx.x, cuda.grid(1)\ntile[t // 4, t % 4] = a[i]\n"
        "cuda.syncthreads()\nout[i] = tile[t % 4, t // 4]"
    ),
    "local": (
        "own = cuda.local.array(3, int64)\ni = cuda.grid(1)\nfor k in range(3):\n    own[k] = a[i] + k\n"
        "out[i] = own[0] + own[2]"
    ),
    "constant": "known = cuda.const.array_like(TABLE)\ni = cuda.grid(1)\nout[i] = known[i % 3]",
    "global array of the module": "i = cuda.grid(1)\nout[i] = TABLE[i % 3] + a[i]",
    "conditional": "i = cuda.grid(1)\nout[i] = a[i] if i % 3 else a[0]",
    "early return": "i = cuda.grid(1)\nif a[i] > 7:\n    return\nout[i] = 1",
    "device function": "i = cuda.grid(1)\nout[i] = twice(a, i)",
    "device function with an array of its own": (
        "i = cuda.grid(1)\nout[i] = swapped(a[i], 1)\nout[32 + i] = swapped(2, a[i]) + swapped(a[i], a[i])"
    ),
    "division and remainder": "i = cuda.grid(1)\nout[i] = a[i] // 3 + a[i] % 5 + (a[i] << 2) + max(a[i], 7)",
    "length": "i = cuda.grid(1)\nif i < a.size and i < len(out) and i < a.shape[0]:\n    out[i] = a[i]",
    **{
        f"atomic {name}": f"i = cuda.grid(1)\ncuda.atomic.{name}(out, i % 4, a[i])"
        for name in ("add", "sub", "max", "min", "exch", "and_", "or_", "xor")
    },
    "atomic with its old value": "i = cuda.grid(1)\nout[32 + i] = cuda.atomic.add(out, 0, 2)",
    "compare and swap": "i = cuda.grid(1)\nout[32 + i] = cuda.atomic.cas(out, 0, i, i + 1)",
    "fence": "i = cuda.grid(1)\nout[i] = a[i]\ncuda.threadfence()\nout[32 + i] = a[i]",
}
AROUND = """
TABLE = np.array([3, 5, 7])

@cuda.jit(device=True)
def twice(values, place):
    return values[place] + values[place + 32]

@cuda.jit(device=True)
def swapped(one, other):
    both = cuda.local.array(2, int64)
    both[0], both[1] = other, one
    return both[0] - both[1]

"""
LONGS = (Array((64,), "int64", "arange"), Array((64,), "int64"))


def measured(built, seed=None):
    return measured_run(notes_on_host(built, seed))


def thread_by_thread(trace):
    """List the accesses of each thread in its order, in names that two engines share."""
    rows = np.lexsort((trace.step, trace.thread_numbers(trace.block, trace.thread)))
    columns = ("block", "thread", "phase", "op", "buffer", "site", "index")
    return [
        (b, t, p, o, trace.buffers[n].name, trace.buffers[n].space, trace.sites[s], i)
        for b, t, p, o, n, s, i in zip(
            *(getattr(trace, name)[rows].tolist() for name in columns), strict=True
        )
    ]


@pytest.mark.parametrize("form", FORMS)
def test_a_form_of_access_is_noted_as_the_compiled_engine_records_it(tmp_path, form):
    kernel_launch = launch(
        tmp_path,
        AROUND + kernel_source(FORMS[form]),
        LONGS,
        grid=(2, 1, 1),
        block=(16, 1, 1),
        schedule="sequential",
    )
    run = measured(kernel_launch)
    ours, theirs = run.trace, run_both(kernel_launch)[0]
    assert thread_by_thread(ours) == thread_by_thread(theirs)
    assert ours.value.tolist() == theirs.value.tolist()
    assert compare(ours, run.results, theirs).differences == ()


@pytest.mark.parametrize("spec", CATALOGUE)
def test_a_kernel_of_the_catalogue_notes_the_accesses_of_the_compiled_engine(spec):
    scenario, values, options = parse_spec(spec)
    launch = launch_of(scenario, values, **options)
    run, theirs = measured(launch), run_both(launch, Schedule("sequential"))[0]
    assert thread_by_thread(run.trace) == thread_by_thread(theirs)
    assert np.allclose(run.trace.value, theirs.value, 1e-5, 1e-5, equal_nan=True)
    assert run.trace.check == theirs.check or run.trace.check.equal == theirs.check.equal
    assert totals_of(run.trace, requests_of(run.trace)) == totals_of(theirs, requests_of(theirs))
    comparison = compare(run.trace, run.results, theirs)
    assert (comparison.differences, comparison.replayed, comparison.stale) == ((), 0, 0)


def test_every_kernel_of_the_catalogue_can_be_marked():
    for scenario in numba_scenarios():
        if scenario.engine == "python":
            continue
        _, plain = load_kernel(launch_of(scenario, {}))
        kernel = noting_kernel(plain.py_func, {})
        assert kernel.functions[-1].name == ENTRY
        assert kernel.program.sites


def test_barriers_of_the_block_are_those_of_the_engine():
    scenario, values, _ = parse_spec("sum-sequential:count=64,threads=32")
    launch = launch_of(scenario, values)
    ours, theirs = measured(launch).trace, run_both(launch, Schedule("sequential"))[0]

    def arrivals(trace):
        barriers = trace.barriers
        columns = (barriers.block, barriers.thread, barriers.phase, barriers.reach, barriers.part)
        return sorted(zip(*(column.tolist() for column in columns), strict=True))

    assert arrivals(ours) == arrivals(theirs)
    assert len(ours.warp_barriers.step) == 0


REFUSED = {
    "print(a[0])": "it prints",
    "out[0] = again(a, 3)": "calls itself",
    "cuda.cg.this_grid().sync()": "its blocks wait for each other",
    "out[0] = cuda.activemask()": "the mask of active lanes",
    "out[0] = cuda.match_any_sync(0xFFFFFFFF, a[0])": "compare their values",
    "out[0] = a.nothing": "takes nothing of a value",
    "out[0] = unknown": "unknown",
}


@pytest.mark.parametrize("body", REFUSED)
def test_unsupported_kernels_are_refused_in_a_sentence(tmp_path, body):
    around = (
        "@cuda.jit(device=True)\ndef again(values, n):\n"
        "    if n == 0:\n        return 0\n    return values[n] + again(values, n - 1)\n\n"
    )
    kernel_launch = launch(tmp_path, around + kernel_source(body), LONGS)
    _, plain = load_kernel(kernel_launch)
    with pytest.raises(NotMarkable, match=REFUSED[body]) as refused:
        noting_kernel(plain.py_func, {"a": np.dtype("int64"), "out": np.dtype("int64")})
    text = str(refused.value)
    assert text.startswith("The accesses of kernel can't be noted on a GPU: ") and text.endswith(".")


def test_records_are_refused():
    def kernel(points):
        points[0].x = 1

    with pytest.raises(NotMarkable, match="points holds records"):
        noting_kernel(kernel, {"points": np.dtype([("x", "f4")])})


def test_scalars_and_constants_are_those_of_the_launch(tmp_path):
    kernel_launch = launch(
        tmp_path, "SIZE = 4\n" + kernel_source("i = cuda.grid(1)\nout[i] = a[i] * n + SIZE", "a, n, out"),
        (LONGS[0], Scalar(3), LONGS[1]), block=(32, 1, 1), constants={"SIZE": 9},
    )  # fmt: skip
    assert measured(kernel_launch).results["out"][:3].tolist() == [9, 12, 15]
