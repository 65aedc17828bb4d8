"""What is said of a launch that takes long."""

from __future__ import annotations

import queue
import threading

from tilescope.tracer.run.long_launch import LongLaunch


def test_a_long_launch_says_how_far_it_is_again_and_again():
    told: queue.Queue[str] = queue.Queue()
    with LongLaunch("k", told.put, first=0.01) as launch:
        first = told.get(timeout=30)
        launch.report(250, 1000)
        while ": 250 of 1,000 blocks" not in (later := told.get(timeout=30)):
            pass
    assert first == "k has run for 1 second; Ctrl+C ends it."
    assert later.startswith("k has run for ") and later.endswith("; Ctrl+C ends it.")


def test_of_a_short_one_nothing_is_said_and_no_thread_is_left():
    before, told = threading.active_count(), []
    with LongLaunch("k", told.append):
        pass
    assert (told, threading.active_count()) == ([], before)
