"""The pictures of a pane at each moment, as drawings; unchanged pieces are not drawn again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter, QRegion
from PySide6.QtWidgets import QWidget

from ..model.bookmark import WordChoice
from ..model.explanation import Explanation
from ..model.session import Selection, Session
from ..model.spotlight import Highlight
from ..views.common.dimming import FAINT, HALF
from ..views.common.drawing import panel_line_colour
from ..views.common.pieces import Piece, Pieces
from ..views.histogram.view import HistogramView
from ..views.memory.arrangement import PairedSpace, ViewState, Zoom
from ..views.memory.loads import LOOKS, LoadPaths
from ..views.memory.picture import MemoryPicture
from ..views.memory.view_data import Tops
from ..views.warp.view import WarpView
from ..widgets.theme import Theme
from .drawings import Drawings
from .paint_recorder import NOTHING, Picture, record_drawing, units
from .step_functions import Changes

THEMES = ("light", "dark")
ALWAYS, STANDING, MOVING = range(3)  # when a piece is drawn: always, at rest, during motion
WARP_WIDTH, WARP_HEIGHT = 300, 400  # logical pixels of the picture of a warp
TENTHS = 10  # units of a path's ends per logical pixel
LEGEND = 2  # rows of the legend of cells at most
TRAVELLING = "travelling"  # the first part of the names of moving loads
CAPTION = "caption"  # the piece that the page shows as text below the picture
Drawn = tuple[Hashable, int]  # (name of a piece, number of its drawing)


class Form(NamedTuple):
    """The size of pictures."""

    width: int  # logical pixels
    height: int  # logical pixels
    text_size: float  # relative to the normal size


class PaneLook(NamedTuple):
    """The look of a pane: a plain value, so that steps with the same look share their drawings."""

    histogram: bool = False  # instead of the memory
    colour_by: str = "auto"  # as in `MemoryView`
    tops: Tops = ()  # the ends of the scales that panes share
    paired_space: PairedSpace | None = None  # the combined space of the pictures of two panes
    only: tuple[str, ...] = ()  # names of the shown buffers, () for all
    highlight: Highlight | None = None  # the highlight
    words: WordChoice = "own"  # the vocabulary
    warp: bool = False  # whether the request of the selected warp is shown next to it
    explanation: Explanation | None = None  # of the value whose path is drawn
    hides_faults: bool = False  # because a question is open

    def without_answers(self) -> PaneLook:
        """Return the look while a question is open, as in the window."""
        return self._replace(explanation=None, hides_faults=True)


class Frames(Protocol):
    """A source of the drawings of moments."""

    def drawings_at(self, moment: int, selection: Selection) -> Iterator[Drawn]:
        """Yield the drawings of a moment, from bottom to top."""
        ...

    def words(self, moment: int, selection: Selection) -> str:
        """Describe the moment in words; it must have been drawn before."""
        ...


def themes_of(look: PaneLook, form: Form, session: Session) -> list[Theme]:
    """Return the light and the dark theme, in the vocabulary of a session."""
    named = [Theme.named(name, form.text_size, words=look.words) for name in THEMES]
    return [theme.with_words_of(session.scenario) for theme in named]


def frames_of(session: Session, look: PaneLook, form: Form, drawings: Drawings) -> Frames:
    """Create the frames of a session in this look."""
    frame_class: type[MemoryFrames] | type[HistogramFrames] = (
        HistogramFrames if look.histogram else MemoryFrames
    )
    return frame_class(session, look, form, drawings)


class MemoryFrames:
    """The picture of the memory."""

    def __init__(self, session: Session, look: PaneLook, form: Form, drawings: Drawings) -> None:
        self.look, self.form, self.drawings = look, form, drawings
        self.pictures = [MemoryPicture(session, theme) for theme in themes_of(look, form, session)]
        self._drawn: dict[Hashable, tuple[Hashable, int]] = {}  # by the names of pieces

    def drawings_at(self, moment: int, selection: Selection) -> Iterator[Drawn]:
        """Yield the drawings of a moment, from bottom to top."""
        state = self._state(moment, selection)
        light, dark = (picture.pieces(state, 1.0) for picture in self.pictures)
        in_dark = {piece.name: piece for piece in (*dark.cells, *dark.above)}
        for piece in (*light.cells, *light.above):
            if piece.name != CAPTION:
                yield piece.name, self._number(piece, in_dark[piece.name])
        yield from self._travelling(state, light)
        yield "legend", self._legend(state, light)

    def _state(self, moment: int, selection: Selection) -> ViewState:
        look, highlight = self.look, self.look.highlight
        keep = 1.0 if highlight is None else FAINT if highlight.dims_all or highlight.has_memory else HALF
        scales = look.colour_by, look.tops, Zoom()
        room = self.form.width, self.form.height, LEGEND, look.paired_space
        return ViewState(
            *room, *scales, float(moment), selection, False, look.only, highlight, keep, look.explanation,
            look.hides_faults,
        )  # fmt: skip

    def words(self, moment: int, selection: Selection) -> str:
        """Describe the picture in words."""
        picture = self.pictures[0]
        text = picture.description(self._state(moment, selection)).partition(". ")[2]  # after the moment
        return picture.theme.translate(text)

    def _number(self, light: Piece, dark: Piece) -> int:
        return self._memoised(light.name, (light.key, dark.key), light.draw, dark.draw)

    def _travelling(self, state: ViewState, still: Pieces) -> Iterator[Drawn]:
        """Yield the moving loads of a moment."""
        loads = [piece for piece in still.above if is_load(piece.name)]
        for piece, (ways, strength) in zip(loads, self.pictures[0].load_paths(state), strict=True):
            name = (TRAVELLING, piece.name)
            if name not in self._drawn or self._drawn[name][0] != piece.key:
                light, dark = (travelling(ways, strength, picture.theme) for picture in self.pictures)
                self._drawn[name] = piece.key, self.drawings.add(light, dark)
            yield name, self._drawn[name][1]

    def _legend(self, state: ViewState, picture: Pieces) -> int:
        """Return the drawing of the legend, which is a picture without pieces."""
        bare = Pieces(picture.look, (), ())
        light, dark = (partial(p.paint, state=state, pieces=bare) for p in self.pictures)
        return self._memoised("legend", picture.look, light, dark)

    def _memoised(
        self,
        name: Hashable,
        key: Hashable,
        light: Callable[[QPainter], None],
        dark: Callable[[QPainter], None],
    ) -> int:
        """Return the drawing with this name; draw it again only if its key has changed."""
        if name not in self._drawn or self._drawn[name][0] != key:
            size = self.form.width, self.form.height
            number = self.drawings.add(
                record_drawing(light, *size), record_drawing(dark, *size), (id(self), name)
            )
            self._drawn[name] = key, number
        return self._drawn[name][1]


class HistogramFrames:
    """The histogram of a launch that counts."""

    def __init__(self, session: Session, look: PaneLook, form: Form, drawings: Drawings) -> None:
        self.form, self.drawings = form, drawings
        self.views = [HistogramView(theme) for theme in themes_of(look, form, session)]
        for view in self.views:
            view.resize(form.width, form.height)
            view.hide_reasons(look.hides_faults)
            view.load(session)
            view.set_spotlight(look.highlight)

    def drawings_at(self, moment: int, selection: Selection) -> Iterator[Drawn]:
        """Yield the drawing of a moment."""
        yield "histogram", self.drawings.add(*self._pictures(moment, selection), id(self))

    def _pictures(self, moment: int, selection: Selection) -> tuple[Picture, Picture]:
        for view in self.views:
            view.render_moment(float(moment), selection)
        light, dark = (
            record_drawing(partial(_render, view), self.form.width, self.form.height) for view in self.views
        )
        return light, dark

    def words(self, moment: int, selection: Selection) -> str:
        """Describe the picture drawn last in words."""
        return self.views[0].accessibleDescription()


def is_load(name: Hashable) -> bool:
    """Return True if a piece of the memory's picture shows the targets of loads."""
    return isinstance(name, tuple) and name[0] == "loads"


def travelling(ways: LoadPaths, strength: float, theme: Theme) -> Picture:
    """Draw the moving loads of one kind, on their paths from start to end."""
    colour, loads, picture = panel_line_colour(ways.loads.kind, theme), ways.loads, Picture([], [], [])
    for own, size, opacity in LOOKS:
        chosen = loads.own == own
        if chosen.any():
            ends = np.concatenate([loads.start[chosen], loads.end[chosen]], axis=1)
            ends = np.unique((ends * TENTHS).round().astype(np.int64), axis=0)
            picture.colours.append(round(255 * opacity * strength) << 24 | (colour.rgba() & 0xFFFFFF))
            operation = (
                "w",
                len(picture.colours) - 1,
                units(size * theme.px(10) / 10),
                *ends.ravel().tolist(),
            )
            picture.operations.append(operation)
    return picture


def _render(view: QWidget, painter: QPainter) -> None:
    view.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)


class WarpFrames:
    """The request of the selected warp: its lanes, and the sectors or banks that they touch."""

    def __init__(self, session: Session, look: PaneLook, form: Form, drawings: Drawings) -> None:
        self.drawings, self.size = drawings, (WARP_WIDTH, round(WARP_HEIGHT * max(1.0, form.text_size)))
        self.views = [WarpView(theme) for theme in themes_of(look, form, session)]
        for view in self.views:
            view.load(session)
            view.set_spotlight(look.highlight)
            view.picture.setParent(None)  # otherwise the view sets its size
            view.picture.resize(*self.size)

    def drawings_at(self, moment: int, selection: Selection) -> Iterator[Drawn]:
        """Yield the drawing of a moment."""
        for view in self.views:
            view.render_moment(float(moment), selection)
        light, dark = (record_drawing(partial(_render, view.picture), *self.size) for view in self.views)
        yield "warp", self.drawings.add(light, dark)

    def words(self, moment: int, selection: Selection) -> str:
        """Describe the picture drawn last in words."""
        view = self.views[0]
        texts = view.accessibleDescription(), view.state.text(), view.description.text()
        return " ".join(text if text.endswith(".") else f"{text}." for text in texts if text.strip(" ,:"))


class Slots:
    """The drawings of each piece by moment, with the pieces in stacking order."""

    def __init__(self) -> None:
        self._order: list[Hashable] = []
        self._changes: dict[Hashable, Changes] = {}

    def note(self, moment: int, drawn: list[Drawn]) -> None:
        """Add the drawings of a moment, from bottom to top."""
        index, seen = -1, set()
        for name, number in drawn:
            slot = self._slot_for(name, index)
            index = self._order.index(slot)
            seen.add(slot)
            self._changes[slot].note(moment, number)
        for name, changes in self._changes.items():
            if name not in seen and changes.values:
                changes.note(moment, NOTHING)

    def _slot_for(self, name: Hashable, after: int) -> Hashable:
        """Return the slot of a piece above index `after`, or a new one if its own is below."""
        while name in self._changes and self._order.index(name) <= after:
            name = (name, "again")
        if name not in self._changes:
            self._order.insert(after + 1, name)
            self._changes[name] = Changes()
        return name

    def written(self) -> list[list[Any]]:
        """Serialise each slot for JSON, from bottom to top: when it is drawn, and its changes."""
        return [[_when(name), *self._changes[name].written()] for name in self._order]


def _when(name: Hashable) -> int:
    return (
        STANDING if is_load(name) else MOVING if isinstance(name, tuple) and name[0] == TRAVELLING else ALWAYS
    )
