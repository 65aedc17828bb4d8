"""Parameters changed with the mouse: dragged, turned and stepped; the picture follows to the last value."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from patience import PATIENCE
from tilescope.app.model.setup_launch import kernels_to_compile
from tilescope.app.window.toolbar import toolbar
from tilescope.app.window.toolbar.drag_gesture import COARSE, HOVER_DELAY, NOTCH
from tilescope.app.window.toolbar.toolbar import IDLE_DELAY
from tilescope.tracer.processes.process_client import RunCancelledError
from tilescope.tracer.run.worker_client import LaunchTooSlowError, Worker
from windows import enter, open_window, parameter_field, press, settle, wait_until

SPEC = "copy-stride:count=64,threads=32,stride=8"
LEFT, NONE, SHIFT = (
    Qt.MouseButton.LeftButton,
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


@pytest.fixture(scope="module")
def shared():
    """Open a window on one copy, whose stride needs no new compilation."""
    with open_window((SPEC,), worker=Worker()) as main_window:
        yield main_window


@pytest.fixture
def window(shared):
    """Return it with a stride of 8, nothing to go back to, no message, and no kernels about to be compiled ahead."""
    shared.navigation.scrub.stop()
    shared.activateWindow()
    QTest.qWaitForWindowActive(shared)
    enter(shared, "stride", "8")
    shared.toolbar.ask()
    settle(shared)
    shared.toolbar.cancel_compiling()
    shared.notice.clear()
    shared.navigation.history.__init__()
    for pane in shared.central.panes:
        pane.counters.clear_marks()
    return shared


@pytest.fixture
def uncached(window):
    """Return it without any session or trace of before."""
    jobs = window.stage.jobs
    jobs.cache, cache = None, jobs.cache
    jobs._sessions.clear()
    yield window
    jobs.cache = cache


class Drag:
    """A drag of a parameter's name, by steps of its values."""

    def __init__(self, window, name):
        self.handle = window.toolbar.handles[name]
        self._send(QEvent.Type.MouseButtonPress, 0)

    def to(self, steps, keys=NONE):
        """Move the pointer so far from where it was pressed."""
        self.at = round(steps * COARSE + (1 if steps >= 0 else -1))
        self._send(QEvent.Type.MouseMove, self.at, keys)

    def let_go(self):
        self._send(QEvent.Type.MouseButtonRelease, self.at)

    def _send(self, kind, pixels, keys=NONE):
        there = QPointF(self.handle.rect().center() + QPoint(pixels, 0))
        held = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else LEFT
        button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else LEFT
        event = QMouseEvent(kind, there, QPointF(self.handle.mapToGlobal(there)), button, held, keys)
        QApplication.sendEvent(self.handle, event)
        QApplication.processEvents()


def turn(widget, notches, keys=NONE):
    """Turn the wheel over a widget."""
    middle = QPointF(widget.rect().center())
    event = QWheelEvent(
        middle, QPointF(widget.mapToGlobal(middle)), QPoint(), QPoint(0, NOTCH * notches),
        Qt.MouseButton.NoButton, keys, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)


def stride(session):
    """Return the stride of a session's launch."""
    return session.launch.arguments[2].value


def shown_strides(window):
    """Return a list that takes up the stride of each picture that comes."""
    shown = []
    window.stage.loaded.connect(lambda pane: shown.append(stride(window.stage.sessions[pane])))
    return shown


def workers(window):
    return window.stage.jobs.worker.pid


def entries(window):
    return len(window.navigation.history._back)


def test_a_drag_across_the_range_shows_asked_values_and_ends_with_the_last(window, monkeypatch):
    shown, asked, before = shown_strides(window), [], workers(window)
    request = window.navigation.scrub.request

    def note(setups):
        asked.append(int(setups[0].values["stride"]))
        request(setups)

    monkeypatch.setattr(window.navigation.scrub, "request", note)
    drag = Drag(window, "stride")
    for steps in (*range(1, 24), *range(24, -8, -1), *range(-7, 25)):
        drag.to(steps)
        assert window.toolbar.fields["stride"].text() == str(8 + steps)
    drag.let_go()
    settle(window)
    assert (min(asked), max(asked)) == (1, 32)
    assert set(shown) <= set(asked)
    assert shown[-1] == stride(window.stage.sessions[0]) == window.stage.setups[0].values["stride"] == 32
    assert parameter_field(window, "stride").text() == "32"
    assert workers(window) == before
    assert not window.notice.is_shown()
    assert entries(window) == 1
    window.navigation.travel(-1)
    settle(window)
    assert stride(window.stage.sessions[0]) == 8


def test_while_one_picture_is_made_only_the_newest_wish_is_kept(uncached, monkeypatch):
    window = uncached
    trace, hold, run = Worker.run, threading.Event(), []

    def slow(self, launch, *rest, **options):
        run.append(launch.arguments[2].value)
        assert hold.wait(PATIENCE)
        return trace(self, launch, *rest, **options)

    monkeypatch.setattr(Worker, "run", slow)
    before, drag = workers(window), Drag(window, "stride")
    for steps in range(1, 13):
        drag.to(steps)
    wait_until(lambda: run == [9])
    assert stride(window.stage.sessions[0]) == 8
    drag.let_go()
    hold.set()
    settle(window)
    assert run == [9, 20]
    assert stride(window.stage.sessions[0]) == 20
    assert (workers(window), entries(window)) == (before, 1)


def test_a_slow_trace_is_abandoned_once_the_user_moves_to_another_value(uncached, monkeypatch):
    window = uncached
    trace, hold, begun = Worker.run, threading.Event(), threading.Event()

    def endless(self, launch, *rest, **options):
        if launch.arguments[2].value == 13:
            begun.set()
            assert hold.wait(PATIENCE)
            raise RunCancelledError
        return trace(self, launch, *rest, **options)

    monkeypatch.setattr(Worker, "run", endless)
    monkeypatch.setattr(Worker, "cancel", lambda self: hold.set())
    drag = Drag(window, "stride")
    drag.to(5)
    wait_until(begun.is_set)
    drag.to(6)
    assert not hold.is_set()
    drag.let_go()
    window.navigation.scrub._grace.timeout.emit()
    settle(window)
    assert hold.is_set()
    assert stride(window.stage.sessions[0]) == 14


def test_nothing_is_asked_before_a_drag_ends_and_then_only_of_its_last_value(uncached, monkeypatch):
    window = uncached
    trace = Worker.run

    def run(self, launch, *rest, patience=None, **options):
        if patience is not None and launch.arguments[2].value >= 15 and launch.blocks is None:
            raise LaunchTooSlowError(launch, 1800, 2)
        return trace(self, launch, *rest, patience=patience, **options)

    monkeypatch.setattr(Worker, "run", run)
    drag = Drag(window, "stride")
    for steps in (1, 7, 9):
        drag.to(steps)
        wait_until(lambda steps=steps: stride(window.stage.sessions[0]) == 8 + steps)
        settle(window)
        assert not window.notice.isVisible()
    assert window.stage.setups[0].cut
    drag.let_go()
    wait_until(lambda: window.notice.message_type == "question")
    assert "All 2 blocks take about 30 minutes" in window.notice.sentence.text()
    drag = Drag(window, "stride")
    drag.to(-8)
    drag.let_go()
    settle(window)
    assert not window.notice.isVisible()
    assert (window.stage.setups[0].values["stride"], window.stage.setups[0].cut) == (9, False)


def test_back_where_it_began_it_is_the_picture_of_before_and_nothing_to_go_back_to(window):
    before, setups = window.stage.sessions[0], window.stage.setups
    drag = Drag(window, "stride")
    for steps in (1, 2, 1, 0):
        drag.to(steps)
        settle(window)
    drag.let_go()
    settle(window)
    assert (window.stage.sessions[0], window.stage.setups, entries(window)) == (before, setups, 0)


def test_escape_ends_a_drag_where_it_began(window):
    before = window.stage.sessions[0]
    drag = Drag(window, "stride")
    drag.to(4)
    press(window, "Escape")
    drag.to(6)
    drag.let_go()
    settle(window)
    assert (window.stage.sessions[0], parameter_field(window, "stride").text(), entries(window)) == (
        before,
        "8",
        0,
    )


def test_the_playhead_and_the_selection_stay_where_they_were(window):
    window.stage.select(0, type(window.stage.selections[0])(1, 3))
    moment, selection = window.stage.moments()[0], window.stage.selections[0]
    drag = Drag(window, "stride")
    for steps in (1, 2, 3):
        drag.to(steps)
        settle(window)
    drag.let_go()
    settle(window)
    assert (window.stage.moments()[0], window.stage.selections[0]) == (moment, selection)


def test_the_wheel_over_a_field_or_its_name_and_the_keys_step_and_are_one_entry(window):
    entry, handle = parameter_field(window, "stride"), window.toolbar.handles["stride"]
    turn(entry, 1)
    turn(handle, 2)
    turn(entry, -1)
    assert entry.text() == "10"
    entry.setFocus()
    press(window, "Up", "Up", "Down", "PageUp", "PageDown", "PageUp")
    assert entry.text() == "15"
    window.toolbar.gesture._rest_timer.timeout.emit()
    settle(window)
    assert (stride(window.stage.sessions[0]), entries(window)) == (15, 1)
    turn(entry, 40)
    turn(entry, 1)
    window.toolbar.gesture._rest_timer.timeout.emit()
    settle(window)
    assert (entry.text(), stride(window.stage.sessions[0]), entries(window)) == ("32", 32, 2)


def test_sizes_go_in_steps_and_with_shift_one_by_one(window):
    count, threads = parameter_field(window, "count"), parameter_field(window, "threads")
    turn(count, 1)
    assert count.text() == "128"
    turn(count, -1, SHIFT)
    assert count.text() == "127"
    window.toolbar.gesture.stop()
    turn(threads, 1)
    window.toolbar.gesture.stop()
    settle(window)
    launch = window.stage.sessions[0].launch
    assert (launch.arguments[1].shape, launch.block) == ((127,), (64, 1, 1))
    for _ in range(2):
        window.navigation.travel(-1)
        settle(window)
    assert window.stage.sessions[0].launch.arguments[1].shape == (64,)


def test_words_step_as_they_stand_in_their_list(window):
    entry = parameter_field(window, "dtype")
    turn(entry, -1)
    assert entry.text() == "float64"
    turn(entry, 1)
    assert entry.text() == "float32"
    window.toolbar.gesture.stop()
    settle(window)
    assert entries(window) == 0


def test_what_was_typed_in_vain_is_left_for_the_value_before(window):
    enter(window, "stride", "99")
    wait_until(lambda: bool(parameter_field(window, "stride").property("invalid")))
    turn(parameter_field(window, "stride"), 1)
    window.toolbar.gesture.stop()
    settle(window)
    assert (stride(window.stage.sessions[0]), window.notice.isVisible()) == (9, False)


def test_another_choice_in_the_midst_ends_the_movement(window):
    drag = Drag(window, "stride")
    drag.to(3)
    settle(window)
    window.navigation.travel(-1)
    drag.to(5)
    drag.let_go()
    settle(window)
    assert stride(window.stage.sessions[0]) == 8
    assert parameter_field(window, "stride").text() == "8"


def test_a_launch_that_is_refused_is_passed_over():
    with open_window((f"{SPEC},blocks=1",)) as window:
        before = window.stage.setups
        turn(parameter_field(window, "threads"), 1)  # 64 threads are one block, and there is no second
        window.toolbar.gesture.stop()
        assert (window.stage.setups, window.notice.isVisible()) == (before, False)
        turn(parameter_field(window, "threads"), -1, SHIFT)
        window.toolbar.gesture.stop()
        settle(window)
        assert window.stage.sessions[0].launch.block == (31, 1, 1)


def test_names_say_what_they_are_for(window):
    for name, handle in window.toolbar.handles.items():
        parameter = next(p for p in window.toolbar.parameters() if p.name == name)
        assert handle.cursor().shape() == Qt.CursorShape.SizeHorCursor
        assert handle.buddy() is parameter_field(window, name)
        assert handle.accessibleName() == f"Drag to change {parameter.label}"
        assert (
            handle.toolTip()
            == parameter_field(window, name).toolTip()
            == parameter_field(window, name).accessibleDescription()
        )
        assert "wheel" in handle.toolTip()
    assert handle.toolTip().startswith("Drag")
    assert window.toolbar.handles["stride"].toolTip().startswith("1 to 32. ")


ENTER, LEAVE = QEnterEvent(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2)), QEvent(QEvent.Type.Leave)
NEARED = {
    "the pointer comes to the name": lambda window, name: enters(window.toolbar.handles[name]),
    "the pointer comes to the field": lambda window, name: enters(parameter_field(window, name)),
    "the keyboard comes": lambda window, name: parameter_field(window, name).setFocus(),
}


def enters(widget):
    QApplication.sendEvent(widget, ENTER)


def leaves(widget):
    QApplication.sendEvent(widget, LEAVE)


@pytest.fixture
def foreseen(monkeypatch):
    """Collect the launches that the toolbar foresees."""
    asked = []

    def note(setups, upcoming):
        launches = kernels_to_compile(setups, upcoming)
        asked.extend([launches] if launches else [])
        return launches

    monkeypatch.setattr(toolbar, "kernels_to_compile", note)
    return asked


@pytest.mark.parametrize("how", NEARED)
def test_kernels_are_compiled_ahead_if_the_user_comes_to_a_parameter_that_needs_others(window, how, foreseen):
    asked = foreseen
    for name in ("stride", "count", "dtype"):
        NEARED[how](window, name)
        QTest.qWait(2 * HOVER_DELAY)
        for widget in (window.toolbar.handles[name], parameter_field(window, name)):
            leaves(widget)
    (launches,) = asked  # another stride or count is the same kernel
    assert [launch.arguments[0].dtype for launch in launches] == ["float64", "int16", "uint8"]
    settle(window)
    assert stride(window.stage.sessions[0]) == 8


def test_who_only_passes_a_parameter_has_nothing_compiled(window, foreseen):
    asked = foreseen
    for widget in (window.toolbar.handles["dtype"], parameter_field(window, "dtype")):
        enters(widget)
        leaves(widget)
    QTest.qWait(2 * HOVER_DELAY)
    assert not asked
    enters(parameter_field(window, "dtype"))  # there is something to be compiled
    wait_until(lambda: len(asked) == 1)


def test_kernels_of_the_next_values_are_compiled_ahead_once_the_window_rests(window, foreseen):
    asked = foreseen
    window.toolbar.schedule_compiling()
    wait_until(lambda: len(asked) == 1)
    assert [launch.arguments[0].dtype for launch in asked[0]] == ["float64"]  # of more the window knows later
    window.toolbar.schedule_compiling()
    window.stage.asked.emit()
    QTest.qWait(IDLE_DELAY + 300)
    assert len(asked) == 1


def test_next_values_of_all_parameters_are_foreseen_as_long_as_their_matrix_is_there(
    tmp_path, capfd, foreseen
):
    matrix, asked = tmp_path / "a.npy", foreseen
    np.save(matrix, np.ones((16, 16), np.float32))
    with open_window((f"matmul-tiled:m=16,k=16,n=16,tile=8,dtype_b=float32,a={matrix}",)) as window:
        window.toolbar.schedule_compiling()
        wait_until(lambda: asked)
        assert {launch.constants["TILE"] for launch in asked[0]} == {8}  # another tile is the same kernel
        assert [launch.arguments[1].dtype for launch in asked[0]] == ["float64"]
        matrix.unlink()
        window.toolbar.schedule_compiling()
        QTest.qWait(IDLE_DELAY + 300)
        assert len(asked) == 1 and "Traceback" not in capfd.readouterr().err


def test_a_click_on_a_name_goes_to_its_field(window):
    window.central.transport.play.setFocus()
    drag = Drag(window, "stride")
    drag.at = 0
    drag.let_go()
    assert parameter_field(window, "stride").hasFocus()


def test_counters_changed_by_the_user_are_marked_and_those_changed_by_time_are_not(window):
    counters = window.central.panes[0].counters
    window.playhead.seek(window.playhead.end)
    window.draw()
    assert counters.changes == {}
    drag = Drag(window, "stride")
    drag.to(-4)
    settle(window)
    assert {name: change.texts[:2] for name, change in counters.changes.items()} == {
        "global sectors": ("was 72", "÷1.8"),
        "mean reads of A": ("was 0.1×", "×2"),
    }
    assert "global sectors 40 (was 72)" in counters.accessibleDescription()
    drag.to(-7)  # the numbers before are still those before the drag
    settle(window)
    assert counters.changes["global sectors"].before == "72"
    drag.let_go()
    settle(window)
    window.stage.step(-1)
    window.draw()
    assert counters.changes == {}
