"""The counters strip: what a launch has asked of memory by now, in big numbers, each with its mark."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ...model.session import Selection, Session
from ...model.spotlight import Lit
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.dimming import dimmed, draw_frame
from ..common.view import View
from ..common.wording import EXACT, MARKS, PART
from .numbers import notice_of, tiles_of, totals_of
from .tiles import (
    COMPACT,
    HEIGHTS,
    LARGE,
    LARGE_LINE,
    LINE,
    MINIMUM_TILES,
    ROOMY,
    Grid,
    Style,
    Tile,
    boxes,
    draw_tile,
    grid_of,
    minimum_width,
)

TileForm = Literal["tall", "line", "none"]
STYLES: dict[TileForm, tuple[Style, ...]] = {"tall": (ROOMY, COMPACT), "line": (LINE,), "none": (LINE,)}
LIT_TILES = 3  # tiles for which those in the spotlight are drawn larger
LIT_STYLES: dict[TileForm, tuple[Style, ...]] = {
    "tall": (LARGE, ROOMY, COMPACT),
    "line": (LARGE_LINE, LINE),
    "none": (LINE,),
}


class CountersView(View):
    """As many tiles as fit, the most important ones; a line above them says where they are not of all by now."""

    dims_itself = True

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Counters")
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.tiles: list[Tile] = []
        self.form: TileForm = "tall"
        self.wavefronts = False
        self.last: frozenset[str] = frozenset()
        self.ends: dict[str, str] = {}  # the numbers after the launch
        self.notice, self.mark = "", EXACT
        self._measured: tuple[int, Grid] | None = None

    def load(self, session: Session | None) -> None:
        """Take a session."""
        super().load(session)
        self._number()
        self.notice = notice_of(session.trace) if session else ""
        self.mark = PART if session and self.notice and not totals_of(session.trace) else EXACT
        self._measured = None
        self.updateGeometry()
        self._tell()

    def is_part_of(self, lit: Lit) -> bool:
        """Return whether some of the numbers stand out."""
        return bool(lit.counters)

    def dim(self) -> None:
        """Show the numbers that stand out where there is not room for all."""
        self._number()
        self._measured = None
        self._tell()

    def count_wavefronts(self, counted: bool) -> None:
        """Count the wavefronts of shared memory, or not: they are the lesson here or in the other pane."""
        if counted != self.wavefronts:
            self.wavefronts = counted
            self._number()
            self._measured = None
            self._tell()

    def leave_last(self, labels: frozenset[str]) -> None:
        """Show these numbers only where there is room left: they are the same in the other pane."""
        if labels != self.last:
            self.last, self._measured = labels, None
            self.update()

    @property
    def bright(self) -> frozenset[str]:
        """The labels of the numbers that stand out while the others dim."""
        return self.lit.counters if self.lit is not None else frozenset()

    def _number(self) -> None:
        session = self.session
        wavefronts = self.wavefronts or "shared wavefronts" in self.bright
        self.tiles = tiles_of(session, wavefronts) if session else []
        self.ends = {t.label: t.text(session.end) for t in self.tiles} if session else {}

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

    def stand(self, form: TileForm) -> None:
        """Stand as tall tiles, as a line of them, or not at all."""
        if form != self.form:
            self.form, self._measured = form, None
            self.setVisible(form != "none")
            self.updateGeometry()
            self.update()

    def hasHeightForWidth(self) -> bool:
        """Return True: a notice takes more lines where the view is narrow."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the tiles and, above them, of the notice."""
        return self.theme.px(HEIGHTS[self.form]) + self._notice_box(width).height()

    def sizeHint(self) -> QSize:
        """Return room for four tiles."""
        width = max(self.theme.px(540), self.minimumSizeHint().width())
        return QSize(width, self.heightForWidth(max(width, self.width())))

    def minimumSizeHint(self) -> QSize:
        """Return room for two tiles beside each other."""
        style = STYLES[self.form][-1]
        widest = max((minimum_width(t, style, self.mark, self.theme) for t in self.tiles), default=0.0)
        return QSize(round((2 if style is COMPACT else 1) * widest), self.theme.px(HEIGHTS[self.form]))

    def shown(self) -> list[tuple[Tile, QRectF]]:
        """Return the tiles that fit and where they stand."""
        grid, top = self._grid(self.width()), self._notice_box(self.width()).height()
        chosen = sorted(self._ranked()[: grid.count], key=self.tiles.index)
        room = QRectF(0, top, self.width(), self.height() - top)
        return list(zip(chosen, boxes(grid, room), strict=True))

    def _ranked(self) -> list[Tile]:
        return sorted(
            self.tiles, key=lambda tile: (tile.label not in self.bright, tile.label in self.last, tile.rank)
        )

    def _grid(self, width: int) -> Grid:
        if self._measured is None or self._measured[0] != width:
            styles, least = (LIT_STYLES, LIT_TILES) if self.bright else (STYLES, MINIMUM_TILES)
            how = self.mark, self.theme, styles[self.form], least
            self._measured = width, grid_of(self._ranked(), width, *how)
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
            painter.setPen(self.theme.colour("bad" if self.mark == PART else "muted"))
            painter.drawText(notice, Qt.TextFlag.TextWordWrap, self.say(self.notice))
        style, moment = self._grid(self.width()).style, int(self.moment)
        for tile, box in self.shown():
            bright = self.lit is None or tile.label in self.bright
            theme = self.theme if bright else dimmed(self.theme, self.keep)
            draw_tile(painter, tile, moment, box, style, self.mark, theme)
        for tile, box in self.shown():
            if tile.label in self.bright:
                draw_frame(painter, box.adjusted(2, 2, -1, -2), self.theme)

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
            QToolTip.showText(event.globalPos(), plain_tip(self.say(tip)), self)
            return True
        return super().event(event)
