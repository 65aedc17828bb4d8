"""Words of the memory view: names of buffers, the caption, the colour scales below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPixmap

from ...tracer.trace import Buffer
from ..theme import Theme
from . import cells
from .box import Box
from .heat import HEATS
from .layout import Place
from .memory_paint import colour_table, draw_hatch
from .memory_scene import Group
from .wording import buffer_text, count_text, value_text

NAME, SMALL, SCALE_WIDTH = 14.0, 12.0, 46.0
TEXT = "text"
LONGEST_NAMES = 12  # letters; more than these are called by their space
LEFT, RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
MIDDLE, WRAP = Qt.AlignmentFlag.AlignVCenter, Qt.TextFlag.TextWordWrap


class Item(NamedTuple):
    """One entry of the legend: words, then a colour scale, words.

    scale: a measure (see Group), "hatch", TEXT for none, or "" for words in a badge.
    """

    before: str
    scale: str
    after: str = ""


def line_of(theme: Theme) -> float:
    """Return the height of a line of small text."""
    return float(theme.px(17))


def width_of(text: str, font: QFont) -> float:
    """Return the width of a text."""
    return QFontMetricsF(font).horizontalAdvance(text)


def size_text(buffer: Buffer) -> str:
    """Return the shape of a buffer: 64 × 64."""
    return " × ".join(map(count_text, buffer.shape)) or "1"


def name_width(buffer: Buffer, theme: Theme) -> float:
    """Return the width of a buffer's name beside its sheet, with some space around."""
    name = width_of(buffer_text(buffer), theme.font(NAME, bold=True))
    return max(name, width_of(size_text(buffer), theme.font(SMALL))) + theme.px(10)


def write(
    painter: QPainter,
    box: QRectF,
    text: str,
    font: QFont,
    colour: QColor,
    how: Qt.AlignmentFlag | Qt.TextFlag,
) -> None:
    """Write a text into a box; what does not fit a line ends in an ellipsis."""
    painter.setFont(font)
    painter.setPen(colour)
    if how != WRAP:
        text = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width() + 1)
    painter.drawText(box, int(how), text)


def draw_name(painter: QPainter, place: Place, buffer: Buffer, window: Box, theme: Theme) -> None:
    """Write a buffer's name and size on its side of the sheet; within the window while some of the sheet is."""
    box = place.box
    if box.x > window.right or box.right < window.x or box.y > window.bottom or box.bottom < window.y:
        return
    above = _name_above if place.label == "above" else _name_beside
    above(painter, place, buffer, window, theme)


def _name_above(painter: QPainter, place: Place, buffer: Buffer, window: Box, theme: Theme) -> None:
    bold, small, pad = theme.font(NAME, bold=True), theme.font(SMALL), theme.px(8)
    name, size = buffer_text(buffer), size_text(buffer)
    x, y = max(place.x, window.x), max(place.y - theme.px(20), window.y)
    width = min(width_of(name, bold), place.room)
    box = QRectF(x, y, width, theme.px(17))
    rest = place.room - width - pad
    whole = box.adjusted(0, 0, pad + width_of(size, small), 0) if width_of(size, small) <= rest else box
    draw_veil(painter, whole, theme)
    write(painter, box, name, bold, theme.colour("text"), MIDDLE)
    if whole is not box:
        write(painter, whole.adjusted(width + pad, 0, 0, 0), size, small, theme.colour("muted"), MIDDLE)


def _name_beside(painter: QPainter, place: Place, buffer: Buffer, window: Box, theme: Theme) -> None:
    bold, small, pad = theme.font(NAME, bold=True), theme.font(SMALL), theme.px(8)
    line, width = theme.px(17), name_width(buffer, theme) - pad
    top, bottom = max(place.y, window.y), min(place.box.bottom, window.bottom)
    y = min(max((top + bottom) / 2 - line, window.y), window.bottom - 2 * line)
    x, side = (place.x - pad - width, RIGHT) if place.label == "left" else (place.box.right + pad, LEFT)
    name = QRectF(min(max(x, window.x), window.right - width), y, width, line)
    draw_veil(painter, name.adjusted(0, 0, 0, line), theme)
    write(painter, name, buffer_text(buffer), bold, theme.colour("text"), side | MIDDLE)
    write(painter, name.translated(0, line), size_text(buffer), small, theme.colour("muted"), side | MIDDLE)


def draw_veil(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw what words stand on that something may pass behind; with whole pixels, which is much faster."""
    veil = theme.colour("panel")
    veil.setAlpha(225)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(box, veil)


def draw_caption(painter: QPainter, box: Box, lines: Sequence[tuple[str, str]], theme: Theme) -> None:
    """Write lines of (style, text) from the top of a box; style is "title", "text" or "note".

    Where there is no room for all, the notes go first. A veil keeps the words readable where loads pass behind.
    """
    room = QRectF(box.x, box.y, box.width, box.height + 1)
    if sum(_caption_height(room, *line, theme) for line in lines) > room.height():
        lines = [line for line in lines if line[0] != "note"]
    for style, text in lines:
        height, font = _caption_height(room, style, text, theme), _caption_font(style, theme)
        if height > room.height():
            _write_what_fits(painter, room, text, font, theme)
            return
        draw_veil(painter, QFontMetricsF(font).boundingRect(room, int(WRAP), text), theme)
        write(painter, room, text, font, theme.colour("text" if style == "title" else "muted"), WRAP)
        room.setTop(room.top() + height)


def _write_what_fits(painter: QPainter, room: QRectF, text: str, font: QFont, theme: Theme) -> None:
    """Write the beginning of a text on one line, if there is room for one."""
    if QFontMetricsF(font).height() <= room.height():
        write(painter, room, text, font, theme.colour("muted"), LEFT)


def _caption_font(style: str, theme: Theme) -> QFont:
    return theme.font(NAME, bold=True) if style == "title" else theme.font(SMALL)


def _caption_height(room: QRectF, style: str, text: str, theme: Theme) -> float:
    height = QFontMetricsF(_caption_font(style, theme)).boundingRect(room, int(WRAP), text).height()
    return height + theme.px(6 if style == "note" else 1)


def legend_items(
    groups: Sequence[Group], buffers: Sequence[Buffer], touched: frozenset[int], hatched: bool, mark: str,
    theme: Theme,
) -> list[Item]:  # fmt: skip
    """Return what the colours of these groups mean, without buffers that are never touched, and the mark of it all."""
    items = []
    for group in groups:
        names = ", ".join(buffer_text(buffers[n]) for n in group.buffers if n in touched)
        low, high = group.span.low, group.span.high
        space = theme.say(f"{buffers[group.buffers[0]].space} memory").removesuffix(" memory")
        names = names if len(names) <= LONGEST_NAMES else space
        if names and group.measure == "reads":
            items.append(Item(f"{names} read 0", "reads", f"{count_text(int(high))}×"))
        elif names and group.measure in HEATS:
            if high:
                noun = theme.say(HEATS[group.measure])
                items.append(Item(f"{names} 0", group.measure, f"{count_text(int(high))} {noun}"))
        elif names:
            items.append(Item(f"{names} {_number(low)}", "value", _number(high)))
    heats = {group.measure for group in groups} & HEATS.keys()
    if heats and not items:
        items.append(Item(f"no {theme.say(HEATS[heats.pop()])}", TEXT))
    valueless = [Item("", "hatch", "no value")] if hatched else []
    return [*items, *valueless, Item(mark, "")] if items else []


def _number(value: float) -> str:
    return value_text(np.float64(value)).replace("-", "−")


def legend_rows(items: Sequence[Item], width: float, theme: Theme) -> list[list[tuple[float, Item]]]:
    """Return the items as rows of (x, item) that fit the width."""
    rows: list[list[tuple[float, Item]]] = [[]]
    x = 0.0
    for item in items:
        needed = _item_width(item, theme)
        if rows[-1] and x + needed > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, item))
        x += needed + theme.px(18)
    return rows if items else []


def _item_width(item: Item, theme: Theme) -> float:
    font, gap = theme.font(SMALL), theme.px(5)
    words = sum(width_of(text, font) + gap for text in (item.before, item.after) if text)
    return words + {"hatch": theme.px(16), "": theme.px(8), TEXT: 0}.get(item.scale, theme.px(SCALE_WIDTH))


def legend_picture(
    rows: list[list[tuple[float, Item]]], width: float, height: float, ratio: float, theme: Theme
) -> QPixmap:
    """Return the rows of a legend as a picture, sharp at `ratio`, with a little space above."""
    picture = QPixmap(max(1, round(width * ratio)), max(1, round(height * ratio)))
    picture.setDevicePixelRatio(ratio)
    picture.fill(theme.colour("panel"))
    painter = QPainter(picture)
    for number, row in enumerate(rows):
        for x, item in row:
            _draw_item(painter, x, theme.px(4) + number * line_of(theme), item, theme)
    painter.end()
    return picture


def _draw_item(painter: QPainter, x: float, y: float, item: Item, theme: Theme) -> None:
    style, gap, line = (theme.font(SMALL), theme.colour("muted"), MIDDLE), theme.px(5), line_of(theme)
    width = width_of(item.before, style[0])
    if not item.scale:
        _draw_badge(painter, QRectF(x, y + 1, width + theme.px(12), line - 2), theme)
        x += theme.px(6)
    write(painter, QRectF(x, y, width + 1, line), item.before, *style)
    if item.scale not in ("", TEXT):
        x += width + gap if item.before else 0
        wide = theme.px(14 if item.scale == "hatch" else SCALE_WIDTH - 5)
        _draw_scale(painter, QRectF(x, y + line / 2 - theme.px(5), wide, theme.px(10)), item.scale, theme)
        x += wide + gap
    write(painter, QRectF(x, y, width_of(item.after, style[0]) + 1, line), item.after, *style)


def _draw_badge(painter: QPainter, box: QRectF, theme: Theme) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("badge"))
    painter.drawRoundedRect(box, theme.px(4), theme.px(4))


def _draw_scale(painter: QPainter, box: QRectF, scale: str, theme: Theme) -> None:
    """Draw a colour scale, that of reads with the colour of unread cells before it."""
    if scale == "hatch":
        draw_hatch(painter, box, theme)
        return
    if scale != "value":
        painter.fillRect(QRectF(box.x(), box.y(), box.height(), box.height()), theme.colour("cell_unread"))
        box = box.adjusted(box.height() + 2, 0, 0, 0)
    dots = np.ascontiguousarray(colour_table(theme, scale)[cells.FIRST :])
    image = QImage(dots.data, len(dots), 1, dots.nbytes, QImage.Format.Format_ARGB32_Premultiplied)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(box, image)
