"""Drawing of a warp operation: the lanes that give and get values, or the lanes' votes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from ....tracer.analysis.warp_exchanges import WarpExchanges
from ....tracer.model.array_types import Ints
from ....tracer.model.trace import WARP
from ...widgets.theme import Theme, contrasting
from .drawing import CENTRE, LEFT, MIDDLE, RIGHT, draw_text, text_width
from .geometry import Box
from .wording import plural

LANES = 4.6  # the picture's height in lines of text
WIDEST = 24.0  # pixels, the largest width of a lane
ROW = 17.0  # pixels, the height of a lane


class ExchangeData(NamedTuple):
    """The data of one warp operation; see `WarpExchanges`."""

    kind: str  # "shuffle", "vote" or "match"
    participates: NDArray[np.bool_]  # (32,), whether each lane participates
    givers: Ints  # (32,), the lane whose value each lane gets, -1 for none
    votes: NDArray[np.int8]  # (32,), 1 for yes, 0 for no, -1 for none
    chosen: int  # the selected lane
    lanes: int = WARP  # the number of lanes that are drawn


def exchange_data(exchanges: WarpExchanges, exchange: int, chosen: int, lanes: int = WARP) -> ExchangeData:
    """Collect the data of an exchange; lanes: the number of lanes that are drawn."""
    came = np.zeros(WARP, bool)
    came[exchanges.lanes(exchange)[0]] = True
    return ExchangeData(
        exchanges.kind(exchange), came, exchanges.givers(exchange), exchanges.votes(exchange), chosen, lanes
    )


def draw_exchange(painter: QPainter, box: Box, data: ExchangeData, theme: Theme) -> None:
    """Draw the lanes in a row; below them the lanes that get the values, or the result of the vote."""
    small = theme.font(11)
    names = ("gives", "gets") if data.kind == "shuffle" else ("lane", "")
    label = max(text_width(name, small) for name in names) + theme.px(8)
    lane_width = min((box.width - label) / data.lanes, float(theme.px(WIDEST)))
    lane_height = min(float(theme.px(ROW)), box.height / 3)
    tops = (box.y + 1, box.bottom - lane_height - 1)
    rows = [
        [QRectF(box.x + label + lane * lane_width, y, lane_width, lane_height) for lane in range(data.lanes)]
        for y in tops
    ]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for name, y in zip(names, tops, strict=True):
        draw_text(
            painter,
            QRectF(box.x, y, label - theme.px(6), lane_height),
            name,
            small,
            theme.colour("muted"),
            RIGHT | MIDDLE,
        )
    if data.kind == "shuffle":
        _draw_curves(painter, rows, data, theme)
        gives = np.isin(np.arange(WARP), data.givers[data.givers >= 0])
        others = data.givers != np.arange(WARP)
        _draw_lanes(painter, rows[0], data, gives, theme)
        _draw_lanes(painter, rows[1], data, data.participates & others, theme)
        return
    _draw_lanes(painter, rows[0], data, data.participates & (data.votes != 0), theme)
    text = _vote_text(data) if data.kind == "vote" else "the lanes compare their values"
    below = QRectF(rows[0][0].left(), rows[0][0].bottom() + theme.px(5), box.width - label, lane_height)
    draw_text(painter, below, text, theme.font(12, bold=True), theme.colour("text"), LEFT | MIDDLE)


def lane_role_text(data: ExchangeData) -> str:
    """Describe the role of the selected lane: lane 0 gets the value of lane 8, and gives its own to lane 4."""
    lane = data.chosen
    if not data.participates[lane]:
        return f"Lane {lane} does not take part."
    if data.kind == "vote":
        return f"Lane {lane} votes {'yes' if data.votes[lane] == 1 else 'no'}."
    if data.kind == "match":
        return f"Lane {lane} compares its value with those of the others."
    giver, takers = int(data.givers[lane]), np.flatnonzero(data.givers == lane)
    takers = takers[takers != lane]
    gets = "keeps its own value" if giver == lane else f"gets the value of lane {giver}"
    gives = f", and gives its own to {plural(len(takers), 'lane')}" if len(takers) else ""
    return f"Lane {lane} {gets}{gives}."


def _vote_text(data: ExchangeData) -> str:
    """Format the result of the vote as `ballot_sync` returns it."""
    mask = sum(1 << lane for lane in np.flatnonzero(data.votes == 1).tolist())
    return f"a bit for each lane that votes yes: 0x{mask:08x}"


def _draw_lanes(
    painter: QPainter, boxes: list[QRectF], data: ExchangeData, filled: NDArray[np.bool_], theme: Theme
) -> None:
    """Draw lanes: filled if they give, get or vote yes, else open; dotted if they do not participate."""
    step = 1 if boxes[0].width() >= theme.px(16) else 4
    ink, font = theme.colour("text"), theme.font(10)
    for lane, box in enumerate(boxes):
        is_chosen, style = lane == data.chosen, Qt.PenStyle.SolidLine
        if not data.participates[lane]:
            style = Qt.PenStyle.DotLine
        painter.setPen(
            QPen(theme.colour("accent" if is_chosen else "muted"), 2.5 if is_chosen else 0.8, style)
        )
        painter.setBrush(ink if filled[lane] else Qt.BrushStyle.NoBrush)
        painter.drawRect(box.adjusted(1, 1, -1, -1))
        if lane % step == 0 or is_chosen:
            colour = contrasting(ink) if filled[lane] else theme.colour("muted")
            painter.setFont(font)
            painter.setPen(colour)
            painter.drawText(box, int(CENTRE | Qt.TextFlag.TextDontClip), str(lane))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _draw_curves(painter: QPainter, rows: list[list[QRectF]], data: ExchangeData, theme: Theme) -> None:
    """Draw a curve from each giving lane to the lane that gets its value; the selected lane's curves are bold."""
    paths = {True: QPainterPath(), False: QPainterPath()}
    for lane, giver in enumerate(data.givers.tolist()):
        if 0 <= giver < data.lanes and giver != lane:
            path = paths[data.chosen in (lane, giver)]
            start = QPointF(rows[0][giver].center().x(), rows[0][giver].bottom())
            stop = QPointF(rows[1][lane].center().x(), rows[1][lane].top())
            path.moveTo(start)
            middle = (start.y() + stop.y()) / 2
            path.cubicTo(QPointF(start.x(), middle), QPointF(stop.x(), middle), stop)
    for is_chosen, path in sorted(paths.items()):
        painter.strokePath(
            path, QPen(theme.colour("accent" if is_chosen else "muted"), 2.5 if is_chosen else 1.0)
        )
