"""The look: text of one size everywhere, and outlines and cells that a projector does not lose."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from tilescope.app.views.common import cell_colours
from tilescope.app.views.memory.paint import colour_table
from tilescope.app.widgets.theme import Theme
from windows import PAIR, open_window, settle

THEMES = [Theme.named("light"), Theme.named("dark")]


def luminance(colour: QColor) -> float:
    """Return the relative luminance as WCAG 2.2 defines it."""
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.getRgbF()[:3]
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(first: QColor, other: QColor) -> float:
    light, dark = sorted((luminance(first), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_controls_have_an_outline_that_can_be_seen(theme):
    assert contrast(theme.colour("control"), theme.colour("panel")) >= 3


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("measure", ["reads", "wasted"])
def test_unread_cells_differ_from_the_panel_and_from_cells_read_once(theme, measure):
    table = colour_table(theme, measure)
    unread, once = (
        QColor.fromRgb(int(table[cell_colours.UNREAD])),
        QColor.fromRgb(int(table[cell_colours.FIRST])),
    )
    assert contrast(unread, theme.colour("panel")) >= 1.25
    assert contrast(unread, once) >= 1.4


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_cells_of_the_least_value_differ_from_the_lines_between_them(theme):
    least = QColor.fromRgb(int(colour_table(theme, "value")[cell_colours.FIRST]))
    assert contrast(least, theme.colour("grid")) >= 1.5
    assert contrast(least, theme.colour("panel")) >= 1.5


@pytest.mark.parametrize("scale", [0.8, 1.6, 2.0])
def test_every_text_follows_the_text_size(window, scale):
    parts = [window.central.transport.play, *(pane.heading.verdict for pane in window.central.panes)]
    before = [part.fontInfo().pixelSize() for part in parts]
    window.look.scale_text(scale)
    QApplication.processEvents()
    theme = window.theme
    assert [part.fontInfo().pixelSize() for part in parts] == [theme.px(13)] * 3
    window.look.scale_text(1.0)
    QApplication.processEvents()
    assert [part.fontInfo().pixelSize() for part in parts] == before


def test_the_choice_of_colours_has_room_at_1280_pixels(window):
    assert window.width() == 1280 and len(window.central.panes) == 2
    settle(window)
    transport = window.central.transport
    assert transport.colour_chip.isVisible() and transport.speed_chip.isVisible()


def test_a_printed_picture_offers_no_choice_of_colours(window):
    transport = window.central.transport
    window.resize(1700, 900)
    settle(window)
    assert transport.colour_chip.isVisible()
    with open_window(PAIR) as printed:
        printed.central.transport.show_as_picture()
        printed.resize(1700, 900)
        settle(printed)
        assert not printed.central.transport.colour_chip.isVisible()
    window.resize(1280, 800)
