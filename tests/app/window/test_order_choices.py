"""The tab Order: who goes next, the parts of an order by keys and drags, and the final values of an element."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest

from tilescope.app.exercises.model.library import exercise_named
from tilescope.app.window.order_search import CHOOSE
from windows import open_window, settle, wait_until

COUNTER = ("count-racing:num_blocks=1,threads=3",)
BARRIERS = ("barrier-three-threads",)


def lines(view):
    return [view.item(row).text() for row in range(view.count())]


def open_order(window):
    window.commands[CHOOSE].trigger()
    settle(window)
    return window.side.view("order")


def order_text(window):
    return window.stage.setups[window.stage.focus].schedule.order_text


def choose(window, row, key=Qt.Key.Key_Return, modifiers=Qt.KeyboardModifier.NoModifier):
    """Choose a line of the list with a key, and wait for the launch in the new order."""
    view = window.side.view("order")
    before = window.focused_session()
    view.list.setCurrentRow(row)
    QTest.keyClick(view.list, key, modifiers)
    wait_until(lambda: window.focused_session() is not before)
    settle(window)


def counter_value(window):
    session = window.focused_session()
    return int(session.memory.values(0, int(window.stage.moments()[0]))[0])


def test_each_choice_runs_one_access_and_the_memory_follows():
    with open_window(COUNTER) as window:
        view = open_order(window)
        assert [text.partition(":")[0] for text in lines(view.list)] == ["thread 0", "thread 1", "thread 2"]
        assert all("reads counter[0] in line 15" in text for text in lines(view.list))
        assert view.parts.isVisible() and view.parts.count() == 0  # a place for the first drag
        choose(window, 1)
        assert order_text(window) == "t1x1"
        assert "writes counter[0]" in lines(view.list)[1]
        choose(window, 1)
        assert order_text(window) == "t1x2"
        assert lines(view.parts) == ["t1x2   thread 1 of block 0 makes 2 accesses"]
        assert [text.partition(":")[0] for text in lines(view.list)] == ["thread 0", "thread 2"]
        assert counter_value(window) == 1
        assert window.stage.selections[0].thread == 1
        choose(window, 0, modifiers=Qt.KeyboardModifier.ShiftModifier)
        assert order_text(window) == "t1x2+t0"
        assert counter_value(window) == 2
        window.commands["Back"].trigger()
        settle(window)
        assert order_text(window) == "t1x2"


def test_a_shipped_kernel_with_a_skipped_line_runs_in_a_chosen_order():
    with open_window(("sum-sequential:count=32,threads=32,without=barrier2",)) as window:
        open_order(window)
        choose(window, 1)
        assert order_text(window) == "t1x1"
        assert not window.notice.sentences()


def test_threads_that_wait_at_a_barrier_are_not_offered():
    with open_window(BARRIERS) as window:
        view = open_order(window)
        choose(window, 2)
        assert [text.partition(":")[0] for text in lines(view.list)] == ["thread 0", "thread 1"]


def test_parts_are_moved_and_removed_by_keys():
    with open_window((f"{COUNTER[0]},schedule=order:t0x1+t1+t2",)) as window:
        view = open_order(window)
        assert view.parts.count() == 3
        view.parts.setCurrentRow(0)
        QTest.keyClick(view.parts, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
        settle(window)
        assert order_text(window) == "t1+t0x1+t2"
        view.parts.setCurrentRow(2)
        QTest.keyClick(view.parts, Qt.Key.Key_Delete)
        settle(window)
        assert order_text(window) == "t1+t0x1"


def test_a_choice_is_dropped_into_the_order():
    with open_window((f"{COUNTER[0]},schedule=order:t0x1",)) as window:
        view = open_order(window)
        view.list.setCurrentRow(2)
        top = QPointF(view.parts.visualItemRect(view.parts.item(0)).topLeft()) + QPointF(2, 1)
        data = view.list.mimeData([view.list.item(2)])
        copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
        common = copy, data, left, Qt.KeyboardModifier.NoModifier
        over = QDragMoveEvent(top.toPoint(), *common)
        view.parts.dragMoveEvent(over)
        assert over.isAccepted()
        view.parts.dropEvent(DropFrom(view.list, top, *common))
        settle(window)
        assert order_text(window) == "t2x1+t0x1"


class DropFrom(QDropEvent):
    """A drop of what a widget drags."""

    def __init__(self, source, position, *common):
        super().__init__(position, *common)
        self.dragged = source

    def source(self):
        return self.dragged


def test_warps_and_blocks_can_be_chosen():
    with open_window(("count-racing:num_blocks=2,threads=64",)) as window:
        view = open_order(window)
        QTest.mouseClick(view.units.buttons["warp"], Qt.MouseButton.LeftButton)
        assert [text.partition(":")[0] for text in lines(view.list)] == ["warp 0", "warp 1"]
        choose(window, 1)
        assert order_text(window) == "w1x1"
        QTest.mouseClick(view.units.buttons["block"], Qt.MouseButton.LeftButton)
        choose(window, 1, modifiers=Qt.KeyboardModifier.ShiftModifier)
        assert order_text(window) == "w1x1+b1"


def test_an_order_that_cannot_be_is_refused_in_one_sentence():
    with open_window(COUNTER) as window:
        view = open_order(window)
        session = window.focused_session()
        view.text.setText("first thread 3")
        QTest.keyClick(view.text, Qt.Key.Key_Return)
        assert "is not a part of an order" in view.problem.text()
        view.text.setText("t7")
        QTest.keyClick(view.text, Qt.Key.Key_Return)
        wait_until(window.notice.is_shown)
        settle(window)
        assert any("threads 0 to 2" in text for text in window.notice.sentences())
        assert window.focused_session() is session


def test_final_values_are_counted_exactly_and_each_has_an_order():
    with open_window(COUNTER) as window:
        view = open_order(window)
        view.element.setText("counter[0]")
        QTest.mouseClick(view.count, Qt.MouseButton.LeftButton)
        wait_until(lambda: view.bars.result is not None)
        assert [(value.value, value.orders) for value in view.bars.values] == [("1", 12), ("2", 18), ("3", 6)]
        assert view.mark.text() == "exact, all 36 orders"
        assert not window.notice.news.isVisible()  # nothing covers the bars
        assert len(window.stage.setups) == 1
        view.bars.setFocus()
        for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
            QTest.keyClick(view.bars, key)
        settle(window)
        session = window.focused_session()
        assert int(session.memory.values(0, session.end)[0]) == 3


def test_a_choice_in_an_exercise_is_written_into_its_text():
    exercise = exercise_named("largest")
    with open_window(COUNTER) as window:
        window.exercises.open(exercise)
        wait_until(lambda: window.exercises.work.is_here() and window.stage.is_settled())
        settle(window)
        view = open_order(window)
        view.text.setText("t0x2+t2")
        QTest.keyClick(view.text, Qt.Key.Key_Return)
        wait_until(lambda: 'ORDER = "t0x2+t2"' in window.exercises.work.text)
        wait_until(
            lambda: window.exercises.panel.verdict is not None and window.exercises.panel.verdict.passed
        )


def test_a_choice_in_an_exercise_shows_the_last_access_of_the_order():
    with open_window(COUNTER) as window:
        window.exercises.open(exercise_named("largest"))
        wait_until(lambda: window.exercises.work.is_here() and window.stage.is_settled())
        settle(window)
        view = open_order(window)
        choose(window, 0, modifiers=Qt.KeyboardModifier.ShiftModifier)
        choose(window, 0, modifiers=Qt.KeyboardModifier.ShiftModifier)
        assert lines(view.parts)[1].startswith("t1 ")
        session = window.focused_session()
        own_accesses = session.trace.step < session.trace.segment_ends[-1]
        assert set(session.trace.thread[own_accesses].tolist()) == {0, 1}
        last = session.requests.moment[session.requests.request[own_accesses]].max()
        assert window.stage.moments()[0] == last
