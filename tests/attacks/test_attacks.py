"""The attacks that take under a minute, each as a user would start it, without loss, hang or intrusion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
QUICK = {  # script: how many tries, or which
    "trace_files.py": ("150",),
    "measurement_files.py": ("60", "0"),
    "notebook_files.py": ("60", "2"),
    "worker_kills.py": ("8",),
    "monkey.py": ("60",),
    "live_editing.py": ("24",),
}


@pytest.mark.parametrize("script", QUICK)
def test_an_attack_fails(script, tmp_path):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    words = [sys.executable, str(HERE / script), *QUICK[script]]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
