"""Temporary folders: one for each worker, removed also after a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.storage import temp_folders


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(temp_folders, "large_files_folder", lambda: str(tmp_path))
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="goes by age there")
def test_what_a_killed_process_left_is_removed_at_the_next_start(parent):
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    dead = parent / f"{temp_folders.PREFIX}{process.pid}-abc"
    dead.mkdir()
    (dead / "1.trace").write_bytes(b"large")
    alive = parent / f"{temp_folders.PREFIX}{os.getpid()}-abc"
    foreign = parent / f"{temp_folders.PREFIX}notes"
    for folder in (alive, foreign):
        folder.mkdir()
    made = temp_folders.new_process_folder()
    assert not dead.exists()
    assert all(folder.is_dir() for folder in (alive, foreign, made))


def test_a_worker_that_is_closed_leaves_nothing(parent):
    worker = Worker()
    assert len(list(parent.iterdir())) == 1
    worker.close()
    assert list(parent.iterdir()) == []
