"""Timelines by the clock of a GPU in the window: a key, the recordings of this computer, and what has none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QGuiApplication

from gpu_timelines import synthetic_timeline
from tilescope.app.gpu_timelines.model.timeline_clocks import NOT_RECORDED
from tilescope.tracer.hardware.recorded_timelines import own_folder
from tilescope.tracer.hardware.timeline_file import save
from windows import open_window, press, settle, wait_until


@pytest.fixture(scope="module")
def window():
    """Return a window on two launches, of which the second was recorded on this computer."""
    with open_window() as main_window:
        session = main_window.stage.sessions[1]
        timeline = synthetic_timeline(session.trace, dict(main_window.stage.setups[1].values))
        path = own_folder() / "tiled.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        save(timeline, path)
        yield main_window
        path.unlink()


def widths(timeline):
    first, last = (int(m) for m in timeline.x_range())
    return {round(timeline.places.column(m), 2) for m in range(first + 2, last)}


def test_a_key_stretches_recorded_parts_and_reports_the_others(window):
    plain, recorded = window.central.timelines
    assert len(widths(recorded)) == 1
    press(window, "Shift+T")
    assert window.bookmark().time == "measured"
    assert len(widths(recorded)) > 3 and len(widths(plain)) == 1
    assert plain._data.stretch_problem == NOT_RECORDED and "NVIDIA Test" in recorded._data.measured
    press(window, "Shift+T")
    assert window.bookmark().time == "moments" and len(widths(recorded)) == 1


def test_another_unrecorded_size_goes_by_moments(window):
    before = window.bookmark()
    press(window, "Shift+T")
    window.show_bookmark(opened_at(window, 24))
    settle(window)
    assert all(len(widths(timeline)) == 1 for timeline in window.central.timelines)
    assert window.central.timelines[1]._data.stretch_problem == NOT_RECORDED
    window.show_bookmark(before)
    settle(window)
    assert window.bookmark().time == "moments"


def opened_at(window, side):
    mark = window.bookmark()
    panes = tuple(replace(s, values=s.values | {"m": side, "k": side, "n": side}) for s in mark.panes)
    return replace(mark, panes=panes)


def test_a_bookmark_of_it_looks_the_same_when_it_comes_back(window):
    press(window, "Shift+T")
    mark, look = window.bookmark(), window.central.timelines[1].grab().toImage()
    press(window, "Ctrl+Shift+K")
    assert "--time measured" in QGuiApplication.clipboard().text()
    press(window, "Shift+T")
    window.show_bookmark(mark)
    settle(window)
    window.central.timelines[1].repaint()
    assert window.central.timelines[1].grab().toImage() == look
    press(window, "Shift+T")


def test_blocks_around_the_selected_one_are_drawn_ahead_while_the_window_rests(window):
    timeline = window.central.timelines[1]
    window.stage.seek(1, 3)
    window.draw()
    wait_until(window.central.ahead.is_idle)
    blocks = window.stage.sessions[1].trace.blocks
    drawn = {key[0] for key in timeline._pixmaps}
    assert {int(block) for block in blocks[:4]} <= drawn
    kept = dict(timeline._pixmaps)
    window.stage.step_block(1)
    window.draw()
    timeline.grab()
    assert all(timeline._pixmaps[key] is picture for key, picture in kept.items())
