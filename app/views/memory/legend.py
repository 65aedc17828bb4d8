"""The legend of the memory view: the meaning of the cells' colours, in as many rows as fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter, QPixmap

from ....tracer.model.trace import Buffer
from ...widgets.theme import Theme
from ..common import cell_colours
from ..common.drawing import MIDDLE, draw_badge, draw_hatch, draw_text, text_width
from ..common.heat import HEATS
from ..common.wording import EXACT, buffer_text, count_text, value_text
from .layout.ghosts import Ghost
from .paint import colour_table, draw_differing_cells, draw_ghosts, draw_race_sign
from .text import SMALL, line_height
from .view_data import ColourGroup

SCALE_WIDTH = 46.0
TEXT = "text"
SIGNS = ("hatch", "race", "outside", "differing")  # in a square instead of a scale
LONGEST_NAMES = 12  # letters; longer lists of names are replaced by their space
GAPS = (18, 12)  # between two items: the usual one, and one for little room
LegendRows = list[list[tuple[float, "LegendItem"]]]


class LegendItem(NamedTuple):
    """One entry of the legend: words, then a colour scale, words.

    scale: a measure (see ColourGroup), one of SIGNS, TEXT for none, or "" for words in a badge.
    """

    before: str
    scale: str
    after: str = ""


def legend_items(
    groups: Sequence[ColourGroup], buffers: Sequence[Buffer], touched: frozenset[int], hatched: bool, mark: str,
    theme: Theme,
) -> list[LegendItem]:  # fmt: skip
    """List the legend's items for these groups, without buffers that are never touched, and the mark at the end."""
    items, images = [], []
    for group in groups:
        names = ", ".join(buffer_text(buffers[n]) for n in group.buffers if n in touched)
        low, high = group.span.low, group.span.high
        space = theme.translate(f"{buffers[group.buffers[0]].space} memory").removesuffix(" memory")
        names = names if len(names) <= LONGEST_NAMES else space
        if names and group.measure == "reads":
            items.append(LegendItem(f"{names} read 0", "reads", f"{count_text(int(high))}×"))
        elif names and group.measure in HEATS:
            if high:
                noun = theme.translate(HEATS[group.measure])
                items.append(LegendItem(f"{names} 0", group.measure, f"{count_text(int(high))} {noun}"))
        elif names and group.measure == "image":
            images.append(names)
        elif names:
            items.append(LegendItem(f"{names} {_number_text(low)}", "value", _number_text(high)))
    if images:
        items.append(LegendItem(f"{', '.join(images)}: own colours", TEXT))
    heats = {group.measure for group in groups} & HEATS.keys()
    if heats and not items:
        items.append(LegendItem(f"no {theme.translate(HEATS[heats.pop()])}", TEXT))
    hatch_items = [LegendItem("", "hatch", "no value")] if hatched else []
    return [*items, *hatch_items, LegendItem(mark, "")] if items else []


def _number_text(value: float) -> str:
    return value_text(np.float64(value)).replace("-", "−")


def legend_rows(items: Sequence[LegendItem], width: float, limit: int, theme: Theme) -> LegendRows:
    """Arrange the items in at most `limit` rows of (x, item) that fit the width.

    With little room the gaps shrink first; then the "exact" mark, the hatch and the last items are dropped.
    """
    without_mark = [item for item in items if item != LegendItem(EXACT, "")]
    without_hatch = [item for item in without_mark if item.scale != "hatch"]
    candidates = [
        _arrange_rows(choice, width, gap, theme)
        for choice in (items, without_mark, without_hatch)
        for gap in GAPS
    ]
    return next((rows for rows in candidates if len(rows) <= limit), candidates[-1][:limit])


def _arrange_rows(items: Sequence[LegendItem], width: float, gap: float, theme: Theme) -> LegendRows:
    """Arrange the items in rows of (x, item)."""
    rows: LegendRows = [[]]
    x = 0.0
    for item in items:
        item_width = _item_width(item, theme)
        if rows[-1] and x + item_width > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, item))
        x += item_width + theme.px(gap)
    return rows if items else []


def _item_width(item: LegendItem, theme: Theme) -> float:
    font, gap = theme.font(SMALL), theme.px(5)
    words = sum(text_width(text, font) + gap for text in (item.before, item.after) if text)
    widths = dict.fromkeys(SIGNS, theme.px(16)) | {"": theme.px(8), TEXT: 0}
    return words + widths.get(item.scale, theme.px(SCALE_WIDTH))


def legend_picture(rows: LegendRows, width: float, height: float, ratio: float, theme: Theme) -> QPixmap:
    """Draw the rows of a legend as a picture, sharp at `ratio`, with a little space above."""
    picture = QPixmap(max(1, round(width * ratio)), max(1, round(height * ratio)))
    picture.setDevicePixelRatio(ratio)
    picture.fill(theme.colour("panel"))
    painter = QPainter(picture)
    draw_legend(painter, rows, theme)
    painter.end()
    return picture


def draw_legend(painter: QPainter, rows: LegendRows, theme: Theme) -> None:
    """Draw the rows of a legend, with a little space above."""
    for number, row in enumerate(rows):
        for x, item in row:
            _draw_item(painter, x, theme.px(4) + number * line_height(theme), item, theme)


def _draw_item(painter: QPainter, x: float, y: float, item: LegendItem, theme: Theme) -> None:
    style, gap, line = (theme.font(SMALL), theme.colour("muted"), MIDDLE), theme.px(5), line_height(theme)
    width = text_width(item.before, style[0])
    if not item.scale:
        draw_badge(painter, QRectF(x, y + 1, width + theme.px(12), line - 2), theme)
        x += theme.px(6)
    draw_text(painter, QRectF(x, y, width + 1, line), item.before, *style)
    if item.scale not in ("", TEXT):
        x += width + gap if item.before else 0
        scale_width = theme.px(14 if item.scale in SIGNS else SCALE_WIDTH - 5)
        _draw_scale(
            painter, QRectF(x, y + line / 2 - theme.px(5), scale_width, theme.px(10)), item.scale, theme
        )
        x += scale_width + gap
    draw_text(painter, QRectF(x, y, text_width(item.after, style[0]) + 1, line), item.after, *style)


def _draw_scale(painter: QPainter, box: QRectF, scale: str, theme: Theme) -> None:
    """Draw a colour scale; scales of counts begin with the colour of unread cells."""
    if scale == "hatch":
        draw_hatch(painter, box, theme)
        return
    if scale == "race":
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_race_sign(painter, box.center().x(), box.center().y(), theme)
        return
    if scale == "outside":
        draw_ghosts(painter, [Ghost((box.x() + 1, box.y() - 1, 12, 12), "")], theme)
        return
    if scale == "differing":
        draw_differing_cells(painter, [QRectF(box.x() + 1, box.y() - 1, 12, 12)], theme)
        return
    if scale != "value":
        painter.fillRect(QRectF(box.x(), box.y(), box.height(), box.height()), theme.colour("cell_unread"))
        box = box.adjusted(box.height() + 2, 0, 0, 0)
    dots = np.ascontiguousarray(colour_table(theme, scale)[cell_colours.FIRST :])
    image = QImage(dots.data, len(dots), 1, dots.nbytes, QImage.Format.Format_ARGB32_Premultiplied)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(box, image)
