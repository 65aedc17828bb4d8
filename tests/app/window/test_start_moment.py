"""Where the window looks when other launches come: where it was, or where a new kernel first does something."""

from __future__ import annotations

import msgspec
import pytest

from windows import PAIR, SMALL, open_window, settle, wait_until

PROGRAM = """
import numpy as np
from numba import cuda

@cuda.jit
def copy(a, out):
    i = cuda.grid(1)
    out[i] = a[i]

copy[1, 32](np.arange(32, dtype=np.float32), np.zeros(32, np.float32))
"""


def sized(window, **values):
    """Return the setups with other sizes."""
    return tuple(msgspec.structs.replace(s, values=s.values | values) for s in window.stage.setups)


def first_request(window, pane: int) -> int:
    return int(window.stage.sessions[pane].requests.moment.min())


@pytest.mark.parametrize("start", [0.4, 2.0])
def test_another_kernel_is_first_looked_at_where_it_loads(start):
    with open_window((f"matmul-tiled:{SMALL}",)) as window:
        window.playhead.seek(start)
        window.toolbar.pick(0, "vector-increment")
        settle(window)
        moment = window.stage.moments()[0]
        assert moment >= first_request(window, 0)
        assert moment == int(moment)


def test_another_kernel_is_looked_at_at_its_end_from_the_end():
    with open_window(PAIR) as window:
        window.playhead.seek(window.playhead.end)
        window.toolbar.pick(1, "matmul-naive-row-on-x")
        settle(window)
        assert window.stage.moments() == tuple(map(float, window.stage.ends()))


def test_a_program_is_first_looked_at_where_it_loads(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PROGRAM)
    with open_window((f"matmul-tiled:{SMALL}",)) as window:
        window.playhead.seek(1)
        window.files.run_program(str(path))
        wait_until(lambda: window.stage.sessions[0].trace.kernel == "copy" and window.stage.is_settled())
        assert window.stage.moments()[0] >= 1
        end = window.playhead.end
        window.playhead.seek(end)
        path.write_text(PROGRAM.replace("[1, 32]", "[1, 16]"))
        wait_until(lambda: len(window.stage.sessions[0].trace) == 32)
        settle(window)
        assert window.playhead.moment == window.playhead.end  # the same kernel, changed: it is where it was


@pytest.mark.parametrize("link", ["progress", "moment"])
def test_another_size_is_shown_at_an_integral_moment_of_the_pane_in_focus(link):
    with open_window(PAIR) as window:
        window.stage.set_link(link)
        window.playhead.seek(7.9)
        window.change_setups(sized(window, k=24))
        settle(window)
        moment = window.stage.moments()[window.stage.focus]
        assert moment == int(moment) >= 1


def test_the_end_stays_the_end():
    with open_window(PAIR) as window:
        window.playhead.seek(window.playhead.end)
        window.change_setups(sized(window, k=24))
        settle(window)
        assert window.stage.moments() == tuple(map(float, window.stage.ends()))
