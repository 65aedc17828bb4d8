"""Labels and tips that show text as it is: Qt takes what looks like HTML for HTML, and opens the files it names."""

from __future__ import annotations

from html import escape

from PySide6 import QtGui
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel, QWidget

from ..model.visible_text import visible_lines


class PlainLabel(QLabel):
    """A label for any text, also of a file's: no markup, and nothing in it that can't be seen."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show a text as it is."""
        super().setText(visible_lines(text))


class RichLabel(QLabel):
    """A label for HTML of our own, in which what comes from elsewhere went through `markup`."""

    def __init__(self, html: str = "", parent: QWidget | None = None) -> None:
        super().__init__(html, parent)
        self.setTextFormat(Qt.TextFormat.RichText)


class RichDocument(QTextDocument):
    """A document for HTML of our own, in which what comes from elsewhere went through `markup`; it opens no file."""

    def show_html(self, html: str) -> None:
        """Show HTML in place of what was there."""
        self.setHtml(html)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Load nothing, whatever the HTML names."""
        return None


def markup(text: str) -> str:
    """Return HTML that shows a text as it is."""
    return escape(visible_lines(text))


def plain_tip(text: str) -> str:
    """Return the tip that shows a text as it is; Qt has no tips that are always plain."""
    shown = visible_lines(text)
    if not QtGui.Qt.mightBeRichText(shown):
        return shown
    return f"<qt>{escape(shown)}</qt>".replace("\n", "<br>")


def read_aloud(label: QLabel) -> None:
    """Have a sentence that has appeared read to whoever does not see it."""
    from PySide6.QtGui import QAccessible, QAccessibleEvent  # the window starts without them

    QAccessible.updateAccessibility(QAccessibleEvent(label, QAccessible.Event.Alert))
