"""The picture that the memory view shows: a function of a session, a theme and a `ViewState`; what repeats is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPixmap

from ...model.session import Selection, Session
from ...model.spotlight import Lit
from ...widgets.theme import Theme
from ..common import cell_colours
from ..common.descriptions import warp_caption
from ..common.dimming import VEIL, dimmed, faintly
from ..common.drawing import is_vector, rect, width_of
from ..common.exchange_paint import LANES, draw_exchange
from ..common.geometry import Box
from ..common.wording import block_text, buffer_text, mark_of
from . import descriptions
from . import legend as legend
from . import paint as paint
from . import text as words
from .footprints import CellRect, phase_at
from .layout.buffer_place import BufferPlace, MemoryLayout, Metrics
from .layout.layout import arrange
from .layout.sheet import Sheet
from .lit_cells import LitBuffers, lit_cells, parted, parted_loads, standing_out
from .paint import Dots
from .sparse_sheets import unchanging_dots, with_changing
from .values import TEXT_FROM, Inks, ValueLayer, ValueText, inks_on, value_text_of
from .view_data import ColourGroup, MemoryViewData, Tops

LARGEST_ZOOMED_CELL = 120.0
T = TypeVar("T")


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


class MemoryPicture:
    """Draws the buffers of a session. Each part is made anew only when something that it depends on has changed."""

    def __init__(self, session: Session, theme: Theme) -> None:
        self.data = MemoryViewData(session)
        self.theme = theme.speaking(session.scenario)
        self._memo: dict[str, tuple[Hashable, Any]] = {}
        self.values: dict[int, ValueLayer] = {}  # by buffer, what is written into its cells

    def paint(self, painter: QPainter, state: ViewState) -> None:
        """Draw everything."""
        layout, room, clip = self.zoomed(state), self.room(state), self.clip(state)
        buffers, lit, keep = self.data.session.trace.buffers, self._lit(state), state.keep
        painter.save()
        painter.setClipRect(rect(clip))
        dots = {}
        for n, place in layout.places.items():
            dots[n] = self._dots_now(painter, state, n, place, clip)
            draw = partial(paint.draw_cells, painter, place, dots[n], self.theme)
            paint.draw_lit(painter, place, None if lit is None else lit.get(n), keep, draw)
        self._paint_footprints(painter, state, layout)
        key = (state.now, layout, self.data.races)
        raced = self._once("races", lambda: self.data.race_marks(*state.now, layout.places), key)
        for race, strength in parted(raced, layout.places, lit, keep):
            with faintly(painter, strength):
                paint.draw_race_frame(painter, layout.places[race.buffer], race.rows, race.cols, self.theme)
        marks = self._once("marks", lambda: self.data.marks(*state.now, layout.places), (state.now, layout))
        for mark, strength in parted(marks, layout.places, lit, keep):
            paint.draw_mark(painter, layout.places[mark.buffer], mark, self.theme, strength)
        for race, strength in parted(raced, layout.places, lit, keep):
            with faintly(painter, strength):
                paint.draw_race_signs(painter, layout.places[race.buffer], race.rows, race.cols, self.theme)
        self._paint_loads(painter, state, layout)  # below all that is written
        for number, place in layout.places.items():
            self._paint_values(painter, state, number, place, dots[number])
            words.draw_slices(painter, place, buffers[number], self._ink(state, number))
        for number, cells in (lit or {}).items():
            paint.draw_lit_frame(painter, layout.places[number], cells.shape, self.theme)
        boxes = [place.box for place in layout.places.values()]
        for number, place in layout.places.items():
            if state.zoom.scale > 1:
                words.draw_chip(painter, place, buffers[number], room, boxes, self._ink(state, number))
            else:
                words.draw_name(painter, place, buffers[number], room, self._ink(state, number), state.large)
        told = state.lit is None or state.lit.has_warp_of(state.selection)
        ink = self.theme if told else dimmed(self.theme, keep)
        words.draw_caption(painter, layout.caption, self._caption(state), ink)
        with faintly(painter, 1.0 if told else keep):
            self._paint_exchange(painter, state, layout.caption)
        painter.restore()
        with faintly(painter, 1.0 if lit is None or lit else 1.0 - VEIL):  # it speaks of the cells
            self._paint_legend(painter, state, QPointF(room.x, clip.bottom))

    def element_at(self, state: ViewState, position: QPointF) -> tuple[int, int] | None:
        """Return buffer and element at a position."""
        if position.y() > self.clip(state).bottom:
            return None
        for number, place in self.zoomed(state).places.items():
            element = place.element_at(position.x(), position.y())
            if element is not None:
                return number, element
        return None

    def race_at(self, state: ViewState, buffer: int, element: int) -> str:
        """Return which two threads race for an element at this moment, "" where none do."""
        return self.data.race_text(*state.now, (buffer, element))

    def description(self, state: ViewState) -> str:
        """Return the picture in words."""
        moment, selection = state.now
        raced = self.data.race_text(moment, selection)
        session = self.data.session
        who, block = descriptions.actor_text(session, selection), block_text(session.trace, selection.block)
        doing = warp_caption(session, moment, selection)
        text = f"Moment {moment} of {session.end}. {who} of {block}: {doing}."
        return f"{text} Race: {raced}." if raced else text

    def largest_scale(self, state: ViewState) -> float:
        """Return how far the picture may be magnified."""
        cells = [place.cell for place in self.layout(state).places.values()]
        return max(1.0, LARGEST_ZOOMED_CELL / min(cells)) if cells else 1.0

    def layout(self, state: ViewState) -> MemoryLayout:
        """Return where everything stands without magnification."""
        key = (state[:4], state.large, state.only)
        return self._once("layout", lambda: self._new_layout(state), key)

    def lecture_legend(self, state: ViewState) -> int:
        """Return the rows of the legend where cells take what there is: none where all of them show their values."""
        bare = state._replace(legend=0)
        return self._once("lecture legend", lambda: int(self._hides_values(bare)), (bare[:4], state.only))

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
        return next(g for g in self._groups(state) if number in g.buffers)

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

    def _dots_now(
        self, painter: QPainter, state: ViewState, number: int, place: BufferPlace, window: Box
    ) -> Dots:
        data, sheet, group = self.data, place.sheet, self._group(state, number)
        key = (data.version(number, group, *state.now), group, sheet)
        table = self._table(group.measure)
        shape = paint.seen(place, window), paint.cells_per_dot(place, painter.deviceTransform().m11())
        return self._once(
            f"dots {number}", lambda: self._dots(state, number, sheet, group, shape, table), (key, shape)
        )

    def _paint_values(
        self, painter: QPainter, state: ViewState, number: int, place: BufferPlace, dots: Dots
    ) -> None:
        how = self.value_text(state, number, place)
        if how is None or not dots.codes.size or dots.step > 1:
            return
        lit = self._lit(state)
        bright = self._once(
            f"standing out {number}",
            lambda: standing_out(place.sheet, dots.part, lit, number),
            (self._lit_key(state), dots.part),
        )
        measure = self._group(state, number).measure
        inks = np.where(
            bright, self._inks(measure, 1.0)[dots.codes], self._inks(measure, state.keep)[dots.codes]
        )
        values, known = self.data.known_values(number, *state.now)
        layer = self.values.setdefault(number, ValueLayer())
        layer.draw(painter, place, dots.part, inks, how, values, known, self.theme)

    def _inks(self, measure: str, keep: float) -> Inks:
        """Return the colours of words on the codes of cells."""
        return self._once(
            f"inks {measure} {keep}", lambda: inks_on(self._table(measure), keep, self.theme), 0
        )

    def value_text(self, state: ViewState, number: int, place: BufferPlace) -> ValueText | None:
        """Return how the values of a buffer are written into its cells, None where they are not."""
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

    def _dots(
        self,
        state: ViewState,
        number: int,
        sheet: Sheet,
        group: ColourGroup,
        shape: tuple[CellRect, int],
        table: NDArray[np.uint32],
    ) -> Dots:
        """Return the pixels of a buffer's cells; where few of many ever change, the others are made once."""
        data, (moment, selection) = self.data, state.now
        if group.measure == "image":
            unread = int(table[cell_colours.UNREAD])
            return paint.image_dots(data.image(number, sheet, group, unread, moment, selection), *shape)
        changing = data.changing_elements(number, group, moment, selection)
        key = (data.copy(number, selection), group, sheet)
        if changing is None:
            now = (data.version(number, group, moment, selection), *key)
            codes = self._once(f"codes {number}", lambda: data.codes(number, sheet, group, *state.now), now)
            return paint.dots_of(codes, *shape, table)
        first = self._once(f"codes {number}", lambda: data.untouched(number, sheet, group, selection), key)
        kept = self._once(
            f"unchanging dots {number}",
            lambda: unchanging_dots(first, sheet, changing.elements, *shape),
            (key, shape),
        )
        dots, hatched = with_changing(kept, changing.codes)
        return Dots(*shape, dots, cell_colours.pixels(dots, table), hatched)

    def _paint_footprints(self, painter: QPainter, state: ViewState, layout: MemoryLayout) -> None:
        session, (moment, selection) = self.data.session, state.now
        block, sheets = selection.block, {n: p.sheet for n, p in layout.places.items()}
        footprints = self._once(
            f"footprints {block}", lambda: self.data.footprints(block, sheets), self.layout(state)
        )
        phase = phase_at(session.requests, session.trace, block, moment)
        for number, whole in footprints.whole.items():
            now = footprints.at(number, phase)
            place, look = layout.places[number], (self.theme, self._stroke(state, number))
            if now is None or (whole.part, whole.outline is None) != (now.part, now.outline is None):
                paint.draw_footprint(painter, place, whole, *look, strong=False)
            if now:
                paint.draw_footprint(painter, place, now, *look, strong=True)
        for number, elements in self._once(
            "written elements", lambda: self.data.written_elements(selection), selection
        ).items():
            if number not in layout.places:
                continue
            with faintly(painter, self._stroke(state, number)):
                paint.draw_written(painter, layout.places[number], elements, self.theme)

    def _paint_exchange(self, painter: QPainter, state: ViewState, caption: Box) -> None:
        """Draw which lanes of the selected warp give each other values now, where there is room below the words."""
        data = self._once("exchange", lambda: self.data.exchange(*state.now), state.now)
        line = words.line_of(self.theme)
        if data and caption.height >= (LANES + 2) * line:
            below = caption.inset(top=2.4 * line)
            draw_exchange(painter, below._replace(height=LANES * line), data, self.theme)

    def _paint_loads(self, painter: QPainter, state: ViewState, layout: MemoryLayout) -> None:
        """Draw loads on their way while time passes, and the ways of the selected warp's while it stands."""
        places, fraction = layout.places, state.moment - math.floor(state.moment)
        for loads in self._once(
            "loads in flight", lambda: self.data.loads_in_flight(*state.now, places), (state.now, layout)
        ):
            for some, strength in parted_loads(loads, self._lit(state), state.keep):
                with faintly(painter, strength):
                    if fraction > 0 and not self.theme.reduced_motion:
                        paint.draw_moving_loads(painter, some, fraction, self.theme)
                    else:
                        paint.draw_load_arcs(painter, some, self.theme)

    def _caption(self, state: ViewState) -> list[tuple[str, str]]:
        selection, layout, session = state.selection, self.layout(state), self.data.session
        title = self._say("title", f"{descriptions.actor_text(session, selection)} now")
        doing = self._say("text", warp_caption(session, *state.now))
        brief = self._say("brief", warp_caption(session, *state.now, brief=True))
        block = self._say("note", block_text(session.trace, selection.block))
        raced = self._once("race text", lambda: self.data.race_text(*state.now), (state.now, self.data.races))
        if raced:
            return [title, self._say("alert", f"Race: {raced}."), doing, self._say("brief", f"race: {raced}")]
        if self.data.exchange(*state.now):
            return [title, doing, brief]
        if not layout.tiles:
            return [title, doing, block, brief]
        note = self._say("note", f"shared memory of {block_text(session.trace, selection.block)}")
        fits = width_of(note[1], self.theme.font(words.SMALL)) <= layout.caption.width
        return [note if fits else block, title, doing, brief]

    def _say(self, style: str, text: str) -> tuple[str, str]:
        """Return a line of the caption in the words that the user chose, or that the scenario speaks."""
        return style, self.theme.say(text)

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
        return Needs(shapes, named[roles["left"]] if roles else 0.0, right, tiles)

    def _roles(self, shown: Collection[int]) -> dict[str, int]:
        """Return the roles of a product of which all is shown."""
        roles = self.data.roles
        return roles if all(number in shown for number in roles.values()) else {}

    def _new_layout(self, state: ViewState) -> MemoryLayout:
        buffers, needs = self.data.session.trace.buffers, self.needs(state.only, state.large)
        shown = self.data.shown_buffers(state.only)
        roles = self._roles(shown)
        if state.beside and state.beside.shapes == needs.shapes:
            needs = state.beside
        above = [buffers[n] for n in shown if n not in roles.values()]
        bold = self.theme.font(words.NAME, bold=True)
        name = max((width_of(buffer_text(b), bold) for b in above), default=0.0)
        line = words.line_of(self.theme)
        lanes = LANES if len(self.data.session.requests.exchanges) else 0.0
        large = state.large or len(shown) < len(buffers)
        metrics = Metrics(line, needs.left, needs.right, min(name, 8 * line), needs.tiles, lanes, large)
        return arrange(buffers, roles, self.room(state), metrics, self.data.stored, shown)

    def _groups(self, state: ViewState) -> list[ColourGroup]:
        key = (state.colour_by, state.selection, state.tops)
        return self._once("groups", lambda: self.data.groups(*key), key)

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

    def _paint_legend(self, painter: QPainter, state: ViewState, corner: QPointF) -> None:
        if not is_vector(painter):
            painter.drawPixmap(corner, self._legend_picture(state, painter.deviceTransform().m11()))
            return
        painter.translate(corner)
        legend.draw_legend(painter, self._legend(state), self.theme)
        painter.translate(-corner)

    def _legend_picture(self, state: ViewState, ratio: float) -> QPixmap:
        rows, width, height = self._legend(state), state.width, state.height - self.clip(state).bottom
        key = (width, height, ratio, state.legend, self.data.races, *self._groups(state))
        return self._once(
            "legend picture", lambda: legend.legend_picture(rows, width, height, ratio, self.theme), key
        )

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
