"""The timeline: one block's warps moment by moment, its phases, and all blocks of the grid."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt
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
from ...model.explanation import Explanation
from ...model.nothing import nothing
from ...model.session import Selection, Session
from ...model.spotlight import Highlight
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.activity import BlockActivity, block_activity
from ..common.dimming import dim_theme
from ..common.drawing import RASTER_PIXELS_PER_POINT, is_vector
from ..common.order_spans import OrderSpan, order_spans
from ..common.outside import outside_of
from ..common.value_marks import TimelineMark, timeline_marks
from ..common.view import View
from .hit_test import TimelinePart, block_at, phase_start, text_at, warp_at
from .image import Codes, activity_codes, assign_lanes
from .order_marks import draw_order
from .paint import (
    ROW,
    TimelineViewData,
    draw_block,
    draw_shared,
    draw_static,
    draw_static_picture,
    height_without_rows,
    rows_height,
    timeline_layout,
)
from .playhead import draw_playhead, is_on_handle, playhead_area
from .red_crosses import draw_outside
from .spotlight import draw_highlighted_timeline
from .timeline_layout import MomentRange, TimelineLayout
from .value_path import draw_value_path

KEPT = 32  # cached pictures: the blocks of the usual comparison, each 0.5 to 1.25 MB
KEPT_BYTES = 40 << 20  # the limit of all cached pictures; a large window caches fewer
CLICK = 4  # pixels that the pointer may move during a click
MINIMUM_RANGE = 4.0  # the smallest number of visible moments


class TimelineView(View):
    """The timeline of one session.

    The visible range of moments is the block's, or the range that the user zoomed to, which then moves with the
    block. `x_range_changed` is called only for the user's changes, never for `set_x_range`.
    """

    dims_itself = True

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.x_range_changed: Callable[[float, float], object] = nothing
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # it paints all its pixels
        self.setAccessibleName("Timeline")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.difference_text, self.slim = "", False
        self._timeline: Timeline | None = None  # of this launch, measured on a GPU
        self._is_stretched, self._missing_reason = False, ""
        self._clocks: dict[int, MomentClock | None] = {}  # by block
        self._cycles: dict[int, dict[int, int]] = {}  # of each phase, by block
        self._data: TimelineViewData | None = None
        self._shared_part: tuple[Hashable, QPixmap] | None = (
            None  # the part that all blocks share, with its key
        )
        self._codes: dict[int, Codes] = {}  # by block, of the most recently used
        self._pixmaps: OrderedDict[tuple[object, ...], QPixmap] = OrderedDict()  # LRU cache of block pictures
        self._zoom: MomentRange | None = None  # relative to the block's start, so that it fits every block
        self._places: tuple[object, TimelineLayout] | None = None  # the latest layout, with its key
        self._drag: tuple[TimelinePart, QPointF, MomentRange] | None = None
        self._moved = False
        self.explanation: Explanation | None = None  # of the value whose path is marked
        self._path: tuple[int, list[TimelineMark]] | None = None  # the marks, with their block
        self._order: tuple[int, list[OrderSpan]] | None = None  # the spans of the order, with their block

    def sizeHint(self) -> QSize:
        """Compute the preferred size for the warps: see `rows_height`."""
        return QSize(self.theme.px(900), self._fixed_height() + rows_height(self._warp_count(), self.theme))

    def minimumSizeHint(self) -> QSize:
        """Compute the smallest size: at least two pixels for every warp, 5 for each of 8."""
        least = max(min(40, 8 + 4 * self._warp_count()), 2 * self._warp_count())
        return QSize(self.theme.px(320), self._fixed_height() + least)

    def largest_height(self) -> int:
        """Compute the height beyond which the rows do not grow."""
        return self._fixed_height() + max(self._warp_count() * self.theme.px(ROW), self.theme.px(18))

    def set_slim(self, slim: bool) -> None:
        """Leave out the numbers of the moments, for a lecture, or show them."""
        if slim != self.slim:
            self.slim = slim
            self._pixmaps.clear()
            self.updateGeometry()
            self.update()

    def _fixed_height(self) -> int:
        return height_without_rows(self.theme, self.slim)

    def _warp_count(self) -> int:
        return self.session.trace.warps if self.session else 8

    def load(self, session: Session | None) -> None:
        """Take a session and show the selected block from its start to its end."""
        super().load(session)
        self.explanation = self._path = self._order = None
        self._zoom, self._data, self._shared_part, self._codes = None, None, None, {}
        self._timeline, self._clocks, self._cycles = None, {}, {}
        self._lane = assign_lanes(*session.requests.block_spans) if session else None
        self._pixmaps.clear()
        self._update_data()
        self.updateGeometry()
        self.update()

    def set_difference_text(self, text: str) -> None:
        """Show below the title the difference between this launch and the other pane's."""
        if text != self.difference_text:
            self.difference_text = text
            self._pixmaps.clear()
            self._update_data()
            self.update()

    def set_timeline(self, timeline: Timeline | None, stretched: bool, why_not: str = "") -> None:
        """Take the timeline that a GPU measured for this launch, and stretch the moments to its times on request.

        why_not: one sentence if the launch was not measured.
        """
        if (timeline, stretched, why_not) == (self._timeline, self._is_stretched, self._missing_reason):
            return
        self._timeline, self._is_stretched, self._missing_reason = timeline, stretched, why_not
        self._clocks, self._cycles, self._data = {}, {}, None
        self._pixmaps.clear()
        self._update_data()
        self.update()

    def _clock(self, data: TimelineViewData | None) -> MomentClock | None:
        """Return the clock of a block's moments; None if they are unknown or not stretched."""
        if not (self._is_stretched and self._timeline and data):
            return None
        block = data.block
        if block.block not in self._clocks:
            arguments = data.session.trace, data.session.requests, block.block, block.span
            self._clocks[block.block] = moment_clock(self._timeline, *arguments)
        return self._clocks[block.block]

    def _stretch_problem(self, block: int) -> str:
        """Explain in one sentence why moments are not stretched although requested; "" otherwise."""
        if not self._is_stretched:
            return ""
        if self._timeline is None:
            return self._missing_reason
        if len(segments_of(self._timeline.segments, block)):
            return ""
        return "by moments: the clocks of this block's warps were not recorded"

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Move the playhead, and change the picture if the selection moved to another block."""
        old_moment, old_selection = self.moment, self.selection
        super().render_moment(moment, selection)
        if selection != old_selection or (self.session and not self._data):
            self._update_data()
            self.update()
        elif moment != old_moment:
            self._follow(old_moment)
            layout = self.places
            self.update(self._playhead_area(layout, old_moment))
            self.update(self._playhead_area(layout, moment))

    def set_theme(self, theme: Theme) -> None:
        """Apply other colours or another text size."""
        super().set_theme(theme)
        self.updateGeometry()
        self._pixmaps.clear()
        self.update()

    def x_range(self) -> MomentRange:
        """Return the moments at the left and the right edge; a moment m covers m <= x < m + 1."""
        return self._range_of(self._data)

    def _range_of(self, data: TimelineViewData | None) -> MomentRange:
        if not data:
            return 0.0, 1.0
        block_range = default_block_range(data.block, data.session.end)
        if not self._zoom:
            return block_range
        start = data.block.span[0]
        return clamp_range(start + self._zoom[0], start + self._zoom[1], block_range, data.session.end)

    def chosen_range(self) -> MomentRange | None:
        """Return the moments at the edges if the user chose them, None for the complete block."""
        return self.x_range() if self._zoom else None

    def set_x_range(self, first: float, last: float) -> None:
        """Show these moments, first < last: at least four, moved to show as much of the block as possible."""
        if self._data and self.session:
            start = self._data.block.span[0]
            first, last = clamp_range(first, last, self._full_range(), self.session.end)
            self._zoom = first - start, last - start
            self.update()

    def reset_x_range(self) -> None:
        """Show the selected block, and later selected blocks, from start to end."""
        self._zoom = None
        self.update()

    def _full_range(self) -> MomentRange:
        assert self._data and self.session
        return default_block_range(self._data.block, self.session.end)

    def prepare(self, block: int) -> None:
        """Draw another block's picture in advance."""
        if self._data and self.highlight is None:
            self._static_picture(self._collect_data(block))

    def _update_data(self) -> None:
        """Collect the data of the selected block."""
        self._data = self._collect_data(self.selection.block) if self.session else None

    def _collect_data(self, block: int) -> TimelineViewData:
        """Collect the data of a block's picture; the warps' codes are cached by block."""
        assert self.session and self._lane is not None
        trace, activity = self.session.trace, block_activity(self.session, block)
        if block not in self._codes:
            self._codes = dict([*self._codes.items()][1 - KEPT :])
            self._codes[block] = activity_codes(self.session, activity)
        # The launch of a program is titled "kernel · program · launch 1".
        name = (self.session.title or trace.kernel).replace(" \u00b7 ", ", ", 1)
        title = ", ".join(filter(None, (name, self.difference_text)))
        return TimelineViewData(
            self.session, activity, self._codes[block], self._lane, self.selection.thread // WARP, title,
            self._phase_cycles(block),
            self._timeline.head.origin if self._timeline else "", self._stretch_problem(block),
        )  # fmt: skip

    def _phase_cycles(self, block: int) -> dict[int, int]:
        """Return the measured cycles of each phase of a block; memoised by block."""
        if self._timeline is None:
            return {}
        if block not in self._cycles:
            self._cycles[block] = phase_cycles(self._timeline, block)
        return self._cycles[block]

    def _static_picture(self, data: TimelineViewData) -> QPixmap:
        """Draw the static picture; it is cached by block and range, because scrubbing revisits blocks."""
        ratio, block = self.devicePixelRatioF(), data.block.block
        layout = self.places if data is self._data else self._compute_layout(data)
        key = (block, data.warp, layout.x_range, self.width(), self.height(), ratio, self.highlight)
        if key not in self._pixmaps:
            below = self._shared_picture(ratio, data, layout) if self.highlight is None else None
            draw = self._draw_static if below is None else draw_block

            def paint(painter: QPainter, ratio: float) -> None:
                draw(painter, data, layout, self.theme, ratio)

            self._pixmaps[key] = draw_static_picture(paint, self.size(), self.theme, ratio, below)
        self._pixmaps.move_to_end(key)
        picture = self._pixmaps[key]
        picture_bytes = max(1, picture.width() * picture.height() * picture.depth() // 8)
        while len(self._pixmaps) > max(1, min(KEPT, KEPT_BYTES // picture_bytes)):
            self._pixmaps.popitem(last=False)
        return picture

    def _shared_picture(self, ratio: float, data: TimelineViewData, layout: TimelineLayout) -> QPixmap:
        """Draw the part that the pictures of all blocks share."""
        size = self.size()
        key = data.title, data.warp, size, ratio, self.slim, self.theme
        if self._shared_part is None or self._shared_part[0] != key:

            def draw(painter: QPainter, ratio: float) -> None:
                draw_shared(painter, data, layout, self.theme, ratio)

            self._shared_part = key, draw_static_picture(draw, size, self.theme, ratio)
        return self._shared_part[1]

    @property
    def places(self) -> TimelineLayout:
        """The current layout, in logical pixels."""
        if self._places is None or self._places[0] != self._layout_key(self._data):
            self._places = self._layout_key(self._data), self._compute_layout(self._data)
        return self._places[1]

    def _compute_layout(self, data: TimelineViewData | None) -> TimelineLayout:
        return timeline_layout(*self._layout_key(data))

    def _layout_key(self, data: TimelineViewData | None) -> tuple[Any, ...]:
        ratio, x_range = self.devicePixelRatioF(), self._range_of(data)
        return self.size(), self._warp_count(), x_range, self.theme, ratio, self.slim, self._clock(data)

    # Painting: a static picture, and the playhead over it.

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the static picture and the playhead."""
        painter = QPainter(self)
        if not self._data:
            painter.fillRect(event.rect(), self.theme.colour("panel"))
            return
        if is_vector(painter):
            self._draw_static(painter, self._data, self.places, self.theme, RASTER_PIXELS_PER_POINT)
        else:
            painter.drawPixmap(0, 0, self._static_picture(self._data))
        self._draw_outside(painter, self._data)
        draw_order(painter, self._order_spans(), len(self._data.codes), self.places, self.theme)
        draw_value_path(painter, self._path_marks(), len(self._data.codes), self.places, self.theme)
        end = self.session.end if self.session else 0
        ink = (
            self.theme
            if self.highlight is None or self.highlight.has_threads
            else dim_theme(self.theme, self.keep)
        )
        draw_playhead(painter, self.places, self.moment, end, ink)

    def _draw_outside(self, painter: QPainter, data: TimelineViewData) -> None:
        """Draw a red cross at each access of a warp outside an array."""
        if self.session is not None and len(self.session.trace.outside.block):
            accesses = outside_of(self.session).warp_moments(self.selection.block)
            draw_outside(painter, accesses, len(data.codes), self.places, self.theme)

    def set_explanation(self, explanation: Explanation | None) -> None:
        """Mark the accesses on the path of a value; None marks nothing."""
        if explanation is not self.explanation:
            self.explanation, self._path = explanation, None
            self.update()

    def _path_marks(self) -> list[TimelineMark]:
        """Return the marks of the path in the selected block; memoised."""
        if self.session is None or self.explanation is None:
            return []
        if self._path is None or self._path[0] != self.selection.block:
            marks = timeline_marks(self.session, self.explanation, self.selection.block)
            self._path = self.selection.block, marks
        return self._path[1]

    def _order_spans(self) -> list[OrderSpan]:
        """Return the spans of the launch's order in the selected block; memoised."""
        if self.session is None:
            return []
        if self._order is None or self._order[0] != self.selection.block:
            self._order = self.selection.block, order_spans(self.session, self.selection.block)
        return self._order[1]

    def _draw_static(
        self, painter: QPainter, data: TimelineViewData, layout: TimelineLayout, theme: Theme, ratio: float
    ) -> None:
        """Draw the static part; images have `ratio` device pixels per logical pixel."""
        if self.highlight is None:
            draw_static(painter, data, layout, theme, ratio)
        else:
            draw_highlighted_timeline(painter, data, layout, theme, ratio, self.highlight, self.keep)

    def shows_highlight(self, highlight: Highlight) -> bool:
        """Check whether warps or blocks are highlighted."""
        return highlight.has_threads

    def _playhead_area(self, layout: TimelineLayout, moment: float) -> QRect:
        return playhead_area(layout, moment, self.session.end if self.session else 0, self.theme)

    # Pointer.

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a drag, or a click on a block, a band or a warp's name."""
        if event.button() == Qt.MouseButton.LeftButton and self._data:
            part = self._part_at(event.position())
            self._drag, self._moved = (part, event.position(), self.x_range()), False
            if part == "rows":
                self._ask_moment(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub, or pan if the drag began on the axis."""
        self._show_cursor(event.position())
        if not self._drag:
            return
        part, origin, x_range = self._drag
        self._moved |= (event.position() - origin).manhattanLength() >= CLICK
        if part == "rows" or (part == "bands" and self._moved):
            self._ask_moment(event.position().x())
        elif part == "axis" and self._moved:
            self._pan(x_range, origin.x() - event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a drag, or handle a click."""
        if not self._drag or event.button() != Qt.MouseButton.LeftButton:
            return
        part, self._drag = self._drag[0], None
        if not self._moved:
            self._click(part, event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the complete block again."""
        if self._part_at(event.position()) == "axis":
            self.reset_x_range()
            self.x_range_changed(*self.x_range())
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

    def _part_at(self, position: QPointF) -> TimelinePart:
        layout = self.places
        if position.x() < layout.rows.left() - CLICK:
            return "names"
        if position.y() < layout.strip.bottom() + 1:
            return "strip"
        if position.y() < layout.rows.top():
            return "rows" if is_on_handle(layout, self.moment, position.x(), self.theme) else "bands"
        return "rows" if position.y() <= layout.rows.bottom() else "axis"

    def _show_cursor(self, position: QPointF) -> None:
        shapes = {"axis": Qt.CursorShape.SizeHorCursor, "bands": Qt.CursorShape.PointingHandCursor}
        self.setCursor(shapes.get(self._part_at(position), Qt.CursorShape.ArrowCursor))

    def _click(self, part: TimelinePart, position: QPointF) -> None:
        assert self._data and self.session and self._lane is not None
        layout = self.places
        if part == "bands" and self._data.block.present:
            self.ask.seek(phase_start(self._data.block, layout.moment(position.x())))
        elif part == "strip":
            block = block_at(self.session, self._lane, layout.strip, position)
            self.ask.select(Selection(block, self.selection.thread))
        elif part == "names" and layout.rows.top() <= position.y() <= layout.rows.bottom():
            thread = warp_at(self._data, layout, position.y()) * WARP
            self.ask.select(Selection(self.selection.block, thread))

    def event(self, event: QEvent) -> bool:
        """Show a tooltip for the item under the pointer; pass on other events."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._data:
            QToolTip.showText(
                event.globalPos(), plain_tip(self.reword(self.text_at(QPointF(event.pos())))), self
            )
            return True
        return super().event(event)

    def text_at(self, position: QPointF) -> str:
        """Describe the item at a position; "" if there is none."""
        if not self._data:
            return ""
        return text_at(self._part_at(position), self._data, self.places, position)

    def _follow(self, old_moment: float) -> None:
        """Scroll by a page when the playhead leaves the range that the user zoomed to."""
        first, last = self.x_range()
        if self._zoom and first <= old_moment < last and not first <= self.moment < last and not self._drag:
            pages = (self.moment - first) // (last - first) * (last - first)
            self.set_x_range(first + pages, last + pages)
            self.x_range_changed(*self.x_range())

    def _ask_moment(self, x: float) -> None:
        assert self.session
        self.ask.seek(min(max(self.places.moment(x), 0.0), float(self.session.end)))

    def _pan(self, x_range: MomentRange, pixels: float) -> None:
        share, clock = pixels / self.places.rows.width(), self._clock(self._data)
        first, last = x_range if clock is None else clock.cycles(np.array(x_range)).tolist()
        first, last = first + share * (last - first), last + share * (last - first)
        self.set_x_range(
            *((first, last) if clock is None else clock.moment(np.array((first, last))).tolist())
        )
        self.x_range_changed(*self.x_range())

    def _zoom_at(self, moment: float, factor: float) -> None:
        first, last = self.x_range()
        factor = max(factor, 4.0 / (last - first))
        self.set_x_range(moment - (moment - first) * factor, moment + (last - moment) * factor)
        self.x_range_changed(*self.x_range())


def default_block_range(block: BlockActivity, end: int) -> MomentRange:
    """Compute the moments at the edges for a complete block; for a block not in the trace, the complete launch."""
    first, last = block.span if block.present else (1, max(1, end))
    margin = 0.004 * (last + 1 - first)
    return first - max(1.1, margin), last + 1 + max(0.25, margin)


def clamp_range(first: float, last: float, block_range: MomentRange, end: int) -> MomentRange:
    """Move and cut a range so that it has the minimum length and stays within the block.

    end: the end of the launch; a range longer than the block stays within the launch.
    """
    begin, finish = block_range
    longest = max(1.04 * (end + 1), finish - begin)
    span = min(max(last - first, MINIMUM_RANGE), longest)
    low, high = begin, finish - span
    if low > high:  # the range is longer than the block
        low, high = max(high, min(begin, -0.02 * (end + 1))), min(low, max(finish, 1.02 * (end + 1)) - span)
    first = min(max(first + (last - first - span) / 2, low), high)
    return first, first + span
