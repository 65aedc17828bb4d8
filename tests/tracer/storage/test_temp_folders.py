"""Temporary folders: one for each worker, removed also after a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.storage import temp_folders

MAKES_ONE = """
import sys
from tilescope.tracer.storage import temp_folders
temp_folders.large_files_folder = lambda: sys.argv[1]
print(temp_folders.new_process_folder(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(temp_folders, "large_files_folder", lambda: str(tmp_path))
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="goes by age there")
def test_files_of_a_killed_process_are_removed_at_the_next_start(parent):
    command = [sys.executable, "-P", "-c", MAKES_ONE, str(parent)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        theirs = Path(process.stdout.readline().strip())
        (theirs / "1.trace").write_bytes(b"large")
        foreign = parent / f"{temp_folders.PREFIX}notes"
        foreign.mkdir()
        own = temp_folders.new_process_folder()
        assert (theirs / "1.trace").exists()  # it lives
        process.kill()
        process.wait()
    another = temp_folders.new_process_folder()
    assert not theirs.exists()
    assert all(folder.is_dir() for folder in (own, another, foreign))


@pytest.mark.skipif(sys.platform == "win32", reason="goes by age there")
def test_a_folder_without_a_lock_goes_by_its_age(parent):
    folders = [parent / f"{temp_folders.PREFIX}{number}-abc" for number in (1, 2)]
    for folder in folders:
        folder.mkdir()
    os.utime(folders[0], (1.0, 1.0))
    temp_folders.new_process_folder()
    assert [folder.exists() for folder in folders] == [False, True]


def test_a_worker_that_is_closed_leaves_nothing(parent):
    worker = Worker()
    assert len(list(parent.iterdir())) == 1
    worker.close()
    assert list(parent.iterdir()) == []
