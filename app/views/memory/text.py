"""Words of the memory view: names of buffers and slices, the caption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF

from ....tracer.model.trace import Buffer
from ...widgets.theme import Theme
from ..common.drawing import CENTRE, LEFT, MIDDLE, RIGHT, WRAP, Words, rect, width_of, words_in
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


def name_words(
    place: BufferPlace, buffer: Buffer, window: Box, theme: Theme, large: bool = False
) -> list[Words]:
    """Return a buffer's name and size on its side of the sheet."""
    if place.label == "above":
        return _name_above(place, buffer, window, theme)
    return _name_beside(place, buffer, window, theme, large)


def chip_words(
    place: BufferPlace, buffer: Buffer, window: Box, others: Sequence[Box], theme: Theme
) -> list[Words]:
    """Return the name of a magnified buffer, of which some is in the window: beside what is seen of it, or on that."""
    seen, font = _common(place.box, window), theme.font(NAME, bold=True)
    if seen.width <= 0 or seen.height <= 0:
        return []
    width = width_of(buffer_text(buffer), font) + theme.px(10)
    box = rect(chip_spot(seen, width, theme.px(20), window, others))
    return [words_in(box, buffer_text(buffer), font, theme.colour("text"), CENTRE, box)]


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


def _name_above(place: BufferPlace, buffer: Buffer, window: Box, theme: Theme) -> list[Words]:
    bold, small, pad = theme.font(NAME, bold=True), theme.font(SMALL), theme.px(8)
    name, size = buffer_text(buffer), size_text(buffer)
    x, y = max(place.x, window.x), max(place.y - theme.px(20), window.y)
    width = min(width_of(name, bold), place.room)
    box = QRectF(x, y, width, theme.px(17))
    rest = place.room - width - pad
    whole = box.adjusted(0, 0, pad + width_of(size, small), 0) if width_of(size, small) <= rest else box
    found = [words_in(box, name, bold, theme.colour("text"), MIDDLE, whole)]
    if whole is not box:
        rest_of_line = whole.adjusted(width + pad, 0, 0, 0)
        found.append(words_in(rest_of_line, size, small, theme.colour("muted"), MIDDLE))
    return found


def _name_beside(place: BufferPlace, buffer: Buffer, window: Box, theme: Theme, large: bool) -> list[Words]:
    bold, small, pad = theme.font(NAME, bold=True), _size_font(theme, large), theme.px(_pad(large))
    line, width = theme.px(17), name_width(buffer, theme, large) - pad
    top, bottom = max(place.y, window.y), min(place.box.bottom, window.bottom)
    y = min(max((top + bottom) / 2 - line, window.y), window.bottom - 2 * line)
    x, side = (place.x - pad - width, RIGHT) if place.label == "left" else (place.box.right + pad, LEFT)
    name = QRectF(min(max(x, window.x), window.right - width), y, width, line)
    below, whole = name.translated(0, line), name.adjusted(0, 0, 0, line)
    return [
        words_in(name, buffer_text(buffer), bold, theme.colour("text"), side | MIDDLE, whole),
        words_in(below, size_text(buffer), small, theme.colour("muted"), side | MIDDLE),
    ]


def slice_words(place: BufferPlace, buffer: Buffer, theme: Theme) -> list[Words]:
    """Return the leading indices of every slice above it, where there is room."""
    room = place.sheet.above * place.row
    if room < theme.px(12):
        return []
    font, line, found = theme.font(11), theme.px(14), []
    for piece, (row, col) in enumerate(place.sheet.corners()):
        x, bottom = place.x + col * place.cell, place.y + row * place.row
        box = QRectF(x, bottom - min(room, line), place.sheet.width * place.cell, min(room, line))
        found.append(words_in(box, slice_text(buffer, piece), font, theme.colour("muted"), MIDDLE))
    return found


def caption_words(box: Box, lines: Sequence[tuple[str, str]], theme: Theme) -> list[Words]:
    """Return lines of (style, text) from the top of a box; style is "title", "text", "alert", "note" or "brief".

    Where there is no room for all, the notes go first; where there is but one line, "brief" is what is said in the
    place of a text that does not fit it. A veil keeps the words readable where loads pass behind.
    """
    room = QRectF(box.x, box.y, box.width, box.height + 1)
    if room.height() < 2 * theme.px(NAME) + theme.px(4):
        return _in_one_line(room, dict(lines), theme)
    lines = [line for line in lines if line[0] != "brief"]
    if sum(_caption_height(room, *line, theme) for line in lines) > room.height():
        lines = [line for line in lines if line[0] != "note"]
    found: list[Words] = []
    for style, text in lines:
        height, font = _caption_height(room, style, text, theme), _caption_font(style, theme)
        if height > room.height():
            return [*found, *_what_fits(room, text, font, theme)]
        veil = QFontMetricsF(font).boundingRect(room, int(WRAP), text)
        found.append(
            words_in(QRectF(room), text, font, theme.colour(CAPTION_COLOURS.get(style, "muted")), WRAP, veil)
        )
        room.setTop(room.top() + height)
    return found


def _in_one_line(room: QRectF, said: Mapping[str, str], theme: Theme) -> list[Words]:
    """Return title and text beside each other, as far as the line goes."""
    title, small = _caption_font("title", theme), _caption_font("text", theme)
    if QFontMetricsF(title).height() > room.height() + theme.px(4):
        return []
    found = [words_in(room, said["title"], title, theme.colour("text"), MIDDLE)]
    room = room.adjusted(width_of(said["title"], title) + theme.px(8), 0, 0, 0)
    text = said["text"] if width_of(said["text"], small) <= room.width() else said.get("brief", "")
    if room.width() > theme.px(20):
        found.append(words_in(room, text, small, theme.colour("muted"), MIDDLE))
    return found


def _what_fits(room: QRectF, text: str, font: QFont, theme: Theme) -> list[Words]:
    """Return the beginning of a text on one line, if there is room for one."""
    fits = QFontMetricsF(font).height() <= room.height()
    return [words_in(room, text, font, theme.colour("muted"), LEFT)] if fits else []


def _caption_font(style: str, theme: Theme) -> QFont:
    return theme.font(NAME, bold=True) if style == "title" else theme.font(SMALL)


def _caption_height(room: QRectF, style: str, text: str, theme: Theme) -> float:
    height = QFontMetricsF(_caption_font(style, theme)).boundingRect(room, int(WRAP), text).height()
    return height + theme.px(6 if style == "note" else 1)
