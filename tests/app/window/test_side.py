"""The warp and the findings in the window: their tabs, where a click leads, and the figures that colour both sides."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from sessions import matmul
from tilescope.app.model.session import Selection
from tilescope.app.panels.side import TABS, Inspector
from tilescope.app.state.actions import ColourBy, Focus, ShowTab
from tilescope.app.views.common.wording import plural
from tilescope.app.widgets.theme import Theme
from tilescope.tracer.model.finding import SEVERITIES
from windows import SMALL, act, open_window

FAULTY = (f"matmul-naive-row-on-x:{SMALL}", "matmul-tiled-early-return:m=20,k=16,n=12,tile=8")


@pytest.fixture(scope="module")
def window():
    with open_window(FAULTY) as main_window:
        yield main_window


def test_keys_bring_up_the_tabs_and_the_findings_are_counted(window):
    for key, name in (("3", "warp"), ("4", "findings"), ("5", "explain"), ("1", "source")):
        QTest.keyClick(window, Qt.Key(ord(key)), Qt.KeyboardModifier.ControlModifier)
        QApplication.processEvents()
        assert window.side.tab == name
    for pane in (0, 1):
        act(window, Focus(pane))
        window.draw()
        count = Counter(finding.severity for finding in window.stage.sessions[pane].findings)
        counts_text = ", ".join(plural(count[name], name) for name in SEVERITIES if count[name])
        assert counts_text and window.side.bar.tabToolTip(TABS.index("findings")) == counts_text
        signs = window.side.signs
        assert signs.isVisible() and signs.accessibleName() == counts_text
        assert window.side.bar.tabRect(TABS.index("findings")).contains(signs.geometry().center())


def test_the_signs_on_the_tab_distinguish_errors_from_notes():
    with open_window(("count-racing", "matmul-tiled")) as window:
        pictures = []
        for pane in (0, 1):
            act(window, Focus(pane))
            window.draw()
            picture = window.side.signs.pixmap().toImage()
            colours = {
                picture.pixelColor(x, y).name()
                for x in range(picture.width())
                for y in range(picture.height())
            }
            pictures.append(window.theme.colour("bad").name() in colours)
        assert pictures == [True, False]


def test_a_click_on_a_finding_goes_to_its_access_in_every_view(window):
    act(window, Focus(1))
    act(window, ShowTab("findings"))
    window.draw()
    session, view = window.stage.sessions[1], window.side.view("findings")
    requests, trace = session.requests, session.trace
    for row, finding in enumerate(session.findings):
        if not len(finding.example):
            continue
        view.list.setCurrentRow(row)
        spot = view.list.visualItemRect(view.list.item(row)).center()
        QTest.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        window.draw()
        assert window.stage.moments()[1] == finding.moment
        chosen = window.stage.selections[1]
        here = requests.moment[requests.request[finding.rows]] == finding.moment
        accesses = zip(trace.block[finding.rows][here], trace.thread[finding.rows][here], strict=True)
        assert (chosen.block, chosen.thread) in set(accesses)


def test_a_click_on_a_lane_selects_its_thread(window):
    act(window, Focus(0))
    window.stage.seek(0, 3)
    act(window, ShowTab("warp"))
    QApplication.processEvents()
    window.draw()
    view = window.side.view("warp")
    box = view.picture.layout_now().chips[9]
    before = window.stage.selections[0]
    QTest.mouseClick(view.picture, Qt.MouseButton.LeftButton, pos=QPoint(1, 1))
    assert window.stage.selections[0] == before  # above the lanes there is nothing
    QTest.mouseClick(view.picture, Qt.MouseButton.LeftButton, pos=box_middle(box))
    assert window.stage.selections[0].thread == before.thread // 32 * 32 + 9


def box_middle(box):
    return QPoint(round(box.x + box.width / 2), round(box.middle))


def test_one_key_colours_cells_and_lines_alike(window):
    seen = []
    for _ in range(6):
        window.commands["Colour by value, reads, waste, conflicts, races"].trigger()
        QApplication.processEvents()
        seen.append(
            (window.bookmark().colour_by, window.side.source.heat, window.central.panes[0].memory.colour_by)
        )
    assert seen == [
        ("value", "requests", "value"), ("reads", "requests", "reads"), ("wasted", "wasted", "wasted"),
        ("conflicts", "conflicts", "conflicts"), ("races", "races", "races"), ("auto", "requests", "auto"),
    ]  # fmt: skip
    act(window, ColourBy("wasted"))
    assert window.bookmark().colour_by == "wasted"
    act(window, ColourBy("auto"))


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_the_tabs_are_next_to_each_other(window, size):
    window.look.show("light", 1.0, False)
    window.resize(*size)
    QApplication.processEvents()
    bar = window.side.bar
    shown = [
        place for place in range(len(TABS)) if bar.isTabVisible(place)
    ]  # output, path and order, once there are some
    assert len(shown) >= len(TABS) - 3
    assert all(bar.rect().contains(bar.tabRect(place)) for place in shown)


@pytest.mark.parametrize("scale", [1.0, 1.4, 2.0])
def test_every_tab_is_fully_visible_at_any_width(window, scale):
    racing = matmul("count-racing").with_findings()
    side = Inspector(Theme.named("light", scale))
    side.set_theme(side.theme)
    side.show_tab("findings")
    side.show_moment(racing, 3.0, Selection())
    side.show()
    for width in range(max(260, side.minimumWidth()), 460):
        side.resize(width, 300)
        QApplication.processEvents()
        assert not any(button.isVisible() for button in side.bar.findChildren(QToolButton)), width
        assert side.bar.sizeHint().width() <= side.bar.width(), width  # so no name is cut
    side.close()
