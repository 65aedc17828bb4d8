"""A window that the tests of a file share: to open one takes longer than what most of them look at."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from patience import PATIENCE
from tilescope.app.window.main_window import MainWindow
from windows import open_window, reset


@pytest.fixture(scope="module")
def shared() -> Iterator[MainWindow]:
    """Return a window on the pair of scenarios, as the test before left it."""
    with open_window() as main_window:
        yield main_window


@pytest.fixture
def window(shared: MainWindow) -> MainWindow:
    """Return the shared window, put back where each test begins."""
    reset(shared)
    return shared


@pytest.fixture
def screen() -> Iterator[str]:
    """Return the DISPLAY of a new X server."""
    server = shutil.which("Xvfb")
    if server is None:
        pytest.skip("Xvfb is not installed: the window is not tried on a real X server")
    read, write = os.pipe()
    command = [server, "-displayfd", str(write), "-screen", "0", "1600x900x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as stream:
        number = stream.readline().strip()
    yield f":{number}"
    process.terminate()
    process.wait(PATIENCE)
