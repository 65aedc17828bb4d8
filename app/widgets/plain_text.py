"""Labels and tooltips for plain text: Qt would interpret text that looks like HTML, and open the files it names."""

from __future__ import annotations

from html import escape

from PySide6 import QtGui
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel, QWidget

from ..model.visible_text import escape_controls_in_lines


class PlainLabel(QLabel):
    """A label for untrusted text, without markup and with control characters escaped."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show a text literally."""
        super().setText(escape_controls_in_lines(text))


class RichLabel(QLabel):
    """A label for our own HTML, in which `markup` has escaped all foreign text."""

    def __init__(self, html: str = "", parent: QWidget | None = None) -> None:
        super().__init__(html, parent)
        self.setTextFormat(Qt.TextFormat.RichText)


class RichDocument(QTextDocument):
    """A document for our own HTML, in which `markup` has escaped all foreign text; it opens no file."""

    def show_html(self, html: str) -> None:
        """Replace the content by HTML."""
        self.setHtml(html)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Refuse to load any resource."""
        return None


def markup(text: str) -> str:
    """Escape a text for HTML."""
    return escape(escape_controls_in_lines(text))


def plain_tip(text: str) -> str:
    """Escape a text for a tooltip if Qt would take it for HTML."""
    shown = escape_controls_in_lines(text)
    if not QtGui.Qt.mightBeRichText(shown):
        return shown
    return f"<qt>{escape(shown)}</qt>".replace("\n", "<br>")


def announce(label: QLabel) -> None:
    """Announce a new sentence to screen readers."""
    from PySide6.QtGui import QAccessible, QAccessibleEvent  # the window starts without them

    QAccessible.updateAccessibility(QAccessibleEvent(label, QAccessible.Event.Alert))
