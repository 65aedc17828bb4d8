"""Translation of widgets and menus, which are written in CUDA's terms, into another vocabulary."""

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

Translate = Callable[[str], str]


def translate_widget(root: QWidget, say: Translate) -> None:
    """Translate the texts, tooltips and accessible names of a widget and its descendants."""
    for widget in _walk(root):
        _translate(widget, say)


def _walk(widget: QWidget) -> Iterator[QWidget]:
    """Yield a widget and its descendants, except the internal ones of lists and boxes.

    Those have no texts, and their Python wrappers would never be freed.
    """
    yield widget
    if not isinstance(widget, QComboBox | QAbstractSpinBox | QAbstractScrollArea):
        for child in widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            yield from _walk(child)


def translate_actions(actions: Iterable[QAction], say: Translate) -> None:
    """Translate the texts of a menu's actions."""
    for action in actions:
        _translate(action, say)


def _translate(thing: QWidget | QAction, say: Translate) -> None:
    if isinstance(thing, QLabel | QAbstractButton | QAction):
        _translate_text(thing, thing.text(), thing.setText, "text", say)
    if isinstance(thing, QWidget):
        _translate_text(thing, thing.toolTip(), thing.setToolTip, "tip", say)
        _translate_text(thing, thing.accessibleName(), thing.setAccessibleName, "name", say)


def _translate_text(thing: QObject, text: str, put: Callable[[str], None], role: str, say: Translate) -> None:
    """Translate one text; a text that differs from the last translation is a new original in CUDA's terms."""
    written = thing.property(f"written {role}") if text == thing.property(f"spoken {role}") else text
    spoken = say(written)
    thing.setProperty(f"written {role}", written)
    thing.setProperty(f"spoken {role}", spoken)
    if spoken != text:
        put(spoken)
