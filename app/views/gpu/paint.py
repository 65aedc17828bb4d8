"""Draws a chart of one launch: curve, names, rows as an image, phases and the words in them, and what is selected."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from ....tracer.hardware.timeline import SEGMENT_KINDS
from ....tracer.model.array_types import Floats, Ints
from ...widgets.patterns import image, mixed
from ...widgets.theme import Theme, contrasting
from ..common.drawing import CENTRE, LEFT, MIDDLE, RIGHT, clipped, write
from ..common.geometry import whole_step
from .hit_test import segments_in
from .image import (
    DARK,
    KIND_LOOKS,
    LANE,
    PALE,
    Strip,
    add_warps,
    bars,
    block_strip,
    segment_pixels,
    shows_warps,
)
from .layout import GpuLayout
from .shown import Shown
from .text import NO_DETAILS, block_name, lines_name, phase_label, rest_text

WORDS = 400  # words in bars at most, of which nobody reads more
BAR = 13  # pixels: the height of a bar from which on words are in it
NARROW = 3  # pixels: the least width of a frame, and of the mark of rows with details
GAP = 2  # pixels that a veil leaves free beside it
ROOMY = 24  # pixels: the height of a row from which on its name is larger
LEAST_REST, REST = 11, 32  # pixels: the room that the sentence for all other multiprocessors takes
MARK = 6  # pixels: the side of the mark at the chosen row


def draw_chart(
    painter: QPainter,
    shown: Shown,
    at: GpuLayout,
    theme: Theme,
    ratio: float,
    row: int | None,
    item: int | None,
) -> None:
    """Draw a chart; `ratio` pixels to a logical one of what is made of pixels. row, item: those chosen, if any."""
    if shown.is_of_blocks:
        _draw_blocks(painter, shown, at, theme, ratio)
    elif shown.has_details:
        _draw_segments(painter, shown, at, theme, ratio)
    else:
        _draw_bare_block(painter, at, shown, theme)
    _draw_names(painter, shown, at, theme, row)
    if item is not None:
        _draw_chosen(painter, box_of_item(shown, at, item), at, theme)


def _device(box: QRectF, ratio: float) -> tuple[int, int]:
    return max(1, round(box.width() * ratio)), max(1, round(box.height() * ratio))


# Blocks.


def _draw_blocks(painter: QPainter, shown: Shown, at: GpuLayout, theme: Theme, ratio: float) -> None:
    data, machine = shown.data, None if shown.level == "gpu" else shown.machine
    pixels, at_once = bars(data, machine, at.span, _device(at.rows, ratio), at.count, theme, ratio)
    lanes = at.count * (1 if machine is not None else max(1, data.lanes.at_once))
    add_warps(pixels, data, machine, at.span, lanes, theme, ratio)
    painter.drawImage(at.rows, image(pixels))
    _draw_curve(painter, shown, at_once, at, theme)
    if machine is None:
        _draw_marks(painter, shown, at, theme)
        if data.left_out:
            _draw_rest(painter, shown, at, theme)
    with clipped(painter, at.rows):
        _draw_numbers(painter, shown, at, theme)


def most_at_once(shown: Shown) -> int:
    """Return the top of the curve: the blocks that there is room for at once, as far as was measured."""
    return max(1, shown.data.lanes.at_once * (shown.data.machines if shown.level == "gpu" else 1))


def _draw_curve(painter: QPainter, shown: Shown, at_once: Floats, at: GpuLayout, theme: Theme) -> None:
    """Draw how many blocks ran at once, as an area over time."""
    box, most = at.curve, most_at_once(shown)
    x = box.left() + np.arange(len(at_once) + 1) * (box.width() / len(at_once))
    y = box.bottom() - np.minimum(at_once / most, 1.0) * (box.height() - 2)
    points = [QPointF(box.left(), box.bottom())]
    points += [
        QPointF(a, b) for a, b in zip(np.repeat(x, 2)[1:-1].tolist(), np.repeat(y, 2).tolist(), strict=True)
    ]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(mixed(theme.colour("panel"), theme.palette.accent, 0.45))
    painter.drawPolygon(QPolygonF([*points, QPointF(box.right(), box.bottom())]))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.fillRect(QRectF(box.left(), box.bottom(), box.width(), 1), theme.colour("border"))
    small, names = theme.font(9.5), QRectF(0, box.top(), box.left() - theme.px(6), box.height())
    write(
        painter, names, f"{most:,} at once", small, theme.colour("muted"), RIGHT | Qt.AlignmentFlag.AlignTop
    )


def _draw_marks(painter: QPainter, shown: Shown, at: GpuLayout, theme: Theme) -> None:
    """Draw which multiprocessors have blocks whose warps were recorded."""
    for machine in shown.data.detailed_machines.tolist():
        box, wide = at.box(int(shown.data.row_of[machine])), theme.px(NARROW)
        high = max(box.height() - 1, 2.0)
        painter.fillRect(QRectF(at.rows.left() - wide - 1, box.top(), wide, high), theme.colour("accent"))


def _draw_rest(painter: QPainter, shown: Shown, at: GpuLayout, theme: Theme) -> None:
    """Say in the last row what is left out; beside the curve, whose upper half is free, where rows are too low."""
    box, text = at.box(at.count - 1), theme.say(rest_text(shown.data))
    if box.height() >= theme.px(LEAST_REST):
        box.setHeight(min(box.height(), theme.px(REST)))
        font = theme.font(12 if box.height() >= theme.px(ROOMY) else 9.5)
        write(painter, box, text, font, theme.colour("muted"), LEFT | MIDDLE)
    else:
        top = RIGHT | Qt.AlignmentFlag.AlignTop
        write(painter, at.curve, text, theme.font(9.5), theme.colour("muted"), top)


def _visible_blocks(shown: Shown, at: GpuLayout) -> Ints:
    """Return the blocks in the rows that some of is to be seen, the longest first."""
    data, spans = shown.data, shown.data.timeline.spans
    mine = data.order if shown.level == "gpu" else data.on(shown.machine)
    seen = mine[(spans.end[mine] > at.span[0]) & (spans.start[mine] < at.span[1])]
    return np.asarray(seen[np.argsort(spans.start[seen] - spans.end[seen], kind="stable")])


def _draw_numbers(painter: QPainter, shown: Shown, at: GpuLayout, theme: Theme) -> None:
    """Write what blocks are called into bars that have room for it, but where they show their warps."""
    data, machine = shown.data, None if shown.level == "gpu" else shown.machine
    tall = at.box(0).height() / (1 if machine is not None else max(1, data.lanes.at_once))
    if tall < theme.px(BAR):
        return
    font, metrics = theme.font(10), QFontMetricsF(theme.font(10))
    blocks = _visible_blocks(shown, at)[:WORDS]
    if shows_warps(data, machine, at.span, at.rows.width(), tall):
        blocks = np.setdiff1d(blocks, data.detailed)
    painter.setFont(font)
    for block in blocks.tolist():
        box, name = box_of_item(shown, at, block).intersected(at.rows), block_name(data, block)
        choices = (name, name.removeprefix("block "))
        text = next((text for text in choices if metrics.horizontalAdvance(text) + 6 <= box.width()), "")
        share = (PALE if data.lanes.wave[block] % 2 else DARK)[1]
        painter.setPen(contrasting(mixed(theme.colour("panel"), theme.palette.muted, share)))
        painter.drawText(box, CENTRE, text)


def _draw_bare_block(painter: QPainter, at: GpuLayout, shown: Shown, theme: Theme) -> None:
    """Draw a block of which no warp was recorded, and say so."""
    box = QRectF(QPointF(at.x(0), at.rows.top()), QPointF(at.x(shown.whole), at.rows.bottom())).intersected(
        at.rows
    )
    painter.fillRect(box, mixed(theme.colour("panel"), theme.palette.muted, 0.55))
    write(painter, at.bands, NO_DETAILS, theme.font(10.5, bold=True), theme.colour("muted"), LEFT | MIDDLE)


# What warps did.


def _draw_segments(painter: QPainter, shown: Shown, at: GpuLayout, theme: Theme, ratio: float) -> None:
    warp = shown.warp if shown.level == "warp" else None
    strip = block_strip(shown.data, shown.block, warp)
    pixels = segment_pixels(strip, at.span, _device(at.rows, ratio), at.count, theme, ratio)
    painter.drawImage(at.rows, image(pixels))
    with clipped(painter, at.bands.united(at.rows)):
        _draw_phases(painter, shown, at, theme, ratio)
    if at.box(0).height() >= theme.px(BAR + 1):
        with clipped(painter, at.rows):
            _draw_cycles(painter, shown, strip, at, theme)


def _draw_phases(painter: QPainter, shown: Shown, at: GpuLayout, theme: Theme, ratio: float) -> None:
    """Write the phases with their cycles above the rows, and draw a line where one ends."""
    data, spans = shown.data, shown.data.phase_spans(shown.block)
    left, right = (
        at.rows.left() + (data.nanoseconds(t) - at.span[0]) * _scale(at) for t in (spans.start, spans.end)
    )
    seen = (right > at.rows.left()) & (left < at.rows.right()) & (right - left >= 4)
    font, metrics = theme.font(10.5, bold=True), QFontMetricsF(theme.font(10.5, bold=True))
    painter.setFont(font)
    painter.setPen(theme.colour("muted"))
    for i in np.flatnonzero(seen)[:WORDS].tolist():
        begin, cycles = max(float(left[i]), at.rows.left()), int(spans.end[i] - spans.start[i])
        text = _phase_words(shown, int(spans.phase[i]), cycles, float(right[i]) - begin - 8, metrics)
        if text:
            box = QRectF(begin + 4, at.bands.top(), at.rows.width(), at.bands.height())
            painter.drawText(box, LEFT | MIDDLE, text)
        if i + 1 < len(left):
            wide = max(1, round(1.4 * ratio)) / ratio
            x = math.floor(float(left[i + 1]) * ratio) / ratio
            painter.fillRect(
                QRectF(x - wide, at.bands.top() + 2, wide, at.rows.bottom()), theme.colour("text")
            )


def _phase_words(shown: Shown, phase: int, cycles: int, room: float, metrics: QFontMetricsF) -> str:
    """Return a phase's name with its cycles, in as many words as there is room for."""
    label = phase_label(shown.data, phase)
    told = f"{label}: {cycles:,} cycles"
    choices = (
        f"{told} · measured",
        told,
        f"{label}: {cycles:,}",
        f"{label.split()[0]}: {cycles:,}",
        f"{cycles:,}",
    )
    return next((text for text in choices if metrics.horizontalAdvance(text) <= room), "")


def _draw_cycles(painter: QPainter, shown: Shown, strip: Strip, at: GpuLayout, theme: Theme) -> None:
    """Write kind and cycles into the bars of segments that have room for them; nowhere where they are too many."""
    font, metrics = theme.font(10), QFontMetricsF(theme.font(10))
    left, right = (at.rows.left() + (time - at.span[0]) * _scale(at) for time in (strip.begin, strip.end))
    left, right = np.maximum(left, at.rows.left()), np.minimum(right, at.rows.right())
    seen = np.flatnonzero(right - left >= metrics.horizontalAdvance("9,999") + 6)
    if len(seen) > WORDS:
        return
    painter.setFont(font)
    for i in seen.tolist():
        row = at.box(int(strip.row[i]))
        box = QRectF(float(left[i]), row.top(), float(right[i] - left[i]), row.height() - 1)
        _write_cycles(painter, shown, int(strip.segment[i]), box, metrics, theme)


def _write_cycles(
    painter: QPainter, shown: Shown, segment: int, box: QRectF, metrics: QFontMetricsF, theme: Theme
) -> None:
    segments = shown.data.timeline.segments
    kind, cycles = (
        SEGMENT_KINDS[int(segments.kind[segment])],
        int(segments.end[segment] - segments.start[segment]),
    )
    lines = lines_name(shown.data, segment) if shown.level == "warp" else ""
    texts = [f"{kind} {cycles:,}, {lines}"] if lines else []
    texts += [f"{kind} {cycles:,}", f"{cycles:,}"]
    text = next((text for text in texts if metrics.horizontalAdvance(text) + 8 <= box.width()), "")
    if text:
        name = {"wait": "panel", "other": "cell_unread"}.get(kind, KIND_LOOKS[kind])
        painter.fillRect(_veil(box, text, kind, metrics), theme.colour(name))
        painter.setPen(contrasting(theme.colour(name), 100.0))
        painter.drawText(box, CENTRE, text)


def _veil(box: QRectF, text: str, kind: str, metrics: QFontMetricsF) -> QRectF:
    """Return what of a bar words stand on, without its pattern: all of a low one, which the words name anyway."""
    wide = metrics.horizontalAdvance(text) + 6 if kind == "wait" else box.width() - 2 * GAP
    low = kind != "wait" and box.height() < 3 * metrics.height()
    high = box.height() if low else metrics.height()
    return QRectF(box.center().x() - wide / 2, box.center().y() - high / 2, wide, high).intersected(box)


def _scale(at: GpuLayout) -> float:
    """Return pixels a nanosecond."""
    return at.rows.width() / (at.span[1] - at.span[0])


# Names, and what is chosen.


def _draw_names(painter: QPainter, shown: Shown, at: GpuLayout, theme: Theme, row: int | None) -> None:
    """Write what rows are called, every so many that they have room; mark the chosen one."""
    tall = at.box(0).height()
    step = 1 if tall >= theme.px(12) else whole_step(at.count, at.rows.height() / theme.px(15))
    large, small = 13 if tall >= theme.px(ROOMY) and shown.level == "gpu" else 10.5, theme.font(9.5)
    font = theme.font(large)
    for i in range(0, at.count, step):
        if row is not None and i != row and abs(i - row) * tall < theme.px(12):
            continue
        _write_name(painter, shown, at, i, font if tall >= theme.px(12) else small, theme, "muted")
    if row is not None and (shown.name(row) or shown.machine_at(row) is None):
        _write_name(painter, shown, at, row, theme.font(large, bold=True), theme, "text")
        _draw_row_mark(painter, at.box(row), at, theme)
    if shown.level == "multiprocessor":
        box = QRectF(0, at.rows.top(), at.rows.left() - theme.px(8), theme.px(30))
        lines = f"multiprocessor\n{shown.machine}"
        painter.setFont(small)
        painter.setPen(theme.colour("muted"))
        painter.drawText(box, int(RIGHT | Qt.AlignmentFlag.AlignTop), lines)


def _write_name(
    painter: QPainter, shown: Shown, at: GpuLayout, row: int, font: QFont, theme: Theme, colour: str
) -> None:
    box, high = at.box(row), theme.px(18)
    line = QRectF(0, box.center().y() - high / 2, at.rows.left() - theme.px(14), high)
    write(painter, line, shown.name(row), font, theme.colour(colour), RIGHT | MIDDLE)


def _draw_row_mark(painter: QPainter, box: QRectF, at: GpuLayout, theme: Theme) -> None:
    """Draw what points at the chosen row."""
    wide, tip = theme.px(MARK), QPointF(at.rows.left() - theme.px(3), box.center().y())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("text"))
    half = wide * 0.7
    painter.drawPolygon(
        QPolygonF([tip, QPointF(tip.x() - wide, tip.y() - half), QPointF(tip.x() - wide, tip.y() + half)])
    )
    painter.setBrush(Qt.BrushStyle.NoBrush)


def box_of_item(shown: Shown, at: GpuLayout, item: int) -> QRectF:
    """Return where a block or a segment stands, also beyond the edges; empty where it is in no row."""
    data = shown.data
    if shown.is_of_blocks:
        start, end = data.span(item)
        if shown.level == "multiprocessor":
            row = int(data.lanes.lane[item])
            return _along(at, at.box(row), start, end) if data.machine(item) == shown.machine else QRectF()
        return _along(at, _lane_box(shown, at, item), start, end)
    segments = data.timeline.segments
    start, end = (
        float(data.nanoseconds(column[item : item + 1])[0]) for column in (segments.start, segments.end)
    )
    rows = [row for row in range(at.count) if item in segments_in(shown, row)]
    return _along(at, at.box(rows[0]), start, end) if rows else QRectF()


def _lane_box(shown: Shown, at: GpuLayout, block: int) -> QRectF:
    """Return the row of a block's multiprocessor, or its part for the block's lane where lanes have parts."""
    box, at_once = at.box(int(shown.data.row_of[shown.data.machine(block)])), shown.data.lanes.at_once
    if box.height() < LANE * at_once:
        return box
    tall = box.height() / at_once
    return QRectF(box.left(), box.top() + int(shown.data.lanes.lane[block]) * tall, box.width(), tall)


def _along(at: GpuLayout, box: QRectF, start: float, end: float) -> QRectF:
    left, right = at.x(start), at.x(end)
    gap = 1.0 if box.height() >= 4 else 0.0
    return QRectF(left, box.top(), right - left, box.height() - gap)


def _draw_chosen(painter: QPainter, box: QRectF, at: GpuLayout, theme: Theme) -> None:
    """Draw a frame around what is chosen, at least so wide that it is seen."""
    if box.isEmpty():
        return
    room = NARROW - min(box.width(), NARROW)
    with clipped(painter, at.rows.adjusted(-2, -2, 2, 2)):
        _outline(painter, box.adjusted(-1 - room / 2, -1, 1 + room / 2, 1), theme.colour("text"), 2.0)


def _outline(painter: QPainter, box: QRectF, colour: QColor, width: float) -> None:
    path = QPainterPath()
    path.addRect(box)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(
        QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.SquareCap, Qt.PenJoinStyle.MiterJoin)
    )
    painter.drawPath(path)
