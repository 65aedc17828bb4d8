"""Where everything in the memory view stands and how it looks: from a session, a theme and a `ViewState`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF

from ...model.session import Selection, Session
from ...model.spotlight import Lit
from ...widgets.theme import Theme
from ..common.dimming import dimmed
from ..common.drawing import width_of
from ..common.exchange_paint import LANES
from ..common.geometry import Box
from ..common.pieces import Same
from ..common.wording import buffer_text, mark_of
from . import descriptions
from . import legend as legend
from . import paint as paint
from . import text as words
from .layout.buffer_place import BufferPlace, MemoryLayout, Metrics
from .layout.layout import arrange
from .lit_cells import LitBuffers, lit_cells
from .values import TEXT_FROM, ValueText, value_text_of
from .view_data import ColourGroup, MemoryViewData, Tops

LARGEST_ZOOMED_CELL = 120.0
T = TypeVar("T")


ROOMY = 40  # pixels of a cell at the normal text size, in which any value can be read


class Zoom(NamedTuple):
    """How far the picture is magnified, and which point of it (as shares of the view) stands in the middle."""

    scale: float = 1.0
    x: float = 0.5
    y: float = 0.5


class Needs(NamedTuple):
    """What a product needs of the room that it shares with the one beside it."""

    shapes: tuple[tuple[int, ...], ...]  # of its left, right and resulting matrix
    left: float  # pixels, the width of the names left of the matrices
    right: float  # pixels, the width of those right of them
    tiles: bool  # whether a corner is kept for shared memory
    strip: bool  # whether a strip below is kept for local arrays, where this stands beside another


class ViewState(NamedTuple):
    """What is to be drawn, and how."""

    width: int  # pixels
    height: int  # pixels
    legend: int  # rows of text that the legend may take
    beside: Needs | None  # what this picture and the one in the other pane need together, None for one alone
    colour_by: str  # one of COLOUR_BY
    tops: Tops  # where shared scales end
    zoom: Zoom  # magnification
    moment: float  # its fraction says how far loads have travelled
    selection: Selection  # block and thread
    large: bool = False  # whether cells are as large as they go, for a lecture
    only: tuple[str, ...] = ()  # names of the buffers that are shown, () for all
    lit: Lit | None = None  # what stands out while the rest dims; None dims nothing
    keep: float = 1.0  # how much is left of the shapes that do not

    @property
    def now(self) -> tuple[int, Selection]:
        """The whole moment and the selection."""
        return math.floor(self.moment), self.selection


class MemoryArrangement:
    """What is drawn of a session, without drawing it. What repeats is kept."""

    def __init__(self, session: Session, theme: Theme) -> None:
        self.data = MemoryViewData(session)
        self.theme = theme.speaking(session.scenario)
        self._memo: dict[str, tuple[Hashable, Any]] = {}

    def element_at(self, state: ViewState, position: QPointF) -> tuple[int, int] | None:
        """Return buffer and element at a position."""
        if position.y() > self.clip(state).bottom:
            return None
        for number, place in self.zoomed(state).places.items():
            element = place.element_at(position.x(), position.y())
            if element is not None:
                return number, element
        return None

    def largest_scale(self, state: ViewState) -> float:
        """Return how far the picture may be magnified."""
        cells = [place.cell for place in self.layout(state).places.values()]
        return max(1.0, LARGEST_ZOOMED_CELL / min(cells)) if cells else 1.0

    def layout(self, state: ViewState) -> MemoryLayout:
        """Return where everything stands without magnification."""
        key = (state[:4], state.large, state.only)
        return self._once("layout", lambda: self._new_layout(state), key)

    def lecture_legend(self, state: ViewState) -> int:
        """Return the rows of the legend where cells take what there is: none where it alone would hide their values."""
        bare, told = state._replace(legend=0), state._replace(legend=1)
        return self._once(
            "lecture legend",
            lambda: int(self._hides_values(bare) or self._is_roomy(told)),
            (bare[:4], state.only),
        )

    def _is_roomy(self, state: ViewState) -> bool:
        """Return whether every cell has room for any value."""
        places = self._new_layout(state).places.values()
        return all(min(place.cell, place.row) >= self.theme.px(ROOMY) for place in places)

    def _hides_values(self, state: ViewState) -> bool:
        """Return whether some cells have no room for their values, whatever block is looked at."""
        buffers = self.data.session.trace.buffers
        return any(
            min(place.cell, place.row) < TEXT_FROM
            or (buffers[number].space == "global" and self.value_text(state, number, place) is None)
            for number, place in self._new_layout(state).places.items()
        )

    def zoomed(self, state: ViewState) -> MemoryLayout:
        """Return where everything stands."""
        layout, (scale, x, y) = self.layout(state), state.zoom
        if scale <= 1:
            return layout
        dx, dy = state.width * (0.5 - x * scale), state.height * (0.5 - y * scale)
        return self._once("zoomed", lambda: layout.zoomed(scale, dx, dy), (layout, state.zoom))

    def room(self, state: ViewState) -> Box:
        """Return where the buffers may stand: all but margins and legend."""
        edge, top = (float(self.theme.px(length)) for length in ((4, 3) if state.large else (12, 6)))
        return Box(0, 0, state.width, state.height).inset(edge, top, edge, self._foot(state))

    def clip(self, state: ViewState) -> Box:
        """Return what shows of a magnified picture: all but the legend."""
        return Box(0, 0, state.width, self.room(state).bottom + self.theme.px(3 if state.large else 4))

    def _group(self, state: ViewState, number: int) -> ColourGroup:
        groups = self._groups(state)
        return self._once(
            "groups by buffer", lambda: {n: g for g in groups for n in g.buffers}, Same(groups)
        )[number]

    def _table(self, measure: str) -> NDArray[np.uint32]:
        return self._once(f"table {measure}", lambda: paint.colour_table(self.theme, measure), 0)

    def _lit(self, state: ViewState) -> LitBuffers:
        """Return what stands out of each buffer, None where nothing dims."""
        lit = state.lit
        if lit is None:
            return None
        sheets = {n: place.sheet for n, place in self.layout(state).places.items()}
        return self._once(
            "lit cells", lambda: lit_cells(self.data, lit, *state.now, sheets), self._lit_key(state)
        )

    def _lit_key(self, state: ViewState) -> Hashable:
        """Return what the cells that stand out follow from."""
        lit = state.lit
        return lit, self.layout(state), state.now if lit and (lit.threads or lit.warps) else state.selection

    def _ink(self, state: ViewState, number: int) -> Theme:
        """Return the theme for the words of a buffer."""
        lit = self._lit(state)
        return self.theme if lit is None or number in lit else dimmed(self.theme, state.keep)

    def _stroke(self, state: ViewState, number: int) -> float:
        """Return how strongly outlines of what a block touches are drawn: they do not vie with frames of cells."""
        lit = self._lit(state)
        return 1.0 if lit is None or (number in lit and lit[number].elements is None) else state.keep

    def value_text(self, state: ViewState, number: int, place: BufferPlace) -> ValueText | None:
        """Return how the values of a buffer are written into its cells, None where they are not."""
        if min(place.cell, place.row) < TEXT_FROM:
            return None
        session, copy = self.data.session, self.data.copy(number, state.selection)
        values = self._once(
            f"values {number}", lambda: descriptions.usual_values(session, number, copy), copy
        )
        digits = (3, 2) if state.large else (4, 3, 2)
        return self._once(
            f"value text {number}",
            lambda: value_text_of(place, partial(descriptions.usual_texts, values), digits, self.theme),
            (place.cell, place.row, copy, state.large),
        )

    def needs(self, only: tuple[str, ...] = (), large: bool = False) -> Needs:
        """Return what the picture needs where it stands beside another; `only` and `large`: as in `ViewState`."""
        return self._once("needs", lambda: self._new_needs(only, large), (only, large))

    def _new_needs(self, only: tuple[str, ...], large: bool) -> Needs:
        buffers, shown = self.data.session.trace.buffers, self.data.shown_buffers(only)
        roles = self._roles(shown)
        named = {n: words.name_width(buffers[n], self.theme, large) for n in roles.values()}
        shapes = tuple(buffers[roles[r]].shape for r in ("left", "above", "result")) if roles else ()
        right = max((w for n, w in named.items() if n != roles["left"]), default=0.0)
        tiles = any(buffers[n].space == "shared" for n in shown)
        strip = any(buffers[n].space == "local" for n in shown)
        return Needs(shapes, named[roles["left"]] if roles else 0.0, right, tiles, strip)

    def _roles(self, shown: Collection[int]) -> dict[str, int]:
        """Return the roles of a product of which all is shown."""
        roles = self.data.roles
        return roles if all(number in shown for number in roles.values()) else {}

    def _new_layout(self, state: ViewState) -> MemoryLayout:
        buffers, needs = self.data.session.trace.buffers, self.needs(state.only, state.large)
        shown = self.data.shown_buffers(state.only)
        roles = self._roles(shown)
        paired = state.beside is not None and state.beside.shapes == needs.shapes
        if state.beside and paired:
            needs = state.beside
        above = [buffers[n] for n in shown if n not in roles.values()]
        bold = self.theme.font(words.NAME, bold=True)
        name = max((width_of(buffer_text(b), bold) for b in above), default=0.0)
        line = words.line_of(self.theme)
        lanes = LANES if len(self.data.session.requests.exchanges) else 0.0
        large = state.large or len(shown) < len(buffers)
        metrics = Metrics(
            line,
            needs.left,
            needs.right,
            min(name, 8 * line),
            needs.tiles,
            lanes,
            large,
            paired and needs.strip,
        )
        return arrange(buffers, roles, self.room(state), metrics, self.data.stored, shown)

    def tops(self, colour_by: str, selection: Selection) -> dict[tuple[str, str], int]:
        """Return where the scales that count would end without other panes, by measure and space."""
        key = colour_by, selection
        return self._once(f"tops {selection.block}", lambda: self.data.tops(*key), key)

    def _groups(self, state: ViewState) -> list[ColourGroup]:
        key = (state.colour_by, state.selection, state.tops)
        return self._once(f"groups {state.selection.block}", lambda: self.data.groups(*key), key)

    def _legend(self, state: ViewState) -> legend.LegendRows:
        key = (state.width, state.legend, self.data.races, *self._groups(state))
        return self._once("legend", lambda: self._new_legend(state), key)

    def _new_legend(self, state: ViewState) -> legend.LegendRows:
        data, groups = self.data, self._groups(state)
        hatched = data.has_unwritten and any(group.measure == "value" for group in groups)
        trace, touched = data.session.trace, data.stored | data.loaded
        items = legend.legend_items(groups, trace.buffers, touched, hatched, mark_of(trace), self.theme)
        if items and self.data.races:
            items.insert(-1, legend.LegendItem("", "race", "in a race"))
        return legend.legend_rows(items, state.width - 2 * self.theme.px(12), state.legend, self.theme)

    def _foot(self, state: ViewState) -> float:
        """Return the height of the legend: that of the rows it may take, so that pictures side by side agree."""
        edge = 14 if state.legend else 3 if state.large else 6
        return state.legend * words.line_of(self.theme) + self.theme.px(edge)

    def _once(self, name: str, make: Callable[[], T], key: Hashable) -> T:
        """Return what was made last under this name, or make it anew if the key is another."""
        if name not in self._memo or self._memo[name][0] != key:
            self._memo[name] = key, make()
        value: T = self._memo[name][1]
        return value
