"""Nothing outlives what it belongs to: selections their launch, dialogs their closing, a choice its heading."""

import gc
import sys

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

from sessions import matmul
from tilescope.app.control import session_jobs
from tilescope.app.model.first_bookmark import setups_of
from tilescope.app.model.session import Selection
from tilescope.app.timings.drawing.view import ChartView
from tilescope.app.timings.window import TimingsWindow
from tilescope.app.views.counters.view import CountersView
from tilescope.app.views.histogram.view import HistogramView
from tilescope.app.views.inspect.explain import ExplainView
from tilescope.app.views.inspect.findings import FindingsView
from tilescope.app.views.inspect.thread import ThreadView
from tilescope.app.views.memory.view import MemoryView
from tilescope.app.views.source.view import SourceView
from tilescope.app.views.timeline.view import TimelineView
from tilescope.app.views.warp.view import WarpView
from tilescope.app.widgets.controls import HEADING, Combo
from tilescope.tracer.model.trace import Trace
from views import show_panel
from windows import open_window, press, settle, wait_until

VIEWS = (
    MemoryView, HistogramView, CountersView, TimelineView, SourceView, ThreadView, WarpView, FindingsView,
    ExplainView,
)  # fmt: skip


@pytest.mark.parametrize("kind", VIEWS)
def test_a_view_takes_a_smaller_launch_while_it_looks_at_the_end_of_a_larger(kind, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "excepthook", lambda *error: raised.append(error))
    large, small = matmul(m=32, k=32, n=32, tile=8), matmul("sum-sequential", count=32, threads=32)
    last = Selection(len(large.trace.blocks) - 1, large.trace.threads - 1)
    view = show_panel(kind, large, large.end, last)
    view.grab()
    view.load(small)
    assert view.moment <= small.end
    assert view.selection.block < len(small.trace.blocks)
    assert view.selection.thread < small.trace.threads
    view.grab()
    for x in range(5, view.width(), 60):
        for y in range(5, view.height(), 60):
            place = QPoint(x, y)
            QTest.mouseMove(view, place)
            QApplication.sendEvent(view, QHelpEvent(QEvent.Type.ToolTip, place, view.mapToGlobal(place)))
    view.load(None)
    view.grab()
    assert not raised


def test_a_chosen_finding_goes_with_its_session(monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "excepthook", lambda *error: raised.append(error))
    racing, right = matmul("count-racing").with_findings(), matmul(m=32, k=32, n=32, tile=8).with_findings()
    view = show_panel(FindingsView, racing)
    view.list.setCurrentRow(view.list.count() - 1)
    assert view.chosen() is racing.findings[-1]
    view.load(right)
    assert view.chosen() is None
    assert not view.card.isVisibleTo(view)
    view.load(racing)
    assert view.chosen() is None
    assert not raised


def test_a_selection_stays_within_the_launch(window):
    window.stage.select(1, Selection(10_000, 10_000))
    trace = window.stage.sessions[1].trace
    assert window.stage.selections[1] == Selection(int(trace.blocks[-1]), trace.threads - 1)
    window.stage.select(5, Selection())  # of a pane that is gone


def test_what_was_selected_is_within_the_next_launch():
    with open_window(("matmul-tiled:m=32,k=32,n=32,tile=8",)) as window:
        window.stage.select(0, Selection(15, 63))
        window.change_setups(setups_of(("sum-sequential:count=32,threads=32",)))
        settle(window)
        assert window.stage.selections == (Selection(0, 31),)


def test_a_trace_that_is_not_shown_any_more_is_freed(monkeypatch):
    monkeypatch.setattr(session_jobs, "KEPT_SESSIONS", 1)
    gc.collect()
    before = sum(isinstance(item, Trace) for item in gc.get_objects())
    with open_window(("sum-sequential:count=32,threads=32",)) as window:
        for seed in range(4):
            window.change_setups(
                setups_of((f"sum-sequential:count=32,threads=32,schedule=random,seed={seed}",))
            )
            settle(window)
        wait_until(lambda: sum(isinstance(item, Trace) for item in gc.get_objects()) <= before + 2)


def test_there_is_nothing_before_what_is_shown_first():
    with open_window(("sum-sequential:count=32,threads=32",)) as window:
        press(window, "Alt+Left", "Alt+Left")
        assert len(window.central.panes) == 1
        assert window.stage.focus == 0


def test_a_heading_of_a_list_is_nothing_to_choose():
    box, picked = Combo("Kernel"), []
    box.picked = picked.append
    box.offer([("Group", HEADING), ("one", 1), ("two", 2)], 2)
    box.setCurrentIndex(0)
    box.activated.emit(0)
    assert (picked, box.currentData()) == ([], 2)
    box.setCurrentIndex(1)
    box.activated.emit(1)
    assert (picked, box.currentData()) == ([1], 1)


def test_a_dialog_is_there_once_and_gone_when_it_is_closed(window):
    for _ in range(3):
        window.commands["Keyboard shortcuts"].trigger()
    wait_until(lambda: len(window.findChildren(QDialog)) == 1)
    window.findChild(QDialog).close()
    wait_until(lambda: not window.findChildren(QDialog))


def test_the_chart_of_the_timings_is_drawn_once_for_another_text_size(window, monkeypatch):
    window.timings.show()
    timings, drawn = window.findChild(TimingsWindow), []
    monkeypatch.setattr(ChartView, "show_figure", lambda self, figure, sight=None: drawn.append(figure))
    window.look.scale_text(1.3)
    assert len(drawn) == 1
    timings.close()
    window.look.scale_text(1.0)
    assert len(drawn) == 1
    window.timings.show()
    assert len(drawn) == 2
    timings.close()


def test_the_next_launch_is_announced_as_traced(window):
    before = window.stage.setups
    window.change_setups(setups_of(("sum-sequential:count=64,threads=32,schedule=random,seed=99",)))
    assert window.central.panes[0].overlay.text.text().startswith("Tracing Sum, sequential")
    settle(window)
    window.change_setups(before)
    settle(window)
