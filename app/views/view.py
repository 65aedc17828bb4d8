"""What every view is: loaded once with a session, then drawn for a moment and a selection, in any order."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from ..session import Selection, Session
from ..theme import Theme


class View(QWidget):
    """A picture of a session at a moment; the picture depends on session, moment, selection and theme alone.

    A view never changes time or selection itself: it asks, and the main window answers all views alike.
    """

    moment_asked = Signal(float)
    selection_asked = Signal(Selection)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.session: Session | None = None
        self.moment = 0.0
        self.selection = Selection()

    def load(self, session: Session | None) -> None:
        """Take a session (None empties the view) and build what does not change with the moment."""
        self.session = session

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Draw this moment; its fraction says how far the accesses of the moment have travelled."""
        self.moment, self.selection = moment, selection

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size and draw again."""
        self.theme = theme
