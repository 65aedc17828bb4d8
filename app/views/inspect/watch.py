"""The value of an expression in each thread of a block, as a picture with one cell for each thread."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ....tracer.causes.variables import Number, number_text
from ....tracer.model.finding import coordinates_text
from ....tracer.model.trace import WARP, Dim3
from ...model.nothing import nothing
from ...widgets.patterns import mixed
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.drawing import CENTRE

LARGEST, SMALLEST, TALLEST = 30, 3, 200  # pixels: of a cell, of the picture


class WatchPicture(QWidget):
    """Draws a value for each thread. picked: called with the number of a thread."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.picked: Callable[[int], object] = nothing
        self.values: tuple[Number | None, ...] = ()
        self.block_dim: Dim3 = (1, 1, 1)
        self.chosen = 0
        self.limits = (0.0, 0.0)  # the smallest and the largest value of the launch
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def show_values(
        self,
        values: tuple[Number | None, ...],
        block_dim: Dim3,
        thread: int,
        limits: tuple[float, float],
        text: str,
    ) -> None:
        """Show the values of another moment; no values hide the picture."""
        shown = (values, block_dim, thread, limits)
        self.setVisible(bool(values))
        self.setAccessibleName(self.theme.translate(f"{text} in each thread"))
        if shown != (self.values, self.block_dim, self.chosen, self.limits):
            self.values, self.block_dim, self.chosen, self.limits = shown
            self.updateGeometry()
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme = theme
        self.updateGeometry()
        self.update()

    @property
    def columns(self) -> int:
        """Cells in a row: the width of the block, or a warp of a block with one dimension."""
        width = self.block_dim[0]
        return min(width, WARP) if self.block_dim[1:] == (1, 1) else width

    @property
    def rows(self) -> int:
        """Rows of cells, at least one."""
        return max(1, math.ceil(len(self.values) / self.columns))

    def _cell(self, height: int) -> int:
        """Return the side of a cell that fits into the width and a height."""
        size = min(self.theme.px(LARGEST), self.width() / self.columns, (height - 2) / self.rows)
        return max(1, math.floor(size))

    def sizeHint(self) -> QSize:
        """Return the height of all rows, in a panel with room for them."""
        return QSize(120, self.rows * self._cell(self.theme.px(TALLEST)) + 2)

    def minimumSizeHint(self) -> QSize:
        """Return the height of small cells: other rows of the panel need their room more."""
        return QSize(0, min(self.rows * self.theme.px(SMALLEST) + 2, self.sizeHint().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height to the width."""
        super().resizeEvent(event)
        self.updateGeometry()

    def thread_at(self, position: QPointF) -> int:
        """Return the thread whose cell is at a position, -1 for none."""
        cell = self._cell(self.height())
        column, row = int(position.x() // cell), int(position.y() // cell)
        number = row * self.columns + column
        return number if 0 <= column < self.columns and 0 <= number < len(self.values) else -1

    def text_of(self, thread: int) -> str:
        """Describe a thread's value: "thread (3, 1): 4.25"."""
        value = self.values[thread]
        text = "no value" if value is None else number_text(value)
        return self.theme.translate(f"thread {coordinates_text(thread, self.block_dim)}: {text}")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the thread under the pointer."""
        if (thread := self.thread_at(event.position())) >= 0:
            self.picked(thread)

    def event(self, event: QEvent) -> bool:
        """Show the value under the pointer as a tooltip."""
        if isinstance(event, QHelpEvent):
            thread = self.thread_at(QPointF(event.pos()))
            text = self.text_of(thread) if thread >= 0 else ""
            QToolTip.showText(event.globalPos(), plain_tip(text), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cells: larger values are darker, and a missing one is a dash."""
        painter, cell, theme = QPainter(self), self._cell(self.height()), self.theme
        panel, (low, high) = theme.colour("panel"), self.limits
        painter.setFont(theme.font(11))
        metrics = QFontMetricsF(painter.font())
        texts = ["\u2013" if value is None else number_text(value) for value in self.values]
        widest = max((metrics.horizontalAdvance(text) for text in set(texts)), default=0.0)
        has_text = widest + 2 <= cell and metrics.height() <= cell + 2
        gap = 1 if cell >= 4 else 0
        for number, (value, text) in enumerate(zip(self.values, texts, strict=True)):
            row, column = divmod(number, self.columns)
            box = QRectF(column * cell, row * cell, cell - gap, cell - gap)
            share = 0.0 if value is None or high <= low else (float(value) - low) / (high - low)
            share = share if math.isfinite(share) else 0.0
            painter.fillRect(
                box, mixed(panel, theme.colour("accent").name(), 0.12 + 0.5 * min(max(share, 0.0), 1.0))
            )
            if has_text or value is None:
                painter.setPen(theme.colour("text" if value is not None else "muted"))
                painter.drawText(box, CENTRE | Qt.TextFlag.TextDontClip, text)
        if 0 <= self.chosen < len(self.values):
            row, column = divmod(self.chosen, self.columns)
            painter.setPen(QPen(theme.colour("text"), 2))
            painter.drawRect(
                QRectF(column * cell + 1, row * cell + 1, max(1.0, cell - 3), max(1.0, cell - 3))
            )
