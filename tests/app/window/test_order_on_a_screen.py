"""Threads are dragged into an order with the real mouse of an X server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from folders import TESTS
from windows import screen_environment


def test_threads_are_dragged_into_an_order_with_the_mouse(screen, tmp_path):
    if shutil.which("xdotool") is None:
        pytest.skip("xdotool is not installed: no mouse of the X server is moved")
    done = subprocess.run(
        [sys.executable, str(TESTS / "helpers/dragged_order.py")],
        env=screen_environment(screen, tmp_path),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert "failed" not in seen, seen
    assert seen["platform"] == "xcb"
    assert seen["inserted"] == "t2x1+t0x1"
    assert [text.partition(" ")[0] for text in seen["parts"]] == ["t2x1", "t0x1"]
    assert seen["moved"] == "t0x1+t2x1"
    assert seen["threads"] == [0, 2]
    assert seen["status"] == 0
