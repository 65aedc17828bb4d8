"""Spin boxes for a position in a grid or in a block."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QSignalBlocker, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSpinBox, QStyle, QStyleOptionSpinBox, QWidget

from ....tracer.model.trace import Dim3, unravel
from ...model.nothing import nothing
from ...widgets.flow_layout import FlowLayout
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme

SIZE, ARROW = 13, 7  # pixels: of the text, and across an arrow


class Spin(QSpinBox):
    """A flat spin box like the fields of the toolbar, with arrows in the text's colour."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.left: Callable[[], object] = nothing
        self.setKeyboardTracking(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the number with Return, and leave the field."""
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.left()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme, colours, px = theme, theme.palette, theme.px
        self.setFont(theme.font(SIZE))
        self.setStyleSheet(
            f"QSpinBox {{ background: {colours.panel}; color: {colours.text}; border: 1px solid {colours.control};"
            f" font-size: {px(SIZE)}px; border-radius: {px(6)}px; padding: {px(3)}px {px(8)}px; min-height: {px(20)}px;"
            f" selection-background-color: {colours.accent}; selection-color: {colours.accent_text}; }}"
            f" QSpinBox:focus {{ border: 1px solid {colours.accent}; }}"
            f" QSpinBox::up-button, QSpinBox::down-button {{ subcontrol-origin: border; width: {px(18)}px;"
            " background: transparent; border: none; }"
            " QSpinBox::up-button { subcontrol-position: top right; }"
            " QSpinBox::down-button { subcontrol-position: bottom right; }"
            " QSpinBox::up-arrow, QSpinBox::down-arrow { image: none; width: 0px; height: 0px; }"
        )

    def fit(self) -> None:
        """Set the width for the largest number."""
        px, text = self.theme.px, f"{self.prefix()}{self.maximum()}"
        text_width = QFontMetrics(self.theme.font(SIZE)).horizontalAdvance(text)
        self.setFixedWidth(text_width + px(18 + 2 * 8) + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the arrows too, faintly at the end of the range."""
        super().paintEvent(event)
        painter, option = QPainter(self), QStyleOptionSpinBox()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        self.initStyleOption(option)
        parts, half = QStyle.SubControl, self.theme.px(ARROW) / 2
        for part, direction, limit in (
            (parts.SC_SpinBoxUp, -1, self.maximum()),
            (parts.SC_SpinBoxDown, 1, self.minimum()),
        ):
            box = self.style().subControlRect(QStyle.ComplexControl.CC_SpinBox, option, part, self)
            middle = QPointF(box.center()) - QPointF(0, direction * self.theme.px(2))
            tip, side = QPointF(0, direction * half * 0.6), QPointF(half, -direction * half * 0.6)
            painter.setBrush(self.theme.colour("border" if self.value() == limit else "text"))
            painter.drawPolygon(
                QPolygonF([middle + tip, middle + side, middle + QPointF(-side.x(), side.y())])
            )
        painter.end()


class Picker(QWidget):
    """One spin box per used dimension; `picked` gets the linear number."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picked: Callable[[int], object] = nothing
        self.left: Callable[[], object] = nothing  # called after Return
        self._dim: Dim3 = (1, 1, 1)
        self.boxes = [Spin(theme, self) for _ in "xyz"]
        self._row = FlowLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        for axis, box in zip("xyz", self.boxes, strict=True):
            box.setPrefix(f" {axis} ")
            box.valueChanged.connect(self._changed)
            box.left = lambda: self.left()
            self._row.add(box)

    def name(self, noun: str) -> None:
        """Set the name of the chosen thing."""
        for axis, box in zip("xyz", self.boxes, strict=True):
            box.setAccessibleName(f"{noun} {axis}")
            box.setToolTip(plain_tip(f"{noun} {axis}"))

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self._row.setSpacing(theme.px(6))
        for box in self.boxes:
            box.set_theme(theme)
            box.fit()

    def set_dim(self, dim: Dim3) -> None:
        """Set the size of the grid or block; unused trailing dimensions are hidden."""
        self._dim = dim
        for axis, box in enumerate(self.boxes):
            with QSignalBlocker(box):
                box.setRange(0, dim[axis] - 1)
            box.fit()
            box.setVisible(axis == 0 or max(dim[axis:]) > 1)

    def show_number(self, number: int) -> None:
        """Show a linear number, x fastest."""
        for box, coordinate in zip(self.boxes, unravel(number, self._dim), strict=True):
            with QSignalBlocker(box):
                box.setValue(coordinate)

    def _changed(self) -> None:
        x, y, z = (box.value() for box in self.boxes)
        self.picked(x + self._dim[0] * (y + self._dim[1] * z))
