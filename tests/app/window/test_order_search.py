"""The menu Order: a search for an order that changes the result, and the two orders next to each other."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tilescope.app.state.actions import Focus
from tilescope.app.window.order_search import CHOOSE, FIND, STOP
from windows import act, open_window, press, settle, wait_until

COUNTER = ("count-racing:num_blocks=1,threads=4",)
THREE = ("barrier-three-threads",)


def test_a_bad_order_is_shown_next_to_the_launch():
    with open_window(COUNTER) as window:
        window.commands[FIND].trigger()
        wait_until(lambda: len(window.stage.setups) == 2)
        settle(window)
        launched, reordered = window.stage.sessions
        assert launched is not None and reordered is not None
        assert launched.launch.schedule.kind == reordered.launch.schedule.kind == "order"
        assert window.store.state.spotlight == ()  # nothing is dimmed as if it were loading
        assert window.store.state.tab == "findings"
        finals = [int(session.memory.values(0, session.end)[0]) for session in (launched, reordered)]
        assert finals[0] == 1 and finals[1] != 1
        findings = window.side.view("findings")
        assert f"is {finals[1]} instead of 1" in findings.order.text()
        assert "before thread" in findings.order.text()


def test_an_order_is_dropped_when_another_kernel_is_opened():
    with open_window(COUNTER) as window:
        window.commands[FIND].trigger()
        wait_until(lambda: len(window.stage.setups) == 2)
        settle(window)
        window.notice.clear()
        window.toolbar.pick(1, "histogram-private")
        settle(window)
        assert not window.notice.is_shown(), window.notice.sentences()
        assert window.focused_session().scenario.name == "histogram-private"
        assert window.stage.setups[0].schedule.kind == "order"  # the other pane keeps its own
        window.commands["Back"].trigger()
        settle(window)
        assert window.stage.setups[1].schedule.kind == "order"


def test_a_race_and_the_order_tab_offer_the_search_and_show_that_it_runs():
    with open_window(COUNTER) as window:
        window.commands["Findings"].trigger()
        settle(window)
        findings = window.side.view("findings")
        assert not window.commands[STOP].isEnabled()
        findings.list.setCurrentRow(
            next(i for i, f in enumerate(window.focused_session().findings) if f.kind == "race")
        )
        assert findings.card.find_order.isVisible()
        window.commands[CHOOSE].trigger()
        settle(window)
        order = window.side.view("order")
        order.element.setText("counter[0]")
        order.element.setFocus()
        QTest.mouseClick(order.count, Qt.MouseButton.LeftButton)
        assert order.search.isVisible() and not order.count.isEnabled() and not order.find_order.isEnabled()
        assert window.commands[STOP].isEnabled()
        wait_until(lambda: order.bars.isVisible())
        assert not order.search.isVisible() and order.count.isEnabled()
        assert not window.commands[STOP].isEnabled()
        QTest.mouseClick(order.find_order, Qt.MouseButton.LeftButton)
        wait_until(lambda: len(window.stage.setups) == 2)
        settle(window)
        names = []
        for pane in (0, 1):
            act(window, Focus(pane))
            assert window.side.pane_name.isVisible()
            names.append(window.side.pane_name.text())
        assert names == ["Left pane", "Right pane"]
        window.commands["Back"].trigger()
        settle(window)
        assert not window.side.pane_name.isVisible()


def test_escape_leaves_a_field_of_a_tab_before_it_closes_anything():
    with open_window(COUNTER) as window:
        window.commands[CHOOSE].trigger()
        settle(window)
        order = window.side.view("order")
        order.text.setFocus()
        window.notice.inform("A sentence about the order.")
        press(window, "Escape")
        assert not order.text.hasFocus() and window.notice.is_shown()
        press(window, "Escape")
        assert not window.notice.is_shown()


def test_back_returns_to_the_single_pane():
    with open_window(COUNTER) as window:
        window.commands[FIND].trigger()
        wait_until(lambda: len(window.stage.setups) == 2)
        settle(window)
        window.commands["Back"].trigger()
        settle(window)
        assert len(window.stage.setups) == 1


def test_a_launch_without_races_keeps_its_pane():
    with open_window(THREE) as window:
        session = window.focused_session()
        assert session is not None
        window.commands[FIND].trigger()
        wait_until(lambda: bool(session.order_words))
        assert len(window.stage.setups) == 1
        assert "proof" in session.order_words
        window.commands["Findings"].trigger()
        settle(window)
        assert "proof" in window.side.view("findings").order.text()
