"""Columns in files that another process maps: transferred once, never copied, only from its files."""

from __future__ import annotations

import os
import sys
import tempfile

import numpy as np
import pytest

from engines import assert_same, ignore_progress, limit_accesses
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.storage import column_files, npz
from tilescope.tracer.storage.column_files import close_named, column_in, file_of, make_room, mapped, own_copy
from tilescope.tracer.storage.trace_file import TraceFileError, load, save


@pytest.mark.skipif(sys.platform != "linux", reason="a process can't open another's files by their numbers")
def test_a_transferred_trace_is_equal_and_private(tmp_path, monkeypatch):
    monkeypatch.setattr(column_files, "_shares", True)
    monkeypatch.setattr(column_files, "SMALL", 1000)
    monkeypatch.setattr(npz, "LARGE", 1000)
    trace = compiled.run_compiled(
        limit_accesses(launch_of(find("matmul-tiled"), {}), 20_000_000), ignore_progress
    )
    path = tmp_path / "trace"
    save(trace, path, compress=False, handed_over=True)
    assert path.stat().st_size < trace.nbytes / 2
    taken = load(path, mapped=True, ours=True)
    close_named()
    assert_same(taken, trace, 0.0)
    assert np.array_equal(taken.step, trace.step)
    assert not taken.value.flags.writeable
    with pytest.raises(TraceFileError, match="names or sizes of its columns"):
        load(path)
    with pytest.raises(TraceFileError, match="no such file"):
        load(path, ours=True)  # the file is closed


def test_writes_to_a_copy_are_not_visible_elsewhere():
    with tempfile.TemporaryFile() as file:
        column = np.frombuffer(mapped(file, 4096), np.int16)
    column[:] = np.arange(2048)
    for array in (column, column[64:128].reshape(8, 8), np.arange(6)):
        copy, before = own_copy(array), array.copy()
        assert np.array_equal(copy, array) and copy.shape == array.shape
        copy[:] = 7
        assert np.array_equal(array, before)


def test_a_column_is_named_from_where_it_begins_unless_it_lies_in_no_file():
    with tempfile.TemporaryFile() as file:
        column = np.frombuffer(mapped(file, 4096), np.uint8)
    column[:] = np.arange(4096) % 251
    for part in (column[:100], column[64:100], column[1:]):
        named = file_of(part)
        assert named is None or column_in(named).tolist() == part.tolist()
    assert file_of(column[::2]) is file_of(np.zeros(4096, np.uint8)) is None
    close_named()


@pytest.mark.parametrize("allocates", [True, False])
def test_space_is_reserved_before_it_is_written(allocates, monkeypatch):
    if not allocates:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    with tempfile.TemporaryFile() as file:
        make_room(file, 0, 3 << 20)
        make_room(file, 3 << 20, (3 << 20) + 10)
        file.seek(0)
        assert file.read() == bytes((3 << 20) + 10)
