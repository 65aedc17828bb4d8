"""The picture that the memory view shows: a function of a session, a theme and a `ViewState`; what repeats is kept."""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import partial
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QPainter, QPainterPath, QPixmap

from ...model.session import Selection, Session
from ...widgets.theme import Theme
from ..common import cell_colours
from ..common.canvas import Canvas
from ..common.descriptions import warp_captions
from ..common.differences import differences_of, differing_now
from ..common.dimming import VEIL, dimmed, faintly
from ..common.drawing import Words, box_of, clipped, draw_words, is_vector, rect, width_of
from ..common.exchange_paint import LANES, draw_exchange
from ..common.geometry import Box
from ..common.outside import outside_of
from ..common.pieces import Piece, Pieces, Same, area, draw_pieces
from ..common.wording import block_text, coordinates_text
from . import descriptions
from . import legend as legend
from . import paint as paint
from . import text as words
from .arrangement import MemoryArrangement, ViewState
from .footprints import Footprint, Footprints, phase_at
from .layout.buffer_place import BufferPlace, MemoryLayout
from .layout.ghosts import Ghost, ghosts_of
from .layout.sheet import Sheet
from .lit_cells import parted, parted_loads, standing_out
from .loads import DrawnLoads, MovingLoads, Ways
from .outlines import CellRect
from .paint import Dots, DrawnMark, Hatch
from .sparse_sheets import unchanging_dots, with_changing
from .values import TEXT_FROM, Inks, ValueLayer, ValueText, inks_on
from .view_data import ColourGroup

LARGEST_ZOOMED_CELL = 120.0
T = TypeVar("T")


class MemoryPicture(MemoryArrangement):
    """Draws the buffers of a session. Each part is made anew only when something that it depends on has changed."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__(session, theme)
        self._canvas = Canvas()
        self.values: dict[int, ValueLayer] = {}  # by buffer, what is written into its cells

    def paint(
        self, painter: QPainter, state: ViewState, pieces: Pieces | None = None, seen: QRect | None = None
    ) -> None:
        """Draw everything, or what is to be seen in a rectangle; pieces: as `pieces` returned them for this painter."""
        ratio, ground = painter.deviceTransform().m11(), self.theme.colour("panel")
        look, cells, above = pieces or self.pieces(state, ratio)
        if not is_vector(painter):
            canvas = self._canvas.picture(look, (state.width, state.height), ratio, ground, cells)
            painter.drawPixmap(0, 0, canvas)
        with clipped(painter, rect(self.clip(state))):
            if is_vector(painter):
                draw_pieces(painter, cells, None)
            draw_pieces(painter, above, seen)
        if seen is None or seen.bottom() >= self.clip(state).bottom:
            lit = self._lit(state)
            with faintly(painter, 1.0 if lit is None or lit else 1.0 - VEIL):  # it speaks of the cells
                self._paint_legend(painter, state, QPointF(self.room(state).x, self.clip(state).bottom))

    def pieces(self, state: ViewState, ratio: float) -> Pieces:
        """Return what is drawn at so many device pixels to a logical one; of the legend the look alone.

        They hold this picture, which therefore never holds them: no circle keeps a trace alive.
        """
        layout = self.zoomed(state)
        look = (
            state._replace(moment=0.0, selection=Selection()), Same(layout), Same(self._lit(state)),
            Same(self.data.races), *self._groups(state),
        )  # fmt: skip
        shapes = self._shapes(state, layout, ratio)
        dots = {n: self._dots_now(state, n, place.sheet, shapes[n]) for n, place in layout.places.items()}
        cells = [self._cells(state, n, place, dots[n], ratio) for n, place in layout.places.items()]
        above = [
            *self._footprints(state, layout),
            *self._race_pieces(state, layout, "frame"),
            *self._difference_pieces(state, layout),
            *self._mark_pieces(state, layout),
            *self._race_pieces(state, layout, "signs"),
            *self._load_pieces(state, layout),  # below all that is written
            *(
                piece
                for n, place in layout.places.items()
                for piece in self._values(state, n, place, dots[n])
            ),
            *self._names(state, layout),
            *self._captions(state, layout),
            *self._ghost_pieces(state, layout),
        ]
        return Pieces(look, cells, above)

    def _cells(self, state: ViewState, number: int, place: BufferPlace, dots: Dots, ratio: float) -> Piece:
        lit = self._lit(state)
        chosen, box = None if lit is None else lit.get(number), paint.part_rect(place, dots.part)
        parts: dict[object, QRect] = {}  # by what was there before

        def draw(painter: QPainter) -> None:
            kept = dots.hatched and lit is None and not is_vector(painter)
            hatch = self._hatch(state, number, box, ratio) if kept else None
            cells = partial(paint.draw_cells, painter, place, dots, self.theme, hatch)
            paint.draw_lit(painter, place, chosen, state.keep, cells)

        def part(before: Hashable) -> QRect:
            held = before.held if isinstance(before, Same) else None
            if before not in parts:
                parts[before] = area(
                    paint.changed_part(place, held, dots, ratio) if isinstance(held, Dots) else box
                )
            return parts[before]

        return Piece(("cells", number), Same(dots), area(box), draw, part)

    def _hatch(self, state: ViewState, number: int, box: QRectF, ratio: float) -> Hatch:
        """Return the hatch below the cells of a buffer, which is kept: it takes longer than all other cells."""
        size = state.width, state.height
        key = (box.x(), box.y(), box.width(), box.height(), size, ratio)
        return self._once(f"hatch {number}", lambda: paint.hatch_of(box, size, ratio, self.theme), key)

    def _race_pieces(self, state: ViewState, layout: MemoryLayout, what: str) -> list[Piece]:
        """Return the frames of cells that are raced for, or the signs on them."""
        if self.data.races is None:
            return []
        key = (state.now, layout, self.data.races)
        raced = self._once("races", lambda: self.data.race_marks(*state.now, layout.places), key)
        brush = paint.draw_race_frame if what == "frame" else paint.draw_race_signs
        around = float(self.theme.px(paint.SIGN) if what == "signs" else paint.FRAME)

        def draw(painter: QPainter) -> None:
            for race, strength in parted(raced, layout.places, self._lit(state), state.keep):
                with faintly(painter, strength):
                    brush(painter, layout.places[race.buffer], race.rows, race.cols, self.theme)

        box = QRectF()
        for race in raced:
            box = box.united(paint.cells_rect(layout.places[race.buffer], race.rows, race.cols, around))
        return [Piece(("races", what), Same(raced), area(box), draw)] if raced else []

    def _difference_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Return marks on the elements that differ from NumPy."""
        session, moment, found = self.data.session, math.floor(state.moment), []
        for number in differences_of(session).keys() & layout.places.keys():
            place = layout.places[number]
            elements = self._once(
                f"differences {number}", partial(differing_now, session, number, moment), moment
            )
            if len(elements):
                draw = partial(paint.draw_differing, place=place, elements=elements, theme=self.theme)
                found.append(Piece(("differing", number), Same(elements), area(rect(place.box)), draw))
        return found

    def _ghost_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Return the cells outside arrays that are accessed now, beside the arrays."""
        session = self.data.session
        if not len(session.trace.outside.block):
            return []
        key = (state.now, Same(layout), self.clip(state))

        def found() -> list[Ghost]:
            accesses = outside_of(session).shown(math.floor(state.moment), state.selection.block)
            return ghosts_of(accesses, session.trace.buffers, layout.places, self.clip(state))

        shown = self._once("ghosts", found, key)
        if not shown:
            return []
        draw = partial(paint.draw_ghosts, ghosts=shown, theme=self.theme)
        return [Piece("ghosts", tuple(shown), area(paint.ghosts_area(shown)), draw)]

    def _mark_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Return the cells that are accessed now, as marks."""
        key = (state.now, layout, Same(self._lit(state)))
        marks = self._once("marks", lambda: self._new_marks(state, layout), key)
        return [
            Piece(
                ("mark", i), Same(mark), area(mark.box), partial(paint.draw_mark, mark=mark, theme=self.theme)
            )
            for i, mark in enumerate(marks)
        ]

    def _new_marks(self, state: ViewState, layout: MemoryLayout) -> list[DrawnMark]:
        found = self.data.marks(*state.now, layout.places)
        return [
            paint.drawn_mark(layout.places[mark.buffer], mark, strength)
            for mark, strength in parted(found, layout.places, self._lit(state), state.keep)
        ]

    def _names(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Return what is written beside and above the buffers, and the frames of cells that stand out."""
        key = (state._replace(moment=0.0, selection=Selection()), Same(layout), Same(self._lit(state)))
        return self._once("names", lambda: self._new_names(state, layout), key)

    def _new_names(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        buffers, room, found = self.data.session.trace.buffers, self.room(state), []
        for number, cells in (self._lit(state) or {}).items():
            draw = partial(
                paint.draw_lit_frame, place=layout.places[number], shape=cells.shape, theme=self.theme
            )
            box = rect(layout.places[number].box).adjusted(
                -paint.FRAME, -paint.FRAME, paint.FRAME, paint.FRAME
            )
            found.append(Piece(("lit", number), 0, area(box), draw))
        boxes = [place.box for place in layout.places.values()]
        for number, place in layout.places.items():
            ink, buffer = self._ink(state, number), buffers[number]
            if state.zoom.scale > 1:
                written = words.chip_words(place, buffer, room, boxes, ink)
            else:
                written = words.name_words(place, buffer, room, ink, state.large)
            found.append(self._written(("name", number), 0, written, ink))
        return found

    def _written(self, name: Hashable, key: Hashable, written: list[Words], ink: Theme) -> Piece:
        """Return texts as a piece."""
        around = box_of(written).adjusted(-2, -2, 2, 2)  # letters may reach a little out of their box
        return Piece(name, key, area(around), partial(draw_words, texts=written, theme=ink))

    def _captions(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Return what is said of the selected warp and what its lanes give each other."""
        told = state.lit is None or state.lit.has_warp_of(state.selection)
        ink, lines, box = (
            self.theme if told else dimmed(self.theme, state.keep),
            self._caption(state),
            layout.caption,
        )
        key = told, *lines
        written = self._once(
            "caption", lambda: words.caption_words(box, lines, ink), (key, state.keep, Same(layout))
        )
        return [
            self._written("caption", key, written, ink),
            *self._exchange(state, layout.caption, 1.0 if told else state.keep),
        ]

    def race_at(self, state: ViewState, buffer: int, element: int) -> str:
        """Return which two threads race for an element at this moment, "" where none do."""
        return self.data.race_text(*state.now, (buffer, element))

    def description(self, state: ViewState) -> str:
        """Return the picture in words."""
        return self._once("description", lambda: self._new_description(state), (state.now, self.data.races))

    def _new_description(self, state: ViewState) -> str:
        (moment, selection), session, raced = state.now, self.data.session, self._race_text(state)
        who, block = descriptions.actor_text(session, selection), block_text(session.trace, selection.block)
        doing = self._doing(state)[0]
        text = f"Moment {moment} of {session.end}. {who} of {block}: {doing}."
        return f"{text} Race: {raced}." if raced else text

    def _shapes(
        self, state: ViewState, layout: MemoryLayout, ratio: float
    ) -> dict[int, tuple[CellRect, int]]:
        """Return of each buffer the cells that are seen, and how many of them, in a row, share a pixel."""
        window = self.clip(state)
        return self._once(
            "shapes",
            lambda: {
                n: (paint.seen(place, window), paint.cells_per_dot(place, ratio))
                for n, place in layout.places.items()
            },
            (Same(layout), window, ratio),
        )

    def _dots_now(self, state: ViewState, number: int, sheet: Sheet, shape: tuple[CellRect, int]) -> Dots:
        group = self._group(state, number)
        key = (self.data.version(number, group.measure, *state.now), group, sheet, shape)
        return self._once(f"dots {number}", lambda: self._dots(state, number, sheet, group, shape), key)

    def _values(self, state: ViewState, number: int, place: BufferPlace, dots: Dots) -> list[Piece]:
        """Return what is written into and between the cells of a buffer."""
        if min(place.cell, place.row) < TEXT_FROM and not place.sheet.above:
            return []  # as most often
        ink = self._ink(state, number)
        slices = self._once(
            f"slices {number}",
            lambda: words.slice_words(place, self.data.session.trace.buffers[number], ink),
            (place, Same(ink)),
        )
        found = [self._written(("slices", number), 0, slices, ink)] if slices else []
        how = self.value_text(state, number, place)
        if how is None or not dots.codes.size or dots.step > 1:
            return found
        key = Same(dots), how, self.data.version(number, "value", *state.now)
        draw = partial(self._draw_values, state=state, number=number, place=place, dots=dots, how=how)
        return [Piece(("values", number), key, area(paint.part_rect(place, dots.part)), draw), *found]

    def _draw_values(
        self, painter: QPainter, state: ViewState, number: int, place: BufferPlace, dots: Dots, how: ValueText
    ) -> None:
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

    def _dots(
        self,
        state: ViewState,
        number: int,
        sheet: Sheet,
        group: ColourGroup,
        shape: tuple[CellRect, int],
    ) -> Dots:
        """Return the pixels of a buffer's cells; where few of many ever change, the others are made once."""
        data, (moment, selection), table = self.data, state.now, self._table(group.measure)
        if group.measure == "image":
            unread = int(table[cell_colours.UNREAD])
            return paint.image_dots(data.image(number, sheet, group, unread, moment, selection), *shape)
        changing = data.changing_elements(number, group, moment, selection)
        key = (data.copy(number, selection), group, sheet)
        if changing is None:
            now = (data.version(number, group.measure, moment, selection), *key)
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

    def _footprints(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Return what the selected block touches, in all and in its phase, and what the selected thread writes."""
        session, (moment, selection) = self.data.session, state.now
        block, found = selection.block, []
        footprints = self.footprints(state, block)
        phase = phase_at(session.requests, session.trace, block, moment)
        for number, whole in footprints.whole.items():
            now = footprints.at(number, phase)
            if now is None or (whole.part, whole.outline is None) != (now.part, now.outline is None):
                found.append(self._footprint(state, layout, number, whole, strong=False))
            if now:
                found.append(self._footprint(state, layout, number, now, strong=True))
        return [*found, *self._written_elements(state, layout)]

    def prepare(self, state: ViewState, block: int) -> None:
        """Find what the first picture of a block takes beyond that of another one."""
        layout, selection = self.zoomed(state), Selection(block, state.selection.thread)
        self.footprints(state, block)
        self.written_edges(state, selection, layout)
        for group in self.data.groups(state.colour_by, selection, state.tops):
            for number in layout.places.keys() & group.buffers:
                if self.data.copy(number, selection) != self.data.copy(number, state.selection):
                    self.data.codes(number, layout.places[number].sheet, group, 0, selection)

    def footprints(self, state: ViewState, block: int) -> Footprints:
        """Return what a block touches, found once for each."""
        sheets = {n: place.sheet for n, place in self.zoomed(state).places.items()}
        return self._once(
            f"footprints {block}", lambda: self.data.footprints(block, sheets), tuple(sheets.items())
        )

    def _footprint(
        self, state: ViewState, layout: MemoryLayout, number: int, footprint: Footprint, *, strong: bool
    ) -> Piece:
        place, strength = layout.places[number], self._stroke(state, number)
        box = paint.part_rect(place, footprint.part).adjusted(-3, -3, 3, 3)

        def draw(painter: QPainter) -> None:
            paint.draw_footprint(painter, place, footprint, self.theme, strength, strong=strong)

        return Piece(("footprint", number, strong), Same(footprint), area(box), draw)

    def _written_elements(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Return the frames around the elements that the selected thread writes."""
        found = []
        for number, edge in self.written_edges(state, state.selection, layout).items():
            strength = self._stroke(state, number)

            def draw(painter: QPainter, edge: QPainterPath = edge, strength: float = strength) -> None:
                with faintly(painter, strength):
                    paint.draw_written(painter, edge, self.theme)

            box = edge.boundingRect().adjusted(-3, -3, 3, 3)
            found.append(Piece(("written", number), Same(edge), area(box), draw))
        return found

    def written_edges(
        self, state: ViewState, selection: Selection, layout: MemoryLayout
    ) -> dict[int, QPainterPath]:
        """Return the outline of what a thread writes of each buffer, found once for each block."""
        key = selection.thread, Same(layout)
        return self._once(
            f"written elements {selection.block}", lambda: self._new_edges(selection, layout), key
        )

    def _new_edges(self, selection: Selection, layout: MemoryLayout) -> dict[int, QPainterPath]:
        written = self.data.written_elements(selection).items()
        return {n: paint.edge_of(layout.places[n], some) for n, some in written if n in layout.places}

    def _exchange(self, state: ViewState, caption: Box, strength: float) -> list[Piece]:
        """Return which lanes of the selected warp give each other values now, where there is room below the words."""
        data = self._once("exchange", lambda: self.data.exchange(*state.now), state.now)
        line = words.line_of(self.theme)
        if not data or caption.height < (LANES + 2) * line:
            return []
        below = caption.inset(top=2.4 * line)._replace(height=LANES * line)

        def draw(painter: QPainter) -> None:
            with faintly(painter, strength):
                draw_exchange(painter, below, data, self.theme)

        return [Piece("exchange", (Same(data), strength), area(rect(below, -4.0)), draw)]

    def _load_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Return loads on their way while time passes, and the ways of the selected warp's while it stands."""
        fraction = state.moment - math.floor(state.moment)
        moving = fraction > 0 and not self.theme.reduced_motion
        ways = self.ways(state)
        found = []
        for i, (loads, strength) in enumerate(ways):
            drawn = loads.moving(fraction, self.theme) if moving else loads.still()

            def draw(
                painter: QPainter, drawn: DrawnLoads | MovingLoads = drawn, strength: float = strength
            ) -> None:
                with faintly(painter, strength):
                    drawn.draw(painter, self.theme)

            found.append(Piece(("loads", i), Same(drawn), area(drawn.box), draw))
        return found

    def ways(self, state: ViewState) -> list[tuple[Ways, float]]:
        """Return the ways of the loads of a moment, and how strongly each kind of them is drawn."""
        layout = self.zoomed(state)
        key = (state.now, layout, Same(self._lit(state)))
        return self._once("loads in flight", lambda: self._new_loads(state, layout), key)

    def _new_loads(self, state: ViewState, layout: MemoryLayout) -> list[tuple[Ways, float]]:
        found = self.data.loads_in_flight(*state.now, layout.places)
        lit, keep = self._lit(state), state.keep
        return [(Ways(some), much) for loads in found for some, much in parted_loads(loads, lit, keep)]

    def _caption(self, state: ViewState) -> list[tuple[str, str]]:
        """Return what is said of the selected warp, as (style, text)."""
        key = (state.now, self.data.races, self.layout(state))
        return self._once("caption lines", lambda: self._new_caption(state), key)

    def _new_caption(self, state: ViewState) -> list[tuple[str, str]]:
        selection, layout, session = state.selection, self.layout(state), self.data.session
        title = self._say("title", f"{descriptions.actor_text(session, selection)} now")
        doing, brief = (self._say(*said) for said in zip(("text", "brief"), self._doing(state), strict=True))
        block = self._say("note", block_text(session.trace, selection.block))
        if raced := self._race_text(state):
            return [title, self._say("alert", f"Race: {raced}."), doing, self._say("brief", f"race: {raced}")]
        if self.data.exchange(*state.now):
            return [title, doing, brief]
        if not layout.tiles:
            return [title, doing, block, brief]
        shared, small = (
            f"shared memory of {block_text(session.trace, selection.block)}",
            self.theme.font(words.SMALL),
        )
        notes = [self._say("note", text) for text in (*self._with_locals(state, shared), shared)]
        fitting = [note for note in notes if width_of(note[1], small) <= layout.caption.width]
        return [*(fitting or [block])[:1], title, doing, brief]

    def _with_locals(self, state: ViewState, shared: str) -> list[str]:
        """Return what is said of shared memory with whose local arrays stand there, if there are some."""
        trace, shown = self.data.session.trace, self.layout(state).places
        if not any(trace.buffers[number].space == "local" for number in shown):
            return []
        return [
            f"{shared}, local arrays of thread {coordinates_text(state.selection.thread, trace.block_dim)}"
        ]

    def _doing(self, state: ViewState) -> tuple[str, str]:
        return self._once("doing", lambda: warp_captions(self.data.session, *state.now), state.now)

    def _race_text(self, state: ViewState) -> str:
        key = (state.now, self.data.races)
        return self._once("race text", lambda: self.data.race_text(*state.now), key)

    def _say(self, style: str, text: str) -> tuple[str, str]:
        """Return a line of the caption in the words that the user chose, or that the scenario speaks."""
        return style, self.theme.say(text)

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
