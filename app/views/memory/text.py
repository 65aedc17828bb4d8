"""Words of the memory view: names of buffers and slices, the caption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from ....tracer.model.trace import Buffer
from ...widgets.theme import Theme
from ..common.drawing import CENTRE, LEFT, MIDDLE, RIGHT, WRAP, draw_veil, rect, width_of, write
from ..common.geometry import Box
from ..common.wording import buffer_text, count_text
from .layout.buffer_place import BufferPlace
from .layout.sheet import slice_text

NAME, SMALL = 14.0, 12.0
LARGE_SIZE = 9.0  # letters of a matrix's size beside it where cells take what there is
CAPTION_COLOURS = {"title": "text", "alert": "bad"}


def line_of(theme: Theme) -> float:
    """Return the height of a line of small text."""
    return float(theme.px(17))


def size_text(buffer: Buffer) -> str:
    """Return the shape of a buffer: 64 × 64."""
    return " × ".join(map(count_text, buffer.shape)) or "1"


def name_width(buffer: Buffer, theme: Theme, large: bool = False) -> float:
    """Return the width of a buffer's name beside its sheet, with some space around; large: little beside cells."""
    name = width_of(buffer_text(buffer), theme.font(NAME, bold=True))
    return max(name, width_of(size_text(buffer), _size_font(theme, large))) + theme.px(_pad(large) + 2)


def _size_font(theme: Theme, large: bool) -> QFont:
    return theme.font(LARGE_SIZE if large else SMALL)


def _pad(large: bool) -> int:
    """Return the space between a sheet and the name beside it."""
    return 4 if large else 8


def draw_name(
    painter: QPainter, place: BufferPlace, buffer: Buffer, window: Box, theme: Theme, large: bool = False
) -> None:
    """Write a buffer's name and size on its side of the sheet."""
    if place.label == "above":
        _name_above(painter, place, buffer, window, theme)
    else:
        _name_beside(painter, place, buffer, window, theme, large)


def draw_chip(
    painter: QPainter, place: BufferPlace, buffer: Buffer, window: Box, others: Sequence[Box], theme: Theme
) -> None:
    """Write the name of a magnified buffer, of which some is in the window: beside what is seen of it, or on that."""
    seen, font = _common(place.box, window), theme.font(NAME, bold=True)
    if seen.width <= 0 or seen.height <= 0:
        return
    width = width_of(buffer_text(buffer), font) + theme.px(10)
    spot = chip_spot(seen, width, theme.px(20), window, others)
    box = rect(spot)
    draw_veil(painter, box, theme)
    write(painter, box, buffer_text(buffer), font, theme.colour("text"), CENTRE)


def chip_spot(seen: Box, width: float, height: float, window: Box, others: Sequence[Box]) -> Box:
    """Return where a name of this size stands: in the window, beside what is seen of its buffer and off the others.

    Where there is no such place it stands on the buffer.
    """
    middle = seen.y + (seen.height - height) / 2
    spots = (Box(seen.right, middle, width, height), Box(seen.x - width, middle, width, height),
             Box(seen.x, seen.y - height, width, height), Box(seen.x, seen.bottom, width, height))  # fmt: skip
    free = (spot for spot in spots if _common(spot, window) == spot and not _meets(spot, others))
    return next(free, Box(seen.x, seen.y, width, height))


def _common(one: Box, other: Box) -> Box:
    """Return what two boxes have in common; without width or height where that is nothing."""
    x, y = max(one.x, other.x), max(one.y, other.y)
    return Box(x, y, max(0.0, min(one.right, other.right) - x), max(0.0, min(one.bottom, other.bottom) - y))


def _meets(box: Box, others: Sequence[Box]) -> bool:
    shared = (_common(box, other) for other in others)
    return any(part.width > 0 and part.height > 0 for part in shared)


def _name_above(painter: QPainter, place: BufferPlace, buffer: Buffer, window: Box, theme: Theme) -> None:
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


def _name_beside(
    painter: QPainter, place: BufferPlace, buffer: Buffer, window: Box, theme: Theme, large: bool
) -> None:
    bold, small, pad = theme.font(NAME, bold=True), _size_font(theme, large), theme.px(_pad(large))
    line, width = theme.px(17), name_width(buffer, theme, large) - pad
    top, bottom = max(place.y, window.y), min(place.box.bottom, window.bottom)
    y = min(max((top + bottom) / 2 - line, window.y), window.bottom - 2 * line)
    x, side = (place.x - pad - width, RIGHT) if place.label == "left" else (place.box.right + pad, LEFT)
    name = QRectF(min(max(x, window.x), window.right - width), y, width, line)
    draw_veil(painter, name.adjusted(0, 0, 0, line), theme)
    write(painter, name, buffer_text(buffer), bold, theme.colour("text"), side | MIDDLE)
    write(painter, name.translated(0, line), size_text(buffer), small, theme.colour("muted"), side | MIDDLE)


def draw_slices(painter: QPainter, place: BufferPlace, buffer: Buffer, theme: Theme) -> None:
    """Write the leading indices of every slice above it, where there is room."""
    room = place.sheet.above * place.row
    if room < theme.px(12):
        return
    font, line = theme.font(11), theme.px(14)
    for piece, (row, col) in enumerate(place.sheet.corners()):
        x, bottom = place.x + col * place.cell, place.y + row * place.row
        box = QRectF(x, bottom - min(room, line), place.sheet.width * place.cell, min(room, line))
        write(painter, box, slice_text(buffer, piece), font, theme.colour("muted"), MIDDLE)


def draw_caption(painter: QPainter, box: Box, lines: Sequence[tuple[str, str]], theme: Theme) -> None:
    """Write lines of (style, text) from the top of a box; style is "title", "text", "alert", "note" or "brief".

    Where there is no room for all, the notes go first; where there is but one line, "brief" is what is said in the
    place of a text that does not fit it. A veil keeps the words readable where loads pass behind.
    """
    room = QRectF(box.x, box.y, box.width, box.height + 1)
    if room.height() < 2 * theme.px(NAME) + theme.px(4):
        _draw_in_one_line(painter, room, dict(lines), theme)
        return
    lines = [line for line in lines if line[0] != "brief"]
    if sum(_caption_height(room, *line, theme) for line in lines) > room.height():
        lines = [line for line in lines if line[0] != "note"]
    for style, text in lines:
        height, font = _caption_height(room, style, text, theme), _caption_font(style, theme)
        if height > room.height():
            _write_what_fits(painter, room, text, font, theme)
            return
        draw_veil(painter, QFontMetricsF(font).boundingRect(room, int(WRAP), text), theme)
        write(painter, room, text, font, theme.colour(CAPTION_COLOURS.get(style, "muted")), WRAP)
        room.setTop(room.top() + height)


def _draw_in_one_line(painter: QPainter, room: QRectF, said: Mapping[str, str], theme: Theme) -> None:
    """Write title and text beside each other, as far as the line goes."""
    title, small = _caption_font("title", theme), _caption_font("text", theme)
    if QFontMetricsF(title).height() > room.height() + theme.px(4):
        return
    write(painter, room, said["title"], title, theme.colour("text"), MIDDLE)
    room = room.adjusted(width_of(said["title"], title) + theme.px(8), 0, 0, 0)
    text = said["text"] if width_of(said["text"], small) <= room.width() else said.get("brief", "")
    if room.width() > theme.px(20):
        write(painter, room, text, small, theme.colour("muted"), MIDDLE)


def _write_what_fits(painter: QPainter, room: QRectF, text: str, font: QFont, theme: Theme) -> None:
    """Write the beginning of a text on one line, if there is room for one."""
    if QFontMetricsF(font).height() <= room.height():
        write(painter, room, text, font, theme.colour("muted"), LEFT)


def _caption_font(style: str, theme: Theme) -> QFont:
    return theme.font(NAME, bold=True) if style == "title" else theme.font(SMALL)


def _caption_height(room: QRectF, style: str, text: str, theme: Theme) -> float:
    height = QFontMetricsF(_caption_font(style, theme)).boundingRect(room, int(WRAP), text).height()
    return height + theme.px(6 if style == "note" else 1)
