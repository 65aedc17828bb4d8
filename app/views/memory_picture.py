"""The picture that the memory view shows: a function of a session, a theme and a `Look`; what repeats is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPixmap

from ...tracer.trace import WARP
from ..session import Selection, Session
from ..theme import Theme
from . import memory_paint as paint
from . import memory_text as words
from . import memory_told as told
from .box import Box
from .frames import phase_at
from .layout import Layout, Metrics, Place, arrange
from .memory_scene import Group, Scene, Tops
from .wording import mark_of

LARGEST_ZOOMED_CELL = 120.0
T = TypeVar("T")


class Zoom(NamedTuple):
    """How far the picture is magnified, and which point of it (as shares of the view) stands in the middle."""

    scale: float = 1.0
    x: float = 0.5
    y: float = 0.5


class Look(NamedTuple):
    """What is to be drawn, and how: size in pixels, device pixels per pixel, colours, magnification, time, thread."""

    width: int
    height: int
    ratio: float
    colour_by: str
    tops: Tops
    zoom: Zoom
    moment: float
    selection: Selection

    @property
    def now(self) -> tuple[int, Selection]:
        """The whole moment and the selection."""
        return math.floor(self.moment), self.selection


class MemoryPicture:
    """Draws the buffers of a session. Each part is made anew only when something that it depends on has changed."""

    def __init__(self, session: Session, theme: Theme) -> None:
        self.scene = Scene(session)
        self.theme = theme.speaking(session.scenario)
        self._memo: dict[str, tuple[Hashable, Any]] = {}

    def paint(self, painter: QPainter, look: Look) -> None:
        """Draw everything."""
        layout, room, clip = self.zoomed(look), self.room(look), self.clip(look)
        painter.save()
        painter.setClipRect(QRectF(clip.x, clip.y, clip.width, clip.height))
        for number, place in layout.places.items():
            self._paint_buffer(painter, look, number, place, clip)
        self._paint_frames(painter, look, layout)
        for mark in self._once(
            "marks", lambda: self.scene.marks(*look.now, layout.places), (look.now, layout)
        ):
            paint.draw_mark(painter, layout.places[mark.buffer], mark, self.theme)
        for number, place in layout.places.items():
            words.draw_name(painter, place, self.scene.session.trace.buffers[number], room, self.theme)
        self._paint_flights(painter, look, layout)
        words.draw_caption(painter, layout.caption, self._caption(look), self.theme)
        painter.restore()
        painter.drawPixmap(
            QPointF(room.x, clip.bottom), self._legend_picture(look, painter.deviceTransform().m11())
        )

    def element_at(self, look: Look, position: QPointF) -> tuple[int, int] | None:
        """Return buffer and element at a position."""
        if position.y() > self.clip(look).bottom:
            return None
        for number, place in self.zoomed(look).places.items():
            element = place.element_at(position.x(), position.y())
            if element is not None:
                return number, element
        return None

    def description(self, look: Look) -> str:
        """Return the picture in words."""
        moment, selection = look.now
        warp, block = selection.thread // WARP, told.block_text(self.scene.session, selection.block)
        doing = told.caption(self.scene.session, moment, selection)
        return f"Moment {moment} of {self.scene.session.end}. Warp {warp} of {block}: {doing}."

    def largest_scale(self, look: Look) -> float:
        """Return how far the picture may be magnified."""
        cells = [place.cell for place in self.layout(look).places.values()]
        return max(1.0, LARGEST_ZOOMED_CELL / min(cells)) if cells else 1.0

    def layout(self, look: Look) -> Layout:
        """Return where everything stands without magnification."""
        return self._once("layout", lambda: self._new_layout(look), (*look[:3], self._foot(look)))

    def zoomed(self, look: Look) -> Layout:
        """Return where everything stands."""
        layout, (scale, x, y) = self.layout(look), look.zoom
        if scale <= 1:
            return layout
        dx, dy = look.width * (0.5 - x * scale), look.height * (0.5 - y * scale)
        return self._once("zoomed", lambda: layout.zoomed(scale, dx, dy), (layout, look.zoom))

    def room(self, look: Look) -> Box:
        """Return where the buffers may stand: all but margins and legend."""
        edge = float(self.theme.px(12))
        return Box(0, 0, look.width, look.height).inset(edge, self.theme.px(6), edge, self._foot(look))

    def clip(self, look: Look) -> Box:
        """Return what shows of a magnified picture: all but the legend."""
        return Box(0, 0, look.width, self.room(look).bottom + self.theme.px(4))

    def _paint_buffer(self, painter: QPainter, look: Look, number: int, place: Place, window: Box) -> None:
        scene, theme, sheet = self.scene, self.theme, place.sheet
        group = next(g for g in self._groups(look) if number in g.buffers)
        key = (scene.version(number, group, *look.now), group, sheet)
        codes = self._once(f"codes {number}", lambda: scene.codes(number, sheet, group, *look.now), key)
        table = self._once(f"table {group.measure}", lambda: paint.colour_table(theme, group.measure), 0)
        shape = paint.seen(place, window), paint.cells_per_dot(place, painter.deviceTransform().m11())
        dots = self._once(f"dots {number}", lambda: paint.dots_of(codes, *shape, table), (key, shape))
        paint.draw_cells(painter, place, dots, theme)
        if place.cell >= paint.TEXT_FROM:
            letters = paint.letters(place.cell, theme)
            texts = told.value_texts(scene.session, number, sheet, dots.part, letters, *look.now)
            paint.draw_values(painter, place, texts, codes, table, theme)

    def _paint_frames(self, painter: QPainter, look: Look, layout: Layout) -> None:
        session, (moment, selection) = self.scene.session, look.now
        block, sheets = selection.block, {n: p.sheet for n, p in layout.places.items()}
        frames = self._once(f"frames {block}", lambda: self.scene.frames(block, sheets), self.layout(look))
        phase = phase_at(session.requests, session.trace, block, moment)
        for number, part in frames.whole.items():
            now = frames.at(number, phase)
            if part != now:
                paint.draw_frame(painter, layout.places[number], part, self.theme, strong=False)
            if now:
                paint.draw_frame(painter, layout.places[number], now, self.theme, strong=True)
        for number, elements in self._once("homes", lambda: self.scene.homes(selection), selection).items():
            paint.draw_home(painter, layout.places[number], elements, self.theme)

    def _paint_flights(self, painter: QPainter, look: Look, layout: Layout) -> None:
        """Draw loads on their way while time passes, and the ways of the selected warp's while it stands."""
        places, fraction = layout.places, look.moment - math.floor(look.moment)
        for flight in self._once(
            "flights", lambda: self.scene.flights(*look.now, places), (look.now, layout)
        ):
            if fraction > 0 and not self.theme.reduced_motion:
                paint.draw_flying(painter, flight, fraction, self.theme)
            else:
                paint.draw_arcs(painter, flight, self.theme)

    def _caption(self, look: Look) -> list[tuple[str, str]]:
        selection, layout = look.selection, self.layout(look)
        title = self._say("title", f"Warp {selection.thread // WARP} now")
        doing = self._say("text", told.caption(self.scene.session, *look.now))
        block = self._say("note", told.block_text(self.scene.session, selection.block))
        if not layout.tiles:
            return [title, doing, block]
        note = self._say("note", f"shared memory of {told.block_text(self.scene.session, selection.block)}")
        fits = words.width_of(note[1], self.theme.font(words.SMALL)) <= layout.caption.width
        return [note if fits else block, title, doing]

    def _say(self, style: str, text: str) -> tuple[str, str]:
        """Return a line of the caption in the words that the user chose, or that the scenario speaks."""
        return style, self.theme.say(text)

    def _new_layout(self, look: Look) -> Layout:
        roles, buffers = self.scene.roles, self.scene.session.trace.buffers
        left, right = [roles.get("left")], [roles.get("above"), roles.get("result")]
        sides = [
            [words.name_width(buffers[n], self.theme) for n in s if n is not None] for s in (left, right)
        ]
        wide = [max(widths, default=0.0) for widths in sides]
        metrics = Metrics(words.line_of(self.theme), wide[0], wide[1], look.ratio)
        return arrange(buffers, roles, self.room(look), metrics)

    def _groups(self, look: Look) -> list[Group]:
        key = (look.colour_by, look.selection, look.tops)
        return self._once("groups", lambda: self.scene.groups(*key), key)

    def _legend(self, look: Look) -> list[list[tuple[float, words.Item]]]:
        return self._once("legend", lambda: self._new_legend(look), (look.width, *self._groups(look)))

    def _new_legend(self, look: Look) -> list[list[tuple[float, words.Item]]]:
        scene, groups = self.scene, self._groups(look)
        hatched = scene.has_unwritten and any(group.measure == "value" for group in groups)
        trace, touched = scene.session.trace, scene.stored | scene.loaded
        items = words.legend_items(groups, trace.buffers, touched, hatched, mark_of(trace), self.theme)
        return words.legend_rows(items, look.width - 2 * self.theme.px(12), self.theme)

    def _legend_picture(self, look: Look, ratio: float) -> QPixmap:
        rows, width, height = self._legend(look), look.width, look.height - self.clip(look).bottom
        key = (width, height, ratio, *self._groups(look))
        return self._once(
            "legend picture", lambda: words.legend_picture(rows, width, height, ratio, self.theme), key
        )

    def _foot(self, look: Look) -> float:
        rows = len(self._legend(look))
        return rows * words.line_of(self.theme) + self.theme.px(14) if rows else 0.0

    def _once(self, name: str, make: Callable[[], T], key: Hashable) -> T:
        """Return what was made last under this name, or make it anew if the key is another."""
        if name not in self._memo or self._memo[name][0] != key:
            self._memo[name] = key, make()
        value: T = self._memo[name][1]
        return value
