"""Two panes side by side: the same positions for the same shapes, at any size, after any history."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tilescope.app.panels.pane import detail_of
from tilescope.app.state.actions import Focus
from tilescope.app.views.common.wording import buffer_text
from windows import act, open_window, press, settle

SIZES = [
    (1600, 900, 1.0),
    (1280, 800, 1.0),
    (1920, 1080, 1.0),
    (1024, 700, 1.0),
    (1280, 800, 1.4),
    (1600, 900, 1.6),
]


@pytest.fixture(scope="module")
def window():
    with open_window(("matmul-naive-col-on-x", "matmul-tiled")) as shown:
        shown.playhead.seek(998)
        yield shown


def wear(window, width, height, scale, theme="light"):
    window.look.show(theme, scale, False, "own")
    window.resize(width, height)
    QTest.qWait(20)
    window.draw()
    QApplication.processEvents()


def boxes(pane):
    """Return the box of every buffer in its pane, by name."""
    picture, look = pane.memory._picture, pane.memory._state()
    top = pane.memory.mapTo(pane, pane.memory.rect().topLeft())
    positions = {}
    for number, place in picture.layout(look).places.items():
        box, buffer = place.box, pane.session.trace.buffers[number]
        positions[buffer_text(buffer)] = (box.x + top.x(), box.y + top.y(), box.width, box.height)
    return positions


def pixels(window):
    window.draw()
    QApplication.processEvents()
    image = window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    flat = np.frombuffer(image.constBits(), np.uint32)
    return flat.reshape(image.height(), image.width()).copy()


@pytest.mark.parametrize(("width", "height", "scale"), SIZES)
def test_matrices_of_the_same_shapes_stand_at_the_same_places(window, width, height, scale):
    wear(window, width, height, scale)
    naive, tiled = (boxes(pane) for pane in window.central.panes)
    assert {name: tiled[name] for name in naive} == naive
    assert sorted(naive) == ["A", "B", "C"]


# What the matrices had before what can be missed gave way to them: 128, 77, 64 and 40 pixels.
@pytest.mark.parametrize(
    ("width", "height", "scale", "least"),
    [(1600, 900, 1.0, 145), (1280, 800, 1.4, 110), (1600, 900, 1.6, 125), (1024, 700, 1.0, 80)],
)
def test_matrices_and_timeline_stay_large_where_there_is_little_room(window, width, height, scale, least):
    wear(window, width, height, scale)
    assert (window.width(), window.height()) == (width, height)
    for pane in window.central.panes:
        assert min(boxes(pane)["C"][2:]) >= least
    tiled = boxes(window.central.panes[1])
    assert tiled["tile_a"][2] >= 0.6 * tiled["C"][2]  # enlarged, and not what is left over
    timeline = window.central.timelines[1]
    assert timeline.isVisible() and timeline.height() >= timeline.minimumSizeHint().height()


def test_at_the_largest_text_there_are_still_matrices_and_a_timeline(window):
    wear(window, 1280, 800, 2.0)
    assert (window.width(), window.height()) == (1280, 800)
    assert min(boxes(window.central.panes[1])["C"][2:]) >= 64
    assert window.central.timelines[1].isVisible()


def test_large_text_gives_up_the_inspector_before_pictures_and_the_words_of_the_legend(window):
    wear(window, 1600, 900, 1.0)
    assert window.side.isVisible()
    wear(window, 1600, 900, 1.6)
    assert window.side.isHidden()
    assert window.central.transport.legend.labels == "some"
    wear(window, 1600, 900, 1.0)
    assert window.side.isVisible()
    wear(window, 1600, 900, 1.6)
    press(window, "Ctrl+R")  # on request
    assert window.side.isVisible()
    window.central.side_wanted = "auto"


@pytest.mark.parametrize(("width", "height", "scale"), SIZES)
def test_the_transport_keeps_to_one_row(window, width, height, scale):
    wear(window, width, height, scale)
    transport = window.central.transport
    shown = [w for w in (*transport.steps, transport.position, transport.legend) if w.isVisible()]
    middles = {widget.geometry().center().y() for widget in shown}
    assert max(middles) - min(middles) <= 1
    assert all(transport.rect().contains(widget.geometry()) for widget in shown)
    assert transport.legend.isVisible() and transport.play in shown


def test_the_picture_does_not_depend_on_how_one_came_there(window):
    wear(window, 1600, 900, 1.0)
    first = pixels(window)
    ways = {
        "theme": lambda: press(window, "Ctrl+T", "Ctrl+T"),
        "focus": lambda: (act(window, Focus(0)), pixels(window), act(window, Focus(1))),
        "words": lambda: (window.look.set_words("work-item"), pixels(window), window.look.set_words("own")),
        "sizes": lambda: [wear(window, *size) for size in (*SIZES, (1600, 900, 1.0))],
        "bookmark": lambda: (window.show_bookmark(window.bookmark()), settle(window)),
    }
    for way, go in ways.items():
        go()
        assert np.array_equal(pixels(window), first), way


def test_a_pane_leaves_out_the_lesson_then_the_legend_and_the_counters_last():
    order = [detail_of(560, height) for height in (700, 450, 345, 300, 150)]
    assert [d.lesson for d in order] == [2, 0, 0, 0, 0]
    assert [d.legend for d in order] == [1, 1, 1, 0, 0]
    assert [d.counters for d in order] == ["tall", "tall", "line", "line", "none"]
    assert detail_of(1200, 700).lesson == 1


def labels(pane):
    return [tile.label for tile, _ in pane.counters.shown()]


def test_wavefronts_are_counted_in_both_panes_where_they_are_the_lesson(window):
    with open_window(("transpose-tile", "transpose-padded")) as shown:
        wear(shown, 1600, 900, 1.0)
        left, right = shown.central.panes
        assert "shared wavefronts" in labels(left) and labels(left) == labels(right)
        texts = [
            next(t.text(p.session.end) for t in p.counters.tiles if t.label == "shared wavefronts")
            for p in (left, right)
        ]
        assert texts == ["4,224", "256"]
    assert "shared wavefronts" not in labels(window.central.panes[1])  # where each request takes one


def test_numbers_that_differ_come_first():
    with open_window(("sum-interleaved:count=256", "sum-sequential:count=256")) as shown:
        wear(shown, 1600, 900, 1.0)
        left, right = shown.central.panes
        assert "shared requests" in labels(left) and labels(left) == labels(right)
        assert left.counters.ends["shared requests"] != right.counters.ends["shared requests"]
        assert left.counters.ends["global sectors"] == right.counters.ends["global sectors"]
        wear(shown, 1280, 800, 1.6)
        assert len(labels(left)) <= 2 and "shared requests" in labels(left)  # where few fit too


def test_a_plain_python_program_is_described_in_words_of_the_cpu():
    with open_window(("python-loops:m=4,k=8,n=4", "python-threads:m=4,k=8,n=4")) as shown:
        wear(shown, 1600, 900, 1.0)
        for pane in shown.central.panes:
            description = " ".join(
                [pane.memory.accessibleDescription(), pane.counters.accessibleDescription()]
            )
            assert not [word for word in ("arp", "sector", "request", "global memory") if word in description]
            assert labels(pane)[:3] == ["accesses", "reads", "writes"]
            assert not [f for f in pane.session.findings if f.severity != "error"]
        left = shown.central.panes[0]
        assert left.counters.tiles[0].text(left.session.end) == f"{len(left.session.trace):,}"
        assert "Python of block 0: reads A[0, 0]." in left.memory.accessibleDescription()
        assert "Threads 0 to 31 of block 0" in shown.central.panes[1].memory.accessibleDescription()
