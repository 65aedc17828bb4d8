"""The counters strip: what a launch has asked of memory by now, in big numbers, each with its mark."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ...tracer.trace import Op, Trace
from ..session import Selection, Session
from ..theme import Theme
from .tiles import COMPACT, HEIGHT, Grid, Tile, Value, boxes, draw_tile, grid_of, least_width
from .view import View
from .wording import EXACT, MARKS, PART, bytes_text, count_text, operands, part_text, times_text

# Room that a number gets even where it stays smaller, so that two panes side by side look alike.
USUAL = "888,888"


class CountersView(View):
    """As many tiles as fit, the most important ones; a line above them where the trace is a part."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Counters")
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.tiles: list[Tile] = []
        self._measured: tuple[int, Grid] | None = None
        self.notice = ""
        self.most_rows = 2

    def load(self, session: Session | None) -> None:
        """Take a session."""
        super().load(session)
        self.tiles = tiles_of(session) if session else []
        texts = (part_text(session.trace), totals_text(session.trace)) if session else ()
        self.notice = " ".join(filter(None, texts))
        self._measured = None
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
        self._measured = None
        self.updateGeometry()
        self._tell()

    def set_terse(self, terse: bool) -> None:
        """Keep to one row of tiles, where the window is low, or not."""
        self.most_rows = 1 if terse else 2
        self._measured = None
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
        """Return the height of the rows of tiles and, above them, of the notice."""
        return self.theme.px(HEIGHT) * self._grid(width).rows + self._notice_box(width).height()

    def sizeHint(self) -> QSize:
        """Return room for four tiles."""
        width = max(self.theme.px(540), self.minimumSizeHint().width())
        return QSize(width, self.heightForWidth(max(width, self.width())))

    def minimumSizeHint(self) -> QSize:
        """Return room for two tiles beside each other."""
        widest = max((least_width(t, COMPACT, self.mark, self.theme) for t in self.tiles), default=0.0)
        return QSize(2 * round(widest), self.theme.px(HEIGHT))

    def shown(self) -> list[tuple[Tile, QRectF]]:
        """Return the tiles that fit and where they stand."""
        grid, top = self._grid(self.width()), self._notice_box(self.width()).height()
        chosen = sorted(self._ranked()[: grid.count], key=self.tiles.index)
        room = QRectF(0, top, self.width(), self.height() - top)
        return list(zip(chosen, boxes(grid, room), strict=True))

    def _ranked(self) -> list[Tile]:
        return sorted(self.tiles, key=lambda tile: tile.rank)

    def _grid(self, width: int) -> Grid:
        if self._measured is None or self._measured[0] != width:
            self._measured = width, grid_of(self._ranked(), width, self.mark, self.theme, self.most_rows)
        return self._measured[1]

    def _notice_box(self, width: int) -> QRect:
        if not self.notice:
            return QRect()
        inside = QRect(self.theme.px(10), self.theme.px(5), max(1, width - self.theme.px(20)), 10_000)
        metrics = QFontMetrics(self.theme.font(11, bold=True))
        found = metrics.boundingRect(inside, Qt.TextFlag.TextWordWrap, self.say(self.notice))
        return QRect(0, 0, width, found.height() + self.theme.px(8))

    def _tell(self) -> None:
        """Say the numbers to a screen reader, and draw them."""
        words = [f"{t.label} {t.text(int(self.moment))}" for t in self.tiles]
        told = ", ".join([*words, self.mark]) + f". {self.notice}" * bool(self.notice)
        self.setAccessibleDescription(self.say(told))
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
            painter.drawText(notice, Qt.TextFlag.TextWordWrap, self.say(self.notice))
        style, moment = self._grid(self.width()).style, int(self.moment)
        for tile, box in self.shown():
            draw_tile(painter, tile, moment, box, style, self.mark, self.theme)

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
            QToolTip.showText(event.globalPos(), self.say(tip), self)
            return True
        return super().event(event)


def tiles_of(session: Session) -> list[Tile]:
    """Return the numbers of a session, from left to right."""
    tiles = [
        Tile(label, meaning, text, rank, max(text(session.end), widest, key=len))
        for label, meaning, text, rank, widest in _numbers(session)
    ]
    for rank, (buffer, name) in zip((1, 4), operands(session), strict=False):
        meaning = f"How often an element of {name} was read from global memory so far, on average."
        text = _mean_reads(session, buffer)
        tiles.append(Tile(f"mean reads of {name}", meaning, text, rank, text(session.end)))
    return tiles


def totals_text(trace: Trace) -> str:
    """Return the counters of the whole launch where the trace lacks accesses, which its moments can't show."""
    if not trace.totals or trace.error is not None:
        return ""
    measures = {"global sectors": "sectors", "global requests": "requests", "shared requests": "instructions"}
    sums = {
        label: sum(n for name, n in trace.totals.items() if name.endswith(measure))
        for label, measure in measures.items()
    }
    return f"In all ({EXACT}): {', '.join(f'{count_text(n)} {label}' for label, n in sums.items())}."


def _numbers(session: Session) -> list[tuple[str, str, Value, int, str]]:
    """Return label, meaning, text, rank and a wide text of each counter."""
    sectors, requests, asked = (_summed(session, "global", m) for m in ("sectors", "requests", "bytes"))
    shared = _summed(session, "shared", "instructions")
    return [
        *_atomics(session),
        ("global sectors", "32-byte pieces of global memory touched, counted request by request.",
         lambda m: count_text(sectors(m)), 0, USUAL),
        ("global requests", "Times that a warp asked global memory for up to 32 elements at once.",
         lambda m: count_text(requests(m)), 2, USUAL),
        ("global bytes", "Bytes that threads asked of global memory; what moves is 32 bytes a sector.",
         lambda m: bytes_text(asked(m)), 5, "1023.9 KiB"),
        ("shared requests", "Times that a warp asked shared memory for up to 32 elements at once.",
         lambda m: count_text(shared(m)), 3, USUAL),
    ]  # fmt: skip


def _atomics(session: Session) -> list[tuple[str, str, Value, int, str]]:
    """Return the counters of atomic operations on each space that has any."""
    spaces = np.array([buffer.space for buffer in session.trace.buffers])
    found: list[tuple[str, str, Value, int, str]] = []
    for space in ("global", "shared"):
        made = (session.requests.op >= Op.ATOMIC) & (spaces[session.requests.buffer] == space)
        if made.any():
            lanes = np.bincount(session.requests.moment[made], session.requests.lanes[made])
            done = np.cumsum(lanes).astype(np.int64)
            meaning = (
                f"Atomic operations of threads on {space} memory; lanes that meet in an element take turns."
            )
            found.append((f"{space} atomics", meaning, _reached(done), 0, USUAL))
    return found


def _reached(done: NDArray[np.int64]) -> Value:
    """Return the text of the sum that was reached by a moment."""
    return lambda m: count_text(int(done[min(max(m, 0), len(done) - 1)]))


def _summed(session: Session, space: str, measure: str) -> Callable[[int], int]:
    """Return the sum of a measure over loads, stores and atomics, as a function of the moment."""
    names = [n for n in session.counters.at(0) if n.startswith(space) and n.endswith(measure)]

    def at(moment: int) -> int:
        now = session.counters.at(moment)
        return sum(now[name] for name in names)

    return at


def _mean_reads(session: Session, buffer: int) -> Value:
    return lambda m: times_text(session.counters.mean_reads(buffer, m))
