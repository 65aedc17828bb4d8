"""Frames of an offscreen window: its pixels at a moment, independent of earlier frames."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol, cast

import numpy as np
from PySide6.QtCore import QEvent
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from ..control.stage import Stage
from ..control.start_moment import at_first_load
from ..lectures.model.time_anchors import TimeAnchor, TimeAnchorError, find_anchor, parse_anchor
from ..model.pane_moments import playhead_moment
from ..state.actions import ShowPictureOnly
from ..widgets.widget_picture import PictureError, picture_of
from .model.film import Film, Still, played
from .model.gif_palette import Frame
from .model.wanted import FilmOptions


class Shown(Protocol):
    """The interface of the main window that frames need."""

    @property
    def stage(self) -> Stage: ...
    def draw(self) -> None: ...


class WindowFrames:
    """Draws the frames of a film of a window, each from the window's initial selections."""

    def __init__(
        self, window: Shown, film: Film, wanted: FilmOptions, arrange: Callable[[], None] = lambda: None
    ) -> None:
        """arrange: applies the sizes of the parts once the window has its size."""
        self._window, self._scale, self.film = window, wanted.scale, film
        self._selections = window.stage.selections
        window.stage.playhead.in_film = True
        window.stage.store.dispatch(ShowPictureOnly(wanted.part == "memory"))
        widget = cast(QWidget, window)
        widget.setFixedSize(*wanted.size)
        widget.show()
        QApplication.processEvents()
        arrange()
        QApplication.processEvents()

    def draw(self, still: Still) -> Frame:
        """Draw the window at a moment; the selected block depends only on that moment."""
        stage = self._window.stage
        stage.choose(self._selections)
        stage.playhead.seek(still.moment)
        self._window.draw()
        # Texts of this moment may need another layout.
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        return frame_of(picture_of(cast(QWidget, self._window), self._scale))


def film_of(stage: Stage, wanted: FilmOptions, rate: Fraction) -> Film:
    """Plan the film of a stage; raises PictureError for an unknown anchor."""
    begin, end = (moment_at(text, stage) for text in (wanted.begin, wanted.end))
    speed = wanted.speed or stage.playhead.speed
    return Film([played(begin, end, speed, Fraction(wanted.hold), rate)], rate)


def frame_of(image: QImage) -> Frame:
    """Copy the pixels of an image."""
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)
    return pixels[:, : image.width()].copy()


def moment_at(text: str | float, stage: Stage) -> float:
    """Find the playhead's moment of an anchor in the last pane: "phase 2", "end", "24".

    A number is already a moment. Raises PictureError for an invalid or missing anchor.
    """
    if not isinstance(text, str):
        return min(max(float(text), 0.0), stage.playhead.end)
    try:
        place = TimeAnchor("moment", int(text)) if text.isdecimal() else parse_anchor(text)
        return _moment_of(place, stage)
    except TimeAnchorError as error:
        raise PictureError(str(error)) from error


def _moment_of(place: TimeAnchor, stage: Stage) -> float:
    session, ends = stage.sessions[-1], stage.ends()
    if session is None or place.kind == "end":
        return float(max(ends, default=0))
    if place.kind == "first load":
        return at_first_load(stage)
    pane = len(ends) - 1
    moment, _ = find_anchor(place, session, stage.selections[pane], 0.0)
    return playhead_moment(moment, pane, ends, stage.link_mode)
