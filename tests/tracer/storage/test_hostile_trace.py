"""Trace files made to harm: what they claim is refused before memory is taken, with one sentence."""

from __future__ import annotations

import json
import math
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from launching import Array, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.model.counter_names import NAMES
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.storage.trace_file import TraceFileError, load, save
from traces import rewrite_file

KERNEL = """
@cuda.jit
def kernel(a, b):
    tile = cuda.shared.array(4, float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = a[i]
    cuda.syncthreads()
    b[i] = tile[3 - cuda.threadIdx.x]
"""
Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def real_trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Return a real trace: two blocks of four threads, two phases, 32 accesses."""
    arrays = (Array((8,), fill="arange"), Array((8,)))
    return trace(tmp_path_factory.mktemp("made"), KERNEL, arrays, grid=(2, 1, 1), block=(4, 1, 1))


@pytest.fixture
def path(real_trace: Trace, tmp_path: Path) -> Path:
    """Return the file of that trace, whose columns stand as they are."""
    save(real_trace, tmp_path / "t.npz", compress=False)
    return tmp_path / "t.npz"


def in_meta(**changes: Any) -> Callable[[Arrays], None]:
    return lambda arrays: arrays["meta"].update(changes)


def in_buffer(number: int, **changes: Any) -> Callable[[Arrays], None]:
    return lambda arrays: arrays["meta"]["buffers"][number].update(changes)


def in_launch(**changes: Any) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        launch = json.loads(arrays["meta"]["launch"]) | changes
        arrays["meta"]["launch"] = json.dumps(launch)
        arrays["meta"]["grid"], arrays["meta"]["block_dim"] = launch["grid"], launch["block"]

    return change


def in_column(name: str, row: int, number: int) -> Callable[[Arrays], None]:
    return lambda arrays: arrays[name].__setitem__(row, number)


def repeated(table: str, count: int) -> Callable[[Arrays], None]:
    """Return the change that repeats what a list of the metadata holds."""
    return lambda arrays: arrays["meta"].update({table: arrays["meta"][table] * count})


def an_error(**changes: Any) -> Callable[[Arrays], None]:
    results = {"type": "E", "message": "m", "block": [0, 0, 0], "thread": [0, 0, 0], "file": "f", "line": 1}
    return in_meta(error=results | changes)


def a_check(**changes: Any) -> Callable[[Arrays], None]:
    results = {"largest_error": 0.5, "tolerance": 0.1, "equal": False, "differing": 1, "elements": 8}
    return in_meta(check=results | changes)


def a_missing_lane(**changes: Any) -> Callable[[Arrays], None]:
    lost = {
        "block": 0,
        "warp": 0,
        "site": 0,
        "mask": 15,
        "missing": 1,
        "step": 0,
        "why": "ended",
        "other": -1,
    }
    return in_meta(missing=[lost | changes])


BAD: dict[str, Callable[[Arrays], Any]] = {
    "counters of other names": in_meta(totals={"x": 1}),
    "some counters alone": in_meta(totals={NAMES[0]: 5}),
    "counters beyond 64 bits": in_meta(totals=dict.fromkeys(NAMES, 2**64)),
    "a schedule that there is not": in_meta(schedule="x"),
    "a launch of more threads than anybody has": in_launch(grid=[2**31 - 1, 2**31 - 1, 1]),
    "a block of the launch outside its grid": in_launch(blocks=[2]),
    "a negative seed": in_launch(schedule={"kind": "random", "seed": -1}),
    "no blocks at once": in_launch(resident=0),
    "accesses of a launch that keeps none": in_launch(limits={"accesses": 0, "memory": 10}),
    "a source text without end": in_launch(source="x" * 5_000_000),
    "an argument of negative length": in_launch(arguments=[{"type": "array", "shape": [-8]}]),
    "more buffers than a kernel has": repeated("buffers", 200),
    "more sites than a program has": repeated("sites", 14_000),
    "source texts of no site": in_meta(sources={f"{n}.py": "" for n in range(99)}),
    "a buffer at the end of all memory": in_buffer(0, address=2**62 - 1),
    "strides that fall between elements": in_buffer(2, shape=[3, 2], strides=[-3, 5]),
    "nothing, along a dimension without end": in_buffer(0, shape=[0, 2**31], strides=[0, 0]),
    "contents of shared memory": lambda a: a.update({"initial.2": np.zeros(4, np.float32)}),
    "values that are records": lambda a: a.update(value=np.zeros(len(a["value"]), "V4")),
    "an error in a thread that there is not": an_error(thread=[4, 0, 0]),
    "an error in a block before the first": an_error(block=[-1, 0, 0]),
    "an error on a line before the first": an_error(line=-7),
    "an error of the result that is no number": a_check(largest_error=math.nan),
    "a negative error of the result": a_check(largest_error=-1.0),
    "an infinite error that passes": a_check(largest_error=math.inf, tolerance=math.inf, equal=True),
    "more elements off than there are": a_check(differing=9),
    "lanes of a block that did not run": a_missing_lane(block=2),
    "lanes told twice": lambda a: (a_missing_lane()(a), repeated("missing", 2)(a)),
    "lanes at a site that there is not": a_missing_lane(site=-1),
    "a thread that skips a barrier": in_column("barriers.phase", 0, 1),
    "steps beyond 64 bits": lambda a: a.update(step=a["step"].astype(np.uint64) + np.uint64(2**63)),
    "barriers beyond 64 bits": lambda a: a.update({"barriers.step": np.full(8, 2**64 - 1, np.uint64)}),
    "a column of barriers too short": lambda a: a.update({"barriers.site": a["barriers.site"][:-1]}),
    "a column of objects": lambda a: a.update(step=np.array([print] * len(a["step"]), object)),
    "a column of times": lambda a: a.update(step=a["step"].astype("M8[s]")),
}


@pytest.mark.parametrize("name", BAD)
def test_impossible_values_are_refused(path: Path, name: str):
    rewrite_file(path, lambda arrays: None)
    load(path)
    rewrite_file(path, BAD[name])
    with pytest.raises(TraceFileError, match=r"damaged or cut short \(.+\); copy it again"):
        load(path)


def test_a_phase_that_another_block_reached_is_refused(tmp_path: Path):
    """Views look up a block's phases by its own barriers."""
    source = KERNEL.replace("    cuda.syncthreads()", "    if cuda.blockIdx.x:\n        cuda.syncthreads()")
    save(
        trace(tmp_path, source, (Array((8,)), Array((8,))), grid=(2, 1, 1), block=(4, 1, 1)),
        tmp_path / "t",
        False,
    )
    load(tmp_path / "t")
    rewrite_file(tmp_path / "t", lambda a: a["phase"].__setitem__(np.flatnonzero(a["block"] == 0)[-1], 1))
    with pytest.raises(TraceFileError, match="a phase that its block did not reach"):
        load(tmp_path / "t")


def test_columns_of_wide_numbers_are_those_of_narrow_ones(real_trace: Trace, path: Path):
    """NumPy makes floats of uint64 and int64 together."""
    wide = [name for name in np.load(path).files if name != "meta" and np.load(path)[name].dtype.kind == "u"]
    rewrite_file(path, lambda a: a.update({name: a[name].astype(np.uint64) for name in wide}))
    back = load(path)
    for name in ("block", "thread", "phase", "op", "buffer", "site", "index", "step"):
        assert getattr(back, name).dtype == np.uint8
        assert np.array_equal(getattr(back, name), getattr(real_trace, name))
    assert len(requests_of(back)) == len(requests_of(real_trace))


def test_numbers_within_bounds_are_taken(path: Path):
    rewrite_file(path, in_meta(totals=dict.fromkeys(NAMES, 2**40)))
    rewrite_file(path, in_buffer(2, shape=[0, 5], strides=[0, 0]))
    rewrite_file(path, a_check(largest_error=math.inf, tolerance=math.nan, elements=8))
    rewrite_file(path, an_error(thread=[3, 0, 0], block=[1, 0, 0], line=0))
    assert load(path).error is not None


@pytest.mark.parametrize(
    ("shape", "strides"), [([2**31 // 4], [4]), ([2**13, 2**13], [4, 2**15])], ids=["many", "transposed"]
)
def test_arrays_too_large_to_be_shown_are_reported_as_such(path: Path, shape: list[int], strides: list[int]):
    def change(arrays: Arrays) -> None:
        in_buffer(0, shape=shape, strides=strides, size=math.prod(shape))(arrays)
        del arrays["initial.0"]

    rewrite_file(path, change)
    with pytest.raises(TraceFileError, match=r"elements together, more than can be shown; trace the kernel"):
        load(path)


def bomb(path: Path, name: str, descr: str, count: int, zeros: int) -> None:
    """Put a column into a file that announces `count` entries and holds `zeros` bytes, which deflate to nothing."""
    with zipfile.ZipFile(path) as members:
        kept = {info.filename: members.read(info) for info in members.infolist()}
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}\n".encode()
    kept[f"{name}.npy"] = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(zeros)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as members:
        for member, content in kept.items():
            members.writestr(member, content)


@pytest.mark.parametrize(
    ("name", "descr", "count", "zeros", "words"),
    [
        ("step", "|u1", 60_000_000, 60_000_000, "length of a column"),
        ("step", "|u1", 10**11, 1000, "length of a column"),
        ("initial.0", "<f4", 15_000_000, 60_000_000, "length of initial contents"),
        ("initial.0", "|V0", 10**11, 0, "length of a column"),
        ("blocks", "|u1", 60_000_000, 60_000_000, "number of blocks"),
        ("outside.cell", "<i8", 7_500_000, 60_000_000, "accesses outside"),
    ],
)
def test_columns_are_refused_by_their_headers(
    path: Path, name: str, descr: str, count: int, zeros: int, words: str
):
    bomb(path, name, descr, count, zeros)
    tracemalloc.start()
    try:
        with pytest.raises(TraceFileError, match=words):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_duplicate_encrypted_or_repacked_members_are_refused(path: Path):
    content = path.read_bytes()
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as members:
        warnings.simplefilter("ignore")
        members.writestr("step.npy", members.read("step.npy"))
    with pytest.raises(TraceFileError, match="member 'step"):
        load(path)
    changed = bytearray(content)
    changed[changed.rfind(b"PK\x01\x02") + 8] |= 1  # the flag of what is encrypted
    path.write_bytes(changed)
    with pytest.raises(TraceFileError, match="encrypted"):
        load(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as members, zipfile.ZipFile(path.with_name("o"), "w"):
        members.writestr("meta.npy", b"x")
    with pytest.raises(TraceFileError, match="compression of meta"):
        load(path)
