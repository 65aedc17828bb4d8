"""The picture of the memory view: a function of a session, a theme and a `ViewState`, with memoised parts."""

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
from ..common.dimming import VEIL, dim_theme, reduced_opacity
from ..common.drawing import (
    PlacedText,
    bounding_box_of_texts,
    clipped,
    draw_placed_texts,
    is_vector,
    rect,
    text_width,
)
from ..common.exchange_paint import LANES, draw_exchange
from ..common.geometry import Box
from ..common.outside import outside_of
from ..common.pieces import ByIdentity, Piece, Pieces, covered_pixels, draw_pieces
from ..common.wording import block_text, coordinates_text
from . import descriptions
from . import legend as legend
from . import paint as paint
from . import text as words
from .arrangement import MemoryArrangement, ViewState
from .cell_values import TEXT_FROM, Inks, ValueLayer, ValueText, choose_inks
from .footprints import Footprint, Footprints, phase_at
from .highlighted_cells import mark_highlighted_cells, split_loads, split_marks
from .layout.buffer_position import BufferPosition, MemoryLayout
from .layout.ghosts import Ghost, ghosts_of
from .layout.sheet import Sheet
from .loads import DrawnLoads, LoadPaths, MovingLoads
from .outlines import CellRect
from .paint import Dots, Hatch, MarkShapes
from .sparse_sheets import add_changing_codes, unchanging_dots
from .value_path import draw_path, shape_path
from .view_data import ColourGroup

T = TypeVar("T")


class MemoryPicture(MemoryArrangement):
    """The painter of a session's buffers. Each part is recomputed only after a change of its inputs."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__(session, theme)
        self._canvas = Canvas()
        self.values: dict[int, ValueLayer] = {}  # the texts in the cells, by buffer

    def paint(
        self, painter: QPainter, state: ViewState, pieces: Pieces | None = None, visible: QRect | None = None
    ) -> None:
        """Draw everything, or the part in a rectangle; pieces: the result of `pieces` for this painter."""
        ratio, ground = painter.deviceTransform().m11(), self.theme.colour("panel")
        look, cells, above = pieces or self.pieces(state, ratio)
        if not is_vector(painter):
            canvas = self._canvas.picture(look, (state.width, state.height), ratio, ground, cells)
            painter.drawPixmap(0, 0, canvas)
        with clipped(painter, rect(self.clip(state))):
            if is_vector(painter):
                draw_pieces(painter, cells, None)
            draw_pieces(painter, above, visible)
        if visible is None or visible.bottom() >= self.clip(state).bottom:
            highlighted = self._highlighted(state)
            with reduced_opacity(
                painter, 1.0 if highlighted is None or highlighted else 1.0 - VEIL
            ):  # the legend dims with the cells
                self._paint_legend(painter, state, QPointF(self.room(state).x, self.clip(state).bottom))

    def pieces(self, state: ViewState, ratio: float) -> Pieces:
        """Collect the pieces for `ratio` device pixels per logical pixel. The legend is only part of the look.

        They refer to this picture, which must not refer to them: a reference cycle would keep a trace alive.
        """
        layout = self.zoomed(state)
        look = (
            state._replace(moment=0.0, selection=Selection()), ByIdentity(layout), ByIdentity(self._highlighted(state)),
            ByIdentity(self.data.races), *self._groups(state),
        )  # fmt: skip
        shapes = self._shapes(state, layout, ratio)
        dots = {n: self._current_dots(state, n, place.sheet, shapes[n]) for n, place in layout.places.items()}
        cells = [self._cell_piece(state, n, place, dots[n], ratio) for n, place in layout.places.items()]
        above = [
            *self._footprint_pieces(state, layout),
            *self._race_pieces(state, layout, "frame"),
            *self._difference_pieces(state, layout),
            *self._mark_pieces(state, layout),
            *self._race_pieces(state, layout, "signs"),
            *self._load_pieces(state, layout),  # below all texts
            *self._path_pieces(state, layout),
            *(
                piece
                for n, place in layout.places.items()
                for piece in self._value_pieces(state, n, place, dots[n])
            ),
            *self._name_pieces(state, layout),
            *self._caption_pieces(state, layout),
            *self._ghost_pieces(state, layout),
        ]
        return Pieces(look, cells, above)

    def _cell_piece(
        self, state: ViewState, number: int, place: BufferPosition, dots: Dots, ratio: float
    ) -> Piece:
        highlighted = self._highlighted(state)
        highlighted_cells, box = (
            None if highlighted is None else highlighted.get(number),
            paint.part_rect(place, dots.part),
        )
        parts: dict[object, QRect] = {}  # changed rectangles, by the earlier key

        def draw(painter: QPainter) -> None:
            uses_picture = dots.hatched and highlighted is None and not is_vector(painter)
            hatch = self._hatch(state, number, box, ratio) if uses_picture else None
            cells = partial(paint.draw_cells, painter, place, dots, self.theme, hatch)
            paint.draw_highlighted_buffer(painter, place, highlighted_cells, state.keep, cells)

        def part(before: Hashable) -> QRect:
            before_dots = before.held if isinstance(before, ByIdentity) else None
            if before not in parts:
                parts[before] = covered_pixels(
                    paint.changed_part(place, before_dots, dots, ratio)
                    if isinstance(before_dots, Dots)
                    else box
                )
            return parts[before]

        return Piece(("cells", number), ByIdentity(dots), covered_pixels(box), draw, part)

    def _hatch(self, state: ViewState, number: int, box: QRectF, ratio: float) -> Hatch:
        """Return the hatch below the cells of a buffer; memoised, because drawing it is slow."""
        size = state.width, state.height
        key = (box.x(), box.y(), box.width(), box.height(), size, ratio)
        return self._memoised(f"hatch {number}", lambda: paint.hatch_of(box, size, ratio, self.theme), key)

    def _race_pieces(self, state: ViewState, layout: MemoryLayout, layer: str) -> list[Piece]:
        """Collect the frames of cells in races, or the signs on them; layer: "frame" or "signs"."""
        if self.data.races is None or state.hides_faults:
            return []
        key = (state.now, layout, self.data.races)
        marks = self._memoised("races", lambda: self.data.race_marks(*state.now, layout.places), key)
        brush = paint.draw_race_frame if layer == "frame" else paint.draw_race_signs
        margin = float(self.theme.px(paint.SIGN) if layer == "signs" else paint.FRAME)

        def draw(painter: QPainter) -> None:
            for race, strength in split_marks(marks, layout.places, self._highlighted(state), state.keep):
                with reduced_opacity(painter, strength):
                    brush(painter, layout.places[race.buffer], race.rows, race.cols, self.theme)

        box = QRectF()
        for race in marks:
            box = box.united(paint.cells_rect(layout.places[race.buffer], race.rows, race.cols, margin))
        return [Piece(("races", layer), ByIdentity(marks), covered_pixels(box), draw)] if marks else []

    def _difference_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Collect the marks on the elements that differ from NumPy."""
        session, moment, pieces = self.data.session, math.floor(state.moment), []
        differing = {} if state.hides_faults else differences_of(session)
        for number in differing.keys() & layout.places.keys():
            place = layout.places[number]
            elements = self._memoised(
                f"differences {number}", partial(differing_now, session, number, moment), moment
            )
            if len(elements):
                draw = partial(paint.draw_differing, place=place, elements=elements, theme=self.theme)
                pieces.append(
                    Piece(("differing", number), ByIdentity(elements), covered_pixels(rect(place.box)), draw)
                )
        return pieces

    def _ghost_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Collect the ghosts of current accesses outside arrays."""
        session = self.data.session
        if not len(session.trace.outside.block):
            return []
        key = (state.now, ByIdentity(layout), self.clip(state))

        def find_ghosts() -> list[Ghost]:
            accesses = outside_of(session).accesses_of_moment(math.floor(state.moment), state.selection.block)
            return ghosts_of(accesses, session.trace.buffers, layout.places, self.clip(state))

        ghosts = self._memoised("ghosts", find_ghosts, key)
        if not ghosts:
            return []
        draw = partial(paint.draw_ghosts, ghosts=ghosts, theme=self.theme)
        return [Piece("ghosts", tuple(ghosts), covered_pixels(paint.ghosts_area(ghosts)), draw)]

    def _path_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Collect the path of the traced value."""
        explanation, session = state.explanation, self.data.session
        if explanation is None or not len(explanation.rows):
            return []
        key = (ByIdentity(explanation), state.selection, ByIdentity(layout))
        drawn = self._memoised(
            "path of a value", lambda: shape_path(session, explanation, state.selection, layout.places), key
        )
        draw = partial(draw_path, drawn=drawn, theme=self.theme)
        return [Piece("path of a value", ByIdentity(drawn), covered_pixels(drawn.box), draw)]

    def _mark_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Collect the marks on the currently accessed cells."""
        key = (state.now, layout, ByIdentity(self._highlighted(state)))
        marks = self._memoised("marks", lambda: self._compute_marks(state, layout), key)
        return [
            Piece(
                ("mark", i),
                ByIdentity(mark),
                covered_pixels(mark.box),
                partial(paint.draw_mark, mark=mark, theme=self.theme),
            )
            for i, mark in enumerate(marks)
        ]

    def _compute_marks(self, state: ViewState, layout: MemoryLayout) -> list[MarkShapes]:
        marks = self.data.marks(*state.now, layout.places)
        return [
            paint.shape_mark(layout.places[mark.buffer], mark, strength)
            for mark, strength in split_marks(marks, layout.places, self._highlighted(state), state.keep)
        ]

    def _name_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Collect the names of the buffers, and the frames of highlighted cells."""
        key = (
            state._replace(moment=0.0, selection=Selection()),
            ByIdentity(layout),
            ByIdentity(self._highlighted(state)),
        )
        return self._memoised("names", lambda: self._compute_name_pieces(state, layout), key)

    def _compute_name_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        buffers, room, pieces = self.data.session.trace.buffers, self.room(state), []
        for number, cells in (self._highlighted(state) or {}).items():
            draw = partial(
                paint.draw_highlight_frame, place=layout.places[number], cells=cells, theme=self.theme
            )
            box = rect(layout.places[number].box).adjusted(
                -paint.FRAME, -paint.FRAME, paint.FRAME, paint.FRAME
            )
            pieces.append(Piece(("lit", number), 0, covered_pixels(box), draw))
        boxes = [place.box for place in layout.places.values()]
        for number, place in layout.places.items():
            ink, buffer = self._text_theme(state, number), buffers[number]
            if state.zoom.scale > 1:
                texts = words.place_magnified_name(place, buffer, room, boxes, ink)
            else:
                texts = words.place_name(place, buffer, room, ink, state.large)
            pieces.append(self._text_piece(("name", number), 0, texts, ink))
        return pieces

    def _text_piece(self, name: Hashable, key: Hashable, texts: list[PlacedText], ink: Theme) -> Piece:
        """Combine texts into a piece."""
        bounds = bounding_box_of_texts(texts).adjusted(-2, -2, 2, 2)  # letters may slightly exceed their box
        return Piece(name, key, covered_pixels(bounds), partial(draw_placed_texts, texts=texts, theme=ink))

    def _caption_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Collect the caption of the selected warp and the exchange of its lanes."""
        is_highlighted = state.highlight is None or state.highlight.has_warp_of(state.selection)
        ink, lines, box = (
            self.theme if is_highlighted else dim_theme(self.theme, state.keep),
            self._caption(state),
            layout.caption,
        )
        key = is_highlighted, *lines
        texts = self._memoised(
            "caption", lambda: words.place_caption(box, lines, ink), (key, state.keep, ByIdentity(layout))
        )
        return [
            self._text_piece("caption", key, texts, ink),
            *self._exchange_pieces(state, layout.caption, 1.0 if is_highlighted else state.keep),
        ]

    def race_at(self, state: ViewState, buffer: int, element: int) -> str:
        """Describe the race for an element at this moment; "" if there is none."""
        return "" if state.hides_faults else self.data.race_text(*state.now, (buffer, element))

    def description(self, state: ViewState) -> str:
        """Describe the picture in words."""
        return self._memoised(
            "description",
            lambda: self._compute_description(state),
            (state.now, self.data.races, state.hides_faults),
        )

    def _compute_description(self, state: ViewState) -> str:
        (moment, selection), session, race = state.now, self.data.session, self._race_text(state)
        actor, block = descriptions.actor_text(session, selection), block_text(session.trace, selection.block)
        activity = self._activity(state)[0]
        text = f"Moment {moment} of {session.end}. {actor} of {block}: {activity}."
        return f"{text} Race: {race}." if race else text

    def _shapes(
        self, state: ViewState, layout: MemoryLayout, ratio: float
    ) -> dict[int, tuple[CellRect, int]]:
        """Compute the visible cells of each buffer, and the number of cells in a row that share a pixel."""
        window = self.clip(state)
        return self._memoised(
            "shapes",
            lambda: {
                n: (paint.visible_cells(place, window), paint.cells_per_dot(place, ratio))
                for n, place in layout.places.items()
            },
            (ByIdentity(layout), window, ratio),
        )

    def _current_dots(self, state: ViewState, number: int, sheet: Sheet, shape: tuple[CellRect, int]) -> Dots:
        group = self._group(state, number)
        key = (self.data.version(number, group.measure, *state.now), group, sheet, shape)
        return self._memoised(
            f"dots {number}", lambda: self._compute_dots(state, number, sheet, group, shape), key
        )

    def _value_pieces(self, state: ViewState, number: int, place: BufferPosition, dots: Dots) -> list[Piece]:
        """Collect the texts in and between the cells of a buffer."""
        if min(place.cell, place.row) < TEXT_FROM and not place.sheet.above:
            return []  # the most frequent case
        ink = self._text_theme(state, number)
        slices = self._memoised(
            f"slices {number}",
            lambda: words.place_slice_names(place, self.data.session.trace.buffers[number], ink),
            (place, ByIdentity(ink)),
        )
        pieces = [self._text_piece(("slices", number), 0, slices, ink)] if slices else []
        value_text = self.value_text(state, number, place)
        if value_text is None or not dots.codes.size or dots.step > 1:
            return pieces
        key = ByIdentity(dots), value_text, self.data.version(number, "value", *state.now)
        draw = partial(
            self._draw_values, state=state, number=number, place=place, dots=dots, value_text=value_text
        )
        return [
            Piece(("values", number), key, covered_pixels(paint.part_rect(place, dots.part)), draw),
            *pieces,
        ]

    def _draw_values(
        self,
        painter: QPainter,
        state: ViewState,
        number: int,
        place: BufferPosition,
        dots: Dots,
        value_text: ValueText,
    ) -> None:
        highlighted = self._highlighted(state)
        is_highlighted = self._memoised(
            f"standing out {number}",
            lambda: mark_highlighted_cells(place.sheet, dots.part, highlighted, number),
            (self._highlight_key(state), dots.part),
        )
        measure = self._group(state, number).measure
        inks = np.where(
            is_highlighted, self._inks(measure, 1.0)[dots.codes], self._inks(measure, state.keep)[dots.codes]
        )
        values, is_defined = self.data.defined_values(number, *state.now)
        layer = self.values.setdefault(number, ValueLayer())
        layer.draw(painter, place, dots.part, inks, value_text, values, is_defined, self.theme)

    def _inks(self, measure: str, keep: float) -> Inks:
        """Compute the text colours for the codes of cells."""
        return self._memoised(
            f"inks {measure} {keep}", lambda: choose_inks(self._table(measure), keep, self.theme), 0
        )

    def _compute_dots(
        self,
        state: ViewState,
        number: int,
        sheet: Sheet,
        group: ColourGroup,
        shape: tuple[CellRect, int],
    ) -> Dots:
        """Compute the pixels of a buffer's cells; if only a few ever change, the others are memoised."""
        data, (moment, selection), table = self.data, state.now, self._table(group.measure)
        if group.measure == "image":
            unread = int(table[cell_colours.UNREAD])
            return paint.image_dots(data.image(number, sheet, group, unread, moment, selection), *shape)
        changing = data.changing_elements(number, group, moment, selection)
        key = (data.copy(number, selection), group, sheet)
        if changing is None:
            now = (data.version(number, group.measure, moment, selection), *key)
            codes = self._memoised(
                f"codes {number}", lambda: data.codes(number, sheet, group, *state.now), now
            )
            return paint.dots_of(codes, *shape, table)
        first = self._memoised(
            f"codes {number}", lambda: data.untouched(number, sheet, group, selection), key
        )
        kept = self._memoised(
            f"unchanging dots {number}",
            lambda: unchanging_dots(first, sheet, changing.elements, *shape),
            (key, shape),
        )
        dots, hatched = add_changing_codes(kept, changing.codes)
        return Dots(*shape, dots, cell_colours.look_up_pixels(dots, table), hatched)

    def _footprint_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Collect the selected block's footprints, in total and in its phase, and the selected thread's stores."""
        session, (moment, selection) = self.data.session, state.now
        block, pieces = selection.block, []
        footprints = self.footprints(state, block)
        phase = phase_at(session.requests, session.trace, block, moment)
        for number, complete in footprints.by_buffer.items():
            current = footprints.in_phase(number, phase)
            if current is None or (complete.part, complete.outline is None) != (
                current.part,
                current.outline is None,
            ):
                pieces.append(self._footprint_piece(state, layout, number, complete, strong=False))
            if current:
                pieces.append(self._footprint_piece(state, layout, number, current, strong=True))
        return [*pieces, *self._store_pieces(state, layout)]

    def prepare(self, state: ViewState, block: int) -> None:
        """Compute in advance the parts of the picture that depend on the block."""
        layout, selection = self.zoomed(state), Selection(block, state.selection.thread)
        self.footprints(state, block)
        self.store_outlines(state, selection, layout)
        for group in self.data.groups(state.colour_by, selection, state.tops):
            for number in layout.places.keys() & group.buffers:
                if self.data.copy(number, selection) != self.data.copy(number, state.selection):
                    self.data.codes(number, layout.places[number].sheet, group, 0, selection)

    def footprints(self, state: ViewState, block: int) -> Footprints:
        """Compute the footprints of a block; memoised by block."""
        sheets = {n: place.sheet for n, place in self.zoomed(state).places.items()}
        return self._memoised(
            f"footprints {block}", lambda: self.data.footprints(block, sheets), tuple(sheets.items())
        )

    def _footprint_piece(
        self, state: ViewState, layout: MemoryLayout, number: int, footprint: Footprint, *, strong: bool
    ) -> Piece:
        place, strength = layout.places[number], self._footprint_opacity(state, number)
        box = paint.part_rect(place, footprint.part).adjusted(-3, -3, 3, 3)

        def draw(painter: QPainter) -> None:
            paint.draw_footprint(painter, place, footprint, self.theme, strength, strong=strong)

        return Piece(("footprint", number, strong), ByIdentity(footprint), covered_pixels(box), draw)

    def _store_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Collect the frames around the elements that the selected thread writes."""
        pieces = []
        for number, edge in self.store_outlines(state, state.selection, layout).items():
            strength = self._footprint_opacity(state, number)

            def draw(painter: QPainter, edge: QPainterPath = edge, strength: float = strength) -> None:
                with reduced_opacity(painter, strength):
                    paint.draw_store_frame(painter, edge, self.theme)

            box = edge.boundingRect().adjusted(-3, -3, 3, 3)
            pieces.append(Piece(("written", number), ByIdentity(edge), covered_pixels(box), draw))
        return pieces

    def store_outlines(
        self, state: ViewState, selection: Selection, layout: MemoryLayout
    ) -> dict[int, QPainterPath]:
        """Compute the outline of the elements that a thread writes, by buffer; memoised by block."""
        key = selection.thread, ByIdentity(layout)
        return self._memoised(
            f"written elements {selection.block}", lambda: self._compute_edges(selection, layout), key
        )

    def _compute_edges(self, selection: Selection, layout: MemoryLayout) -> dict[int, QPainterPath]:
        written = self.data.written_elements(selection).items()
        return {
            n: paint.elements_outline(layout.places[n], elements)
            for n, elements in written
            if n in layout.places
        }

    def _exchange_pieces(self, state: ViewState, caption: Box, strength: float) -> list[Piece]:
        """Collect the current exchange between lanes of the selected warp, if it fits below the caption."""
        data = self._memoised("exchange", lambda: self.data.exchange(*state.now), state.now)
        line = words.line_height(self.theme)
        if not data or caption.height < (LANES + 2) * line:
            return []
        below = caption.inset(top=2.4 * line)._replace(height=LANES * line)

        def draw(painter: QPainter) -> None:
            with reduced_opacity(painter, strength):
                draw_exchange(painter, below, data, self.theme)

        return [Piece("exchange", (ByIdentity(data), strength), covered_pixels(rect(below, -4.0)), draw)]

    def _load_pieces(self, state: ViewState, layout: MemoryLayout) -> list[Piece]:
        """Collect moving loads while time passes, or the selected warp's arcs while time stands."""
        fraction = state.moment - math.floor(state.moment)
        is_moving = fraction > 0 and not self.theme.reduced_motion
        ways = self.load_paths(state)
        pieces = []
        for i, (loads, strength) in enumerate(ways):
            drawn = loads.moving(fraction, self.theme) if is_moving else loads.still()

            def draw(
                painter: QPainter, drawn: DrawnLoads | MovingLoads = drawn, strength: float = strength
            ) -> None:
                with reduced_opacity(painter, strength):
                    drawn.draw(painter, self.theme)

            pieces.append(Piece(("loads", i), ByIdentity(drawn), covered_pixels(drawn.box), draw))
        return pieces

    def load_paths(self, state: ViewState) -> list[tuple[LoadPaths, float]]:
        """Compute the paths of a moment's loads, with their opacity."""
        layout = self.zoomed(state)
        key = (state.now, layout, ByIdentity(self._highlighted(state)))
        return self._memoised("loads in flight", lambda: self._compute_loads(state, layout), key)

    def _compute_loads(self, state: ViewState, layout: MemoryLayout) -> list[tuple[LoadPaths, float]]:
        all_loads = self.data.loads_in_flight(*state.now, layout.places)
        highlighted, keep = self._highlighted(state), state.keep
        return [
            (LoadPaths(part), opacity)
            for loads in all_loads
            for part, opacity in split_loads(loads, highlighted, keep)
        ]

    def _caption(self, state: ViewState) -> list[tuple[str, str]]:
        """Write the caption of the selected warp, as (style, text)."""
        key = (state.now, self.data.races, state.hides_faults, self.layout(state))
        return self._memoised("caption lines", lambda: self._compute_caption(state), key)

    def _compute_caption(self, state: ViewState) -> list[tuple[str, str]]:
        selection, layout, session = state.selection, self.layout(state), self.data.session
        title = self._reword("title", f"{descriptions.actor_text(session, selection)} now")
        activity, brief = (
            self._reword(*style_and_text)
            for style_and_text in zip(("text", "brief"), self._activity(state), strict=True)
        )
        block = self._reword("note", block_text(session.trace, selection.block))
        if race := self._race_text(state):
            return [
                title,
                self._reword("alert", f"Race: {race}."),
                activity,
                self._reword("brief", f"race: {race}"),
            ]
        if self.data.exchange(*state.now):
            return [title, activity, brief]
        if not layout.tiles:
            return [title, activity, block, brief]
        shared, small = (
            f"shared memory of {block_text(session.trace, selection.block)}",
            self.theme.font(words.SMALL),
        )
        notes = [self._reword("note", text) for text in (*self._local_arrays_note(state, shared), shared)]
        fitting = [note for note in notes if text_width(note[1], small) <= layout.caption.width]
        return [*(fitting or [block])[:1], title, activity, brief]

    def _local_arrays_note(self, state: ViewState, shared: str) -> list[str]:
        """Add the owner of the visible local arrays to the text about shared memory; none without local arrays."""
        trace, shown = self.data.session.trace, self.layout(state).places
        if not any(trace.buffers[number].space == "local" for number in shown):
            return []
        return [
            f"{shared}, local arrays of thread {coordinates_text(state.selection.thread, trace.block_dim)}"
        ]

    def _activity(self, state: ViewState) -> tuple[str, str]:
        return self._memoised("doing", lambda: warp_captions(self.data.session, *state.now), state.now)

    def _race_text(self, state: ViewState) -> str:
        if state.hides_faults:
            return ""
        key = (state.now, self.data.races)
        return self._memoised("race text", lambda: self.data.race_text(*state.now), key)

    def _reword(self, style: str, text: str) -> tuple[str, str]:
        """Return a line of the caption in the vocabulary of the user or the scenario."""
        return style, self.theme.translate(text)

    def _paint_legend(self, painter: QPainter, state: ViewState, corner: QPointF) -> None:
        if not is_vector(painter):
            painter.drawPixmap(corner, self._legend_picture(state, painter.deviceTransform().m11()))
            return
        painter.translate(corner)
        legend.draw_legend(painter, self._legend(state), self.theme)
        painter.translate(-corner)

    def _legend_picture(self, state: ViewState, ratio: float) -> QPixmap:
        rows, width, height = self._legend(state), state.width, state.height - self.clip(state).bottom
        key = (width, height, ratio, ByIdentity(rows))
        return self._memoised(
            "legend picture", lambda: legend.legend_picture(rows, width, height, ratio, self.theme), key
        )
