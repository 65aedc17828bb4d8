"""Where things of the tests lie."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent  # the checkout
DATA = TESTS / "data"
IMAGES = TESTS / "images"
FOLDER = "tilescope-tests-"
SHARED_CACHES = ("compiled", "compiler", "cuda-cpp", "libdevice")


def new_folder() -> str:
    """Make a folder for this process of tests, whose name states the process."""
    return tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-")


def remove_folders_of_killed_tests() -> None:
    """Remove the folders of processes of tests that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{FOLDER}*-*"):
        process = path.name.removeprefix(FOLDER).partition("-")[0]
        if process.isdecimal() and Path("/proc/self").exists() and not Path(f"/proc/{process}").exists():
            shutil.rmtree(path, ignore_errors=True)


def link_caches(home: Path, shared: Path) -> None:
    """Let a home have the compiled kernels and programs and the compilers' answers of another one."""
    for name in SHARED_CACHES:
        (shared / "cache" / name).mkdir(parents=True, exist_ok=True)
        if home != shared:
            (home / "cache").mkdir(parents=True, exist_ok=True)
            with suppress(OSError):  # where links are only for administrators
                (home / "cache" / name).symlink_to(shared / "cache" / name, target_is_directory=True)


def use_home(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Give a test a separate home without traces, which shares what all tests compiled."""
    link_caches(home, Path(os.environ["TILESCOPE_HOME"]))
    monkeypatch.setenv("TILESCOPE_HOME", str(home))
