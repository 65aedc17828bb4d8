"""Threads are dragged into an order with the real mouse of an X server."""

from __future__ import annotations

import shutil

import pytest

from windows import seen_on_screen


def test_threads_are_dragged_into_an_order_with_the_mouse(screen, tmp_path):
    if shutil.which("xdotool") is None:
        pytest.skip("xdotool is not installed: no mouse of the X server is moved")
    seen = seen_on_screen("dragged_order.py", screen, tmp_path)
    assert seen["inserted"] == "t2x1+t0x1"
    assert [text.partition(" ")[0] for text in seen["parts"]] == ["t2x1", "t0x1"]
    assert seen["moved"] == "t0x1+t2x1"
    assert seen["threads"] == [0, 2]
