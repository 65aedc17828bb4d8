"""The layout and colours of the memory view: functions of a session, a theme and a `ViewState`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF

from ...model.explanation import Explanation
from ...model.session import Selection, Session
from ...model.spotlight import Highlight
from ...widgets.theme import Theme
from ..common.differences import differences_of
from ..common.dimming import dim_theme
from ..common.drawing import text_width
from ..common.exchange_paint import LANES
from ..common.geometry import Box
from ..common.outside import outside_of
from ..common.pieces import ByIdentity
from ..common.wording import buffer_text, mark_of
from . import descriptions
from . import legend as legend
from . import paint as paint
from . import text as words
from .cell_values import TEXT_FROM, ValueText, choose_value_text
from .highlighted_cells import HighlightedBuffers, find_highlighted_cells
from .layout.buffer_position import BufferPosition, MemoryLayout, Metrics
from .layout.ghosts import LARGEST
from .layout.layout import arrange
from .view_data import ColourGroup, MemoryViewData, Tops

LARGEST_ZOOMED_CELL = 120.0
T = TypeVar("T")


class Zoom(NamedTuple):
    """The magnification of the picture, and its point (as shares of the view) in the middle."""

    scale: float = 1.0
    x: float = 0.5
    y: float = 0.5


class PairedSpace(NamedTuple):
    """The space that a product needs for a common layout with the product in the other pane."""

    shapes: tuple[tuple[int, ...], ...]  # of the left factor, the right factor and the result
    left: float  # pixels, the width of the names left of the matrices
    right: float  # pixels, the width of the names right of the matrices
    tiles: bool  # whether a corner is kept for shared memory
    strip: bool  # whether a strip below is kept for local arrays, next to another pane


class ViewState(NamedTuple):
    """All settings that the picture depends on."""

    width: int  # pixels
    height: int  # pixels
    legend: int  # rows of text that the legend may take
    paired_space: (
        PairedSpace | None
    )  # common space of this picture and the other pane's, None for a single picture
    colour_by: str  # one of COLOUR_BY
    tops: Tops  # the largest counts of shared scales
    zoom: Zoom  # magnification
    moment: float  # its fraction is the progress of the loads on their way
    selection: Selection  # block and thread
    large: bool = False  # whether cells are as large as possible, for a lecture
    only: tuple[str, ...] = ()  # names of the visible buffers, () for all
    highlight: Highlight | None = None  # the highlighted things; None dims nothing
    keep: float = 1.0  # the opacity of other shapes
    explanation: Explanation | None = None  # of the value whose path is drawn
    hides_faults: bool = False  # races and elements that differ from NumPy

    @property
    def now(self) -> tuple[int, Selection]:
        """The moment, rounded down, and the selection."""
        return math.floor(self.moment), self.selection


class MemoryArrangement:
    """The layout, texts and colours of a session, without painting. Results are memoised."""

    def __init__(self, session: Session, theme: Theme) -> None:
        self.data = MemoryViewData(session)
        self.theme = theme.with_words_of(session.scenario)
        self._memo: dict[str, tuple[Hashable, Any]] = {}

    def element_at(self, state: ViewState, position: QPointF) -> tuple[int, int] | None:
        """Find the buffer and the element at a position."""
        if position.y() > self.clip(state).bottom:
            return None
        for number, place in self.zoomed(state).places.items():
            element = place.element_at(position.x(), position.y())
            if element is not None:
                return number, element
        return None

    def largest_scale(self, state: ViewState) -> float:
        """Compute the largest magnification of the picture."""
        cells = [place.cell for place in self.layout(state).places.values()]
        return max(1.0, LARGEST_ZOOMED_CELL / min(cells)) if cells else 1.0

    def layout(self, state: ViewState) -> MemoryLayout:
        """Compute the layout without magnification."""
        key = (state[:4], state.large, state.only)
        return self._memoised("layout", lambda: self._compute_layout(state), key)

    def zoomed(self, state: ViewState) -> MemoryLayout:
        """Compute the layout with magnification."""
        layout, (scale, x, y) = self.layout(state), state.zoom
        if scale <= 1:
            return layout
        dx, dy = state.width * (0.5 - x * scale), state.height * (0.5 - y * scale)
        return self._memoised("zoomed", lambda: layout.zoomed(scale, dx, dy), (layout, state.zoom))

    def room(self, state: ViewState) -> Box:
        """Compute the space for the buffers: the view without margins and legend."""
        margin, top = (float(self.theme.px(length)) for length in ((4, 3) if state.large else (12, 6)))
        return Box(0, 0, state.width, state.height).inset(margin, top, margin, self._legend_height(state))

    def _room_of_arrays(self, state: ViewState) -> Box:
        """Compute the space for the buffers without margins for cells outside arrays."""
        outside = self.data.session.trace.outside
        if not len(outside.block):
            return self.room(state)
        has_negative = any("-" in text for text in outside.text)
        return self.room(state).inset(left=LARGEST if has_negative else 0, right=LARGEST)

    def clip(self, state: ViewState) -> Box:
        """Compute the visible part of a magnified picture: the view without the legend."""
        return Box(0, 0, state.width, self.room(state).bottom + self.theme.px(3 if state.large else 4))

    def _group(self, state: ViewState, number: int) -> ColourGroup:
        groups = self._groups(state)
        return self._memoised(
            "groups by buffer", lambda: {n: g for g in groups for n in g.buffers}, ByIdentity(groups)
        )[number]

    def _table(self, measure: str) -> NDArray[np.uint32]:
        return self._memoised(f"table {measure}", lambda: paint.colour_table(self.theme, measure), 0)

    def _highlighted(self, state: ViewState) -> HighlightedBuffers:
        """Find the highlighted cells of each buffer; None if nothing is dimmed."""
        highlight = state.highlight
        if highlight is None:
            return None
        sheets = {n: place.sheet for n, place in self.layout(state).places.items()}
        return self._memoised(
            "lit cells",
            lambda: find_highlighted_cells(self.data, highlight, *state.now, sheets),
            self._highlight_key(state),
        )

    def _highlight_key(self, state: ViewState) -> Hashable:
        """Return a key of everything that the highlighted cells depend on."""
        highlight = state.highlight
        return (
            highlight,
            self.layout(state),
            state.now if highlight and (highlight.threads or highlight.warps) else state.selection,
        )

    def _text_theme(self, state: ViewState, number: int) -> Theme:
        """Return the theme for the words of a buffer."""
        highlighted = self._highlighted(state)
        return (
            self.theme if highlighted is None or number in highlighted else dim_theme(self.theme, state.keep)
        )

    def _footprint_opacity(self, state: ViewState, number: int) -> float:
        """Return the opacity of a buffer's footprints, which must not compete with the frames of highlighted cells."""
        highlighted = self._highlighted(state)
        return (
            1.0
            if highlighted is None or (number in highlighted and highlighted[number].elements is None)
            else state.keep
        )

    def value_text(self, state: ViewState, number: int, place: BufferPosition) -> ValueText | None:
        """Choose the size and digits of the values in a buffer's cells; None if values are not shown."""
        if min(place.cell, place.row) < TEXT_FROM:
            return None
        session, copy = self.data.session, self.data.copy(number, state.selection)
        values = self._memoised(
            f"values {number}", lambda: descriptions.usual_values(session, number, copy), copy
        )
        digits = (3, 2) if state.large else (4, 3, 2)
        return self._memoised(
            f"value text {number}",
            lambda: choose_value_text(place, partial(descriptions.usual_texts, values), digits, self.theme),
            (place.cell, place.row, copy, state.large),
        )

    def paired_space(self, only: tuple[str, ...] = (), large: bool = False) -> PairedSpace:
        """Compute the space that the picture needs next to another; `only` and `large`: as in `ViewState`."""
        return self._memoised("needs", lambda: self._compute_needs(only, large), (only, large))

    def _compute_needs(self, only: tuple[str, ...], large: bool) -> PairedSpace:
        buffers, shown = self.data.session.trace.buffers, self.data.shown_buffers(only)
        roles = self._roles(shown)
        name_widths = {n: words.name_width(buffers[n], self.theme, large) for n in roles.values()}
        shapes = tuple(buffers[roles[r]].shape for r in ("left", "above", "result")) if roles else ()
        right = max((w for n, w in name_widths.items() if n != roles["left"]), default=0.0)
        tiles = any(buffers[n].space == "shared" for n in shown)
        strip = any(buffers[n].space == "local" for n in shown)
        return PairedSpace(shapes, name_widths[roles["left"]] if roles else 0.0, right, tiles, strip)

    def _roles(self, shown: Collection[int]) -> dict[str, int]:
        """Return the roles of a product if all its buffers are visible."""
        roles = self.data.roles
        return roles if all(number in shown for number in roles.values()) else {}

    def _compute_layout(self, state: ViewState) -> MemoryLayout:
        buffers, needs = self.data.session.trace.buffers, self.paired_space(state.only, state.large)
        shown = self.data.shown_buffers(state.only)
        roles = self._roles(shown)
        is_paired = state.paired_space is not None and state.paired_space.shapes == needs.shapes
        if state.paired_space and is_paired:
            needs = state.paired_space
        others = [buffers[n] for n in shown if n not in roles.values()]
        bold = self.theme.font(words.NAME, bold=True)
        widest_name = max((text_width(buffer_text(b), bold) for b in others), default=0.0)
        line = words.line_height(self.theme)
        lanes = LANES if len(self.data.session.requests.exchanges) else 0.0
        large = state.large or len(shown) < len(buffers)
        metrics = Metrics(
            line,
            needs.left,
            needs.right,
            min(widest_name, 8 * line),
            needs.tiles,
            lanes,
            large,
            is_paired and needs.strip,
        )
        return arrange(buffers, roles, self._room_of_arrays(state), metrics, self.data.stored, shown)

    def tops(self, colour_by: str, selection: Selection) -> dict[tuple[str, str], int]:
        """Compute the largest counts of the scales without other panes, by measure and space."""
        key = colour_by, selection
        return self._memoised(f"tops {selection.block}", lambda: self.data.tops(*key), key)

    def _groups(self, state: ViewState) -> list[ColourGroup]:
        key = (state.colour_by, state.selection, state.tops)
        return self._memoised(f"groups {state.selection.block}", lambda: self.data.groups(*key), key)

    def _legend(self, state: ViewState) -> legend.LegendRows:
        key = (state.width, state.legend, state.hides_faults, self.data.races, *self._groups(state))
        return self._memoised("legend", lambda: self._compute_legend(state), key)

    def _compute_legend(self, state: ViewState) -> legend.LegendRows:
        data, groups = self.data, self._groups(state)
        has_hatch = data.has_unwritten and any(group.measure == "value" for group in groups)
        trace, touched = data.session.trace, data.stored | data.loaded
        items = legend.legend_items(groups, trace.buffers, touched, has_hatch, mark_of(trace), self.theme)
        marks_faults = bool(items) and not state.hides_faults
        if marks_faults and self.data.races:
            items.insert(-1, legend.LegendItem("", "race", "in a race"))
        if marks_faults and len(outside_of(data.session)):
            items.insert(-1, legend.LegendItem("", "outside", "outside its array"))
        if marks_faults and differences_of(data.session):
            items.insert(-1, legend.LegendItem("", "differing", "wrong"))
        return legend.legend_rows(items, state.width - 2 * self.theme.px(12), state.legend, self.theme)

    def _legend_height(self, state: ViewState) -> float:
        """Compute the height of the legend from its permitted rows, so that pictures side by side align."""
        margin = (5 if state.large else 14) if state.legend else 3 if state.large else 6
        return state.legend * words.line_height(self.theme) + self.theme.px(margin)

    def _memoised(self, name: str, compute: Callable[[], T], key: Hashable) -> T:
        """Return the memoised value of this name, or compute it if the key has changed."""
        if name not in self._memo or self._memo[name][0] != key:
            self._memo[name] = key, compute()
        value: T = self._memo[name][1]
        return value
