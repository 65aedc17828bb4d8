"""The timeline: one block's warps moment by moment, its phases, and all blocks of the grid."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ....tracer.hardware.moment_clock import MomentClock, moment_clock, phase_cycles, segments_of
from ....tracer.hardware.timeline import Timeline
from ....tracer.model.trace import WARP
from ...model.session import Selection, Session
from ...model.spotlight import Lit
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.activity import BlockActivity, block_activity
from ..common.dimming import dimmed
from ..common.drawing import ON_PAPER, is_vector
from ..common.outside import outside_of
from ..common.view import View
from .hit_test import TimelinePart, block_at, phase_start, text_at, warp_at
from .image import Codes, codes, lanes
from .outside import draw_outside
from .paint import (
    ROW,
    TimelineViewData,
    beside_rows,
    draw_block,
    draw_shared,
    draw_still,
    rows_height,
    still_picture,
    timeline_layout,
)
from .places import MomentRange, TimelineLayout
from .playhead import draw_playhead, grips, playhead_area
from .spotlight import draw_lit

KEPT = 32  # pictures: the blocks of the usual comparison, each half a megabyte to one and a quarter
KEPT_BYTES = 40 << 20  # that they may take together, which are fewer of them in a large window
CLICK = 4  # pixels that a pointer may move between press and release of a click
MINIMUM_RANGE = 4.0  # moments that are shown


class TimelineView(View):
    """One session's timeline.

    The range of moments that it shows is the block's own, or what the user zoomed to, which then moves
    along with the block. `x_range_changed` tells of the user's changes alone, never of `set_x_range`.
    """

    dims_itself = True
    x_range_changed = Signal(float, float)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # nothing is painted below it
        self.setAccessibleName("Timeline")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.apart, self.slim = "", False
        self._timeline: Timeline | None = None  # measured on a GPU, of this launch
        self._is_stretched, self._why_not = False, ""
        self._clocks: dict[int, MomentClock | None] = {}  # by block
        self._cycles: dict[int, dict[int, int]] = {}  # of each phase, by block
        self._data: TimelineViewData | None = None
        self._shared: tuple[Hashable, QPixmap] | None = None  # what the pictures of all blocks begin with
        self._codes: dict[int, Codes] = {}  # by block, of those that were looked at last
        self._pixmaps: OrderedDict[tuple[object, ...], QPixmap] = OrderedDict()  # the latest of each block
        self._zoom: MomentRange | None = (
            None  # relative to the block's start, so that it means the same in any block
        )
        self._places: tuple[object, TimelineLayout] | None = None  # as they were computed last
        self._drag: tuple[TimelinePart, QPointF, MomentRange] | None = None
        self._moved = False

    def sizeHint(self) -> QSize:
        """Return the size that the warps need: see `rows_height`."""
        return QSize(self.theme.px(900), self._beside_rows() + rows_height(self._warps(), self.theme))

    def minimumSizeHint(self) -> QSize:
        """Return the least size: every warp has two pixels, and 8 have 5 each."""
        least = max(min(40, 8 + 4 * self._warps()), 2 * self._warps())
        return QSize(self.theme.px(320), self._beside_rows() + least)

    def largest_height(self) -> int:
        """Return the height from which on the rows do not grow any more."""
        return self._beside_rows() + max(self._warps() * self.theme.px(ROW), self.theme.px(18))

    def set_slim(self, slim: bool) -> None:
        """Leave out the numbers of the moments, for a lecture, or show them."""
        if slim != self.slim:
            self.slim = slim
            self._pixmaps.clear()
            self.updateGeometry()
            self.update()

    def _beside_rows(self) -> int:
        return beside_rows(self.theme, self.slim)

    def _warps(self) -> int:
        return self.session.trace.warps if self.session else 8

    def load(self, session: Session | None) -> None:
        """Take a session and show the selected block from its start to its end."""
        super().load(session)
        self._zoom, self._data, self._shared, self._codes = None, None, None, {}
        self._timeline, self._clocks, self._cycles = None, {}, {}
        self._lane = lanes(*session.requests.block_spans) if session else None
        self._pixmaps.clear()
        self._choose()
        self.updateGeometry()
        self.update()

    def set_apart(self, text: str) -> None:
        """Say below the title what tells this launch from the other pane's."""
        if text != self.apart:
            self.apart = text
            self._pixmaps.clear()
            self._choose()
            self.update()

    def set_timeline(self, timeline: Timeline | None, stretched: bool, why_not: str = "") -> None:
        """Take what a GPU's clocks said of this launch, and whether moments are as long as it took for them.

        why_not: one sentence where the launch was not recorded.
        """
        if (timeline, stretched, why_not) == (self._timeline, self._is_stretched, self._why_not):
            return
        self._timeline, self._is_stretched, self._why_not = timeline, stretched, why_not
        self._clocks, self._cycles, self._data = {}, {}, None
        self._pixmaps.clear()
        self._choose()
        self.update()

    def _clock(self, data: TimelineViewData | None) -> MomentClock | None:
        """Return when a block's moments were, None where they are not to be stretched or not known."""
        if not (self._is_stretched and self._timeline and data):
            return None
        block = data.block
        if block.block not in self._clocks:
            of = data.session.trace, data.session.requests, block.block, block.span
            self._clocks[block.block] = moment_clock(self._timeline, *of)
        return self._clocks[block.block]

    def _by_moments(self, block: int) -> str:
        """Return why moments are not as long as they took, where they are to be, in one sentence."""
        if not self._is_stretched:
            return ""
        if self._timeline is None:
            return self._why_not
        if len(segments_of(self._timeline.segments, block)):
            return ""
        return "by moments: the clocks of this block's warps were not recorded"

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Move the playhead, and take another block's picture where the selection moved there."""
        before, old = self.moment, self.selection
        super().render_moment(moment, selection)
        if selection != old or (self.session and not self._data):
            self._choose()
            self.update()
        elif moment != before:
            self._follow(before)
            at = self.places
            self.update(self._area(at, before))
            self.update(self._area(at, moment))

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        super().set_theme(theme)
        self.updateGeometry()
        self._pixmaps.clear()
        self.update()

    def x_range(self) -> MomentRange:
        """Return the moments at the left and the right edge; a moment m stands at m <= x < m + 1."""
        return self._range_of(self._data)

    def _range_of(self, data: TimelineViewData | None) -> MomentRange:
        if not data:
            return 0.0, 1.0
        whole = whole_range(data.block, data.session.end)
        if not self._zoom:
            return whole
        start = data.block.span[0]
        return fitted(start + self._zoom[0], start + self._zoom[1], whole, data.session.end)

    def chosen_range(self) -> MomentRange | None:
        """Return the moments at the edges where somebody chose them, None for those of the whole block."""
        return self.x_range() if self._zoom else None

    def set_x_range(self, first: float, last: float) -> None:
        """Show these moments, first < last, but at least four, and as much of the block as can be among them."""
        if self._data and self.session:
            start = self._data.block.span[0]
            first, last = fitted(first, last, self._whole(), self.session.end)
            self._zoom = first - start, last - start
            self.update()

    def reset_x_range(self) -> None:
        """Show the selected block from its start to its end, and go on with every block that is selected."""
        self._zoom = None
        self.update()

    def _whole(self) -> MomentRange:
        assert self._data and self.session
        return whole_range(self._data.block, self.session.end)

    def prepare(self, block: int) -> None:
        """Draw another block's picture ahead."""
        if self._data and self.lit is None:
            self._still(self._data_of(block))

    def _choose(self) -> None:
        """Make the selected block's picture."""
        self._data = self._data_of(self.selection.block) if self.session else None

    def _data_of(self, block: int) -> TimelineViewData:
        """Return what a block's picture shows; its warps' codes are kept while only the thread changes."""
        assert self.session and self._lane is not None
        trace, activity = self.session.trace, block_activity(self.session, block)
        if block not in self._codes:
            self._codes = dict([*self._codes.items()][1 - KEPT :])
            self._codes[block] = codes(self.session, activity)
        name = (self.session.title or trace.kernel).replace(
            " \u00b7 ", ", ", 1
        )  # of a program, then of which
        title = ", ".join(filter(None, (name, self.apart)))
        return TimelineViewData(
            self.session, activity, self._codes[block], self._lane, self.selection.thread // WARP, title,
            self._phase_cycles(block),
            self._timeline.head.origin if self._timeline else "", self._by_moments(block),
        )  # fmt: skip

    def _phase_cycles(self, block: int) -> dict[int, int]:
        """Return the cycles of each phase of a block, where they were measured, found once for each block."""
        if self._timeline is None:
            return {}
        if block not in self._cycles:
            self._cycles[block] = phase_cycles(self._timeline, block)
        return self._cycles[block]

    def _still(self, data: TimelineViewData) -> QPixmap:
        """Return the picture of what stands still, made once for each block and range, since scrubs come back."""
        ratio, block = self.devicePixelRatioF(), data.block.block
        at = self.places if data is self._data else self._places_of(data)
        key = (block, data.warp, at.x_range, self.width(), self.height(), ratio, self.lit)
        if key not in self._pixmaps:
            below = self._shared_picture(ratio, data, at) if self.lit is None else None
            draw = self._draw_still if below is None else draw_block

            def painted(painter: QPainter, ratio: float) -> None:
                draw(painter, data, at, self.theme, ratio)

            self._pixmaps[key] = still_picture(painted, self.size(), self.theme, ratio, below)
        self._pixmaps.move_to_end(key)
        shown = self._pixmaps[key]
        each = max(1, shown.width() * shown.height() * shown.depth() // 8)
        while len(self._pixmaps) > max(1, min(KEPT, KEPT_BYTES // each)):
            self._pixmaps.popitem(last=False)
        return shown

    def _shared_picture(self, ratio: float, data: TimelineViewData, at: TimelineLayout) -> QPixmap:
        """Return what the pictures of all blocks begin with."""
        size = self.size()
        key = data.title, data.warp, size, ratio, self.slim, self.theme
        if self._shared is None or self._shared[0] != key:

            def draw(painter: QPainter, ratio: float) -> None:
                draw_shared(painter, data, at, self.theme, ratio)

            self._shared = key, still_picture(draw, size, self.theme, ratio)
        return self._shared[1]

    @property
    def places(self) -> TimelineLayout:
        """Where things stand now, in logical pixels."""
        if self._places is None or self._places[0] != self._places_key(self._data):
            self._places = self._places_key(self._data), self._places_of(self._data)
        return self._places[1]

    def _places_of(self, data: TimelineViewData | None) -> TimelineLayout:
        return timeline_layout(*self._places_key(data))

    def _places_key(self, data: TimelineViewData | None) -> tuple[Any, ...]:
        ratio, x_range = self.devicePixelRatioF(), self._range_of(data)
        return self.size(), self._warps(), x_range, self.theme, ratio, self.slim, self._clock(data)

    # Painting: a still picture, and the playhead over it.

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the still picture where it is needed, and the playhead."""
        painter = QPainter(self)
        if not self._data:
            painter.fillRect(event.rect(), self.theme.colour("panel"))
            return
        if is_vector(painter):
            self._draw_still(painter, self._data, self.places, self.theme, ON_PAPER)
        else:
            painter.drawPixmap(0, 0, self._still(self._data))
        self._draw_outside(painter, self._data)
        end = self.session.end if self.session else 0
        ink = self.theme if self.lit is None or self.lit.of_threads else dimmed(self.theme, self.keep)
        draw_playhead(painter, self.places, self.moment, end, ink)

    def _draw_outside(self, painter: QPainter, data: TimelineViewData) -> None:
        """Draw a red cross at each moment at which a warp accesses what is outside an array."""
        if self.session is not None and len(self.session.trace.outside.block):
            accesses = outside_of(self.session).of_warps(self.selection.block)
            draw_outside(painter, accesses, len(data.codes), self.places, self.theme)

    def _draw_still(
        self, painter: QPainter, data: TimelineViewData, at: TimelineLayout, theme: Theme, ratio: float
    ) -> None:
        """Draw what stands still, sharp at so many device pixels to a logical one."""
        if self.lit is None:
            draw_still(painter, data, at, theme, ratio)
        else:
            draw_lit(painter, data, at, theme, ratio, self.lit, self.keep)

    def is_part_of(self, lit: Lit) -> bool:
        """Return whether warps or blocks stand out."""
        return lit.of_threads

    def _area(self, at: TimelineLayout, moment: float) -> QRect:
        return playhead_area(at, moment, self.session.end if self.session else 0, self.theme)

    # Pointer.

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a drag, or a click on a block, a band or a warp's name."""
        if event.button() == Qt.MouseButton.LeftButton and self._data:
            part = self._part(event.position())
            self._drag, self._moved = (part, event.position(), self.x_range()), False
            if part == "rows":
                self._ask(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub, or pan where the axis was taken."""
        self._show_cursor(event.position())
        if not self._drag:
            return
        part, origin, x_range = self._drag
        self._moved |= (event.position() - origin).manhattanLength() >= CLICK
        if part == "rows" or (part == "bands" and self._moved):
            self._ask(event.position().x())
        elif part == "axis" and self._moved:
            self._pan(x_range, origin.x() - event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a drag, or answer a click."""
        if not self._drag or event.button() != Qt.MouseButton.LeftButton:
            return
        part, self._drag = self._drag[0], None
        if not self._moved:
            self._click(part, event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the whole block again."""
        if self._part(event.position()) == "axis":
            self.reset_x_range()
            self.x_range_changed.emit(*self.x_range())
        else:
            self.mousePressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer; with shift or sideways, pan."""
        if not self._data:
            return
        turn, sideways = event.angleDelta().y(), event.angleDelta().x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(sideways) > abs(turn):
            self._pan(self.x_range(), -(turn + sideways) / 120 * self.places.rows.width() / 10)
        else:
            self._zoom_at(self.places.moment(event.position().x()), 0.8 ** (turn / 120))
        event.accept()

    def _part(self, position: QPointF) -> TimelinePart:
        at = self.places
        if position.x() < at.rows.left() - CLICK:
            return "names"
        if position.y() < at.strip.bottom() + 1:
            return "strip"
        if position.y() < at.rows.top():
            return "rows" if grips(at, self.moment, position.x(), self.theme) else "bands"
        return "rows" if position.y() <= at.rows.bottom() else "axis"

    def _show_cursor(self, position: QPointF) -> None:
        shapes = {"axis": Qt.CursorShape.SizeHorCursor, "bands": Qt.CursorShape.PointingHandCursor}
        self.setCursor(shapes.get(self._part(position), Qt.CursorShape.ArrowCursor))

    def _click(self, part: TimelinePart, position: QPointF) -> None:
        assert self._data and self.session and self._lane is not None
        at = self.places
        if part == "bands" and self._data.block.present:
            self.moment_asked.emit(phase_start(self._data.block, at.moment(position.x())))
        elif part == "strip":
            block = block_at(self.session, self._lane, at.strip, position)
            self.selection_asked.emit(Selection(block, self.selection.thread))
        elif part == "names" and at.rows.top() <= position.y() <= at.rows.bottom():
            thread = warp_at(self._data, at, position.y()) * WARP
            self.selection_asked.emit(Selection(self.selection.block, thread))

    def event(self, event: QEvent) -> bool:
        """Say what is under a resting pointer; everything else as usual."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._data:
            QToolTip.showText(
                event.globalPos(), plain_tip(self.say(self.text_at(QPointF(event.pos())))), self
            )
            return True
        return super().event(event)

    def text_at(self, position: QPointF) -> str:
        """Return what stands at a position, in words; "" where nothing does."""
        if not self._data:
            return ""
        return text_at(self._part(position), self._data, self.places, position)

    def _follow(self, before: float) -> None:
        """Turn the page when the playhead, seen until now, leaves the range that the user zoomed to."""
        first, last = self.x_range()
        if self._zoom and first <= before < last and not first <= self.moment < last and not self._drag:
            pages = (self.moment - first) // (last - first) * (last - first)
            self.set_x_range(first + pages, last + pages)
            self.x_range_changed.emit(*self.x_range())

    def _ask(self, x: float) -> None:
        assert self.session
        self.moment_asked.emit(min(max(self.places.moment(x), 0.0), float(self.session.end)))

    def _pan(self, x_range: MomentRange, pixels: float) -> None:
        share, clock = pixels / self.places.rows.width(), self._clock(self._data)
        first, last = x_range if clock is None else clock.cycles(np.array(x_range)).tolist()
        first, last = first + share * (last - first), last + share * (last - first)
        self.set_x_range(
            *((first, last) if clock is None else clock.moment(np.array((first, last))).tolist())
        )
        self.x_range_changed.emit(*self.x_range())

    def _zoom_at(self, moment: float, factor: float) -> None:
        first, last = self.x_range()
        factor = max(factor, 4.0 / (last - first))
        self.set_x_range(moment - (moment - first) * factor, moment + (last - moment) * factor)
        self.x_range_changed.emit(*self.x_range())


def whole_range(block: BlockActivity, end: int) -> MomentRange:
    """Return the moments at the edges when a whole block is shown; of one that is not in the trace, the launch."""
    first, last = block.span if block.present else (1, max(1, end))
    margin = 0.004 * (last + 1 - first)
    return first - max(1.1, margin), last + 1 + max(0.25, margin)


def fitted(first: float, last: float, whole: MomentRange, end: int) -> MomentRange:
    """Return a range moved and cut so that it has its least length and is empty beside the whole block alone.

    end: of the launch, which a range longer than the block stays within.
    """
    begin, finish = whole
    longest = max(1.04 * (end + 1), finish - begin)
    span = min(max(last - first, MINIMUM_RANGE), longest)
    low, high = begin, finish - span
    if low > high:  # it is longer than the block
        low, high = max(high, min(begin, -0.02 * (end + 1))), min(low, max(finish, 1.02 * (end + 1)) - span)
    first = min(max(first + (last - first - span) / 2, low), high)
    return first, first + span
