"""A chart of measured times that replaces the panes: the chart of the timings window, with a fitting font size."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from ..model.bookmark import LayoutChoice
from ..widgets.controls import button, paint_icon
from ..widgets.theme import Theme
from .drawing.view import ChartView, fitting_theme
from .model.build import build
from .model.choice import Choice, Sight
from .model.choice_text import choice_text, parse_choice
from .model.figure import Datum, Figure
from .model.sources import default_sources, sources
from .model.vocabulary import terminology_of, with_terminology

LINES = 45  # a lecture window's height divided by the font size of a chart
LETTER = 13  # pixels of the normal font size
MINIMUM = 0.7  # the smallest text, relative to the theme's; larger charts scroll


class ChartPanel(QFrame):
    """Shows one chart. show: shows another chart by its text, "" for the panes. open_kernel: shows that of a value."""

    def __init__(
        self,
        theme: Theme,
        show: Callable[[str], object],
        open_kernel: Callable[[Datum], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.theme = theme
        self.choice, self.figure = Choice(), Figure("", "", "", (), (), "")
        self.scale = 0.0  # of a lecture's text, 0 for the theme's
        self._fitted: object = None  # the state for which the font size was chosen
        self.view, self.area = ChartView(theme), QScrollArea()
        self.view.changed = lambda sight: show(choice_text(replace(self.choice, sight=sight)))
        self.view.log_asked = lambda: show(
            choice_text(replace(self.choice, log=not self.figure.is_log, sight=Sight()))
        )
        self.view.mark_opened = open_kernel
        self.area.setWidget(self.view)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)  # the edge
        column.addWidget(self.area)
        self.close_button = button(
            "Back to the panes", "Back to the panes (Esc)", "close", run=lambda: show("")
        )
        self.close_button.setObjectName("flat")
        self.close_button.setParent(self)
        self.set_theme(theme)

    def show_text(self, text: str) -> None:
        """Draw the chart that a text describes; raises CatalogueError with one sentence.

        Its data are the included measurements and the latest one of this computer.
        """
        measured, _ = sources()
        before, self.choice = self.choice, parse_choice(text, measured)
        if self.isVisible() and replace(before, sight=Sight()) == replace(self.choice, sight=Sight()):
            self.view.show_figure(self.figure, self.choice.sight)  # the user zoomed, hid or pointed
        else:
            self._build(self.choice)

    def _build(self, choice: Choice) -> None:
        words = terminology_of(self.theme.words, choice.subjects)
        self.figure = with_terminology(build(default_sources(sources()[0]), choice), words)
        self.view.show_figure(self.figure, choice.sight)
        self._fit()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours, text size and vocabulary."""
        changed = theme.words != self.theme.words
        self.theme = theme
        paint_icon(self.close_button, theme)
        if changed and self.figure.chart:
            self._build(self.choice)
        self._fit()

    def show_layout(self, layout: LayoutChoice, height: int) -> None:
        """Use a 45th of the height as font size in a lecture, and the theme's otherwise."""
        self.scale = height / LINES / LETTER if layout == "lecture" else 0.0
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose the font size that fits."""
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Choose the font size that fits."""
        super().showEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Set the wanted text size, or a smaller one so that everything is visible."""
        wanted = replace(self.theme, scale=self.scale or self.theme.scale)
        size = self.area.maximumViewportSize()  # whether or not a scroll bar is shown now
        asked = wanted, self.figure, size.toTuple(), self.size().toTuple()
        if not self.isVisible() or asked == self._fitted:
            return
        self._fitted = asked
        theme = fitting_theme(self.figure, (size.width(), size.height()), wanted, MINIMUM * self.theme.scale)
        if theme != self.view.theme:
            self.view.set_theme(theme)
        gap = self.theme.px(8)
        self.close_button.adjustSize()
        self.close_button.move(self.width() - self.close_button.width() - gap, gap)
        self.close_button.raise_()
