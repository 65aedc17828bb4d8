"""The counters strip: what a launch has asked of memory by now, in big numbers, each with its mark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ..session import Selection, Session
from ..theme import Theme
from .view import View
from .wording import EXACT, MARKS, PART, bytes_text, count_text, operands, part_text, times_text

Value = Callable[[int], str]


@dataclass(frozen=True)
class Tile:
    """A number: what it is called, what it means, its text at a moment, its rank when room is short.

    widest: a text that needs more room than the last one, where there may be such.
    """

    label: str
    meaning: str
    text: Value
    rank: int
    widest: str = ""


class CountersView(View):
    """As many tiles as fit, the most important ones; a line above them where the trace is a part."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Counters")
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.tiles: list[Tile] = []
        self.notice = ""

    def load(self, session: Session | None) -> None:
        """Take a session."""
        super().load(session)
        self.tiles = tiles_of(session) if session else []
        self.notice = part_text(session.trace) if session else ""
        self.updateGeometry()
        self._tell()

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Show the numbers of this moment."""
        changed = int(moment) != int(self.moment)
        super().render_moment(moment, selection)
        if changed:
            self._tell()

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        super().set_theme(theme)
        self.updateGeometry()
        self.update()

    @property
    def mark(self) -> str:
        """How far the numbers may be trusted."""
        return PART if self.notice else EXACT

    def hasHeightForWidth(self) -> bool:
        """Return True: a notice takes more lines where the view is narrow."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the tiles and, above them, the notice."""
        return self.theme.px(56) + self._notice_box(width).height()

    def sizeHint(self) -> QSize:
        """Return room for four tiles."""
        width = max(self.theme.px(520), self.minimumSizeHint().width())
        return QSize(width, self.heightForWidth(max(width, self.width())))

    def minimumSizeHint(self) -> QSize:
        """Return room for the widest tile."""
        return QSize(max((self._least(t) for t in self.tiles), default=0), self.theme.px(56))

    def shown(self) -> list[tuple[Tile, QRectF]]:
        """Return the tiles that fit and where they stand, from left to right."""
        chosen: list[Tile] = []
        for tile in sorted(self.tiles, key=lambda t: t.rank):
            if sum(self._least(t) for t in [*chosen, tile]) <= self.width() or not chosen:
                chosen.append(tile)
        chosen.sort(key=self.tiles.index)
        least = [self._least(t) for t in chosen]
        equal = self.width() / max(1, len(chosen))
        spare = (self.width() - sum(least)) / max(1, len(chosen))
        widths = [equal if max(least) <= equal else w + spare for w in least]
        top = self._notice_box(self.width()).height()
        lefts = [sum(widths[:i]) for i in range(len(widths))]
        boxes = [QRectF(x, top, w, self.height() - top) for x, w in zip(lefts, widths, strict=True)]
        return list(zip(chosen, boxes, strict=True))

    def _least(self, tile: Tile) -> int:
        """Return the width that a tile needs at any moment."""
        assert self.session
        metrics = QFontMetrics(self.theme.font(19, bold=True))
        number = max(metrics.horizontalAdvance(t) for t in (tile.text(self.session.end), tile.widest))
        label = QFontMetrics(self.theme.font(10.5)).horizontalAdvance(tile.label)
        return max(number, label + self._badge_width() + self.theme.px(5)) + self.theme.px(20)

    def _badge_width(self) -> int:
        return QFontMetrics(self.theme.font(9.5)).horizontalAdvance(self.mark) + self.theme.px(10)

    def _notice_box(self, width: int) -> QRect:
        if not self.notice:
            return QRect()
        inside = QRect(self.theme.px(10), self.theme.px(5), max(1, width - self.theme.px(20)), 10_000)
        metrics = QFontMetrics(self.theme.font(11, bold=True))
        found = metrics.boundingRect(inside, Qt.TextFlag.TextWordWrap, self.notice)
        return QRect(0, 0, width, found.height() + self.theme.px(8))

    def _tell(self) -> None:
        """Say the numbers to a screen reader, and draw them."""
        words = [f"{t.label} {t.text(int(self.moment))}" for t in self.tiles]
        self.setAccessibleDescription(", ".join([*words, self.mark]) + f". {self.notice}" * bool(self.notice))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the notice and the tiles."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(event.rect(), self.theme.colour("panel"))
        if self.notice:
            side, top = self.theme.px(10), self.theme.px(5)
            notice = self._notice_box(self.width()).adjusted(side, top, -side, 0)
            painter.setFont(self.theme.font(11, bold=True))
            painter.setPen(self.theme.colour("bad"))
            painter.drawText(notice, Qt.TextFlag.TextWordWrap, self.notice)
        for tile, box in self.shown():
            self._draw(painter, tile, box)

    def _draw(self, painter: QPainter, tile: Tile, box: QRectF) -> None:
        theme, left = self.theme, box.left() + self.theme.px(10)
        if box.left() > 0:
            painter.fillRect(QRectF(box.left(), box.top(), 1, box.height()), theme.colour("border"))
        painter.setFont(theme.font(19, bold=True))
        painter.setPen(theme.colour("text"))
        number = QRectF(left, box.top() + theme.px(5), box.width(), theme.px(27))
        painter.drawText(number, Qt.AlignmentFlag.AlignVCenter, tile.text(int(self.moment)))
        painter.setFont(theme.font(10.5))
        painter.setPen(theme.colour("muted"))
        line = QRectF(left, number.bottom() + theme.px(1), box.width(), theme.px(16))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, tile.label)
        after = painter.fontMetrics().horizontalAdvance(tile.label) + theme.px(5)
        self._draw_badge(painter, line.adjusted(after, 0, 0, 0))

    def _draw_badge(self, painter: QPainter, line: QRectF) -> None:
        box = QRectF(line.left(), line.top() + 1, self._badge_width(), line.height() - 1)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.colour("badge" if self.mark == EXACT else "bad"))
        painter.drawRoundedRect(box, self.theme.px(4), self.theme.px(4))
        painter.setFont(self.theme.font(9.5))
        painter.setPen(self.theme.colour("muted" if self.mark == EXACT else "panel"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.mark)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for another height where the notice wraps otherwise."""
        if self.notice and event.oldSize().width() != self.width():
            self.updateGeometry()

    def event(self, event: QEvent) -> bool:
        """Say what a number means, where the pointer rests; everything else as usual."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            here = event.pos().toPointF()
            tip = next(
                (f"{t.meaning} {MARKS[self.mark]}" for t, box in self.shown() if box.contains(here)), ""
            )
            QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().event(event)


def tiles_of(session: Session) -> list[Tile]:
    """Return the numbers of a session, from left to right."""
    counters = session.counters

    def summed(measure: str, space: str) -> Callable[[int], int]:
        return lambda m: sum(
            v for k, v in counters.at(m).items() if k.startswith(space) and k.endswith(measure)
        )

    sectors, requests, asked = (summed(m, "global") for m in ("sectors", "requests", "bytes"))
    shared = summed("instructions", "shared")
    tiles = [
        Tile("global sectors", "32-byte pieces of global memory touched, counted request by request.",
             lambda m: count_text(sectors(m)), 0),
        Tile("global requests", "Times that a warp asked global memory for up to 32 elements at once.",
             lambda m: count_text(requests(m)), 1),
        Tile("global bytes", "Bytes that threads asked of global memory; what moves is 32 bytes a sector.",
             lambda m: bytes_text(asked(m)), 5, "1023.9 KiB"),
        Tile("shared requests", "Times that a warp asked shared memory for up to 32 elements at once.",
             lambda m: count_text(shared(m)), 2),
    ]  # fmt: skip
    for rank, (buffer, name) in enumerate(operands(session)):
        meaning = f"How often an element of {name} was read from global memory so far, on average."
        tiles.append(Tile(f"mean reads of {name}", meaning, _mean_reads(session, buffer), 3 + rank))
    return tiles


def _mean_reads(session: Session, buffer: int) -> Value:
    return lambda m: times_text(session.counters.mean_reads(buffer, m))
