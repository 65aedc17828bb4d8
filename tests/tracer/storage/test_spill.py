"""Traces with accesses in files equal those in memory, and damage is reported alike."""

import errno
import random
import re
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tilescope.tracer.model.launch import Launch, encode
from tilescope.tracer.storage import spill
from tilescope.tracer.storage.trace_file import TraceFileError, load, save
from tilescope.tracer.storage.validation import ACCESS_COLUMNS
from traces import BUFFERS, OPS, rewrite_file, trace_of

COLUMNS = (*ACCESS_COLUMNS, "value")


def programs(chance):
    """Build random accesses of some blocks, from any site, in several phases."""
    able = [(buffer, op) for buffer, b in enumerate(BUFFERS) for op in OPS[b.space]]

    def access():
        buffer, op = chance.choice(able)
        return chance.randrange(16), op, buffer, chance.randrange(BUFFERS[buffer].size)

    phases = chance.randint(1, 3)
    return {
        (block, thread): [[access() for _ in range(chance.randint(0, 9))] for _ in range(phases)]
        for block in chance.sample(range(9), 3)
        for thread in range(5)
    }


def random_trace(seed, kind="random"):
    """Return a trace of random programs that can be saved."""
    trace = trace_of(programs(random.Random(seed)), kind, 2, seed)
    launch = Launch("kernel.py:kernel", "", (), trace.grid, trace.block_dim)
    return replace(trace, launch=encode(launch))


def saved(trace, folder):
    path = folder / "t.npz"
    save(trace, path, compress=True)
    (folder / "files").mkdir(exist_ok=True)
    return path, folder / "files"


def bytes_of(trace):
    return {name: (getattr(trace, name).dtype, getattr(trace, name).tobytes()) for name in COLUMNS}


@pytest.mark.parametrize("kind", ["lockstep", "sequential", "random"])
def test_columns_are_the_same_as_in_memory(kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(spill, "PIECE", 7)
    seed = random.randrange(1 << 30)
    print("seed", seed)
    for number in range(12):
        path, folder = saved(random_trace(seed + number, kind), tmp_path)
        there = load(path, aside=folder)
        assert bytes_of(there) == bytes_of(load(path))
        assert not any(len(there) and getattr(there, name).flags.writeable for name in COLUMNS)
        assert not list(folder.iterdir()), "files without names go with the trace"


def test_a_launch_with_too_many_threads_is_loaded_into_memory(tmp_path, monkeypatch):
    path, folder = saved(random_trace(5), tmp_path)
    monkeypatch.setattr("tilescope.tracer.storage.trace_file.MOST_THREADS", 14)
    monkeypatch.setattr(spill, "MOST_THREADS", 14)
    assert bytes_of(load(path, aside=folder)) == bytes_of(load(path))


def test_few_rows_are_in_memory_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    small = random_trace(9)
    times = 400_000 // len(small)
    count = {name: np.tile(getattr(small, name), times) for name in COLUMNS if name != "step"}
    steps = np.arange(times * len(small), dtype=np.uint32)
    path, folder = saved(replace(small, **count, steps=steps, accesses=len(steps)), tmp_path)
    monkeypatch.setattr(spill, "PIECE", 1 << 12)
    peaks = []
    for where in (folder, None):
        tracemalloc.start()
        trace = load(path, aside=where)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < trace.nbytes / 4 < trace.nbytes < peaks[1]


DAMAGES = {
    "a block that did not run": lambda a: a["block"].__setitem__(0, 200),
    "a thread outside its block": lambda a: a["thread"].__setitem__(0, 77),
    "a site that is none": lambda a: a["site"].__setitem__(0, 99),
    "an index outside": lambda a: a["index"].__setitem__(0, 250),
    "a shorter column": lambda a: a.update(phase=a["phase"][:-1]),
    "no value of its type": lambda a: a.update(value=a["value"].astype("U4")),
    "steps that fall": lambda a: a["step"].__setitem__(1, 255),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_reported_as_by_open_and_leaves_nothing(damage, tmp_path: Path):
    path, folder = saved(random_trace(3), tmp_path)
    rewrite_file(path, DAMAGES[damage])
    for where in (None, folder):
        with pytest.raises(TraceFileError, match="the trace is damaged or cut short"):
            load(path, aside=where)
    assert not list(folder.iterdir())


def test_a_file_that_is_cut_short_or_flipped_is_refused(tmp_path: Path):
    path, folder = saved(random_trace(4), tmp_path)
    complete = path.read_bytes()
    with zipfile.ZipFile(path) as members:
        inside = members.getinfo("value.npy").header_offset + 120
    for damaged in (
        complete[: len(complete) // 2],
        complete[:inside] + bytes([complete[inside] ^ 255]) + complete[inside + 1 :],
    ):
        path.write_bytes(damaged)
        with pytest.raises(TraceFileError, match="damaged or cut short"):
            load(path, aside=folder)


def test_a_full_disk_is_reported_with_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, folder = saved(random_trace(6), tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spill, "make_room", full)
    output = f"Can't open {path}: there is no room in {folder} to unpack it; free some space."
    with pytest.raises(TraceFileError, match=re.escape(output)):
        load(path, aside=folder)
