"""Draws a chart of one launch: curve, names, rows as an image, phases, labels, and the selection."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from ...tracer.hardware.timeline import SEGMENT_KINDS
from ...tracer.model.array_types import Floats, Ints
from ..views.common.drawing import CENTRE, LEFT, MIDDLE, RIGHT, clipped, draw_text
from ..views.common.geometry import integer_step
from ..views.plotting.library import pg
from ..widgets.patterns import image, mixed
from ..widgets.theme import Theme, contrasting
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
from .shown import ChartView
from .text import NO_DETAILS, block_name, line_numbers, phase_label, rest_text

WORDS = 400  # the largest number of labels in bars
BAR = 13  # pixels: lower bars have no label
NARROW = 3  # pixels: the least width of a frame, and of the mark of recorded rows
GAP = 2  # pixels beside the background of a label
ROOMY = 24  # pixels: higher rows have larger names
LEAST_REST, REST = 11, 32  # pixels: the height of the row for all other multiprocessors
MARK = 6  # pixels: the side of the mark of the chosen row


def draw_chart(
    painter: QPainter,
    shown: ChartView,
    layout: GpuLayout,
    theme: Theme,
    ratio: float,
    row: int | None,
    item: int | None,
) -> None:
    """Draw a chart; images have `ratio` pixels per logical pixel. row, item: the selection, if any."""
    if shown.shows_blocks:
        _draw_blocks(painter, shown, layout, theme, ratio)
    elif shown.has_details:
        _draw_segments(painter, shown, layout, theme, ratio)
    else:
        _draw_block_without_warps(painter, layout, shown, theme)
    _draw_names(painter, shown, layout, theme, row)
    if item is not None:
        _draw_selection(painter, box_of_item(shown, layout, item), layout, theme)


def _device_size(box: QRectF, ratio: float) -> tuple[int, int]:
    return max(1, round(box.width() * ratio)), max(1, round(box.height() * ratio))


# Blocks.


def _draw_blocks(painter: QPainter, shown: ChartView, layout: GpuLayout, theme: Theme, ratio: float) -> None:
    data, machine = shown.data, None if shown.level == "gpu" else shown.machine
    pixels, at_once = bars(
        data, machine, layout.span, _device_size(layout.rows, ratio), layout.count, theme, ratio
    )
    lanes = layout.count * (1 if machine is not None else max(1, data.lanes.concurrent_blocks))
    add_warps(pixels, data, machine, layout.span, lanes, theme, ratio)
    painter.drawImage(layout.rows, image(pixels))
    _draw_curve(painter, shown, at_once, layout, theme)
    if machine is None:
        _draw_marks(painter, shown, layout, theme)
        if data.unlisted_count:
            _draw_rest(painter, shown, layout, theme)
    with clipped(painter, layout.rows):
        _draw_numbers(painter, shown, layout, theme)


def most_at_once(shown: ChartView) -> int:
    """Return the top of the curve: the largest number of concurrent blocks that was measured, times multiprocessors."""
    return max(1, shown.data.lanes.concurrent_blocks * (shown.data.machines if shown.level == "gpu" else 1))


def _draw_curve(
    painter: QPainter, shown: ChartView, at_once: Floats, layout: GpuLayout, theme: Theme
) -> None:
    """Draw the number of concurrent blocks as an area over time."""
    box, most = layout.curve, most_at_once(shown)
    x = box.left() + np.arange(len(at_once) + 1) * (box.width() / len(at_once))
    y = box.bottom() - np.minimum(at_once / most, 1.0) * (box.height() - 2)
    corners = np.repeat(x, 2), np.pad(np.repeat(y, 2), 1, constant_values=box.bottom())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(mixed(theme.colour("panel"), theme.palette.accent, 0.45))
    painter.drawPath(pg.arrayToQPath(*corners))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.fillRect(QRectF(box.left(), box.bottom(), box.width(), 1), theme.colour("border"))
    small, names = theme.font(9.5), QRectF(0, box.top(), box.left() - theme.px(6), box.height())
    draw_text(
        painter, names, f"{most:,} at once", small, theme.colour("muted"), RIGHT | Qt.AlignmentFlag.AlignTop
    )


def _draw_marks(painter: QPainter, shown: ChartView, layout: GpuLayout, theme: Theme) -> None:
    """Mark the multiprocessors that have blocks with recorded warps."""
    for machine in shown.data.detailed_machines.tolist():
        box, width = layout.box(int(shown.data.row_of[machine])), theme.px(NARROW)
        height = max(box.height() - 1, 2.0)
        painter.fillRect(
            QRectF(layout.rows.left() - width - 1, box.top(), width, height), theme.colour("accent")
        )


def _draw_rest(painter: QPainter, shown: ChartView, layout: GpuLayout, theme: Theme) -> None:
    """Describe the multiprocessors that are left out: in the last row, or next to the curve if rows are too low."""
    box, text = layout.box(layout.count - 1), theme.translate(rest_text(shown.data))
    if box.height() >= theme.px(LEAST_REST):
        box.setHeight(min(box.height(), theme.px(REST)))
        font = theme.font(12 if box.height() >= theme.px(ROOMY) else 9.5)
        draw_text(painter, box, text, font, theme.colour("muted"), LEFT | MIDDLE)
    else:
        top = RIGHT | Qt.AlignmentFlag.AlignTop
        draw_text(painter, layout.curve, text, theme.font(9.5), theme.colour("muted"), top)


def _visible_blocks(shown: ChartView, layout: GpuLayout) -> Ints:
    """List the visible blocks, the longest first."""
    data, spans = shown.data, shown.data.timeline.spans
    blocks = data.order if shown.level == "gpu" else data.blocks_on(shown.machine)
    visible = blocks[(spans.end[blocks] > layout.span[0]) & (spans.start[blocks] < layout.span[1])]
    return np.asarray(visible[np.argsort(spans.start[visible] - spans.end[visible], kind="stable")])


def _draw_numbers(painter: QPainter, shown: ChartView, layout: GpuLayout, theme: Theme) -> None:
    """Write the names of blocks into bars with enough room, unless they show warps."""
    data, machine = shown.data, None if shown.level == "gpu" else shown.machine
    lane_height = layout.box(0).height() / (
        1 if machine is not None else max(1, data.lanes.concurrent_blocks)
    )
    if lane_height < theme.px(BAR):
        return
    font, metrics = theme.font(10), QFontMetricsF(theme.font(10))
    blocks = _visible_blocks(shown, layout)[:WORDS]
    if shows_warps(data, machine, layout.span, layout.rows.width(), lane_height):
        blocks = np.setdiff1d(blocks, data.detailed)
    painter.setFont(font)
    for block in blocks.tolist():
        box, name = box_of_item(shown, layout, block).intersected(layout.rows), block_name(data, block)
        choices = (name, name.removeprefix("block "))
        text = next((text for text in choices if metrics.horizontalAdvance(text) + 6 <= box.width()), "")
        share = (PALE if data.lanes.wave[block] % 2 else DARK)[1]
        painter.setPen(contrasting(mixed(theme.colour("panel"), theme.palette.muted, share)))
        painter.drawText(box, CENTRE, text)


def _draw_block_without_warps(painter: QPainter, layout: GpuLayout, shown: ChartView, theme: Theme) -> None:
    """Draw a block without recorded warps, with a note."""
    box = QRectF(
        QPointF(layout.x(0), layout.rows.top()), QPointF(layout.x(shown.duration), layout.rows.bottom())
    ).intersected(layout.rows)
    painter.fillRect(box, mixed(theme.colour("panel"), theme.palette.muted, 0.55))
    draw_text(
        painter, layout.bands, NO_DETAILS, theme.font(10.5, bold=True), theme.colour("muted"), LEFT | MIDDLE
    )


# The activity of warps.


def _draw_segments(
    painter: QPainter, shown: ChartView, layout: GpuLayout, theme: Theme, ratio: float
) -> None:
    warp = shown.warp if shown.level == "warp" else None
    strip = block_strip(shown.data, shown.block, warp)
    pixels = segment_pixels(strip, layout.span, _device_size(layout.rows, ratio), layout.count, theme, ratio)
    painter.drawImage(layout.rows, image(pixels))
    with clipped(painter, layout.bands.united(layout.rows)):
        _draw_phases(painter, shown, layout, theme, ratio)
    if layout.box(0).height() >= theme.px(BAR + 1):
        with clipped(painter, layout.rows):
            _draw_cycles(painter, shown, strip, layout, theme)


def _draw_phases(painter: QPainter, shown: ChartView, layout: GpuLayout, theme: Theme, ratio: float) -> None:
    """Write the phases with their cycles above the rows, with a line at the end of each."""
    data, spans = shown.data, shown.data.phase_spans(shown.block)
    left, right = (
        layout.rows.left() + (data.nanoseconds(t) - layout.span[0]) * _scale(layout)
        for t in (spans.start, spans.end)
    )
    visible = (right > layout.rows.left()) & (left < layout.rows.right()) & (right - left >= 4)
    font, metrics = theme.font(10.5, bold=True), QFontMetricsF(theme.font(10.5, bold=True))
    painter.setFont(font)
    painter.setPen(theme.colour("muted"))
    for i in np.flatnonzero(visible)[:WORDS].tolist():
        begin, cycles = max(float(left[i]), layout.rows.left()), int(spans.end[i] - spans.start[i])
        text = _phase_text(shown, int(spans.phase[i]), cycles, float(right[i]) - begin - 8, metrics)
        if text:
            box = QRectF(begin + 4, layout.bands.top(), layout.rows.width(), layout.bands.height())
            painter.drawText(box, LEFT | MIDDLE, text)
        if i + 1 < len(left):
            line_width = max(1, round(1.4 * ratio)) / ratio
            x = math.floor(float(left[i + 1]) * ratio) / ratio
            painter.fillRect(
                QRectF(x - line_width, layout.bands.top() + 2, line_width, layout.rows.bottom()),
                theme.colour("text"),
            )


def _phase_text(shown: ChartView, phase: int, cycles: int, room: float, metrics: QFontMetricsF) -> str:
    """Return a phase's name with its cycles, in the longest form that fits."""
    label = phase_label(shown.data, phase)
    text = f"{label}: {cycles:,} cycles"
    choices = (
        f"{text} · measured",
        text,
        f"{label}: {cycles:,}",
        f"{label.split()[0]}: {cycles:,}",
        f"{cycles:,}",
    )
    return next((choice for choice in choices if metrics.horizontalAdvance(choice) <= room), "")


def _draw_cycles(painter: QPainter, shown: ChartView, strip: Strip, layout: GpuLayout, theme: Theme) -> None:
    """Write kind and cycles into segments with enough room, unless there are too many."""
    font, metrics = theme.font(10), QFontMetricsF(theme.font(10))
    left, right = (
        layout.rows.left() + (time - layout.span[0]) * _scale(layout) for time in (strip.begin, strip.end)
    )
    left, right = np.maximum(left, layout.rows.left()), np.minimum(right, layout.rows.right())
    roomy = np.flatnonzero(right - left >= metrics.horizontalAdvance("9,999") + 6)
    if len(roomy) > WORDS:
        return
    painter.setFont(font)
    for i in roomy.tolist():
        row = layout.box(int(strip.row[i]))
        box = QRectF(float(left[i]), row.top(), float(right[i] - left[i]), row.height() - 1)
        _write_cycles(painter, shown, int(strip.segment[i]), box, metrics, theme)


def _write_cycles(
    painter: QPainter, shown: ChartView, segment: int, box: QRectF, metrics: QFontMetricsF, theme: Theme
) -> None:
    segments = shown.data.timeline.segments
    kind, cycles = (
        SEGMENT_KINDS[int(segments.kind[segment])],
        int(segments.end[segment] - segments.start[segment]),
    )
    lines = line_numbers(shown.data, segment) if shown.level == "warp" else ""
    texts = [f"{kind} {cycles:,}, {lines}"] if lines else []
    texts += [f"{kind} {cycles:,}", f"{cycles:,}"]
    text = next((text for text in texts if metrics.horizontalAdvance(text) + 8 <= box.width()), "")
    if text:
        name = {"wait": "panel", "other": "cell_unread"}.get(kind, KIND_LOOKS[kind])
        painter.fillRect(_label_background(box, text, kind, metrics), theme.colour(name))
        painter.setPen(contrasting(theme.colour(name), 100.0))
        painter.drawText(box, CENTRE, text)


def _label_background(box: QRectF, text: str, kind: str, metrics: QFontMetricsF) -> QRectF:
    """Return the part of a bar that a label covers: a low bar completely, since the label names its kind."""
    width = metrics.horizontalAdvance(text) + 6 if kind == "wait" else box.width() - 2 * GAP
    covers_bar = kind != "wait" and box.height() < 3 * metrics.height()
    height = box.height() if covers_bar else metrics.height()
    return QRectF(box.center().x() - width / 2, box.center().y() - height / 2, width, height).intersected(box)


def _scale(layout: GpuLayout) -> float:
    """Return the pixels per nanosecond."""
    return layout.rows.width() / (layout.span[1] - layout.span[0])


# Names and the selection.


def _draw_names(
    painter: QPainter, shown: ChartView, layout: GpuLayout, theme: Theme, row: int | None
) -> None:
    """Write the names of rows, as many as fit, and mark the chosen row."""
    row_height = layout.box(0).height()
    step = (
        1 if row_height >= theme.px(12) else integer_step(layout.count, layout.rows.height() / theme.px(15))
    )
    large, small = 13 if row_height >= theme.px(ROOMY) and shown.level == "gpu" else 10.5, theme.font(9.5)
    font = theme.font(large)
    for i in range(0, layout.count, step):
        if row is not None and i != row and abs(i - row) * row_height < theme.px(12):
            continue
        _write_name(painter, shown, layout, i, font if row_height >= theme.px(12) else small, theme, "muted")
    if row is not None and (shown.name(row) or shown.machine_at(row) is None):
        _write_name(painter, shown, layout, row, theme.font(large, bold=True), theme, "text")
        _draw_row_mark(painter, layout.box(row), layout, theme)
    if shown.level == "multiprocessor":
        box = QRectF(0, layout.rows.top(), layout.rows.left() - theme.px(8), theme.px(30))
        lines = f"multiprocessor\n{shown.machine}"
        painter.setFont(small)
        painter.setPen(theme.colour("muted"))
        painter.drawText(box, int(RIGHT | Qt.AlignmentFlag.AlignTop), lines)


def _write_name(
    painter: QPainter, shown: ChartView, layout: GpuLayout, row: int, font: QFont, theme: Theme, colour: str
) -> None:
    box, height = layout.box(row), theme.px(18)
    line = QRectF(0, box.center().y() - height / 2, layout.rows.left() - theme.px(14), height)
    draw_text(painter, line, shown.name(row), font, theme.colour(colour), RIGHT | MIDDLE)


def _draw_row_mark(painter: QPainter, box: QRectF, layout: GpuLayout, theme: Theme) -> None:
    """Draw the mark of the chosen row."""
    side, tip = theme.px(MARK), QPointF(layout.rows.left() - theme.px(3), box.center().y())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("text"))
    half = side * 0.7
    painter.drawPolygon(
        QPolygonF([tip, QPointF(tip.x() - side, tip.y() - half), QPointF(tip.x() - side, tip.y() + half)])
    )
    painter.setBrush(Qt.BrushStyle.NoBrush)


def box_of_item(shown: ChartView, layout: GpuLayout, item: int) -> QRectF:
    """Return the rectangle of a block or a segment, not clipped; empty if it is in no row."""
    data = shown.data
    if shown.shows_blocks:
        start, end = data.span(item)
        if shown.level == "multiprocessor":
            row = int(data.lanes.lane[item])
            return (
                _bar(layout, layout.box(row), start, end) if data.machine(item) == shown.machine else QRectF()
            )
        return _bar(layout, _lane_box(shown, layout, item), start, end)
    segments = data.timeline.segments
    start, end = (
        float(data.nanoseconds(column[item : item + 1])[0]) for column in (segments.start, segments.end)
    )
    rows = [row for row in range(layout.count) if item in segments_in(shown, row)]
    return _bar(layout, layout.box(rows[0]), start, end) if rows else QRectF()


def _lane_box(shown: ChartView, layout: GpuLayout, block: int) -> QRectF:
    """Return the row of a block's multiprocessor, or the part of its lane if lanes are drawn apart."""
    box, at_once = (
        layout.box(int(shown.data.row_of[shown.data.machine(block)])),
        shown.data.lanes.concurrent_blocks,
    )
    if box.height() < LANE * at_once:
        return box
    lane_height = box.height() / at_once
    return QRectF(
        box.left(), box.top() + int(shown.data.lanes.lane[block]) * lane_height, box.width(), lane_height
    )


def _bar(layout: GpuLayout, box: QRectF, start: float, end: float) -> QRectF:
    left, right = layout.x(start), layout.x(end)
    gap = 1.0 if box.height() >= 4 else 0.0
    return QRectF(left, box.top(), right - left, box.height() - gap)


def _draw_selection(painter: QPainter, box: QRectF, layout: GpuLayout, theme: Theme) -> None:
    """Draw a frame of a visible width around the selection."""
    if box.isEmpty():
        return
    room = NARROW - min(box.width(), NARROW)
    with clipped(painter, layout.rows.adjusted(-2, -2, 2, 2)):
        _outline(painter, box.adjusted(-1 - room / 2, -1, 1 + room / 2, 1), theme.colour("text"), 2.0)


def _outline(painter: QPainter, box: QRectF, colour: QColor, width: float) -> None:
    path = QPainterPath()
    path.addRect(box)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(
        QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.SquareCap, Qt.PenJoinStyle.MiterJoin)
    )
    painter.drawPath(path)
