"""The facts below a chart, wrapped: each mark once, followed by its facts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ..model.visible_text import escape_controls
from ..views.common.drawing import CENTRE, LEFT, MIDDLE, draw_badge
from ..views.common.view import guard_handler
from ..views.common.wording import MARKS
from ..widgets.plain_text import plain_tip
from ..widgets.theme import Theme
from .model.facts import Fact

TEXT, MARK = 12, 10.5  # text sizes
LINE, GAP = 20, 16  # pixels: the height of a line, and the gap between two facts


class PlacedText(NamedTuple):
    """A fact or a mark with its rectangle."""

    box: QRectF
    text: str
    tip: str
    is_mark: bool


class FactsView(QWidget):
    """Shows facts and their marks."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.facts: tuple[Fact, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_facts(self, facts: list[Fact]) -> None:
        """Show these facts."""
        self.facts = tuple(facts)
        self.setAccessibleName("Facts of the recording")
        self.setAccessibleDescription(". ".join(f"{fact.text} · {fact.mark}" for fact in facts))
        self.updateGeometry()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme, text size and terminology."""
        self.theme = theme
        self.updateGeometry()
        self.update()

    def placed_texts(self, width: float) -> list[PlacedText]:
        """Place marks and facts in lines of this width."""
        metrics, small = QFontMetricsF(self.theme.font(TEXT)), QFontMetricsF(self.theme.font(MARK))
        line, gap = self.theme.px(LINE), self.theme.px(GAP)
        placed: list[PlacedText] = []
        x = y = 0.0
        for mark, facts in groupby(self.facts, key=lambda fact: fact.mark):
            parts = [(mark, MARKS[mark], True, small.horizontalAdvance(mark) + self.theme.px(12))]
            parts += [
                (t, tip, False, metrics.horizontalAdvance(t) + 2)
                for t, tip in _texts_and_tips(facts, self.theme)
            ]
            for i, (text, tip, is_mark, text_width) in enumerate(parts):
                needed = text_width + (gap / 2 + parts[1][3] if i == 0 else 0)  # a mark stands before a fact
                if x and x + needed > width:
                    x, y = 0.0, y + line
                placed.append(PlacedText(QRectF(x, y, min(text_width, width), line), text, tip, is_mark))
                x += text_width + (gap / 2 if is_mark else gap)
        return placed

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines."""
        return round(max((item.box.bottom() for item in self.placed_texts(width)), default=0.0))

    def hasHeightForWidth(self) -> bool:
        """Return True: the width determines the number of lines."""
        return True

    def sizeHint(self) -> QSize:
        """Return the height at the current width."""
        return QSize(self.theme.px(300), self.heightForWidth(max(self.width(), self.theme.px(300))))

    def minimumSizeHint(self) -> QSize:
        """Return the height of one line."""
        return QSize(self.theme.px(200), self.theme.px(LINE))

    @guard_handler
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw marks and facts."""
        painter, theme = QPainter(self), self.theme
        for box, text, _, is_mark in self.placed_texts(self.width()):
            if is_mark:
                inset = (box.height() - theme.px(15)) / 2
                draw_badge(painter, box.adjusted(0, inset, 0, -inset), theme)
            painter.setFont(theme.font(MARK if is_mark else TEXT))
            painter.setPen(theme.colour("muted" if is_mark else "text"))
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(box.width()) + 1)
            painter.drawText(box, CENTRE if is_mark else LEFT | MIDDLE, shown)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Show the tooltip of a fact."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            position = QPointF(event.pos())
            tip = next(
                (item.tip for item in self.placed_texts(self.width()) if item.box.contains(position)), ""
            )
            QToolTip.showText(event.globalPos(), plain_tip(self.theme.translate(tip)), self)
            return True
        return super().event(event)


def _texts_and_tips(facts: Iterable[Fact], theme: Theme) -> list[tuple[str, str]]:
    return [(theme.translate(escape_controls(fact.text)), fact.tip) for fact in facts]
