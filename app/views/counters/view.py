"""The counters strip: the memory requests of a launch up to a moment, in large numbers with their marks."""

from __future__ import annotations

from math import inf
from typing import Literal

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ...model.session import Selection, Session
from ...model.spotlight import Highlight
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.dimming import dim_theme, draw_frame
from ..common.view import View
from ..common.wording import EXACT, MARKS, MEASURED, PART, counter_mark_of, mark_of
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
HIGHLIGHTED_TILES = 3  # tiles that must fit for those in the spotlight to be larger
HIGHLIGHTED_STYLES: dict[TileForm, tuple[Style, ...]] = {
    "tall": (LARGE, ROOMY, COMPACT),
    "line": (LARGE_LINE, LINE),
    "none": (LINE,),
}


WAVEFRONTS = "shared wavefronts"
HIDDEN = "?"  # a number that a question may ask for
MARKED = 10  # ticks for which a changed number is marked; it fades during the last ones
FADING = 4
TICK = 100  # milliseconds


class CountersView(View):
    """Shows as many tiles as fit, by rank; a line above them names an unusual scope.

    `remember` keeps the numbers before another setup of the scenario, and `compare` marks the changes for a second.
    """

    dims_itself = True

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Counters")
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.tiles: list[Tile] = []
        self._all: list[Tile] = []  # including those that are hidden now
        self.form: TileForm = "tall"
        self.wavefronts = False
        self.low_priority: frozenset[str] = frozenset()
        self.ends: dict[str, str] = {}  # the numbers after the launch
        self.notice, self.mark = "", EXACT
        self._measured: tuple[int, Grid] | None = None  # by width, until the content changes
        self._cached_boxes: tuple[tuple[Grid, QSize], list[tuple[Tile, QRectF]]] | None = (
            None  # cached by `shown`
        )
        self.changes: dict[str, Change] = {}  # of the marked numbers, by label
        self._before: tuple[Session, dict[str, float]] | None = None  # the remembered numbers
        self._is_quiet = False
        self._is_awaiting = False  # another session may come and change the moment
        self._ticks = 0  # until the marks disappear
        self._drawn_texts: dict[str, str] = {}  # the drawn numbers, by label
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # nothing is painted below it
        self.marks = QTimer(self, interval=TICK)
        self.marks.timeout.connect(self._fade)

    def load(self, session: Session | None) -> None:
        """Load a session."""
        super().load(session)
        self._all = tiles_of(session, wavefronts=True) if session else []
        self._select_tiles()
        self.notice = notice_of(session.trace) if session else ""
        partial = session is not None and self.notice != "" and not totals_of(session.trace)
        self.mark = EXACT
        if session is not None:
            is_measured = mark_of(session.trace) == MEASURED
            own_mark = PART if partial else counter_mark_of(session.trace, of_launch=True)
            self.mark = MEASURED if is_measured else own_mark
        self._measured = None
        self.updateGeometry()
        self._refresh()

    def keep_numbers(self) -> None:
        """Keep the shown numbers for a comparison; while some are marked, keep those before that change."""
        self._is_awaiting = True
        if not self.changes:
            self._before = self._shown_now()

    def _shown_now(self) -> tuple[Session, dict[str, float]] | None:
        moment = int(self.moment)
        return (self.session, {t.label: t.amount(moment) for t in self._all}) if self.session else None

    def mark_changes(self, *, settled: bool) -> None:
        """Mark what another setup of the scenario changed. settled: no other session is to come."""
        self._is_awaiting = not settled
        if self._before is None or self.session is None:
            return
        session, before = self._before
        is_same_kernel = (
            session.scenario is self.session.scenario and session.launch.kernel == self.session.launch.kernel
        )
        if is_same_kernel and session is not self.session:
            self.changes = self._changes(before)
            self._ticks = MARKED
            self.marks.start()
            self._refresh()
        elif self.changes or not is_same_kernel:
            self.clear_marks()

    def _changes(self, before: dict[str, float]) -> dict[str, Change]:
        remembered = [
            (t, before[t.label], t.amount(int(self.moment))) for t in self.tiles if t.label in before
        ]
        return {
            tile.label: Change(tile.words(was), now / was if was else inf)
            for tile, was, now in remembered
            if tile.words(now) != tile.words(was)
        }

    def clear_marks(self) -> None:
        """Remove all marks."""
        self.marks.stop()
        self._before = None
        if self.changes:
            self.changes = {}
            self._refresh()

    def _fade(self) -> None:
        self._ticks -= 1
        if self._ticks <= 0:
            self.clear_marks()
            self._before = self._shown_now() if self._is_awaiting else None
        elif self._ticks < FADING and not self.theme.reduced_motion:
            self.update()

    def shows_highlight(self, highlight: Highlight) -> bool:
        """Return True if some of the numbers are highlighted."""
        return bool(highlight.counters)

    def apply_spotlight(self) -> None:
        """Show the highlighted numbers first."""
        self._select_tiles()
        self._measured = None
        self._refresh()

    def count_wavefronts(self, counted: bool) -> None:
        """Show or hide the wavefronts of shared memory."""
        if counted != self.wavefronts:
            self.wavefronts = counted
            self._select_tiles()
            self._measured = None
            self._refresh()

    def set_low_priority(self, labels: frozenset[str]) -> None:
        """Show these numbers only if there is room left, since they are the same in the other pane."""
        if labels != self.low_priority:
            self.low_priority, self._measured = labels, None
            self.update()

    @property
    def highlighted(self) -> frozenset[str]:
        """The labels of the highlighted numbers."""
        return self.highlight.counters if self.highlight is not None else frozenset()

    def _select_tiles(self) -> None:
        session = self.session
        wavefronts = self.wavefronts or WAVEFRONTS in self.highlighted
        self.tiles = [t for t in self._all if wavefronts or t.label != WAVEFRONTS]
        self.ends = {t.label: t.text(session.end) for t in self.tiles} if session else {}

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Show the numbers at a moment."""
        changed = int(moment) != int(self.moment)
        super().render_moment(moment, selection)
        if changed and not self._is_awaiting:
            self.clear_marks()  # changes over time are not changes of the setup
        if changed:
            self._refresh_changed()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        super().set_theme(theme)
        self._measured = None
        self.updateGeometry()
        self._refresh()

    def set_form(self, form: TileForm) -> None:
        """Show tall tiles, a line of tiles, or none."""
        if form != self.form:
            self.form, self._measured = form, None
            self.setVisible(form != "none")
            self.updateGeometry()
            self.update()

    def hasHeightForWidth(self) -> bool:
        """Return True: a notice takes more lines in a narrow view."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the tiles and the notice above them."""
        return self.theme.px(HEIGHTS[self.form]) + self._notice_box(width).height()

    def sizeHint(self) -> QSize:
        """Return the room for four tiles."""
        width = max(self.theme.px(540), self.minimumSizeHint().width())
        return QSize(width, self.heightForWidth(max(width, self.width())))

    def minimumSizeHint(self) -> QSize:
        """Return the room for two tiles side by side."""
        style = STYLES[self.form][-1]
        widest = max((minimum_width(t, style, self.mark, self.theme) for t in self.tiles), default=0.0)
        return QSize(round((2 if style is COMPACT else 1) * widest), self.theme.px(HEIGHTS[self.form]))

    def shown(self) -> list[tuple[Tile, QRectF]]:
        """Return the tiles that fit with their boxes."""
        grid, size = self._grid(self.width()), self.size()
        if self._cached_boxes is None or self._cached_boxes[0] != (grid, size):
            chosen = sorted(self._ranked()[: grid.count], key=self.tiles.index)
            top = self._notice_box(size.width()).height()
            room = QRectF(0, top, size.width(), size.height() - top)
            self._cached_boxes = (grid, size), list(zip(chosen, boxes(grid, room), strict=True))
        return self._cached_boxes[1]

    def _ranked(self) -> list[Tile]:
        return sorted(
            self.tiles,
            key=lambda tile: (tile.label not in self.highlighted, tile.label in self.low_priority, tile.rank),
        )

    def _grid(self, width: int) -> Grid:
        if self._measured is None or self._measured[0] != width:
            styles, least = (
                (HIGHLIGHTED_STYLES, HIGHLIGHTED_TILES) if self.highlighted else (STYLES, MINIMUM_TILES)
            )
            measures = self.mark, self.theme, styles[self.form], least
            self._measured, self._cached_boxes = (width, grid_of(self._ranked(), width, *measures)), None
        return self._measured[1]

    def _notice_box(self, width: int) -> QRect:
        if not self.notice:
            return QRect()
        inside = QRect(self.theme.px(10), self.theme.px(5), max(1, width - self.theme.px(20)), 10_000)
        metrics = QFontMetrics(self.theme.font(11, bold=True))
        text_box = metrics.boundingRect(inside, Qt.TextFlag.TextWordWrap, self.reword(self.notice))
        return QRect(0, 0, width, text_box.height() + self.theme.px(8))

    def _refresh(self) -> None:
        """Update the numbers, for screen readers too."""
        self._drawn_texts = self._texts()
        self._update_description()
        self.update()

    def set_quiet(self, quiet: bool) -> None:
        """Hide the numbers while a lecture asks a question, or show them again."""
        if quiet != self._is_quiet:
            self._is_quiet = quiet
            self._refresh()

    def _texts(self) -> dict[str, str]:
        if self._is_quiet:
            return {tile.label: HIDDEN for tile in self.tiles}
        return {tile.label: tile.text(int(self.moment)) for tile in self.tiles}

    def _refresh_changed(self) -> None:
        """Update those numbers that have changed."""
        before, self._drawn_texts = self._drawn_texts, self._texts()
        changed = {label for label, text in self._drawn_texts.items() if text != before.get(label)}
        if changed:
            self._update_description()
        style = self._grid(self.width()).style
        for tile, box in self.shown() if changed else ():
            if tile.label in changed:
                marked = tile.label in self.changes or tile.label in self.highlighted
                self.update((box if marked else number_box(box, style, self.theme)).toAlignedRect())

    def _update_description(self) -> None:
        words = [f"{label} {text}{self._was(label)}" for label, text in self._drawn_texts.items()]
        description = ", ".join([*words, self.mark]) + f". {self.notice}" * bool(self.notice)
        self.setAccessibleDescription(self.reword(description))

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
            painter.drawText(notice, Qt.TextFlag.TextWordWrap, self.reword(self.notice))
        style, moment = self._grid(self.width()).style, int(self.moment)
        shown = [(tile, box) for tile, box in self.shown() if event.region().intersects(box.toAlignedRect())]
        for tile, box in shown:
            is_bright = self.highlight is None or tile.label in self.highlighted
            theme = self.theme if is_bright else dim_theme(self.theme, self.keep)
            if tile.label in self.changes:
                strength = 1.0 if self.theme.reduced_motion else min(1.0, self._ticks / FADING)
                change = self.changes[tile.label]
                draw_changed(painter, tile, moment, box, style, self.mark, change, strength, theme)
            draw_tile(
                painter, tile, self._drawn_texts[tile.label], box, style, self.mark, theme, event.rect()
            )
        for tile, box in shown:
            if tile.label in self.highlighted:
                draw_frame(painter, box.adjusted(2, 2, -1, -2), self.theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Request another height if the notice wraps differently."""
        if self.notice and event.oldSize().width() != self.width():
            self.updateGeometry()

    def event(self, event: QEvent) -> bool:
        """Show the meaning of a number in its tooltip; handle all other events as usual."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            position = event.pos().toPointF()
            tip = next(
                (f"{t.meaning} {MARKS[self.mark]}" for t, box in self.shown() if box.contains(position)), ""
            )
            QToolTip.showText(event.globalPos(), plain_tip(self.reword(tip)), self)
            return True
        return super().event(event)
