"""Work in a second thread returns its result or its exception, and holds up no exit."""

from __future__ import annotations

import subprocess
import sys

import pytest

from patience import PATIENCE
from tilescope.tracer.analysis.background import MANY, in_background


@pytest.mark.parametrize("accesses", [1, MANY + 1])
def test_the_result_and_the_exception_reach_the_caller(accesses):
    assert in_background(lambda: "done", accesses)() == "done"
    failing = in_background(lambda: [][1], accesses)
    with pytest.raises(IndexError):
        failing()


def test_a_process_ends_without_waiting_for_unneeded_work():
    """Ctrl+C leaves such work behind."""
    text = (
        "import threading\n"
        "from tilescope.tracer.analysis.background import MANY, in_background\n"
        "in_background(threading.Event().wait, MANY + 1)\n"
        "print('ended')"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout == "ended\n"
