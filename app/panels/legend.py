"""The legend of the timeline: a square for every kind of request, with as much text as fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from ..views.common.drawing import RASTER_PIXELS_PER_POINT, is_vector
from ..widgets.patterns import swatch
from ..widgets.plain_text import plain_tip
from ..widgets.theme import Theme

LabelLength = Literal["all", "some", "none"]  # full names; verbs after their address space; only squares
TEXT = 12.0


class LegendItem(NamedTuple):
    """A square of a kind followed by its text, or only a text without a kind. x: the left edge in pixels."""

    x: float
    kind: str
    text: str


class Legend(QWidget):
    """The shown kinds of requests, in one line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.kinds: tuple[str, ...] = ()
        self.labels: LabelLength = "all"
        self._widths: dict[LabelLength, int] = {}  # total widths, by the length of the labels

    def show_kinds(self, kinds: Sequence[str]) -> None:
        """Show these kinds."""
        if tuple(kinds) != self.kinds:
            self.kinds = tuple(kinds)
            self._widths.clear()
            self._changed()

    def set_labels(self, labels: LabelLength) -> None:
        """Set the length of the labels."""
        if labels != self.labels:
            self.labels = labels
            self._changed()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours, text size and vocabulary."""
        self.theme = theme
        self._widths.clear()
        self._changed()

    def _changed(self) -> None:
        self.setAccessibleName(f"Colours of {', '.join(self.theme.translate(kind) for kind in self.kinds)}")
        self.updateGeometry()
        self.update()

    def width_with(self, labels: LabelLength) -> int:
        """Return the width for a length of the labels."""
        if labels not in self._widths:
            self._widths[labels] = round(self.items(labels)[1])
        return self._widths[labels]

    def items(self, labels: LabelLength) -> tuple[list[LegendItem], float]:
        """Compute the items from left to right for a length of the labels, and their total width."""
        items, x, before = [], 0.0, ""
        metrics = QFontMetrics(self.theme.font(TEXT))
        for kind in self.kinds:
            space, _, verb = self.theme.translate(kind).rpartition(" ")
            if labels == "some" and space and space != before:
                items.append(LegendItem(x, "", space))
                x += metrics.horizontalAdvance(space) + self.theme.px(5)
            before = space
            text = {"all": self.theme.translate(kind), "some": verb, "none": ""}[labels]
            items.append(LegendItem(x, kind, text))
            x += self.theme.px(18 if text else 14) + metrics.horizontalAdvance(text)
            x += self.theme.px({"all": 12, "some": 8, "none": 5}[labels])
        return items, x

    def sizeHint(self) -> QSize:
        """Return the size of squares and texts."""
        return QSize(self.width_with(self.labels), self.theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the size hint, so that names are never cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw squares and texts, in the resolution of the device."""
        painter = QPainter(self)
        side = self.theme.px(14)
        ratio = RASTER_PIXELS_PER_POINT if is_vector(painter) else painter.deviceTransform().m11()
        painter.setFont(self.theme.font(TEXT))
        for x, kind, text in self.items(self.labels)[0]:
            painter.setPen(self.theme.colour("text" if kind else "muted"))
            if kind:
                painter.drawPixmap(
                    QPointF(x, (self.height() - side) / 2), swatch(kind, side, self.theme, ratio)
                )
            box = QRectF(self.rect()).adjusted(x + (self.theme.px(18) if kind else 0), 0, 0, 0)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter), text)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Show the kind under the pointer as tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            here = [p.kind for p in self.items(self.labels)[0] if p.kind and p.x <= event.pos().x()]
            QToolTip.showText(
                event.globalPos(), plain_tip(self.theme.translate(here[-1]) if here else ""), self
            )
            return True
        return super().event(event)
