"""The counters strip: what a launch has asked of memory by now, in big numbers, each with its mark."""

from __future__ import annotations

from math import inf
from typing import Literal

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ...model.session import Selection, Session
from ...model.spotlight import Lit
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.dimming import dimmed, draw_frame
from ..common.view import View
from ..common.wording import EXACT, MARKS, MEASURED, PART, mark_of
from .numbers import notice_of, tiles_of, totals_of
from .tiles import (
    COMPACT,
    HEIGHTS,
    LARGE,
    LARGE_LINE,
    LINE,
    MINIMUM_TILES,
    ROOMY,
    Change,
    Grid,
    Style,
    Tile,
    boxes,
    draw_changed,
    draw_tile,
    grid_of,
    minimum_width,
    number_box,
)

TileForm = Literal["tall", "line", "none"]
STYLES: dict[TileForm, tuple[Style, ...]] = {"tall": (ROOMY, COMPACT), "line": (LINE,), "none": (LINE,)}
LIT_TILES = 3  # tiles for which those in the spotlight are drawn larger
LIT_STYLES: dict[TileForm, tuple[Style, ...]] = {
    "tall": (LARGE, ROOMY, COMPACT),
    "line": (LARGE_LINE, LINE),
    "none": (LINE,),
}


WAVEFRONTS = "shared wavefronts"
MARKED = 10  # ticks for which a number that has changed is marked; it fades during the last of them
FADING = 4
TICK = 100  # milliseconds


class CountersView(View):
    """As many tiles as fit, the most important ones; a line above them says where they are not of all by now.

    Between `remember` and `compare` another setup of the scenario may come: what has changed is marked for a second.
    """

    dims_itself = True

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Counters")
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.tiles: list[Tile] = []
        self._all: list[Tile] = []  # those too that stand aside now
        self.form: TileForm = "tall"
        self.wavefronts = False
        self.last: frozenset[str] = frozenset()
        self.ends: dict[str, str] = {}  # the numbers after the launch
        self.notice, self.mark = "", EXACT
        self._measured: tuple[int, Grid] | None = None  # by width, until something else is shown
        self._standing: tuple[tuple[Grid, QSize], list[tuple[Tile, QRectF]]] | None = (
            None  # as `shown` found it
        )
        self.changes: dict[str, Change] = {}  # of the numbers that are marked, by their labels
        self._before: tuple[Session, dict[str, float]] | None = (
            None  # the numbers that they are compared with
        )
        self._is_awaiting = False  # whether another session may come, and the moment move with it
        self._ticks = 0  # until the marks go
        self._told: dict[str, str] = {}  # the numbers as they are drawn, by their labels
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # nothing is painted below it
        self.marks = QTimer(self, interval=TICK)
        self.marks.timeout.connect(self._fade)

    def load(self, session: Session | None) -> None:
        """Take a session."""
        super().load(session)
        self._all = tiles_of(session, wavefronts=True) if session else []
        self._number()
        self.notice = notice_of(session.trace) if session else ""
        partial = session is not None and self.notice != "" and not totals_of(session.trace)
        self.mark = MEASURED if session and mark_of(session.trace) == MEASURED else PART if partial else EXACT
        self._measured = None
        self.updateGeometry()
        self._tell()

    def remember(self) -> None:
        """Take the numbers that are shown for those before a change; while some are marked, those before that one."""
        self._is_awaiting = True
        if not self.changes:
            self._before = self._shown_now()

    def _shown_now(self) -> tuple[Session, dict[str, float]] | None:
        moment = int(self.moment)
        return (self.session, {t.label: t.amount(moment) for t in self._all}) if self.session else None

    def compare(self, *, settled: bool) -> None:
        """Mark what another setup of the same scenario has changed; settled: whether no other session is to come."""
        self._is_awaiting = not settled
        if self._before is None or self.session is None:
            return
        session, before = self._before
        alike = (
            session.scenario is self.session.scenario and session.launch.kernel == self.session.launch.kernel
        )
        if alike and session is not self.session:
            self.changes = self._changes(before)
            self._ticks = MARKED
            self.marks.start()
            self._tell()
        elif self.changes or not alike:
            self.forget()

    def _changes(self, before: dict[str, float]) -> dict[str, Change]:
        known = [(t, before[t.label], t.amount(int(self.moment))) for t in self.tiles if t.label in before]
        return {
            tile.label: Change(tile.words(was), now / was if was else inf)
            for tile, was, now in known
            if tile.words(now) != tile.words(was)
        }

    def forget(self) -> None:
        """Mark nothing any more."""
        self.marks.stop()
        self._before = None
        if self.changes:
            self.changes = {}
            self._tell()

    def _fade(self) -> None:
        self._ticks -= 1
        if self._ticks <= 0:
            self.forget()
            self._before = self._shown_now() if self._is_awaiting else None
        elif self._ticks < FADING and not self.theme.reduced_motion:
            self.update()

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
        wavefronts = self.wavefronts or WAVEFRONTS in self.bright
        self.tiles = [t for t in self._all if wavefronts or t.label != WAVEFRONTS]
        self.ends = {t.label: t.text(session.end) for t in self.tiles} if session else {}

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Show the numbers of this moment."""
        changed = int(moment) != int(self.moment)
        super().render_moment(moment, selection)
        if changed and not self._is_awaiting:
            self.forget()  # what time does is no change of setup
        if changed:
            self._count()

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
        grid, size = self._grid(self.width()), self.size()
        if self._standing is None or self._standing[0] != (grid, size):
            chosen = sorted(self._ranked()[: grid.count], key=self.tiles.index)
            top = self._notice_box(size.width()).height()
            room = QRectF(0, top, size.width(), size.height() - top)
            self._standing = (grid, size), list(zip(chosen, boxes(grid, room), strict=True))
        return self._standing[1]

    def _ranked(self) -> list[Tile]:
        return sorted(
            self.tiles, key=lambda tile: (tile.label not in self.bright, tile.label in self.last, tile.rank)
        )

    def _grid(self, width: int) -> Grid:
        if self._measured is None or self._measured[0] != width:
            styles, least = (LIT_STYLES, LIT_TILES) if self.bright else (STYLES, MINIMUM_TILES)
            how = self.mark, self.theme, styles[self.form], least
            self._measured, self._standing = (width, grid_of(self._ranked(), width, *how)), None
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
        self._told = self._texts()
        self._say_numbers()
        self.update()

    def _texts(self) -> dict[str, str]:
        return {tile.label: tile.text(int(self.moment)) for tile in self.tiles}

    def _count(self) -> None:
        """Say and draw those numbers that are others now."""
        before, self._told = self._told, self._texts()
        other = {label for label, text in self._told.items() if text != before.get(label)}
        if other:
            self._say_numbers()
        style = self._grid(self.width()).style
        for tile, box in self.shown() if other else ():
            if tile.label in other:
                marked = tile.label in self.changes or tile.label in self.bright
                self.update((box if marked else number_box(box, style, self.theme)).toAlignedRect())

    def _say_numbers(self) -> None:
        words = [f"{label} {text}{self._was(label)}" for label, text in self._told.items()]
        told = ", ".join([*words, self.mark]) + f". {self.notice}" * bool(self.notice)
        self.setAccessibleDescription(self.say(told))

    def _was(self, label: str) -> str:
        return f" (was {self.changes[label].before})" if label in self.changes else ""

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
        shown = [(tile, box) for tile, box in self.shown() if event.region().intersects(box.toAlignedRect())]
        for tile, box in shown:
            bright = self.lit is None or tile.label in self.bright
            theme = self.theme if bright else dimmed(self.theme, self.keep)
            if tile.label in self.changes:
                strength = 1.0 if self.theme.reduced_motion else min(1.0, self._ticks / FADING)
                change = self.changes[tile.label]
                draw_changed(painter, tile, moment, box, style, self.mark, change, strength, theme)
            draw_tile(painter, tile, self._told[tile.label], box, style, self.mark, theme, event.rect())
        for tile, box in shown:
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
