"""The widget of a figure: the same drawing as in exports, with tooltips."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ...charts.figure import Figure, number_texts
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.view import guard_handler
from .bars import Hits
from .paint import draw_figure, wanted_height


class ChartView(QWidget):
    """Shows a figure, at least as high as its bars need."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.figure: Figure | None = None
        self._hits: Hits = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_figure(self, figure: Figure) -> None:
        """Draw another figure."""
        self.figure = figure
        self.setAccessibleName(f"{figure.title}. {figure.subtitle}")
        self.setAccessibleDescription(". ".join((*number_texts(figure), figure.method, *figure.notes)))
        self._ask_height()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme = theme
        self._ask_height()
        self.update()

    def sizeHint(self) -> QSize:
        """Return a normal width and the least height."""
        return QSize(self.theme.px(760), self.minimumHeight())

    def _ask_height(self) -> None:
        if self.figure is not None:
            self.setMinimumHeight(wanted_height(self.figure, self.width(), self.theme))

    @guard_handler
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Request the height that this width needs."""
        self._ask_height()

    @guard_handler
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the figure."""
        if self.figure is None:
            return
        painter = QPainter(self)
        self._hits = draw_figure(painter, self.figure, QRectF(self.rect()), self.theme)
        painter.end()

    def text_at(self, place: QPointF) -> str:
        """Return the tooltip at a point; "" if there is none."""
        return next((text for box, text in reversed(self._hits) if box.contains(place)), "")

    def event(self, event: QEvent) -> bool:
        """Show tooltips; handle all other events as usual."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tip(self.text_at(QPointF(event.pos()))), self)
            return True
        return super().event(event)
