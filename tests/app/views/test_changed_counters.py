"""Counters that another setup has changed are marked for a second, and nothing else is."""

from __future__ import annotations

import pytest

from sessions import grab_image, matmul
from tilescope.app.model.session import Selection
from tilescope.app.views.counters.view import FADING, MARKED, CountersView
from tilescope.app.widgets.theme import Theme
from views import LIGHT, show_panel

SIZE = {"rows": 32, "cols": 32}
LABEL = "shared wavefronts"


def tile(padding=0):
    return matmul("transpose-tile", **SIZE, padding=padding)


def changed(before, after, theme=LIGHT, size=(700, 54)):
    """Return a view of the first session's end in which the second has taken its place."""
    view = show_panel(CountersView, before, before.end, size=size, theme=theme)
    view.count_wavefronts(True)
    view.keep_numbers()
    take(view, after)
    return view


def take(view, session):
    view.load(session)
    view.render_moment(session.end, Selection())
    view.mark_changes(settled=True)


def tick(view, times):
    for _ in range(times):
        view.marks.timeout.emit()


def plain(session, theme=LIGHT, size=(700, 54)):
    view = show_panel(CountersView, session, session.end, size=size, theme=theme)
    view.count_wavefronts(True)
    return view


def test_the_previous_number_is_next_to_the_new_one_for_a_second():
    view, still = changed(tile(), tile(1)), plain(tile(1))
    assert {label: change.texts for label, change in view.changes.items()} == {
        LABEL: ("was 1,056", "÷16.5", "÷16", "")
    }
    assert f"{LABEL} 64 (was 1,056)" in view.accessibleDescription()
    assert grab_image(view) != grab_image(still)
    tick(view, MARKED - 1)
    assert LABEL in view.changes
    tick(view, 1)
    assert (view.changes, view.marks.isActive()) == ({}, False)
    assert grab_image(view) == grab_image(still)
    assert view.accessibleDescription() == still.accessibleDescription()


@pytest.mark.parametrize("width", [330, 460, 700])
def test_a_mark_moves_nothing(width):
    view, still = changed(tile(), tile(1), size=(width, 54)), plain(tile(1), size=(width, 54))
    assert [(t.label, box) for t, box in view.shown()] == [(t.label, box) for t, box in still.shown()]
    assert view.sizeHint() == still.sizeHint()
    assert view.minimumSizeHint() == still.minimumSizeHint()


def test_it_fades_unless_motion_is_reduced():
    for reduced in (False, True):
        theme = Theme.named("dark", reduced_motion=reduced)
        view = changed(tile(), tile(1), theme)
        marked = grab_image(view)
        tick(view, MARKED - FADING + 1)
        assert (grab_image(view) == marked) == reduced
        assert LABEL in view.changes


def test_time_marks_nothing_and_takes_marks_away():
    view = changed(tile(), tile(1))
    view.render_moment(view.session.end - 1, Selection())
    assert view.changes == {}
    view.render_moment(view.session.end, Selection())
    view.mark_changes(settled=True)
    assert view.changes == {}


def test_another_scenario_marks_nothing():
    view = changed(tile(), matmul("transpose-padded", **SIZE))
    assert view.changes == {}
    take(view, tile(1))  # and what was remembered of the first one is forgotten
    assert view.changes == {}


def test_a_session_that_comes_without_a_change_of_setup_marks_nothing():
    view = plain(tile())
    take(view, tile(1))
    assert view.changes == {}


def test_changes_in_quick_succession_are_held_against_the_numbers_before_the_first():
    view = changed(tile(), tile(1))
    tick(view, MARKED // 2)
    view.keep_numbers()
    take(view, tile(2))
    assert view.changes[LABEL].before == "1,056"
    tick(view, MARKED // 2)
    view.keep_numbers()
    take(view, tile())
    assert view.changes == {}
    view.keep_numbers()
    take(view, tile(4))
    assert (view.changes[LABEL].before, view.changes[LABEL].texts[1]) == ("1,056", "÷6.6")


def test_where_the_second_ends_before_the_next_picture_comes_that_is_held_against_the_last_one():
    view = changed(tile(), tile(1))
    view.keep_numbers()
    tick(view, MARKED)
    take(view, tile(2))
    assert view.changes[LABEL].before == "64"
