"""Texts of the memory view: names of buffers and slices, the caption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF

from ....tracer.model.trace import Buffer
from ...widgets.theme import Theme
from ..common.drawing import CENTRE, LEFT, MIDDLE, RIGHT, WRAP, PlacedText, fit_text, rect, text_width
from ..common.geometry import Box
from ..common.wording import buffer_text, count_text
from .layout.buffer_position import BufferPosition
from .layout.sheet import slice_text

NAME, SMALL = 14.0, 12.0
LARGE_SIZE = 9.0  # the font size of a matrix's shape next to large cells
CAPTION_COLOURS = {"title": "text", "alert": "bad"}


def line_height(theme: Theme) -> float:
    """Compute the height of a line of small text."""
    return float(theme.px(17))


def size_text(buffer: Buffer) -> str:
    """Format the shape of a buffer: 64 × 64."""
    return " × ".join(map(count_text, buffer.shape)) or "1"


def name_width(buffer: Buffer, theme: Theme, large: bool = False) -> float:
    """Compute the width of a buffer's name next to its sheet, with padding; large: smaller, next to large cells."""
    name = text_width(buffer_text(buffer), theme.font(NAME, bold=True))
    return max(name, text_width(size_text(buffer), _size_font(theme, large))) + theme.px(_padding(large) + 2)


def _size_font(theme: Theme, large: bool) -> QFont:
    return theme.font(LARGE_SIZE if large else SMALL)


def _padding(large: bool) -> int:
    """Return the space between a sheet and the name next to it."""
    return 4 if large else 8


def place_name(
    place: BufferPosition, buffer: Buffer, window: Box, theme: Theme, large: bool = False
) -> list[PlacedText]:
    """Place a buffer's name and shape at its side of the sheet."""
    if place.label == "above":
        return _name_above(place, buffer, window, theme)
    return _name_at_side(place, buffer, window, theme, large)


def place_magnified_name(
    place: BufferPosition, buffer: Buffer, window: Box, others: Sequence[Box], theme: Theme
) -> list[PlacedText]:
    """Place the name of a magnified buffer next to its visible part, or on it; none if it is not visible."""
    visible, font = _intersection(place.box, window), theme.font(NAME, bold=True)
    if visible.width <= 0 or visible.height <= 0:
        return []
    width = text_width(buffer_text(buffer), font) + theme.px(10)
    box = rect(find_name_box(visible, width, theme.px(20), window, others))
    return [fit_text(box, buffer_text(buffer), font, theme.colour("text"), CENTRE, box)]


def find_name_box(visible: Box, width: float, height: float, window: Box, others: Sequence[Box]) -> Box:
    """Find a box for a name of this size: in the window, next to its buffer's visible part, clear of the others.

    If there is no such box, the name covers the buffer's corner.
    """
    middle = visible.y + (visible.height - height) / 2
    candidates = (
        Box(visible.right, middle, width, height),
        Box(visible.x - width, middle, width, height),
        Box(visible.x, visible.y - height, width, height),
        Box(visible.x, visible.bottom, width, height),
    )
    free = (
        candidate
        for candidate in candidates
        if _intersection(candidate, window) == candidate and not _overlaps(candidate, others)
    )
    return next(free, Box(visible.x, visible.y, width, height))


def _intersection(first: Box, second: Box) -> Box:
    """Intersect two boxes; the result has no width or height if they are disjoint."""
    x, y = max(first.x, second.x), max(first.y, second.y)
    return Box(
        x, y, max(0.0, min(first.right, second.right) - x), max(0.0, min(first.bottom, second.bottom) - y)
    )


def _overlaps(box: Box, others: Sequence[Box]) -> bool:
    shared = (_intersection(box, other) for other in others)
    return any(part.width > 0 and part.height > 0 for part in shared)


def _name_above(place: BufferPosition, buffer: Buffer, window: Box, theme: Theme) -> list[PlacedText]:
    bold, small, pad = theme.font(NAME, bold=True), theme.font(SMALL), theme.px(8)
    name, size = buffer_text(buffer), size_text(buffer)
    x, y = max(place.x, window.x), max(place.y - theme.px(20), window.y)
    width = min(text_width(name, bold), place.room)
    box = QRectF(x, y, width, theme.px(17))
    rest = place.room - width - pad
    line_box = (
        box.adjusted(0, 0, pad + text_width(size, small), 0) if text_width(size, small) <= rest else box
    )
    texts = [fit_text(box, name, bold, theme.colour("text"), MIDDLE, line_box)]
    if line_box is not box:
        rest_of_line = line_box.adjusted(width + pad, 0, 0, 0)
        texts.append(fit_text(rest_of_line, size, small, theme.colour("muted"), MIDDLE))
    return texts


def _name_at_side(
    place: BufferPosition, buffer: Buffer, window: Box, theme: Theme, large: bool
) -> list[PlacedText]:
    bold, small, pad = theme.font(NAME, bold=True), _size_font(theme, large), theme.px(_padding(large))
    line, width = theme.px(17), name_width(buffer, theme, large) - pad
    top, bottom = max(place.y, window.y), min(place.box.bottom, window.bottom)
    y = min(max((top + bottom) / 2 - line, window.y), window.bottom - 2 * line)
    x, side = (place.x - pad - width, RIGHT) if place.label == "left" else (place.box.right + pad, LEFT)
    name = QRectF(min(max(x, window.x), window.right - width), y, width, line)
    below, both_lines = name.translated(0, line), name.adjusted(0, 0, 0, line)
    return [
        fit_text(name, buffer_text(buffer), bold, theme.colour("text"), side | MIDDLE, both_lines),
        fit_text(below, size_text(buffer), small, theme.colour("muted"), side | MIDDLE),
    ]


def place_slice_names(place: BufferPosition, buffer: Buffer, theme: Theme) -> list[PlacedText]:
    """Place the leading indices of every slice above it, if they fit."""
    room = place.sheet.above * place.row
    if room < theme.px(12):
        return []
    font, line, texts = theme.font(11), theme.px(14), []
    for piece, (row, col) in enumerate(place.sheet.corners()):
        x, bottom = place.x + col * place.cell, place.y + row * place.row
        box = QRectF(x, bottom - min(room, line), place.sheet.width * place.cell, min(room, line))
        texts.append(fit_text(box, slice_text(buffer, piece), font, theme.colour("muted"), MIDDLE))
    return texts


def place_caption(box: Box, lines: Sequence[tuple[str, str]], theme: Theme) -> list[PlacedText]:
    """Place lines of (style, text) from the top of a box; style is "title", "text", "alert", "note" or "brief".

    With little room, the notes are dropped first. If only one line fits, "brief" replaces a text that is too long.
    A veil keeps the words readable over passing loads.
    """
    room = QRectF(box.x, box.y, box.width, box.height + 1)
    if room.height() < 2 * theme.px(NAME) + theme.px(4):
        return _in_one_line(room, dict(lines), theme)
    lines = [line for line in lines if line[0] != "brief"]
    if sum(_caption_height(room, *line, theme) for line in lines) > room.height():
        lines = [line for line in lines if line[0] != "note"]
    texts: list[PlacedText] = []
    for style, text in lines:
        height, font = _caption_height(room, style, text, theme), _caption_font(style, theme)
        if height > room.height():
            return [*texts, *_first_line(room, text, font, theme)]
        veil = QFontMetricsF(font).boundingRect(room, int(WRAP), text)
        texts.append(
            fit_text(QRectF(room), text, font, theme.colour(CAPTION_COLOURS.get(style, "muted")), WRAP, veil)
        )
        room.setTop(room.top() + height)
    return texts


def _in_one_line(room: QRectF, text_by_style: Mapping[str, str], theme: Theme) -> list[PlacedText]:
    """Place title and text in one line, as far as they fit."""
    title, small = _caption_font("title", theme), _caption_font("text", theme)
    if QFontMetricsF(title).height() > room.height() + theme.px(4):
        return []
    texts = [_on_a_veil(room, text_by_style["title"], title, theme.colour("text"))]
    room = room.adjusted(text_width(text_by_style["title"], title) + theme.px(8), 0, 0, 0)
    text = (
        text_by_style["text"]
        if text_width(text_by_style["text"], small) <= room.width()
        else text_by_style.get("brief", "")
    )
    if room.width() > theme.px(20):
        texts.append(_on_a_veil(room, text, small, theme.colour("muted")))
    return texts


def _on_a_veil(room: QRectF, text: str, font: QFont, colour: QColor) -> PlacedText:
    """Place a text on a line, readable over passing loads."""
    veil = QFontMetricsF(font).boundingRect(room, int(MIDDLE), text).intersected(room)
    return fit_text(room, text, font, colour, MIDDLE, veil)


def _first_line(room: QRectF, text: str, font: QFont, theme: Theme) -> list[PlacedText]:
    """Place the beginning of a text on one line, if one fits."""
    fits = QFontMetricsF(font).height() <= room.height()
    return [fit_text(room, text, font, theme.colour("muted"), LEFT)] if fits else []


def _caption_font(style: str, theme: Theme) -> QFont:
    return theme.font(NAME, bold=True) if style == "title" else theme.font(SMALL)


def _caption_height(room: QRectF, style: str, text: str, theme: Theme) -> float:
    height = QFontMetricsF(_caption_font(style, theme)).boundingRect(room, int(WRAP), text).height()
    return height + theme.px(6 if style == "note" else 1)
