"""The path of a value in the window: asked by menu and key, carried by bookmarks, followed by clicks."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tilescope.app.model.bookmark import TracedValue, decode, encode
from tilescope.app.state.actions import Focus, ShowTab, TraceValue
from tilescope.app.widgets.widget_picture import picture_of
from tilescope.tracer.model.launch import Schedule
from views import element_point
from windows import act, open_window, press, settle, wait_until

TWO_LAUNCHES = """import numpy as np
from numba import cuda


@cuda.jit
def copy(a, out):
    i = cuda.grid(1)
    out[i] = a[i]


for first in (0, 1):
    copy[1, 8](np.arange(first, first + 8), np.zeros(8, np.int64))
"""


@pytest.fixture(autouse=True)
def without_path(window):
    act(window, TraceValue(None))
    act(window, Focus(1))
    yield
    act(window, TraceValue(None))
    window.draw()


def picture(window):
    window.draw()
    QApplication.processEvents()
    return picture_of(window.central, 1.0)


def panel(window):
    return window.side.view("why")


def texts(window):
    view = panel(window)
    return [view.list.item(row).text() for row in range(view.list.count())]


def right_click(window, name, *index):
    """Return the menu of an element in the right pane."""
    memory = window.central.panes[1].memory
    return memory.value_menu(element_point(memory, name, *index))


def test_menu_of_an_element_shows_its_path(window):
    window.stage.seek(1, window.stage.sessions[1].end)
    window.draw()
    before = picture(window)
    menu = right_click(window, "c", 3, 5)
    assert [action.text() for action in menu.actions()] == [
        "Why this value?  C[3, 5]",
        "What does it reach?  C[3, 5]",
    ]
    menu.actions()[0].trigger()
    QApplication.processEvents()
    assert window.bookmark().traced == TracedValue("C[3, 5]") and window.bookmark().tab == "why"
    assert window.side.tab == "why" and panel(window).title.text() == "Why C[3, 5]?"
    assert any("wrote C[3, 5]" in text for text in texts(window))
    assert len(window.central.panes[1].memory.explanation.rows) > 32
    assert picture(window) != before
    assert right_click(window, "c", 3, 5).actions()[2].text() == "Hide the path"


def test_click_on_a_sentence_goes_to_its_moment_and_thread(window):
    act(window, TraceValue(TracedValue("C[9, 2]"), appears=True))
    view = panel(window)
    row = next(i for i, text in enumerate(texts(window)) if "wrote C[9, 2]" in text)
    item = view.list.item(row)
    view.list.scrollToItem(item)
    QTest.mouseClick(
        view.list.viewport(), Qt.MouseButton.LeftButton, pos=view.list.visualItemRect(item).center()
    )
    QApplication.processEvents()
    session = window.stage.sessions[1]
    writer = session.memory.writer(2, 9 * 16 + 2, session.end)
    moment = session.requests.moment[session.requests.request[writer]]
    assert window.stage.shown_moments()[1] == moment
    selection = window.stage.selections[1]
    assert (selection.block, selection.thread) == (session.trace.block[writer], session.trace.thread[writer])


def test_key_follows_the_value_that_the_thread_accessed_last_and_escape_ends_it(window):
    window.stage.seek(1, 12)
    press(window, "W")
    assert window.bookmark().traced is not None and window.side.tab == "why"
    assert window.bookmark().traced.moment == 12
    press(window, "Escape")
    assert window.bookmark().traced is None and window.side.tab == "source"
    assert all(pane.memory.explanation is None for pane in window.central.panes)


def test_escape_returns_to_the_tab_before_the_path(window):
    act(window, ShowTab("findings"))
    window.stage.seek(1, 12)
    press(window, "W")
    assert window.side.tab == "why"
    press(window, "Escape")
    assert window.side.tab == "findings"
    act(window, ShowTab("source"))


def test_buttons_turn_and_hide_the_path(window):
    act(window, TraceValue(TracedValue("A[0, 3]", forward=True), appears=True))
    assert panel(window).title.text() == "What A[0, 3] reaches"
    assert any("serves 16 threads" in text for text in texts(window))
    panel(window).turn.click()
    QApplication.processEvents()
    assert "it holds its input" in " ".join(texts(window))
    panel(window).close_button.click()
    QApplication.processEvents()
    assert window.bookmark().traced is None


def test_bookmark_carries_the_path_and_both_panes_show_it(window):
    plain = picture(window)
    mark = msgspec.structs.replace(window.bookmark(), traced=TracedValue("C[0, 0]"), tab="why")
    assert decode(encode(mark)) == mark
    window.show_bookmark(mark)
    QApplication.processEvents()
    seen = picture(window)
    assert [pane.memory.explanation.title for pane in window.central.panes] == ["C[0, 0]"] * 2
    assert [timeline.explanation for timeline in window.central.timelines] == [
        pane.memory.explanation for pane in window.central.panes
    ]
    window.show_bookmark(msgspec.structs.replace(mark, traced=None, tab="source"))
    assert picture(window) == plain
    window.show_bookmark(mark)
    assert picture(window) == seen


def test_element_that_a_launch_lacks_is_a_sentence(window):
    act(window, TraceValue(TracedValue("tile_a[0, 0]"), appears=True))
    left, right = (pane.memory.explanation for pane in window.central.panes)
    assert right.element is not None
    assert left.element is None and "accesses no array 'tile_a'" in left.sentences[0].text


def test_path_of_a_large_launch_is_computed_in_a_thread(window, monkeypatch):
    monkeypatch.setattr("tilescope.app.model.value_causes.AT_ONCE", 0)
    window.store.dispatch(TraceValue(TracedValue("C[7, 7]"), appears=True))
    window.draw()
    assert panel(window).explanation is None and "Following the value" in panel(window).hint.text()
    window.central.results.causes.wait()
    wait_until(lambda: panel(window).explanation is not None)
    assert any("wrote C[7, 7]" in text for text in texts(window))
    assert all(pane.memory.explanation is not None for pane in window.central.panes)


def test_other_order_of_the_same_launch_is_the_reference(window):
    sequential = msgspec.structs.replace(window.bookmark().panes[1], schedule=Schedule("sequential"))
    mark = msgspec.structs.replace(
        window.bookmark(),
        panes=(window.bookmark().panes[1], sequential),
        traced=TracedValue("C[0, 0]"),
        tab="why",
    )
    before = window.bookmark()
    window.show_bookmark(mark)
    settle(window)
    assert "Every write on the path equals that of the other pane." in texts(window)
    window.show_bookmark(before)
    settle(window)


def test_launches_with_other_inputs_are_not_compared(tmp_path):
    (tmp_path / "two.py").write_text(TWO_LAUNCHES)
    with open_window() as window:
        window.files.run_program(str(tmp_path / "two.py"))
        wait_until(lambda: [s and s.trace.kernel for s in window.stage.sessions] == ["copy", "copy"])
        settle(window)
        act(window, Focus(1))
        window.stage.seek(1, window.stage.sessions[1].end)
        window.draw()
        right_click(window, "out", 5).actions()[0].trigger()
        settle(window)
        assert any("out[5] = 6" in text for text in texts(window))
        assert not any("other pane" in text for text in texts(window))
