"""What the colours mean: a square as in the timeline for every kind of request, and as many words as there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from ...views.common.drawing import ON_PAPER, is_vector
from ...widgets.patterns import swatch
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme

LabelLength = Literal["all", "some", "none"]  # each kind's name; its verb, after its space; squares alone
TEXT = 12.0


class LegendItem(NamedTuple):
    """A square of a kind with the words behind it; with no kind, words alone. x is its left edge, in pixels."""

    x: float
    kind: str
    text: str


class Legend(QWidget):
    """The kinds that are shown, in one line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.kinds: tuple[str, ...] = ()
        self.labels: LabelLength = "all"
        self._widths: dict[LabelLength, int] = {}  # of all of it, by the words that are used

    def show_kinds(self, kinds: Sequence[str]) -> None:
        """Say what these kinds look like."""
        if tuple(kinds) != self.kinds:
            self.kinds = tuple(kinds)
            self._widths.clear()
            self._changed()

    def set_labels(self, labels: LabelLength) -> None:
        """Use so many words."""
        if labels != self.labels:
            self.labels = labels
            self._changed()

    def set_theme(self, theme: Theme) -> None:
        """Take colours, text size and words."""
        self.theme = theme
        self._widths.clear()
        self._changed()

    def _changed(self) -> None:
        self.setAccessibleName(f"Colours of {', '.join(self.theme.say(kind) for kind in self.kinds)}")
        self.updateGeometry()
        self.update()

    def width_with(self, labels: LabelLength) -> int:
        """Return the width with so many words."""
        if labels not in self._widths:
            self._widths[labels] = round(self.items(labels)[1])
        return self._widths[labels]

    def items(self, labels: LabelLength) -> tuple[list[LegendItem], float]:
        """Return what is drawn with so many words, from left to right, and the width of it all."""
        found, x, before = [], 0.0, ""
        metrics = QFontMetrics(self.theme.font(TEXT))
        for kind in self.kinds:
            space, _, verb = self.theme.say(kind).rpartition(" ")
            if labels == "some" and space and space != before:
                found.append(LegendItem(x, "", space))
                x += metrics.horizontalAdvance(space) + self.theme.px(5)
            before = space
            text = {"all": self.theme.say(kind), "some": verb, "none": ""}[labels]
            found.append(LegendItem(x, kind, text))
            x += self.theme.px(18 if text else 14) + metrics.horizontalAdvance(text)
            x += self.theme.px({"all": 12, "some": 8, "none": 5}[labels])
        return found, x

    def sizeHint(self) -> QSize:
        """Return the room for squares and words."""
        return QSize(self.width_with(self.labels), self.theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the same: a cut name says nothing."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw squares and words, as sharp as what is drawn on."""
        painter = QPainter(self)
        side = self.theme.px(14)
        ratio = ON_PAPER if is_vector(painter) else painter.deviceTransform().m11()
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
        """Name the kind under a resting pointer; everything else as usual."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            here = [p.kind for p in self.items(self.labels)[0] if p.kind and p.x <= event.pos().x()]
            QToolTip.showText(event.globalPos(), plain_tip(self.theme.say(here[-1]) if here else ""), self)
            return True
        return super().event(event)
