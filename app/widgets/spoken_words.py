"""Widgets and menus in the words of another model: they are written in CUDA's, and spoken here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QWidget,
)

Say = Callable[[str], str]


def speak(root: QWidget, say: Say) -> None:
    """Say the texts, tips and names of a widget and all in it in other words."""
    for widget in _parts(root):
        _say_texts(widget, say)


def _parts(widget: QWidget) -> Iterator[QWidget]:
    """Yield a widget and all in it, but for what Qt itself puts into lists and boxes.

    That has no words, and what Python has once seen of it is never freed.
    """
    yield widget
    if not isinstance(widget, QComboBox | QAbstractSpinBox | QAbstractScrollArea):
        for child in widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            yield from _parts(child)


def speak_actions(actions: Iterable[QAction], say: Say) -> None:
    """Say the texts of a menu's actions in other words."""
    for action in actions:
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
