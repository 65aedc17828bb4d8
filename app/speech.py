"""The bar and the menu in the words of another model: they are written in CUDA's, and spoken here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from .theme import Theme

if TYPE_CHECKING:
    from .toolbar import Toolbar

CUDA, WORK_ITEM = (
    "Thread, block, warp",
    "Work-item, work-group, wavefront",
)  # names of the vocabularies themselves
Say = Callable[[str], str]


def speak(root: QWidget, say: Say) -> None:
    """Say the texts, tips and names of a widget and all in it in other words."""
    for widget in (root, *root.findChildren(QWidget)):
        _say_texts(widget, say)


def speak_bar(bar: Toolbar, theme: Theme) -> None:
    """Say what stands in the bar in the words of the pane in focus."""
    setup = bar.setups[bar.focus] if bar.setups else None
    speak(bar, theme.speaking(bar.scenarios.get(setup.scenario) if setup else None).say)


def speak_actions(actions: Iterable[QAction], say: Say) -> None:
    """Say the texts of a menu in other words, but for those that name the words."""
    for action in actions:
        if action.text() not in (CUDA, WORK_ITEM):
            _say_texts(action, say)


def _say_texts(thing: QWidget | QAction, say: Say) -> None:
    if isinstance(thing, QLabel | QAbstractButton | QAction):
        _say(thing, thing.text(), thing.setText, "text", say)
    if isinstance(thing, QWidget):
        _say(thing, thing.toolTip(), thing.setToolTip, "tip", say)
        _say(thing, thing.accessibleName(), thing.setAccessibleName, "name", say)


def _say(thing: QObject, text: str, put: Callable[[str], None], what: str, say: Say) -> None:
    """Say one text; what was said last is told from what somebody has written since, which is CUDA's again."""
    written = thing.property(f"written {what}") if text == thing.property(f"said {what}") else text
    said = say(written)
    thing.setProperty(f"written {what}", written)
    thing.setProperty(f"said {what}", said)
    if said != text:
        put(said)
