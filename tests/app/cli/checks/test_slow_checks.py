"""A check that takes long states on a terminal what it does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on Windows")

WAITING = """import os, time
while not os.path.exists("go"):
    time.sleep(0.01)
"""


def test_a_slow_check_states_on_a_terminal_what_it_does(tmp_path):
    (tmp_path / "slow.py").write_text(WAITING)
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "tilescope", "check", "slow.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=terminal) as process:
        os.close(terminal)
        shown = b""
        while b"compiled." not in shown:
            shown += os.read(screen, 1024)
        (tmp_path / "go").touch()
        assert process.stdout is not None
        findings = process.stdout.read()
    os.close(screen)
    assert b"tilescope: running slow.py and tracing its kernels" in shown
    assert b"running" not in findings


def test_without_a_terminal_nothing_is_added(tmp_path):
    (tmp_path / "fast.py").write_text("print('done')\n")
    command = [sys.executable, "-m", "tilescope", "check", "fast.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "tracing its kernels" not in done.stderr
