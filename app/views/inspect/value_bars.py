"""The possible final values of an element as bars: one for each value, as long as its number of orders."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ....tracer.model.finding import count_noun
from ....tracer.orders.search import FinalValue, SearchResult
from ...model.nothing import nothing
from ...widgets.theme import Theme

MOST_ROWS = 24  # values that are drawn; a line counts the others
ROW = 22  # height at the normal text size
LARGEST_SHARE = 0.4  # of the width, for the values
GAP = 8


class ValueBars(QWidget):
    """Draws the values of a search. asked: the text of an order that gives a value."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.asked: Callable[[str], object] = nothing
        self.theme = theme
        self.result: SearchResult | None = None
        self.current = 0  # the row of the keyboard
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Possible final values")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def values(self) -> tuple[FinalValue, ...]:
        """The values that are drawn, ascending."""
        return self.result.values[:MOST_ROWS] if self.result else ()

    def show_result(self, result: SearchResult | None) -> None:
        """Show the values of another search."""
        self.result, self.current = result, 0
        self.setAccessibleDescription(values_text(result) if result else "")
        self.updateGeometry()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme = theme
        self.setFont(theme.font(12.5))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of all rows."""
        left_out = len(self.result.values) > MOST_ROWS if self.result else False
        return QSize(120, self.theme.px(ROW) * (len(self.values) + left_out))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Ask for an order of the clicked value."""
        self.current = int(event.position().y() // self.theme.px(ROW))
        self._ask()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose a value with the arrows, and ask for an order of it with Return."""
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if step and self.values:
            self.current = min(max(self.current + step, 0), len(self.values) - 1)
            self.update()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._ask()
        else:
            super().keyPressEvent(event)

    def _ask(self) -> None:
        if self.current < len(self.values):
            self.update()
            self.asked(self.values[self.current].order)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows."""
        if self.result is None:
            return
        painter, theme = QPainter(self), self.theme
        painter.setFont(self.font())
        metrics, height, gap = self.fontMetrics(), theme.px(ROW), theme.px(GAP)
        names = [value.value for value in self.values]
        name_width = min(
            max((metrics.horizontalAdvance(name) + 1 for name in names), default=0),
            int(LARGEST_SHARE * self.width()),
        )
        counts = [f"{value.orders:,}" for value in self.values]
        count_width = max((metrics.horizontalAdvance(count) for count in counts), default=0)
        room = max(1, self.width() - name_width - count_width - 4 * gap)
        most = max((value.orders for value in self.values), default=1)
        for row, value in enumerate(self.values):
            top = row * height
            if row == self.current and self.hasFocus():
                painter.fillRect(QRectF(0, top, self.width(), height), theme.colour("badge"))
            painter.setPen(theme.colour("text"))
            name = metrics.elidedText(value.value, Qt.TextElideMode.ElideRight, name_width)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(gap, top, name_width, height), right, name)
            length = max(2.0, room * value.orders / most)
            bar = QRectF(name_width + 2 * gap, top + 0.2 * height, length, 0.6 * height)
            painter.fillRect(bar, theme.colour("accent"))
            painter.setPen(theme.colour("muted"))
            painter.drawText(QRectF(bar.right() + gap, top, count_width + gap, height), left, counts[row])
        left_out = len(self.result.values) - len(self.values)
        if left_out:
            text = f"and {count_noun(left_out, 'more value')}"
            place = QRectF(gap, len(self.values) * height, self.width() - gap, height)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()


def mark_of(result: SearchResult) -> str:
    """State whether the counts of a search are exact: "exact: all 36 orders"."""
    if result.is_race_free:
        return "exact, the same in every order"
    orders = count_noun(result.orders, "order")
    return f"exact, all {orders}" if result.is_complete else f"part, of {orders} tried"


def values_text(result: SearchResult) -> str:
    """Describe the values in words: "counter[0]: 1 in 12 orders, 2 in 18 orders (exact, all 36 orders)"."""
    values = ", ".join(f"{v.value} in {count_noun(v.orders, 'order')}" for v in result.values[:MOST_ROWS])
    return f"{result.element}: {values} ({mark_of(result)})"
