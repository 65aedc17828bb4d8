"""A chart of measured times in place of the panes: the picture that the timings have, in letters that fit the room."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from ...charts.build import build
from ...charts.choice import Choice
from ...charts.choice_text import parse_choice
from ...charts.figure import Figure
from ...charts.sources import sources, usual
from ...charts.vocabulary import in_words, words_of
from ...model.bookmark import LayoutChoice
from ...views.charts.paint import fitting_theme
from ...views.charts.view import ChartView
from ...widgets.controls import button, paint_icon
from ...widgets.theme import Theme

LINES = 45  # of a lecture's window: so high are the letters of a chart, as far as all fits
LETTER = 13  # pixels of a letter of the normal text size
MINIMUM = 0.7  # the smallest text, as a share of the theme's; what does not fit then is scrolled to


class ChartPanel(QFrame):
    """Shows one chart. closed: the user wants the panes again."""

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.theme = theme
        self.choice, self.figure = Choice(), Figure("", "", "", (), (), "")
        self.scale = 0.0  # of a lecture's text, 0 for that of the theme
        self._fitted: object = None  # what the letters were chosen for
        self.view, self.area = ChartView(theme), QScrollArea()
        self.area.setWidget(self.view)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)  # the edge
        column.addWidget(self.area)
        self.close_button = button(
            "Back to the panes", "Back to the panes (Esc)", "close", run=self.closed.emit
        )
        self.close_button.setObjectName("flat")
        self.close_button.setParent(self)
        self.set_theme(theme)

    def show_text(self, text: str) -> None:
        """Draw the chart that a line of words names; raises CatalogueError, whose text is one sentence.

        It is drawn from what was recorded and from the latest that was measured here.
        """
        found, _ = sources()
        self.choice = parse_choice(text, found)
        self._build(self.choice)

    def _build(self, choice: Choice) -> None:
        words = words_of(self.theme.words, choice.subjects)
        self.figure = in_words(build(usual(sources()[0]), choice), words)
        self.view.show_figure(self.figure)
        self._fit()

    def set_theme(self, theme: Theme) -> None:
        """Take colours, text size and words."""
        changed = theme.words != self.theme.words
        self.theme = theme
        paint_icon(self.close_button, theme)
        if changed and self.figure.chart:
            self._build(self.choice)
        self._fit()

    def show_layout(self, layout: LayoutChoice, height: int) -> None:
        """Take letters of a 45th of a lecture's height, those of the theme otherwise."""
        self.scale = height / LINES / LETTER if layout == "lecture" else 0.0
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take letters at which all fits."""
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Take letters at which all fits."""
        super().showEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Take the text size that is asked for, or as much less as all needs to be in sight."""
        wanted = replace(self.theme, scale=self.scale or self.theme.scale)
        asked = wanted, self.figure, self.area.viewport().size().toTuple(), self.size().toTuple()
        if not self.isVisible() or asked == self._fitted:
            return
        self._fitted = asked
        room = self.area.viewport().width(), self.area.viewport().height()
        theme = fitting_theme(self.figure, room, wanted, MINIMUM * self.theme.scale)
        if theme != self.view.theme:
            self.view.set_theme(theme)
        gap = self.theme.px(8)
        self.close_button.adjustSize()
        self.close_button.move(self.width() - self.close_button.width() - gap, gap)
        self.close_button.raise_()
