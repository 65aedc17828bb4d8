"""From one moment to the next only what has changed is painted: what stays on the screen is right all the same."""

from __future__ import annotations

import gc
import random
import weakref

import pytest

from sessions import application, grab_image, matmul
from tilescope.app.model.session import Selection
from tilescope.app.model.spotlight import resolve_highlights
from tilescope.app.views.counters.view import CountersView
from tilescope.app.views.memory.arrangement import Zoom
from tilescope.app.views.source.view import SourceView
from tilescope.app.views.timeline.view import TimelineView
from tilescope.app.widgets.theme import Theme
from views import SMALL, counter_session, show_memory, show_panel


def on_screen(view):
    """Grab the screen's image of a view that fills its window."""
    for _ in range(3):
        application().processEvents()
    return view.screen().grabWindow(view.winId()).toImage().convertToFormat(grab_image(view).format())


def moments(session, count=12):
    """Return moments far from each other, in steps, in fractions, and of other blocks."""
    chance, third = random.Random(5), session.end // 3
    near = [third + n for n in range(count)] + [third + 0.3 * n for n in range(count)]
    far = [chance.uniform(0, session.end) for _ in range(count)]
    blocks = session.trace.blocks.tolist()
    return [
        (float(m), Selection(blocks[n // 7 % len(blocks)], n // 5 % session.trace.threads))
        for n, m in enumerate([0, session.end, *near, *far, *far[::-1]])
    ]


def check(view, session):
    view.show()
    seen = set()
    for moment, selection in moments(session):
        view.render_moment(moment, selection)
        shown = on_screen(view)
        assert shown == grab_image(view), (moment, selection)
        seen.add(bytes(shown.constBits()))
    view.close()
    assert len(seen) > 10


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["matmul-tiled", "matmul-naive-col-on-x"])
@pytest.mark.parametrize("size", [(320, 260), (1100, 900)])
def test_memory(name, theme, size):
    session = matmul(name, **SMALL)
    check(show_memory(session, size=size, theme=Theme.named(theme)), session)


def test_magnified_memory():
    session = matmul("matmul-tiled", **SMALL)
    check(show_memory(session, zoom=Zoom(3.0, 0.4, 0.6)), session)


@pytest.mark.parametrize("spot", ["a", "warp 1"])
def test_memory_with_a_spotlight(spot):
    session = matmul("matmul-tiled", **SMALL)
    view = show_memory(session, size=(800, 700))
    view.set_spotlight(resolve_highlights((spot,), [session])[0])
    check(view, session)


def test_memory_with_races():
    session = counter_session().with_findings()
    check(show_memory(session, colour_by="races", size=(700, 500)), session)


@pytest.mark.parametrize("kind", [CountersView, SourceView, TimelineView])
def test_other_views(kind):
    session = matmul("matmul-tiled", **SMALL)
    check(show_panel(kind, session, size=(620, 400)), session)


def test_nothing_of_a_picture_stays_once_another_is_loaded():
    first, other = matmul("matmul-tiled", **SMALL), matmul("matmul-naive-col-on-x", **SMALL)
    view = show_memory(first)
    view.show()
    for moment in (20.0, 31.5):
        view.render_moment(moment, Selection(1, 3))
        on_screen(view)
    before = weakref.ref(view._picture)
    gc.disable()  # nobody waits for it to find a circle
    try:
        view.load(other)
        assert before() is None
    finally:
        gc.enable()
