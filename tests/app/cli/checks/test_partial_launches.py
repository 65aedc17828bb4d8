"""What `run` and `check` say of launches of which they examined a part, and of such as no GPU takes."""

from __future__ import annotations

import json

import pytest

from programs import COPY, HEAD, messages_of, run_tilescope
from tilescope.tracer.findings.partial_launch import blocks_text

LATE = (
    HEAD
    + """
@cuda.jit
def product(a, c, n):
    i, j = cuda.grid(2)
    t = np.float32(0)
    for k in range(a.shape[1]):
        t += a[i, k] * a[k, j]
    c[i, j] = t
    if cuda.blockIdx.x == 15 and cuda.blockIdx.y == 15:
        n[0] += t

a, c = np.ones((256, 256), np.float32), np.zeros((256, 256), np.float32)
product[(16, 16), (16, 16)](a, c, np.zeros(1, np.float32))
print(c.min(), c.max())
"""
)


def test_a_race_in_the_last_block_of_a_large_launch_is_detected_and_the_part_is_named(script, tmp_path):
    path = script(LATE)
    done = run_tilescope("check", str(path), folder=tmp_path)
    assert done.returncode == 1
    assert f"{path}:{1 + LATE.splitlines().index('        n[0] += t')}: error: race: " in done.stdout
    assert ": warning: only blocks 0 to 90 and 255 of 256 were examined: 11,9" in done.stdout
    assert "--blocks 128." in done.stdout
    assert " in all" not in done.stdout
    lines = [line for line in done.stdout.splitlines() if "examined: " not in line]
    assert all("part examined" in line for line in lines)
    assert "256.0 256.0\n" in done.stderr  # the last block was run by itself besides


def test_chosen_blocks_are_a_note(script, tmp_path):
    text = COPY.replace("copy[2, 32]", "copy[4, 10]")
    done = run_tilescope("check", "--format", "json", "--blocks", "0,2", str(script(text)), folder=tmp_path)
    (note,) = [f for f in json.loads(done.stdout) if f["kind"] == "part"]
    assert note["severity"] == "note"
    assert note["message"].startswith("only blocks 0 and 2 of 4 were examined: the others did not run; ")
    full_output = run_tilescope("check", "--format", "json", str(script(text)), folder=tmp_path)
    assert "part" not in {f["kind"] for f in json.loads(full_output.stdout)}
    assert "part examined" not in full_output.stdout


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([7], "block 7"),
        ([0, 1, 2], "blocks 0 to 2"),
        ([0, 1, 255], "blocks 0 to 1 and 255"),
        ([0, 2, 4, 6, 7, 9], "blocks 0, 2 and 4 more"),
    ],
)
def test_blocks_are_named_by_their_runs(blocks, text):
    assert blocks_text(blocks) == text


LIMITS = [
    ("[1, 2048]", "2,048 threads in a block"),
    ("[1, (1, 1, 128)]", "128 along z of the block"),
    ("[(1, 65536), 1]", "65,536 along y of the grid"),
    ("[1, 32, 0, 50_000]", "50,000 bytes of shared memory"),
]


def kernels(name: str, shapes: list[str]) -> tuple[str, list[str]]:
    """Return a program that launches COPY's kernel in each shape, under one name each, and their first lines."""
    kernel, arrays = COPY.removeprefix(HEAD).rstrip().rsplit("\n\n", 1)
    arrays = arrays.splitlines()[0] + "\n"
    heads = [f"def {name}_{n}(a, out):" for n in range(len(shapes))]
    texts = [kernel.replace("def copy(a, out):", head) + "\n\n" for head in heads]
    launches = [f"{name}_{n}{shape}(a, out)\nprint(out.sum())\n" for n, shape in enumerate(shapes)]
    return HEAD + "".join(texts) + arrays + "".join(launches), heads


def test_launches_that_a_gpu_refuses_run_on_and_are_errors(script, tmp_path):
    text, heads = kernels("large", [shape for shape, _ in LIMITS])
    path = script(text)
    done = run_tilescope("check", str(path), folder=tmp_path)
    assert done.returncode == 1
    for head, (_, message) in zip(heads, LIMITS, strict=True):
        assert f"{path}:{1 + text.splitlines().index(head)}: error: launch: {message}" in done.stdout
    assert done.stdout.count("error: launch") == len(LIMITS)
    assert messages_of(done) == "780\n" * len(LIMITS)


def test_the_largest_launches_that_a_gpu_takes_are_none(script, tmp_path):
    text, _ = kernels("large", ["[1, 1024]", "[1, (16, 1, 64)]", "[(2, 4000), 1]", "[1, 32, 0, 49_152]"])
    done = run_tilescope("check", str(script(text)), folder=tmp_path)
    assert "error: launch" not in done.stdout
    assert messages_of(done) == "780\n" * 4


TILE = """
@cuda.jit
def tile_NUMBER(a, n):
    side = 8
    half = side
    m = a.size
    s = cuda.shared.array(SHAPE, dtype=np.int32)
    s[0] = a[0]
    a[0] = s[0]

try:
    tile_NUMBER[1, 1](np.zeros(8, np.int32), 8)
except Exception as refused:
    print(type(refused).__name__)
"""
COMPUTED = ["n", "m", "a.size", "len(a)", "cuda.blockDim.x", "SIDE * 2", "half + 1"]
KNOWN = ["8", "SIDE", "side", "half", "2 * 4", "(8,)", "shape=SIDE", "0"]


def tiles(shapes: list[str]) -> str:
    """Return a program of a kernel for each shape of an array in shared memory."""
    texts = [TILE.replace("NUMBER", str(n)).replace("SHAPE", shape) for n, shape in enumerate(shapes)]
    return HEAD + "SIDE = 8\n" + "".join(texts)


def test_arrays_of_shapes_that_are_computed_do_not_compile(script, tmp_path):
    """As Numba's typing of the kernel for a device of capability 8.0 says of each of these."""
    text = tiles(COMPUTED)
    path = script(text)
    done = run_tilescope("check", str(path), folder=tmp_path)
    for shape in COMPUTED:
        line = 1 + text.splitlines().index(f"    s = cuda.shared.array({shape}, dtype=np.int32)")
        assert f"{path}:{line}: error: compile: Numba can't compile tile_" in done.stdout
    assert done.returncode == 1


def test_arrays_of_known_shapes_do(script, tmp_path):
    done = run_tilescope("check", str(script(tiles(KNOWN))), folder=tmp_path)
    assert "error: compile" not in done.stdout
    assert done.returncode == 1  # the array of no elements is accessed outside
    assert done.stdout.count(": error: ") == done.stdout.count(": error: bounds: ") > 0


def test_too_much_static_shared_memory_does_not_compile(script, tmp_path):
    done = run_tilescope("check", str(script(tiles(["12_289"]))), folder=tmp_path)
    assert "error: launch: 49,156 bytes of shared memory in a block" in done.stdout
    assert "the kernel does not compile" in done.stdout
    done = run_tilescope("check", str(script(tiles(["12_288"]))), folder=tmp_path)
    assert "error" not in done.stdout


SHIFT = (
    HEAD
    + """
@cuda.jit
def shift(src, dst):
    i = cuda.grid(1)
    if i > 0:
        dst[i] = src[i - 1]

"""
)


@pytest.mark.parametrize("engine", ["simulator", "compiled"])
def test_arguments_in_one_memory_are_both_named(script, tmp_path, engine):
    path = script(SHIFT + "a = cuda.to_device(np.arange(64.0))\nshift[1, 64](a, a)\n")
    done = run_tilescope("check", "--engine", engine, str(path), folder=tmp_path)
    assert "elements of src/dst are read" in done.stdout
    assert "(src and dst lie in one array)" in done.stdout
    apart = script(SHIFT + "a = cuda.to_device(np.arange(65.0))\nshift[1, 64](a, a.copy_to_host())\n")
    assert "src/dst" not in run_tilescope("check", "--engine", engine, str(apart), folder=tmp_path).stdout


def test_blocks_that_no_grid_has_are_refused_with_those_it_has(script, tmp_path):
    path = script(COPY.replace("copy[2, 32]", "copy[4, 10]"))
    refused = run_tilescope("check", "--blocks", "99", str(path), folder=tmp_path)
    assert refused.returncode == 2 and refused.stdout == ""
    assert (
        "\nLaunchRefusedError: the grid of copy has blocks 0 to 3, and --blocks names none of them\n"
        in refused.stderr
    )
    some = run_tilescope("check", "--blocks", "2,99", str(path), folder=tmp_path)
    assert "only block 2 of 4 was examined" in some.stdout
