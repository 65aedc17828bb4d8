"""How tests wait: for a state, never for a time. The limit only ends a test that hangs, on a machine however busy."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 240.0  # seconds


def until(condition: Callable[[], object], pause: float = 0.01) -> None:
    """Wait until a condition holds; fail if it does not for PATIENCE. pause: seconds between two looks."""
    last = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < last, "it never happened"
        time.sleep(pause)


def wait_for_child(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Wait until a process has started another one; fail if it ends without. Linux shows it."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until(lambda: process.poll() is not None or children.read_text())
    assert process.poll() is None, process.returncode
