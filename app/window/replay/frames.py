"""The pictures of a pane, moment by moment, as drawings: of what looks the same nothing is drawn twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter, QRegion
from PySide6.QtWidgets import QWidget

from ...model.bookmark import WordChoice
from ...model.session import Selection, Session
from ...model.spotlight import Lit
from ...views.common.dimming import FAINT, HALF
from ...views.common.drawing import on_panel
from ...views.common.pieces import Piece, Pieces
from ...views.histogram.view import HistogramView
from ...views.memory.arrangement import Needs, ViewState, Zoom
from ...views.memory.loads import LOOKS, Ways
from ...views.memory.picture import MemoryPicture
from ...views.memory.view_data import Tops
from ...views.warp.view import WarpView
from ...widgets.theme import Theme
from .changes import Changes
from .drawings import Drawings
from .paint_recorder import NOTHING, Picture, recorded, units

THEMES = ("light", "dark")
ALWAYS, STANDING, MOVING = range(3)  # when a piece is drawn: the last two while time stands, or passes
WARP_WIDTH, WARP_HEIGHT = 300, 400  # logical pixels of the picture of a warp
TENTHS = 10  # to a logical pixel, in which the ends of ways are written
LEGEND = 2  # rows of text that the legend of cells may take
TRAVELLING = "travelling"  # the first of the names of loads on their way
CAPTION = "caption"  # the piece that the page writes as text below the picture
Drawn = tuple[Hashable, int]  # the name of a piece, and the number of its drawing


class Form(NamedTuple):
    """How large pictures are drawn."""

    width: int  # logical pixels
    height: int  # logical pixels
    text_size: float  # times the normal


class PaneLook(NamedTuple):
    """What is shown of a session: a plain value, so that steps which show the same share it."""

    histogram: bool = False  # in place of the memory
    colour_by: str = "auto"  # as in `MemoryView`
    tops: Tops = ()  # where scales end that panes share
    beside: Needs | None = None  # what the pictures of two panes need together
    only: tuple[str, ...] = ()  # the names of the buffers that are shown, () for all
    lit: Lit | None = None  # what stands out
    words: WordChoice = "own"  # whose words
    warp: bool = False  # whether the request of the selected warp is shown beside


class Frames(Protocol):
    """What yields the drawings of moments."""

    def at(self, moment: int, selection: Selection) -> Iterator[Drawn]:
        """Yield what is drawn at a moment, from the lowest to the highest."""
        ...

    def words(self, moment: int, selection: Selection) -> str:
        """Return the same in words; it was drawn before."""
        ...


def themes_of(look: PaneLook, form: Form, session: Session) -> list[Theme]:
    """Return the light and the dark theme, in the words that a session is told in."""
    named = [Theme.named(name, form.text_size, words=look.words) for name in THEMES]
    return [theme.speaking(session.scenario) for theme in named]


def frames_of(session: Session, look: PaneLook, form: Form, drawings: Drawings) -> Frames:
    """Return what draws a session so."""
    made: type[MemoryFrames] | type[HistogramFrames] = HistogramFrames if look.histogram else MemoryFrames
    return made(session, look, form, drawings)


class MemoryFrames:
    """The picture of the memory."""

    def __init__(self, session: Session, look: PaneLook, form: Form, drawings: Drawings) -> None:
        self.look, self.form, self.drawings = look, form, drawings
        self.pictures = [MemoryPicture(session, theme) for theme in themes_of(look, form, session)]
        self._drawn: dict[Hashable, tuple[Hashable, int]] = {}  # by the names of pieces

    def at(self, moment: int, selection: Selection) -> Iterator[Drawn]:
        """Yield what is drawn at a moment, from the lowest to the highest."""
        state = self._state(moment, selection)
        light, dark = (picture.pieces(state, 1.0) for picture in self.pictures)
        in_dark = {piece.name: piece for piece in (*dark.cells, *dark.above)}
        for piece in (*light.cells, *light.above):
            if piece.name != CAPTION:
                yield piece.name, self._number(piece, in_dark[piece.name])
        yield from self._travelling(state, light)
        yield "legend", self._legend(state, light)

    def _state(self, moment: int, selection: Selection) -> ViewState:
        look, lit = self.look, self.look.lit
        keep = 1.0 if lit is None else FAINT if lit.dark or lit.in_memory else HALF
        scales = look.colour_by, look.tops, Zoom()
        room = self.form.width, self.form.height, LEGEND, look.beside
        return ViewState(*room, *scales, float(moment), selection, False, look.only, lit, keep)

    def words(self, moment: int, selection: Selection) -> str:
        """Return what the picture says in words."""
        picture = self.pictures[0]
        text = picture.description(self._state(moment, selection)).partition(". ")[2]  # after the moment
        return picture.theme.say(text)

    def _number(self, light: Piece, dark: Piece) -> int:
        return self._once(light.name, (light.key, dark.key), light.draw, dark.draw)

    def _travelling(self, state: ViewState, still: Pieces) -> Iterator[Drawn]:
        """Yield the loads of a moment as they are on their way while time passes."""
        loads = [piece for piece in still.above if is_load(piece.name)]
        for piece, (ways, strength) in zip(loads, self.pictures[0].ways(state), strict=True):
            name = (TRAVELLING, piece.name)
            if name not in self._drawn or self._drawn[name][0] != piece.key:
                light, dark = (travelling(ways, strength, picture.theme) for picture in self.pictures)
                self._drawn[name] = piece.key, self.drawings.add(light, dark)
            yield name, self._drawn[name][1]

    def _legend(self, state: ViewState, picture: Pieces) -> int:
        """Return the drawing of the legend, which is all that is painted of a picture without pieces."""
        bare = Pieces(picture.look, (), ())
        light, dark = (partial(one.paint, state=state, pieces=bare) for one in self.pictures)
        return self._once("legend", picture.look, light, dark)

    def _once(
        self,
        name: Hashable,
        key: Hashable,
        light: Callable[[QPainter], None],
        dark: Callable[[QPainter], None],
    ) -> int:
        """Return the drawing of what has this key, made when the key is another than before."""
        if name not in self._drawn or self._drawn[name][0] != key:
            size = self.form.width, self.form.height
            number = self.drawings.add(recorded(light, *size), recorded(dark, *size), (id(self), name))
            self._drawn[name] = key, number
        return self._drawn[name][1]


class HistogramFrames:
    """The histogram of a launch that counts."""

    def __init__(self, session: Session, look: PaneLook, form: Form, drawings: Drawings) -> None:
        self.form, self.drawings = form, drawings
        self.views = [HistogramView(theme) for theme in themes_of(look, form, session)]
        for view in self.views:
            view.resize(form.width, form.height)
            view.load(session)
            view.set_spotlight(look.lit)

    def at(self, moment: int, selection: Selection) -> Iterator[Drawn]:
        """Yield what is drawn at a moment."""
        yield "histogram", self.drawings.add(*self._pictures(moment, selection), id(self))

    def _pictures(self, moment: int, selection: Selection) -> tuple[Picture, Picture]:
        for view in self.views:
            view.render_moment(float(moment), selection)
        light, dark = (
            recorded(partial(_render, view), self.form.width, self.form.height) for view in self.views
        )
        return light, dark

    def words(self, moment: int, selection: Selection) -> str:
        """Return what the picture says in words, as it was drawn last."""
        return self.views[0].accessibleDescription()


def is_load(name: Hashable) -> bool:
    """Return whether a piece of the memory's picture shows where loads go."""
    return isinstance(name, tuple) and name[0] == "loads"


def travelling(ways: Ways, strength: float, theme: Theme) -> Picture:
    """Return loads of one kind as they are drawn while time passes, all on their ways from start to end."""
    colour, loads, found = on_panel(ways.loads.kind, theme), ways.loads, Picture([], [], [])
    for own, size, opacity in LOOKS:
        chosen = loads.own == own
        if chosen.any():
            ends = np.concatenate([loads.start[chosen], loads.end[chosen]], axis=1)
            ends = np.unique((ends * TENTHS).round().astype(np.int64), axis=0)
            found.colours.append(round(255 * opacity * strength) << 24 | (colour.rgba() & 0xFFFFFF))
            operation = ("w", len(found.colours) - 1, units(size * theme.px(10) / 10), *ends.ravel().tolist())
            found.operations.append(operation)
    return found


def _render(view: QWidget, painter: QPainter) -> None:
    view.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)


class WarpFrames:
    """The request of the selected warp: its lanes, and the sectors or banks that they touch."""

    def __init__(self, session: Session, look: PaneLook, form: Form, drawings: Drawings) -> None:
        self.drawings, self.size = drawings, (WARP_WIDTH, round(WARP_HEIGHT * max(1.0, form.text_size)))
        self.views = [WarpView(theme) for theme in themes_of(look, form, session)]
        for view in self.views:
            view.load(session)
            view.set_spotlight(look.lit)
            view.picture.setParent(None)  # else its size is the view's to choose
            view.picture.resize(*self.size)

    def at(self, moment: int, selection: Selection) -> Iterator[Drawn]:
        """Yield what is drawn at a moment."""
        for view in self.views:
            view.render_moment(float(moment), selection)
        light, dark = (recorded(partial(_render, view.picture), *self.size) for view in self.views)
        yield "warp", self.drawings.add(light, dark)

    def words(self, moment: int, selection: Selection) -> str:
        """Return what the picture says in words, as it was drawn last."""
        view = self.views[0]
        said = view.accessibleDescription(), view.state.text(), view.description.text()
        return " ".join(text if text.endswith(".") else f"{text}." for text in said if text.strip(" ,:"))


class Slots:
    """Which drawing each piece has from which moment on, the pieces in the order in which they lie over one another."""

    def __init__(self) -> None:
        self._order: list[Hashable] = []
        self._changes: dict[Hashable, Changes] = {}

    def note(self, moment: int, drawn: list[Drawn]) -> None:
        """Take what is drawn at a moment, from the lowest to the highest."""
        at, seen = -1, set()
        for name, number in drawn:
            place = self._place(name, at)
            at = self._order.index(place)
            seen.add(place)
            self._changes[place].note(moment, number)
        for name, changes in self._changes.items():
            if name not in seen and changes.values:
                changes.note(moment, NOTHING)

    def _place(self, name: Hashable, after: int) -> Hashable:
        """Return the slot of a piece above those up to `after`: a new one where its own lies below these."""
        while name in self._changes and self._order.index(name) <= after:
            name = (name, "again")
        if name not in self._changes:
            self._order.insert(after + 1, name)
            self._changes[name] = Changes()
        return name

    def written(self) -> list[list[Any]]:
        """Return for JSON when each slot is drawn and its changes, from the lowest to the highest."""
        return [[_when(name), *self._changes[name].written()] for name in self._order]


def _when(name: Hashable) -> int:
    return (
        STANDING if is_load(name) else MOVING if isinstance(name, tuple) and name[0] == TRAVELLING else ALWAYS
    )
