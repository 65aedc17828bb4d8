"""What is recorded of shared, local and constant memory, of device functions, closures, records and atomics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from launching import Array, access_rows, final_contents, launch, trace
from tilescope.tracer.model.trace import Op


def test_shared_arrays_two_on_one_line_are_two(tmp_path):
    source = """
    @cuda.jit
    def kernel(out):
        a, b = cuda.shared.array(4, float32), cuda.shared.array(4, float32)
        t = cuda.threadIdx.x
        a[t] = t
        b[t] = 10 * t
        cuda.syncthreads()
        out[t] = a[3 - t] + b[3 - t]
    """
    traced = trace(tmp_path, source, (Array((4,)),), block=(4, 1, 1))
    assert final_contents(traced, "out").tolist() == [33, 22, 11, 0]
    shared = [b for b in traced.buffers if b.space == "shared"]
    assert [b.name for b in shared] == ["a", "b"]
    assert shared[1].address - shared[0].address == 16


NAMED = """
@cuda.jit
def kernel(out):
    tile = cuda.shared.array(4, float32)
    own = cuda.local.array(2, float32)
    table = cuda.const.array_like(TABLE)
    tile[0] = own[0] = table[0]
    out[0] = tile[0]
"""


@pytest.mark.parametrize("inserted", ["", "# one line\n", "# two\n# lines\n", "ONE = 1\n\n\n\n"])
def test_arrays_keep_their_names_when_lines_are_inserted_above_and_the_file_runs_again(tmp_path, inserted):
    built = "TABLE = np.ones(2, np.float32)\n"
    for text in (NAMED, inserted + NAMED, NAMED.replace("tile", "other"), NAMED):
        traced = trace(tmp_path, built + text, (Array((1,)),))
        names = {buffer.name for buffer in traced.buffers}
        assert names == {"out", "own", "table", "other" if "other" in text else "tile"}


def test_a_column_counts_characters_of_the_text_that_the_file_has_now(tmp_path):
    for word in ("aaaaaaa", "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"):
        source = (
            f"@cuda.jit\ndef kernel(out):\n    '{word}'; out[0] = 1; {word} = cuda.shared.array(2, float32)\n"
        )
        traced = trace(tmp_path, source + f"    {word}[0] = 1\n", (Array((1,)),))
        site = traced.sites[traced.site[0]]
        assert traced.sources[site.file].splitlines()[site.line - 1][site.column :].startswith("out[0]")
        assert [buffer.name for buffer in traced.buffers] == ["out", word]


def test_shared_memory_is_fresh_in_each_block_and_poisoned(tmp_path):
    source = """
    @cuda.jit
    def kernel(out, bits):
        tile = cuda.shared.array(1, float32)
        count = cuda.shared.array(1, int32)
        out[cuda.blockIdx.x] = tile[0]
        bits[cuda.blockIdx.x] = count[0]
        tile[0] = 5
        count[0] = 5
    """
    traced = trace(tmp_path, source, (Array((3,)), Array((3,), "int32")), grid=(3, 1, 1), resident=1)
    assert np.isnan(final_contents(traced, "out")).all()
    assert (final_contents(traced, "bits").view(np.uint32) == 0xA5A5A5A5).all()


def test_dynamic_shared_memory_in_two_slices_and_two_types(tmp_path):
    source = """
    @cuda.jit
    def kernel(out):
        whole = cuda.shared.array(0, float32)
        left, right = whole[:4], whole[4:8]
        ints = cuda.shared.array(0, int32)
        t = cuda.threadIdx.x
        left[t] = t
        right[t] = 1
        cuda.syncthreads()
        out[t] = left[3 - t] + right[t] + (ints[4] == 0x3f800000)
    """
    traced = trace(tmp_path, source, (Array((4,)),), block=(4, 1, 1), shared_bytes=32)
    assert final_contents(traced, "out").tolist() == [5, 4, 3, 2]
    floats, ints = (b for b in traced.buffers if b.space == "shared")
    assert (floats.shape, ints.shape, floats.address) == ((8,), (8,), ints.address)
    assert {i for _, _, op, i in access_rows(traced, "whole") if op == "S"} == set(range(8))


def test_local_arrays_are_separate_for_each_thread(tmp_path):
    source = """
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        mine = cuda.local.array((2, 2), int64)
        mine[1, 0] = t
        cuda.syncthreads()
        out[t] = mine[1, 0]
    """
    traced = trace(tmp_path, source, (Array((4,), "int64"),), block=(4, 1, 1))
    assert final_contents(traced, "out").tolist() == [0, 1, 2, 3]
    assert [(b.name, b.space) for b in traced.buffers] == [("out", "global"), ("mine", "local")]


def test_constant_arrays(tmp_path):
    source = """
    TABLE = np.arange(4, dtype=np.float32) ** 2
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        table = cuda.const.array_like(TABLE)
        out[t] = table[3 - t]
    """
    traced = trace(tmp_path, source, (Array((4,)),), block=(4, 1, 1))
    assert final_contents(traced, "out").tolist() == [9, 4, 1, 0]
    number = next(i for i, b in enumerate(traced.buffers) if b.space == "constant")
    assert traced.buffers[number].name == "table"
    assert traced.initial[number].tolist() == [0, 1, 4, 9]


def test_device_functions_have_separate_sites_and_may_contain_barriers(tmp_path):
    source = """
    @cuda.jit(device=True)
    def neighbour(tile, t):
        cuda.syncthreads()
        return tile[t ^ 1]

    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(4, float32)
        t = cuda.threadIdx.x
        tile[t] = t
        out[t] = neighbour(tile, t)
    """
    for schedule in ("lockstep", "sequential", "random"):
        traced = trace(tmp_path, source, (Array((4,)),), block=(4, 1, 1), schedule=schedule)
        assert final_contents(traced, "out").tolist() == [1, 0, 3, 2]
        assert {s.function for s in traced.sites} == {"neighbour", "kernel"}


def test_a_device_function_of_another_file_finds_cuda_too(tmp_path, monkeypatch):
    (tmp_path / "other_file_for_test.py").write_text(
        "from numba import cuda\n@cuda.jit(device=True)\n"
        "def wait_and_get(a, t):\n    cuda.syncthreads()\n    return a[t]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    source = """
    from other_file_for_test import wait_and_get
    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(4, float32)
        t = cuda.threadIdx.x
        tile[t] = t
        out[t] = wait_and_get(tile, t ^ 1) + wait_and_get(tile, t)
    """
    traced = trace(tmp_path, source, (Array((4,)),), block=(4, 1, 1))
    assert final_contents(traced, "out").tolist() == [1, 1, 5, 5]
    assert any(name.endswith("other_file_for_test.py") for name in traced.sources)


def test_cuda_is_resolved_in_closures_and_under_numba(tmp_path):
    source = """
    import numba
    def make(width):
        from numba import cuda as hidden
        @hidden.jit
        def kernel(out):
            tile = hidden.shared.array(width, float32)
            t = hidden.threadIdx.x
            tile[t] = t
            hidden.syncthreads()
            out[numba.cuda.grid(1)] = tile[width - 1 - t]
        return kernel
    kernel = make(4)
    """
    traced = trace(tmp_path, source, (Array((4,)),), block=(4, 1, 1))
    assert traced.error is None, traced.error
    assert final_contents(traced, "out").tolist() == [3, 2, 1, 0]
    assert [b.name for b in traced.buffers] == ["out", "tile"]


def test_records_are_accessed_field_by_field(tmp_path):
    source = """
    import numpy as np
    POINT = np.dtype([("x", np.float32), ("n", np.int16), ("v", np.float64, (3,))], align=True)
    @cuda.jit
    def kernel(out):
        points = cuda.shared.array(2, numba_point)
        t = cuda.threadIdx.x
        points[t].x = t + 0.5
        points[t]["n"] = 70000
        points[t].v[2] = 8
        cuda.syncthreads()
        out[t] = points[1 - t].x + points[t].n + points[t].v[2]
    import numba
    numba_point = numba.from_dtype(POINT)
    """
    traced = trace(tmp_path, source, (Array((2,)),), block=(2, 1, 1))
    assert final_contents(traced, "out").tolist() == [1.5 + 70000 - 65536 + 8, 0.5 + 70000 - 65536 + 8]
    fields = {b.name: b for b in traced.buffers}
    point = np.dtype([("x", np.float32), ("n", np.int16), ("v", np.float64, (3,))], align=True)
    complete = fields["points"]
    assert fields["points.n"].address - complete.address == point.fields["n"][1]
    assert fields["points.x"].unit == point.itemsize
    assert {i for _, _, _, i in access_rows(traced, "points.x")} == {0, 1}
    values = fields["points.v"]
    element = values.address + {i for _, _, _, i in access_rows(traced, "points.v")}.pop() * values.unit
    offset = point.fields["v"][1] + 16
    assert element - complete.address in (offset, offset + point.itemsize)


def test_device_array_is_poisoned():
    from numba import cuda

    from tilescope.tracer.simulator.numba_patch import install

    install()
    assert np.isnan(cuda.device_array(4, np.float32).copy_to_host()).all()
    assert (cuda.device_array((2, 2), np.uint8).copy_to_host() == 0xA5).all()
    assert np.isnan(cuda.device_array_like(np.zeros(3)).copy_to_host()).all()


def test_empty_arguments_are_poisoned(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        out[0] = a[0]
    """
    assert math.isnan(
        final_contents(trace(tmp_path, source, (Array((1,), fill="empty"), Array((1,)))), "out")[0]
    )


ATOMICS = {
    "add": (5, 3, 8), "sub": (5, 3, 2), "and_": (12, 10, 8), "or_": (12, 10, 14), "xor": (12, 10, 6), "inc": (5, 5, 0),
    "dec": (0, 7, 7), "exch": (1, 9, 9), "max": (3, 8, 8), "min": (3, 8, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", ATOMICS)
def test_atomics(tmp_path, name):
    before, value, after = ATOMICS[name]
    source = f"""
    @cuda.jit
    def kernel(a, old):
        a[1] = {before}
        old[0] = cuda.atomic.{name}(a, 1, {value})
        cuda.atomic.{name}(a, 0, 1)
    """
    traced = trace(tmp_path, source, (Array((2,), "uint32"), Array((1,), "uint32")))
    assert final_contents(traced, "a")[1] == after
    assert final_contents(traced, "old")[0] == before
    used, unused = traced.op[traced.op >= Op.ATOMIC]
    # A GPU has no reduction for an exchange (tests/data/h100_more.json).
    assert (used, unused) == (Op.ATOMIC, Op.ATOMIC if name == "exch" else Op.REDUCTION)


def test_more_atomics(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, b, old):
        b[0] = 5
        old[0] = cuda.atomic.compare_and_swap(b, 5, 6)
        old[1] = cuda.atomic.compare_and_swap(b, 5, 7)
        old[2] = cuda.atomic.cas(b, 1, 0, 3)
        cuda.atomic.nanmax(a, 0, math.nan)
        cuda.atomic.nanmin(a, 1, -4)
        cuda.atomic.inc(b, 2, 10)
        cuda.atomic.dec(b, 2, 10)
    """
    traced = trace(tmp_path, source, (Array((2,), "float64"), Array((3,), "uint32"), Array((3,), "float64")))
    assert final_contents(traced, "a").tolist() == [0, -4]
    assert final_contents(traced, "b").tolist() == [6, 3, 0]
    assert final_contents(traced, "old").tolist() == [5, 6, 0]


def test_atomics_wrap(tmp_path):
    source = """
    @cuda.jit
    def kernel(a):
        cuda.atomic.sub(a, 0, 1)
        cuda.atomic.add(a, 1, 2147483648)
    """
    traced = trace(tmp_path, source, (Array((2,), "uint32", "zeros"),))
    assert final_contents(traced, "a").tolist() == [2**32 - 1, 2**31]


def test_device_arrays_that_look_into_one_another_share_a_buffer(tmp_path):
    from numba import cuda

    from tilescope.tracer.simulator import numba_patch

    source = """
    @cuda.jit
    def kernel(even, whole):
        even[1] = 4
        whole[0] = whole[2]
    """
    kernel_launch = launch(tmp_path, source, (Array((4,)), Array((4,))))
    module, kernel = numba_patch.load_kernel(kernel_launch)
    device = cuda.to_device(np.zeros(4, np.float32))
    traced = numba_patch.trace_kernel(
        kernel_launch, module, kernel, (device[::2], device), ("even", "whole"), lambda done, total: None
    )
    assert len(traced.buffers) == 1
    assert traced.index.tolist() == [2, 2, 0]
    assert device.copy_to_host().tolist() == [4, 0, 4, 0]
