"""Files are written atomically: after a failure the old one stays, without temporary files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tilescope.tracer.storage import atomic_write
from tilescope.tracer.storage.atomic_write import atomic_file, write_atomically


def test_a_new_file_and_a_replaced_one(tmp_path: Path):
    path = tmp_path / "file"
    for content in (b"old", b"new and longer", b""):
        write_atomically(path, content)
        assert path.read_bytes() == content
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("before", [None, b"old"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt(), MemoryError()])
def test_a_failed_write_keeps_the_old_file_and_leaves_nothing(
    tmp_path: Path, before: bytes | None, error: BaseException
):
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(type(error)), atomic_file(path) as file:
        file.write(b"half of the ne")
        file.flush()
        raise error
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if before is None else [before])


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_error_at_the_end_keeps_the_old_file_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), fail)
    with pytest.raises(OSError, match="broken"):
        write_atomically(path, b"new")
    assert {p: p.read_bytes() for p in tmp_path.iterdir()} == {path: b"old"}


def test_the_old_file_is_read_until_the_end_and_the_new_one_has_a_recognised_name(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with atomic_file(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        assert len(list(tmp_path.glob(atomic_write.TEMPORARY))) == 1
    assert path.read_bytes() == b"new"


def test_a_missing_folder_is_reported(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "no" / "file", b"")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        write_atomically(tmp_path / "file" / "file", b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"folder|[Dd]irectory"):
        write_atomically(tmp_path / "folder", b"")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, b"all of it")
    assert os.read(reading, 100) == b"all of it"
    os.close(reading)
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]
