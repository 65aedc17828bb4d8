"""Trace files: small, exact, written atomically, and safe to open from any source."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from launching import Array, trace
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.counter_names import NAMES
from tilescope.tracer.model.launch import Launch, Schedule, encode
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Barriers, Buffer, Check, KernelError, Site, Trace
from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.storage import npz, trace_file
from tilescope.tracer.storage.npz import read
from tilescope.tracer.storage.trace_file import FORMAT, VERSION, TraceFileError, load, save
from tilescope.tracer.storage.validation import ACCESS_COLUMNS, BARRIER_COLUMNS
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
POINT = np.dtype([("x", "<f4"), ("y", "<i2")])


def small(folder: Path) -> Trace:
    """Return a real trace of a few accesses, with a barrier."""
    arrays = (Array((8,), fill="arange"), Array((8,)))
    return trace(folder, KERNEL, arrays, grid=(2, 1, 1), block=(4, 1, 1), schedule="random", seed=3)


def assert_same(first: Trace, two: Trace) -> None:
    """Assert that two traces say the same, bit for bit."""
    for name in Trace.__struct_fields__:
        if name not in ("barriers", "initial", "value", *ACCESS_COLUMNS, "steps", "blocks", "recorded"):
            assert repr(getattr(first, name)) == repr(getattr(two, name)), name
    pairs = [(getattr(first, name), getattr(two, name)) for name in (*ACCESS_COLUMNS, "blocks", "recorded")]
    pairs += [(getattr(first.barriers, name), getattr(two.barriers, name)) for name in BARRIER_COLUMNS]
    assert all(np.array_equal(a, b) for a, b in pairs)
    assert (first.value is None) == (two.value is None)
    if first.value is not None and two.value is not None:
        assert first.value.dtype == two.value.dtype and first.value.tobytes() == two.value.tobytes()
    assert first.initial.keys() == two.initial.keys()
    assert all(first.initial[n].tobytes() == two.initial[n].tobytes() for n in first.initial)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, bytes]:
    """Return the bytes of a valid file, by whether it is compressed."""
    folder = tmp_path_factory.mktemp("valid")
    trace = small(folder)
    for compress in (True, False):
        save(trace, folder / str(compress), compress)
    return {compress: (folder / str(compress)).read_bytes() for compress in (True, False)}


# What comes back


@pytest.mark.parametrize("compress", [True, False])
def test_trace_round_trips(tmp_path: Path, compress: bool):
    trace = small(tmp_path)
    save(trace, tmp_path / "t.npz", compress)
    assert_same(load(tmp_path / "t.npz"), trace)


def test_a_small_trace_is_written_plain_and_any_zip_program_reads_it(tmp_path: Path):
    trace = small(tmp_path)
    save(trace, tmp_path / "t.npz")
    assert_same(load(tmp_path / "t.npz"), trace)
    with zipfile.ZipFile(tmp_path / "t.npz") as members:
        assert members.testzip() is None
        assert {member.compress_type for member in members.infolist()} == {zipfile.ZIP_STORED}
    with np.load(tmp_path / "t.npz") as columns:
        assert np.array_equal(columns["index"], trace.index)


def test_error_check_totals_and_texts_round_trip(tmp_path: Path):
    trace = replace(
        small(tmp_path),
        error=KernelError("ValueError", 'ä "quoted" \n line', (1, 0, 0), (3, 0, 0), "k.py", 7),
        check=Check(math.inf, math.nan, False),
        totals=dict.fromkeys(NAMES, 2**40),
        accesses=10**9,
        notice="Only a part: ü 統.",
        sources={"k.py": "# ä\n" * 1000},
    )
    save(trace, tmp_path / "t")
    assert_same(load(tmp_path / "t"), trace)


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"],
)
def test_values_of_every_type_round_trip_bit_for_bit(tmp_path: Path, dtype: str):
    trace = small(tmp_path)
    rng = np.random.default_rng(1)
    raw = rng.integers(0, 256, (len(trace), np.dtype(dtype).itemsize), np.uint8)
    value = raw.view(dtype)[:, 0] if dtype != "bool" else raw[:, 0] > 128
    content = np.resize(value, 8)
    buffer = replace(trace.buffers[0], dtype=dtype)
    changed = replace(
        trace, value=value, buffers=(buffer, *trace.buffers[1:]), initial={**trace.initial, 0: content}
    )
    save(changed, tmp_path / "t")
    assert_same(load(tmp_path / "t"), changed)


def test_records_and_launches_without_values_round_trip(tmp_path: Path):
    trace = small(tmp_path)
    content = np.zeros(8, POINT)
    content["y"] = np.arange(8)
    buffers = (replace(trace.buffers[0], dtype=POINT.str, unit=6, strides=(6,)), *trace.buffers[1:])
    changed = replace(trace, value=None, buffers=buffers, initial={0: content})
    save(changed, tmp_path / "t")
    back = load(tmp_path / "t")
    assert_same(back, changed)
    assert np.array_equal(back.initial[0].view(POINT), content)


def test_launch_without_any_access_round_trips(tmp_path: Path):
    launch_trace = trace(tmp_path, "@cuda.jit\ndef kernel(a):\n    pass\n", (Array((2,)),))
    save(launch_trace, tmp_path / "t")
    assert_same(load(tmp_path / "t"), launch_trace)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Draw a trace whose numbers are random and in range."""
    grid, dim = draw(
        st.sampled_from([((1, 1, 1), (1, 1, 1)), ((3, 2, 1), (2, 1, 2)), ((70_000, 1, 1), (32, 32, 1))])
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, arrivals = draw(st.integers(0, 50)), draw(st.integers(0, 20))
    count, threads = math.prod(grid), math.prod(dim)
    blocks = np.unique(rng.integers(0, count, 5))
    sizes = [int(n) for n in rng.integers(1, 2 ** draw(st.integers(1, 24)), 3)]
    buffer = rng.integers(0, 3, rows)
    block, arrived = rng.choice(blocks, rows), rng.choice(blocks, arrivals)
    came = rng.integers(0, threads, arrivals)
    turn = [sum((arrived[:i] == arrived[i]) & (came[:i] == came[i])) for i in range(arrivals)]
    passed = [
        max([t + 1 for t, b in zip(turn, arrived, strict=True) if b == own], default=0) for own in block
    ]

    def below(limit: int, length: int) -> Any:
        return rng.integers(0, limit, length, np.uint64)

    return Trace(
        block.astype(np.uint64), below(threads, rows), rng.integers(0, np.array(passed, int) + 1).astype(np.uint64),
        below(4, rows).astype(np.uint8), buffer.astype(np.uint8), below(5, rows),
        (below(2**62, rows) % np.array(sizes, np.uint64)[buffer]).astype(np.uint64),
        np.cumsum(below(2 ** draw(st.integers(1, 40)), rows), dtype=np.uint64),
        rng.integers(0, 2**32, rows, np.uint32).view(np.float32),
        Barriers(
            arrived.astype(np.uint64), came.astype(np.uint64),
            np.array(turn, np.uint8), below(5, arrivals), below(2**40, arrivals), below(2, arrivals),
        ),
        tuple(Buffer(f"b{i}", "global", "int8", (n,), (1,), 0, 1, n) for i, n in enumerate(sizes)),
        tuple(Site("f", "f.py", line, line) for line in range(5)),
        {}, encode(Launch("m:f", "", (), grid, dim)), "f", grid, dim, "lockstep", 1, blocks, blocks[:2], rows,
    )  # fmt: skip


@settings(max_examples=150)
@given(trace=traces(), compress=st.booleans())
def test_any_trace_round_trips(tmp_path_factory: pytest.TempPathFactory, trace: Trace, compress: bool):
    path = tmp_path_factory.mktemp("any") / "t"
    save(trace, path, compress)
    assert_same(load(path), trace)


# Size


@pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
@pytest.mark.parametrize("name", ["matmul-naive-row-on-x", "matmul-naive-col-on-x", "matmul-tiled"])
def test_matmuls_take_at_most_3_bytes_an_access_on_disk_and_24_in_memory(
    worker: Worker, tmp_path: Path, name: str, schedule: Any
):
    trace = worker.run(launch_of(find(name), {}, schedule=Schedule(schedule)))
    assert len(trace) > 500_000
    save(trace, tmp_path / "t")
    assert (tmp_path / "t").stat().st_size <= 3 * len(trace)
    back = load(tmp_path / "t")
    assert_same(back, trace)
    assert back.nbytes <= 24 * len(back)
    assert not back.index.flags.writeable


# Writing


def test_path_that_is_a_folder_or_in_none(tmp_path: Path):
    trace = small(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(TraceFileError, match=r"folder: it is a folder; choose a file name\.$"):
        save(trace, tmp_path / "folder")
    with pytest.raises(TraceFileError, match="its folder does not exist; create it"):
        save(trace, tmp_path / "missing" / "t")
    with pytest.raises(TraceFileError, match="its folder does not exist; create it"):
        save(trace, tmp_path / "kernels.py" / "t")
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "can't be written"),
        (errno.EACCES, "can't be written"),
    ],
)
def test_failure_under_way_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
):
    trace = small(tmp_path)
    save(trace, tmp_path / "t")
    before = (tmp_path / "t").read_bytes(), sorted(tmp_path.iterdir())

    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(TraceFileError, match=words):
        save(replace(trace, notice="new"), tmp_path / "t")
    assert ((tmp_path / "t").read_bytes(), sorted(tmp_path.iterdir())) == before


@pytest.mark.skipif(os.name != "posix", reason="limits a process's file size")
@pytest.mark.parametrize("room", [0, 10, 1000, 2500])
def test_no_room_leaves_the_old_file_and_nothing_else(tmp_path: Path, room: int):
    save(small(tmp_path), tmp_path / "t", compress=False)
    before = (tmp_path / "t").read_bytes(), sorted(tmp_path.iterdir())
    program = f"""
import resource
from tilescope.tracer.storage.trace_file import load, save
made = load({str(tmp_path / "t")!r})
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
save(made, {str(tmp_path / "t")!r})
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stderr.splitlines()[-1].endswith(
        "the disk is full; free some space or choose another folder."
    )
    assert ((tmp_path / "t").read_bytes(), sorted(tmp_path.iterdir())) == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="folders that nobody may write")
def test_folder_that_may_not_be_written(tmp_path: Path):
    trace = small(tmp_path)
    (tmp_path / "locked").mkdir(0o500)
    with pytest.raises(TraceFileError, match="the folder can't be written; choose another"):
        save(trace, tmp_path / "locked" / "t")


# Reading what others made


def test_path_without_a_trace(tmp_path: Path):
    for path, words in ((tmp_path, "it is a folder"), (tmp_path / "no", "no such file; check its name")):
        with pytest.raises(TraceFileError, match=words):
            load(path)


def test_foreign_files(tmp_path: Path):
    path = tmp_path / "t"
    np.save(tmp_path / "t.npy", np.arange(3))
    np.savez(tmp_path / "t.npz", meta=np.arange(3), other=np.array(["a"]))
    with zipfile.ZipFile(tmp_path / "t.docx", "w") as other:
        other.writestr("word/document.xml", "<xml/>")
    contents = [
        b"",
        b"P",
        b"hello",
        bytes(1000),
        *((tmp_path / f"t.{e}").read_bytes() for e in ("npy", "docx")),
    ]
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(TraceFileError, match="not a Tilescope trace; choose a file that Tilescope saved"):
            load(path)
    with pytest.raises(TraceFileError):
        load(tmp_path / "t.npz")


@pytest.mark.parametrize("name", ["scan.py", "lesson.ipynb", "matmul.cu"])
def test_programs_are_distinguished_from_traces(tmp_path: Path, name: str):
    (tmp_path / name).write_text("text")
    with pytest.raises(
        TraceFileError, match="it is a program, not a trace; `tilescope open` shows its launches"
    ):
        load(tmp_path / name)


def test_newer_file_is_reported_whatever_its_content(tmp_path: Path):
    path = tmp_path / "t"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as members:
        header = io.BytesIO()
        np.save(
            header, np.frombuffer(json.dumps({"format": FORMAT, "version": VERSION + 1}).encode(), np.uint8)
        )
        members.writestr("meta.npy", header.getvalue())
        members.writestr("something/new", b"")
    with pytest.raises(
        TraceFileError, match=rf"newer Tilescope.*format {VERSION + 1}.*up to {VERSION}.*update"
    ):
        load(path)


def test_a_file_of_the_first_format_must_be_traced_again(tmp_path: Path):
    path = tmp_path / "t"
    save(small(tmp_path), path)
    rewrite_file(path, lambda arrays: arrays["meta"].update(version=1))
    with pytest.raises(
        TraceFileError, match=rf"older Tilescope.*format 1.*reads {VERSION}.*trace the kernel"
    ):
        load(path)


def test_pickle_is_never_read(tmp_path: Path):
    path = tmp_path / "t"
    save(small(tmp_path), path)

    def put_object(arrays: dict[str, Any]) -> None:
        arrays["value"] = np.array([print] * 32, object)

    rewrite_file(path, put_object)
    with pytest.raises(TraceFileError, match="header of value"):
        load(path)


def test_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "t"
    save(small(tmp_path), path)
    monkeypatch.setattr(trace_file, "LARGEST_BYTES", 10_000_000)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as members:
        members.writestr("initial.7.npy", bytes(20_000_000))
    assert path.stat().st_size < 50_000
    monkeypatch.setattr(
        npz, "read", lambda members, name: read(members, name) if name == "meta" else pytest.fail(name)
    )
    with pytest.raises(TraceFileError, match="names or sizes"):
        load(path)


BAD: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a thread outside its block": lambda a: a["thread"].__setitem__(0, 200),
    "a column too short": lambda a: a.update(index=a["index"][:-1]),
    "a column of floats": lambda a: a.update(index=a["index"].astype(np.float32)),
    "a column of two dimensions": lambda a: a.update(index=a["index"].reshape(-1, 2)),
    "signed numbers": lambda a: a.update(index=a["index"].astype(np.int16)),
    "numbers of the other byte order": lambda a: a.update(index=a["index"].astype(">u2")),
    "an op that there is not": lambda a: a["op"].__setitem__(3, 4),
    "an index outside its buffer": lambda a: a["index"].__setitem__(3, 8),
    "a buffer that there is not": lambda a: a["buffer"].__setitem__(3, 9),
    "a site that there is not": lambda a: a["site"].__setitem__(3, 9),
    "a block that did not run": lambda a: a["block"].__setitem__(3, 2),
    "steps that go back": lambda a: a["step"].__setitem__(3, 0),
    "a phase that nobody reached": lambda a: a["phase"].__setitem__(3, 2),
    "a barrier that nobody reached": lambda a: a["barriers.phase"].__setitem__(3, 200),
    "a barrier of no site": lambda a: a["barriers.site"].__setitem__(3, 200),
    "a recorded block that did not run": lambda a: a.update(recorded=np.array([0, 3], np.uint8)),
    "blocks twice": lambda a: a.update(blocks=np.array([0, 0, 1], np.uint8)),
    "blocks outside the grid": lambda a: a.update(blocks=np.array([0, 1, 2], np.uint8)),
    "contents of another length": lambda a: a.update({"initial.0": a["initial.0"][:-1]}),
    "contents of another type": lambda a: a.update({"initial.0": a["initial.0"].astype(np.float64)}),
    "contents of no buffer": lambda a: a.update({"initial.9": a["initial.0"]}),
    "a member that does not belong": lambda a: a.update(extra=a["op"]),
    "a member that is missing": lambda a: a.pop("barriers.step"),
    "a text that is no launch": lambda a: a["meta"].update(launch="{}"),
    "a launch of another grid": lambda a: a["meta"].update(grid=[1, 2, 1]),
    "a grid beyond all bounds": lambda a: a["meta"].update(grid=[10**30, 1, 1]),
    "a block too large": lambda a: a["meta"].update(block_dim=[1025, 1, 1]),
    "fewer accesses than rows": lambda a: a["meta"].update(accesses=15),
    "negative counters": lambda a: a["meta"].update(totals=dict.fromkeys(NAMES, -1)),
    "a number for a text": lambda a: a["meta"].update(kernel=5),
    "a text without end": lambda a: a["meta"].update(notice="x" * 20_000),
    "half a character": lambda a: a["meta"].update(notice="\ud800"),
    "a version from before the first": lambda a: a["meta"].update(version=0),
    "a space that there is not": lambda a: a["meta"]["buffers"][0].update(space="texture"),
    "a dtype that is code": lambda a: a["meta"]["buffers"][0].update(dtype="O"),
    "a buffer larger than memory": lambda a: a["meta"]["buffers"][2].update(size=10**12),
    "a shape larger than its buffer": lambda a: a["meta"]["buffers"][2].update(shape=[2**20], strides=[0]),
    "strides that leave the buffer": lambda a: a["meta"]["buffers"][2].update(strides=[8]),
    "a stride too few": lambda a: a["meta"]["buffers"][2].update(strides=[]),
    "a unit of nothing": lambda a: a["meta"]["buffers"][2].update(unit=0),
    "a line before the first": lambda a: a["meta"]["sites"][0].update(line=-1),
}


@pytest.mark.parametrize("name", BAD)
def test_inconsistent_file_is_refused(tmp_path: Path, name: str):
    path = tmp_path / "t"
    save(small(tmp_path), path, compress=False)
    rewrite_file(path, lambda arrays: None)
    load(path)
    rewrite_file(path, BAD[name])
    with pytest.raises(TraceFileError, match=r"damaged or cut short \(.+\); copy it again"):
        load(path)


@pytest.mark.parametrize("large", [0, npz.LARGE])
def test_a_file_that_is_mapped_is_read_as_one_that_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int
):
    monkeypatch.setattr(npz, "LARGE", large)
    trace = small(tmp_path)
    save(trace, tmp_path / "t", compress=False)
    assert_same(load(tmp_path / "t", mapped=True), load(tmp_path / "t"))


def test_a_damaged_column_of_a_mapped_file_is_refused(tmp_path: Path):
    path = tmp_path / "t"
    save(small(tmp_path), path, compress=False)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as members:
        info = members.getinfo("index.npy")
    content[content.index(b"}", info.header_offset) + 64] ^= 1  # behind what says how many there are
    path.write_bytes(content)
    with pytest.raises(TraceFileError, match="damaged or cut short"):
        load(path, mapped=True)


def outcome(path: Path, content: bytes) -> None:
    """Open a file of these bytes: a trace that can be saved, or a TraceFileError of one line, and nothing else."""
    path.write_bytes(content)
    try:
        trace = load(path)
    except TraceFileError as error:
        assert "\n" not in str(error)
    else:
        save(trace, path)
        load(path)


@settings(max_examples=400)
@given(data=st.data(), compress=st.booleans())
def test_flipped_bytes_never_give_anything_else(
    tmp_path_factory: pytest.TempPathFactory, valid: dict[bool, bytes], data: st.DataObject, compress: bool
):
    content = bytearray(valid[compress])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    outcome(tmp_path_factory.getbasetemp() / "flipped", bytes(content))


@settings(max_examples=200)
@given(data=st.data(), compress=st.booleans())
def test_random_numbers_never_give_anything_else(
    tmp_path_factory: pytest.TempPathFactory, valid: dict[bool, bytes], data: st.DataObject, compress: bool
):
    path = tmp_path_factory.getbasetemp() / "numbers"
    path.write_bytes(valid[compress])

    def change(arrays: dict[str, Any]) -> None:
        name = data.draw(st.sampled_from(sorted(n for n, a in arrays.items() if n != "meta" and a.size)))
        raw = arrays[name].view(np.uint8)
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))

    rewrite_file(path, change)
    outcome(path, path.read_bytes())


@settings(max_examples=150)
@given(data=st.data(), compress=st.booleans())
def test_truncated_files_never_open(
    tmp_path_factory: pytest.TempPathFactory, valid: dict[bool, bytes], data: st.DataObject, compress: bool
):
    length = data.draw(st.integers(0, len(valid[compress]) - 1))
    path = tmp_path_factory.getbasetemp() / "truncated"
    path.write_bytes(valid[compress][:length])
    with pytest.raises(TraceFileError):
        load(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=6,
)


def spots(value: Any) -> list[tuple[Any, Any]]:
    """Return (container, key) of every value inside a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [spot for key, inner in list(pairs) for spot in [(value, key), *spots(inner)]]


@settings(max_examples=400)
@given(data=st.data(), value=JSON)
@example(data=None, value=None)
def test_random_json_never_gives_anything_else(
    tmp_path_factory: pytest.TempPathFactory, valid: dict[bool, bytes], data: Any, value: Any
):
    path = tmp_path_factory.getbasetemp() / "json"
    path.write_bytes(valid[False])

    def change(arrays: dict[str, Any]) -> None:
        container, key = (
            (arrays, "meta") if data is None else data.draw(st.sampled_from(spots(arrays["meta"])))
        )
        container[key] = value

    rewrite_file(path, change)
    outcome(path, path.read_bytes())


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b"{", b"", b"\xff\xfe", b"9" * 10_000, b'{"format": "tilescope trace"}']
)
def test_odd_json_never_gives_anything_else(tmp_path: Path, valid: dict[bool, bytes], text: bytes):
    path = tmp_path / "t"
    path.write_bytes(valid[False])
    with np.load(path) as members:
        arrays = dict(members)
    arrays["meta"] = np.frombuffer(text, np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(TraceFileError):
        load(path)
