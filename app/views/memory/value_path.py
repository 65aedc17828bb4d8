"""The path of a value in the picture of memory: frames around its elements, and lines from element to element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPainterPath

from ...model.explanation import Explanation
from ...model.session import Selection, Session
from ...widgets.theme import Theme
from ..common.drawing import pen
from ..common.value_marks import path_cells, path_lines
from . import paint
from .layout.buffer_position import BufferPosition

FAINT_FROM = 40  # lines, above which each is thinner
MARGIN = 4.0  # pixels that frames reach beyond their cells


class DrawnPath(NamedTuple):
    """The shapes of a path, in pixels."""

    frames: QPainterPath
    faults: QPainterPath  # around elements that were read too early, too late or without content
    lines: QPainterPath
    is_faint: bool  # whether there are many lines

    @property
    def box(self) -> QRectF:
        """The rectangle that the shapes cover."""
        bounds = [
            part.boundingRect() for part in (self.frames, self.faults, self.lines) if not part.isEmpty()
        ]
        box = QRectF()
        for bound in bounds:
            box = box.united(bound.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN))
        return box


def shape_path(
    session: Session, explanation: Explanation, selection: Selection, places: Mapping[int, BufferPosition]
) -> DrawnPath:
    """Compute the shapes of a path for the selected block."""
    frames, faults, lines = QPainterPath(), QPainterPath(), QPainterPath()
    for number, cells in path_cells(session, explanation, selection).items():
        if number not in places:
            continue
        frames.addPath(paint.elements_outline(places[number], cells.elements))
        if len(cells.faults):
            faults.addPath(paint.elements_outline(places[number], cells.faults))
    count = 0
    for start, end in path_lines(session, explanation, selection):
        if start[0] in places and end[0] in places and start[1] >= 0 and end[1] >= 0:
            first, last = (np.asarray(places[number].middle(element)) for number, element in (start, end))
            lines.moveTo(QPointF(*first.tolist()))
            lines.lineTo(QPointF(*last.tolist()))
            count += 1
    return DrawnPath(frames, faults, lines, count > FAINT_FROM)


def draw_path(painter: QPainter, drawn: DrawnPath, theme: Theme) -> None:
    """Draw lines below frames; a frame has a halo, so that it shows on every colour of a cell."""
    accent, bad, halo = theme.palette.accent, theme.palette.bad, theme.palette.panel
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.strokePath(
        drawn.lines, pen(accent, 1.0 if drawn.is_faint else 1.8, 90 if drawn.is_faint else 170)
    )
    for shape, colour in ((drawn.frames, accent), (drawn.faults, bad)):
        painter.strokePath(shape, pen(halo, 5.0))
        painter.strokePath(shape, pen(colour, 2.6))
