"""A window that speaks of work-items says nowhere thread, block, warp, grid or shared memory."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QPainter
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QListWidget, QTabBar, QWidget

from tilescope.app.model.vocabulary import text_in_words
from tilescope.app.state.actions import ShowTab
from tilescope.app.timings.model.choice import CHARTS, Choice, subject_of_key
from tilescope.app.timings.window import TimingsWindow
from tilescope.app.widgets.theme import Theme
from tilescope.app.widgets.translation import translate_widget
from tilescope.app.window import actions
from tilescope.app.window.main_window import MainWindow
from tilescope.app.window.start import application
from tilescope.kernels.scenarios.catalogue import find, groups, scenarios
from tilescope.kernels.scenarios.scenario import WORK_ITEM_WORDS
from windows import PAIR, SMALL, act, open_window, settle, wait_until

CUDA = re.compile(r"\b(threads?|blocks?|warps?|grids?|shared (memory|load|store|request)s?)\b", re.IGNORECASE)
CODE = re.compile(r"\b(shared|local|thread)\w*\[|\w\(.*block")  # names in a kernel's source
QUOTED = re.compile(r"`[^`]*`")  # code to be written
NAMES = {actions.CUDA, *(part for s in scenarios() for part in (s.title, *s.title.split(", ")))}


def cuda_words(texts):
    """Return the texts with words of CUDA's, but for titles of kernels and names in code."""
    phrases = [text for text in texts if text not in NAMES and not CODE.search(text)]
    return {text for text in phrases if CUDA.search(QUOTED.sub("", text))}


def written(window):
    """Return every text, tip and name that widgets on the screen have."""
    texts = {action.text() for action in window.findChildren(QAction)}
    for widget in (w for w in window.findChildren(QWidget) if w.isVisible()):
        texts |= {widget.toolTip(), widget.accessibleName(), widget.accessibleDescription()}
        if isinstance(widget, QLabel | QAbstractButton):
            texts.add(widget.text())
        if isinstance(widget, QTabBar):
            texts |= {widget.tabText(i) for i in range(widget.count())}
        if isinstance(widget, QListWidget):
            items = [widget.item(i) for i in range(widget.count())]
            texts |= {text for item in items for text in (item.text(), item.toolTip())}
    return {re.sub("<[^>]*>", "", text) for text in texts}


def drawn_in(window, monkeypatch):
    """Return every text that is painted while the window is drawn again, and every text of its widgets."""
    texts, draw = set(), QPainter.drawText

    def noted(painter, *given):
        texts.update(text for text in given if isinstance(text, str))
        return draw(painter, *given)

    with monkeypatch.context() as patch:
        patch.setattr(QPainter, "drawText", noted)
        window.draw()
        QApplication.processEvents()
        window.grab()
    return texts | written(window)


@pytest.mark.parametrize(
    "specs",
    [
        PAIR,
        ("count-racing",),
        ("histogram-private:count=256",),
        ("matmul-tiled-early-return:m=20,k=20,n=20,tile=8",),
    ],
    ids=["pair", "racing", "private", "pitfall"],
)
def test_no_word_of_cuda_is_left_anywhere(specs, monkeypatch):
    with open_window(specs) as window:
        window.resize(1600, 1000)
        window.look.set_words("work-item")
        settle(window)
        texts = set()
        for moment in (1, window.playhead.end // 2, window.playhead.end):
            window.stage.seek(0, moment)
            for tab in ("thread", "warp", "findings", "explain", "source"):
                act(window, ShowTab(tab))
                texts |= drawn_in(window, monkeypatch)
        assert cuda_words(texts) == set()
        assert any("Work-item" in text for text in texts)
        window.look.set_words("cuda")
        assert {"Thread", "Warp", "Next block"} <= drawn_in(window, monkeypatch)


def offered(timings):
    """Return the entries of the fields of the timings, and the lessons of kernels without separate words."""
    combos = timings.fields.combos.values()
    labels = {combo.itemText(n) for combo in combos for n in range(combo.count())}
    own = {scenario.lesson for scenario in scenarios() if scenario.words}
    return labels | {item.toolTip(0) for item in timings.kernels._items()} - own


@pytest.mark.parametrize("chart", CHARTS)
def test_no_word_of_cuda_is_left_in_the_timings(chart, monkeypatch):
    for window in application().topLevelWidgets():  # one of another test may still make pictures ahead
        if isinstance(window, MainWindow):
            wait_until(window.central.ahead.is_idle)
    timings = TimingsWindow(Theme())
    timings.draw = timings.redraw
    timings.show()
    keys = ("matmul-tiled", "histogram-global", "count-atomic", "transpose-naive", "python-loops")
    titles = "|".join(re.escape(scenario.title) for scenario in scenarios())
    for subjects in (keys, keys[1:3]):
        timings.set_theme(Theme(words="work-item"))
        timings.show_choice(Choice(chart, tuple(map(subject_of_key, subjects)), shape="all"))
        texts = drawn_in(timings, monkeypatch) | offered(timings)
        named = {re.sub(f"{titles}|Python thread", "", text) for text in texts}
        assert cuda_words(named - set(groups())) == set()
        timings.set_theme(Theme(words="cuda"))
        assert "Blocks" in drawn_in(timings, monkeypatch)
    timings.close()
    timings.deleteLater()


def test_a_scenario_in_its_own_words_has_them_on_the_tabs_and_in_the_bar_too():
    with open_window((f"workitem-naive:{SMALL}",)) as window:
        assert window.side.bar.tabText(1) == "Work-item"
        assert "Resident work-groups" in {label.text() for label in window.toolbar.findChildren(QLabel)}
        window.toolbar.pick(0, "matmul-naive-row-on-x")
        settle(window)
        assert window.side.bar.tabText(1) == "Thread"
        assert "Resident blocks" in {label.text() for label in window.toolbar.findChildren(QLabel)}


def test_a_text_that_is_set_anew_is_spoken_anew():
    with open_window((f"matmul-tiled:{SMALL}",)) as window:
        window.look.set_words("work-item")
        window.toolbar.more.setText("random, 3 blocks")
        translate_widget(window.toolbar, window.theme.translate)
        translate_widget(window.toolbar, window.theme.translate)
        assert window.toolbar.more.text() == "random, 3 work-groups"
        translate_widget(window.toolbar, str)
        assert window.toolbar.more.text() == "random, 3 blocks"
        window.notice.error("Blocks must be all, or numbers, as in /a/block/x.npz.")
        assert window.notice.sentence.text() == "Work-groups must be all, or numbers, as in /a/block/x.npz."
        assert window.notice.sentence.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("1 wavefront instead of 2 wavefronts", "1 bank pass instead of 2 bank passes"),
        ("a warp's wavefront", "a wavefront's bank pass"),
        ("shared load, local load", "local load, private load"),
        ("a Python thread for each thread", "a Python thread for each work-item"),
        ("threadIdx.x, block.py, thread(1), shared[3] and grid/x", None),
    ],
)
def test_words_with_another_meaning_there_are_distinguished(text, other):
    assert text_in_words(text, WORK_ITEM_WORDS) == (text if other is None else other)


def test_no_lesson_has_python_threads_called_work_items():
    lesson = text_in_words(find("python-threads").lesson, WORK_ITEM_WORDS)
    assert "Python thread" in lesson
