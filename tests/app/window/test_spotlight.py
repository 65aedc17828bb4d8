"""Spotlights in the window: carried by bookmarks, the same from wherever one comes, ended by Escape."""

import msgspec
import pytest
from PySide6.QtWidgets import QApplication

from tilescope.app.model.spotlight import DIM_ALL, resolve_highlights
from tilescope.app.state.actions import Focus, Spotlight
from tilescope.app.widgets.widget_picture import picture_of
from windows import act, press


@pytest.fixture(autouse=True)
def without_spotlight(window):
    act(window, Spotlight(()))
    yield
    act(window, Spotlight(()))
    window.draw()


def looking(window, **look):
    """Show what is on screen with another look, and return the picture."""
    window.show_bookmark(msgspec.structs.replace(window.bookmark(), **look))
    QApplication.processEvents()
    window.draw()
    QApplication.processEvents()
    return picture_of(window.central, 1.0)


def sessions(window):
    return [pane.session for pane in window.central.panes]


def test_a_bookmark_carries_the_spotlight_to_every_view(window):
    plain = looking(window)
    names = ("A", "warp 1", "counter global sectors", 'line "total +="')
    seen = looking(window, spotlight=names)
    assert window.bookmark().spotlight == names
    expected = resolve_highlights(names, sessions(window))
    panes, focus = window.central.panes, window.stage.focus
    assert (
        [pane.memory.highlight for pane in panes]
        == [pane.counters.highlight for pane in panes]
        == list(expected)
    )
    assert [timeline.highlight for timeline in window.central.timelines] == list(expected)
    assert window.side.source.highlight == expected[focus]
    assert looking(window, spotlight=()) == plain
    assert looking(window, spotlight=names) == seen


def test_forwards_and_backwards_give_the_same_picture(window):
    steps = [
        (("A[2, :]", "B[:, 3]", "C[2, 3]"), 5.0),
        (("warp 1",), 20.5),
        (("right", "tile_a"), 33.0),
        ((), 40.0),
    ]
    forwards = [looking(window, spotlight=names, moment=moment) for names, moment in steps]
    backwards = [looking(window, spotlight=names, moment=moment) for names, moment in reversed(steps)]
    assert backwards[::-1] == forwards


def test_what_stands_out_follows_the_sessions_and_the_pane_in_focus(window):
    looking(window, spotlight=("tile_a",), focus=1)
    left, right = window.central.panes
    assert left.memory.highlight == DIM_ALL and right.memory.highlight != DIM_ALL
    assert left.veil.isVisibleTo(left) and not right.veil.isVisibleTo(right)
    assert window.side.source.highlight == right.memory.highlight
    act(window, Focus(0))
    window.draw()
    assert window.side.source.highlight == DIM_ALL


def test_escape_ends_the_spotlight_once_nothing_else_is_to_be_closed(window):
    looking(window, spotlight=("B",))
    window.notice.inform("Something was said.")
    press(window, "Escape")
    assert not window.notice.is_shown() and window.bookmark().spotlight == ("B",)
    press(window, "Escape")
    assert window.bookmark().spotlight == ()
    assert window.central.panes[0].memory.highlight is None


def test_names_that_mean_nothing_dim_nothing(window):
    plain = looking(window)
    assert looking(window, spotlight=("3 + 4", "nobody", "line 99999")) == plain
