"""Textbook kernels have no warnings, and remedies fix the reported problems."""

from __future__ import annotations

import pytest

from launching import Array, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.launch import Scalar


def findings_in(folder, source, *arguments, grid=(1, 1, 1), block=(64, 1, 1), **options):
    ended = trace(folder, source, arguments, grid=grid, block=block, **options)
    assert ended.error is None, ended.error
    findings = findings_of(ended, requests_of(ended))
    assert not [f for f in findings if f.severity == "error"], findings
    return {(f.kind, f.severity): f for f in findings}


def warnings(*args, **options):
    return {kind for kind, severity in findings_in(*args, **options) if severity == "warning"}


def vector(length, dtype="float32"):
    return Array((length,), dtype)


REDUCTION = """
@cuda.jit
def kernel(a, out):
    s = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]
"""
INTERLEAVED = REDUCTION.replace("step = 64", "step = 1").replace("step > 0", "step < 128")
INTERLEAVED = INTERLEAVED.replace("t < step", "t % (2 * step) == 0").replace("//= 2", "*= 2")
MATMUL = """
@cuda.jit
def kernel(a, b, c, n):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for p in range(0, n, TILE):
        left[ty, tx] = a[y, p + tx] if y < n and p + tx < n else 0
        right[ty, tx] = b[p + ty, x] if x < n and p + ty < n else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    if y < n and x < n:
        c[y, x] = total
"""
STENCIL = """
@cuda.jit
def kernel(a, out):
    s = cuda.shared.array(66, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t + 1] = a[i]
    if t == 0 and i > 0:
        s[0] = a[i - 1]
    if t == cuda.blockDim.x - 1 and i + 1 < a.size:
        s[t + 2] = a[i + 1]
    cuda.syncthreads()
    if 0 < i < a.size - 1:
        out[i] = (s[t] + s[t + 1] + s[t + 2]) / float32(3)
"""
WARP_SUMS = """
@cuda.jit
def kernel(a, out):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    value = a[i]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if t % 32 == 0:
        cuda.atomic.add(out, 0, value)
"""
STRIDE = """
@cuda.jit
def kernel(a, out, scale):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] * scale[0]
"""
IMAGE = """
@cuda.jit
def kernel(image, out):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = image[y, x] // 2
"""
COUNT = """
@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    if i < a.size and a[i] > 0.5:
        cuda.atomic.add(out, 0, 1)
"""


@pytest.mark.parametrize(
    ("source", "arguments", "grid", "block"),
    [
        (REDUCTION, (vector(500), vector(4)), (4, 1, 1), (128, 1, 1)),
        (STENCIL, (vector(256), vector(256)), (4, 1, 1), (64, 1, 1)),
        (WARP_SUMS, (vector(256), vector(1)), (4, 1, 1), (64, 1, 1)),
        (STRIDE, (vector(1000), vector(1000), vector(1)), (2, 1, 1), (128, 1, 1)),
        (STRIDE, (vector(999, "int8"), vector(999, "int8"), vector(1, "int8")), (2, 1, 1), (128, 1, 1)),
        (IMAGE, (Array((20, 40), "uint8"), Array((20, 40), "uint8")), (2, 2, 1), (32, 32, 1)),
        (IMAGE, (Array((30, 50)), Array((30, 50))), (4, 2, 1), (16, 16, 1)),
        (COUNT, (Array((200,), fill="random"), vector(1, "int32")), (4, 1, 1), (64, 1, 1)),
    ],
    ids=["reduction", "stencil", "warp sums", "grid stride", "of bytes", "wide blocks", "image", "count"],
)
def test_textbook_kernels_have_no_warnings(tmp_path, source, arguments, grid, block):
    assert warnings(tmp_path, source, *arguments, grid=grid, block=block) == set()


@pytest.mark.parametrize("tile", [8, 16])
@pytest.mark.parametrize("n", [16, 20, 31, 50])
def test_a_tiled_product_of_any_size_has_no_warnings(tmp_path, tile, n):
    blocks = -(-n // tile)
    arguments = (Array((n, n)), Array((n, n)), Array((n, n)), Scalar(n))
    source = f"TILE = {tile}\n{MATMUL}"
    assert warnings(tmp_path, source, *arguments, grid=(blocks, blocks, 1), block=(tile, tile, 1)) == set()


def test_longer_rows_fix_rows_that_begin_within_a_sector(tmp_path):
    source, shape = f"TILE = 16\n{MATMUL}", {"grid": (4, 4, 1), "block": (16, 16, 1)}
    note = findings_in(tmp_path, source, *[Array((50, 50))] * 3, Scalar(50), **shape)["uncoalesced", "note"]
    assert "begin within a sector" in note.message and note.remedy == "make them a multiple of 32 bytes long"
    assert findings_in(tmp_path, source, *[Array((50, 56))] * 3, Scalar(50), **shape) == {}
    # Neighbours that begin one element further: no remedy, so no word.
    shifted = "@cuda.jit\ndef kernel(a, out):\n    i = cuda.grid(1)\n    out[i] = a[i + 1] - a[i]\n"
    assert findings_in(tmp_path, shifted, vector(257), vector(256), grid=(4, 1, 1)) == {}
    assert findings_in(tmp_path, shifted, vector(257, "int8"), vector(256, "int8"), grid=(4, 1, 1)) == {}


def test_consecutive_numbers_fix_a_reduction_with_scattered_threads(tmp_path):
    some = (vector(500), vector(4))
    finding = findings_in(tmp_path, INTERLEAVED, *some, grid=(4, 1, 1), block=(128, 1, 1))[
        "idle lanes", "warning"
    ]
    assert finding.message.startswith("2,436 of 2,944 lanes sit out line 14")
    assert "92 requests do what 32 could; give the work to threads with successive numbers" in finding.message
    assert findings_in(tmp_path, REDUCTION, *some, grid=(4, 1, 1), block=(128, 1, 1)) == {}


TILE = """
@cuda.jit
def kernel(out):
    s = cuda.shared.array({shape}, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    {place}
    cuda.syncthreads()
    for k in range({side}):
        out[y * {side} + x] = {element}
"""


@pytest.mark.parametrize(
    ("side", "place", "element", "more"),
    [
        (32, "s[y, x] = x", "s[x, k]", "1 element"),
        (16, "s[y, x] = x", "s[x, k]", "1 element"),
        (16, "s[x, y] = x", "s[0, 0]", "2 elements"),
    ],
)
def test_the_suggested_row_length_fixes_a_bank_conflict(tmp_path, side, place, element, more):
    def tile(shape):
        source = TILE.format(shape=shape, side=side, place=place, element=element)
        return findings_in(tmp_path, source, vector(side * side), block=(side, side, 1))

    (finding,) = (f for (kind, _), f in tile((side, side)).items() if kind == "bank conflict")
    assert (
        finding.remedy
        == f"make each row of s {more} longer, or let neighbouring threads touch neighbouring words"
    )
    longer = tile((side, side + int(more.split()[0])))
    assert not [f for f in longer.values() if f.kind == "bank conflict" and f.sites == finding.sites]


def test_rows_shared_by_a_warp_are_noted(tmp_path):
    """As of a tile with its halo: two rows of 16 threads, 18 elements apart, meet in two banks."""

    def tile(shape):
        source = TILE.format(shape=shape, side=16, place="s[y, x] = x", element="s[y, x]")
        return findings_in(tmp_path, source, vector(256), block=(16, 16, 1))

    note = tile((18, 18))["bank conflict", "note"]
    assert (
        note.remedy == "let each warp stay in one row of s"
    )  # rows 30 elements longer would take more than twice
    assert ("bank conflict", "warning") not in tile((18, 18))
    assert ("bank conflict", "note") not in tile((18, 48))


def test_longer_rows_are_not_suggested_where_they_fix_nothing(tmp_path):
    source = "@cuda.jit\ndef kernel(out):\n    t = cuda.threadIdx.x\n    s = cuda.shared.array({}, float32)\n"
    flat = source.format(64) + "    s[2 * t] = t\n    out[t] = s[2 * t]\n"
    findings = findings_in(tmp_path, flat, vector(32), block=(32, 1, 1))["bank conflict", "warning"]
    assert findings.remedy == "let neighbouring threads touch neighbouring words"
    assert findings_in(tmp_path, flat.replace("2 * t", "t"), vector(32), block=(32, 1, 1)) == {}


HISTOGRAM = """
@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array({shape}, int32)
    for k in range(256):
        {cell} = 0
    cuda.syncthreads()
    cuda.atomic.add(s, {place}, 1)
    cuda.syncthreads()
    k = t
    out[t] = {cell}
"""


def test_a_copy_for_each_lane_fixes_data_dependent_conflicts(tmp_path):
    def counted(shape, cell, place):
        source = HISTOGRAM.format(shape=shape, cell=cell, place=place)
        some = (Array((32,), "int32", "arange"), vector(32, "int32"))
        return findings_in(tmp_path, source, *some, block=(32, 1, 1))

    note = counted("256", "s[k]", "a[t] * a[t] * 8 % 256")["bank conflict", "note"]
    assert note.remedy == "give each lane its own copy in its own bank, as in s[i, lane]"
    assert ("bank conflict", "note") not in counted("(256, 32)", "s[k, t]", "(a[t] * a[t] * 8 % 256, t)")


AGAIN = """
@cuda.jit
def kernel(a, c):
    t = cuda.threadIdx.x
    {before}
    for k in range(8):
        {step}
    {after}
"""


@pytest.mark.parametrize(
    ("bad", "severity", "good", "remedy"),
    [
        (  # the sum itself in memory
            ("pass", "c[t] += a[64 * k + t]", "pass"),
            "warning",
            ("total = float32(0)", "total += a[64 * k + t]", "c[t] = total"),
            "keep them in local variables",
        ),
        (  # one's own element, which the compiler may have kept
            ("total = float32(0)", "total += a[t]", "c[t] = total"),
            "note",
            ("total, mine = float32(0), a[t]", "total += mine", "c[t] = total"),
            "keep them in local variables",
        ),
        (  # the elements of all the block's threads
            ("total = float32(0)", "total += a[(t + k) % 64]", "c[t] = total"),
            "warning",
            (
                "total, s = float32(0), cuda.shared.array(64, float32)\n    s[t] = a[t]\n    cuda.syncthreads()",
                "total += s[(t + k) % 64]",
                "c[t] = total",
            ),
            "load them once into shared memory, where all threads of the block find them",
        ),
    ],
    ids=["sum in memory", "own element", "others' elements"],
)
def test_the_remedy_fixes_repeated_loads(tmp_path, bad, severity, good, remedy):
    def run(parts):
        words = dict(zip(("before", "step", "after"), parts, strict=True))
        return findings_in(tmp_path, AGAIN.format(**words), vector(512), vector(64))

    trace = run(bad)
    assert [key for key in trace if key[0] == "reloaded"] == [("reloaded", severity)]
    assert trace["reloaded", severity].remedy == remedy
    assert run(good) == {}


def test_a_separate_array_fixes_scattered_fields(tmp_path):
    fields = [("x", "float32"), ("y", "float32"), ("z", "float32"), ("w", "float32")]
    some = "@cuda.jit\ndef kernel(p, out):\n    i = cuda.grid(1)\n    out[i] = {}\n"
    records = Array((128,), ", ".join(kind for _, kind in fields))
    item = findings_in(tmp_path, some.format("p[i].f0"), records, vector(128), grid=(2, 1, 1))
    assert item["uncoalesced", "warning"].remedy == "keep each field in its own array"
    # Where half of each record is used, half of what is moved is.
    two = findings_in(tmp_path, some.format("p[i].f0 + p[i].f1"), records, vector(128), grid=(2, 1, 1))
    assert list(two) == [("uncoalesced", "note")]
    assert findings_in(tmp_path, some.format("p[i]"), vector(128), vector(128), grid=(2, 1, 1)) == {}


def test_blocks_that_are_no_multiple_of_a_warp_are_a_warning_where_fewer_warps_would_do(tmp_path):
    source = "@cuda.jit\ndef kernel(a):\n    i = cuda.grid(1)\n    if i < a.size:\n        a[i] = i\n"
    assert list(findings_in(tmp_path, source, vector(100), block=(100, 1, 1))) == [("block size", "note")]
    count = findings_in(tmp_path, source, vector(800), grid=(8, 1, 1), block=(100, 1, 1))
    assert list(count) == [("block size", "warning")]
    assert findings_in(tmp_path, source, vector(800), grid=(7, 1, 1), block=(128, 1, 1)) == {}
