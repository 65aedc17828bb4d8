"""The compiled engine with grid barriers and with fences."""

from __future__ import annotations

import pytest

from engines import LONGS, assert_engines_agree
from launching import Array, launch
from tilescope.tracer.model.trace import GRID_SCOPE

GATHERED = """
@cuda.jit
def kernel(a, out):
    i, group = cuda.grid(1), cuda.cg.this_grid()
    out[i] = a[i] + 1
    group.sync()
    other = out[(i + cuda.blockDim.x) % cuda.gridsize(1)]
    group.sync()
    out[i] += other
"""


def test_blocks_that_wait_for_each_other_see_all_stores(tmp_path):
    kernel_launch = assert_engines_agree(launch(tmp_path, GATHERED, LONGS, grid=(4, 1, 1), block=(16, 1, 1)))
    assert set(kernel_launch.barriers.reach.tolist()) == {GRID_SCOPE}
    assert len(kernel_launch.barriers.thread) == 2 * 64


def test_a_device_function_waits_for_the_grid_that_it_is_given(tmp_path):
    source = """
    @cuda.jit(device=True)
    def gathered(group, a, i):
        group.sync()
        return a[(i + 7) % len(a)]

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        a[i] += i
        cuda.syncthreads()
        out[i] = gathered(cuda.cg.this_grid(), a, i)
        cuda.syncthreads()
        cuda.cg.this_grid().sync()
        a[i] += out[63 - i]
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, grid=(8, 1, 1), block=(8, 1, 1)))


def test_blocks_that_never_come_to_the_barrier_of_the_grid(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if cuda.blockIdx.x % 2:
            out[i] = 2
            return
        out[i] = 1
        cuda.cg.this_grid().sync()
        out[i] += a[i]
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, grid=(4, 1, 1), block=(16, 1, 1)))


@pytest.mark.parametrize("name", ["threadfence", "threadfence_block", "threadfence_system"])
def test_fences_between_a_value_and_its_flag(tmp_path, name):
    source = f"""
    @cuda.jit
    def kernel(a, out, flags):
        i = cuda.grid(1)
        out[i] = a[i]
        cuda.{name}()
        cuda.atomic.exch(flags, i, 1)
        if cuda.atomic.add(flags, 64, 1) == 63:
            cuda.{name}()
            for k in range(64):
                out[0] += out[k]
    """
    arguments = (*LONGS, Array((65,), "int64"))
    kernel_launch = assert_engines_agree(
        launch(tmp_path, source, arguments, grid=(4, 1, 1), block=(16, 1, 1))
    )
    assert len(kernel_launch.warp_barriers.thread) == 65
