"""Tiles: a large number, its name and its mark; their layout and their drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf

from msgspec import Struct
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPolygonF

from ...widgets.theme import Theme
from ..common.drawing import MIDDLE, draw_badge, text_width
from ..common.wording import EXACT, PART

Amount = Callable[[int], float]  # a number at a moment
Words = Callable[[float], str]  # formats a number
NAME, MARK, GAP = 10, 9, 3  # sizes at the normal text size
ARROW = 7  # next to a number that has changed
MINIMUM_TILES = 4  # with fewer tiles, they are drawn smaller


class Tile(Struct, frozen=True):
    """A number of the strip."""

    label: str
    meaning: str  # a sentence
    amount: Amount  # the number at a moment
    words: Words  # formats the number
    rank: int  # the lowest ranks are shown if there is little room
    widest: str  # the widest text of the number

    def text(self, moment: int) -> str:
        """Return the number at a moment as text."""
        return self.words(self.amount(moment))


class Change(Struct, frozen=True):
    """The value of a number before another setup was chosen."""

    before: str  # as text
    ratio: float  # of the new to the old value: infinity if that was 0

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts next to the number, from the longest to the shortest; "" for only an arrow."""
        if self.ratio in (0, inf):
            return f"was {self.before}", ""
        sign, times = ("×", self.ratio) if self.ratio > 1 else ("÷", 1 / self.ratio)
        return f"was {self.before}", f"{sign}{times:.3g}", f"{sign}{times:.2g}", ""


class Style(Struct, frozen=True):
    """The sizes of a tile's parts, in pixels at the normal text size, and their arrangement."""

    number: float  # the size of the number
    side: float  # the margin at both sides
    mark_at_number: bool  # the mark is next to the number instead of the name
    line: bool = False  # number and name are in one line, with a mark only if it is not exact
    name: float = NAME  # the size of the name


ROOMY, COMPACT, LINE = Style(19, 8, False), Style(15, 5, True), Style(15, 8, True, True)
# For tiles with a number in the spotlight.
LARGE, LARGE_LINE = Style(23, 8, False, name=13), Style(20, 8, True, True, 14)
HEIGHTS = {"tall": 54, "line": 30, "none": 0}


class Grid(Struct, frozen=True):
    """The number and the style of the tiles in their row."""

    count: int
    style: Style


def minimum_width(tile: Tile, style: Style, mark: str, theme: Theme) -> float:
    """Return the width that a tile needs at any moment."""
    number = text_width(tile.widest, theme.font(style.number, bold=True))
    name = text_width(theme.translate(tile.label), theme.font(style.name))
    badge = theme.px(GAP) + mark_width(mark, theme)
    if style.line:
        return number + theme.px(2 * GAP) + name + (badge if mark != EXACT else 0) + 2 * theme.px(style.side)
    parts = (number + badge, name) if style.mark_at_number else (number, name + badge)
    return max(parts) + 2 * theme.px(style.side)


def mark_width(mark: str, theme: Theme) -> float:
    """Return the width of a mark's badge."""
    return text_width(mark, theme.font(MARK)) + theme.px(6)


def grid_of(
    tiles: Sequence[Tile],
    width: float,
    mark: str,
    theme: Theme,
    styles: Sequence[Style],
    least: int = MINIMUM_TILES,
) -> Grid:
    """Return the first style in which at least `least` of the tiles (ordered by rank) fit, else the last style."""
    minimum = min(least, len(tiles))
    tried = [Grid(_fitting(tiles, width, style, mark, theme), style) for style in styles]
    return next((grid for grid in tried if grid.count >= minimum), tried[-1])


def _fitting(tiles: Sequence[Tile], width: float, style: Style, mark: str, theme: Theme) -> int:
    """Count the tiles that fit in equal columns, at least one."""
    widths = [minimum_width(tile, style, mark, theme) for tile in tiles]
    fits = [n for n in range(1, len(tiles) + 1) if n * max(widths[:n]) <= width]
    return max(fits, default=min(1, len(tiles)))


def boxes(grid: Grid, room: QRectF) -> list[QRectF]:
    """Return equal boxes for the tiles, side by side."""
    edges = [round(room.left() + i * room.width() / max(1, grid.count)) for i in range(grid.count + 1)]
    return [QRectF(a, room.top(), b - a, room.height()) for a, b in pairwise(edges)]


def draw_changed(
    painter: QPainter, tile: Tile, moment: int, box: QRectF, style: Style, mark: str, change: Change,
    strength: float, theme: Theme,
) -> None:  # fmt: skip
    """Draw the background of a changed number, at a strength from 0 to 1, and its old value."""
    background, inside = QColor(theme.colour("border")), box.adjusted(2, 2, -1, -2)
    background.setAlphaF(strength)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(background)
    painter.drawRoundedRect(inside, theme.px(5), theme.px(5))
    after = _number_width(tile, moment, style, mark, theme)
    left = box.left() + theme.px(style.side) + after + theme.px(GAP)
    top, height = (box.top(), box.height()) if style.line else (box.top() + theme.px(5), theme.px(27))
    room = QRectF(left, top, inside.right() - theme.px(GAP) - left, height)
    font = theme.font(NAME)
    arrow = theme.px(ARROW)
    text = next(
        t for t in change.texts if not t or arrow + theme.px(GAP) + text_width(t, font) <= room.width()
    )
    painter.setOpacity(max(strength, 0.25))
    _draw_arrow(painter, QRectF(min(left, inside.right() - arrow - 2), room.center().y() - arrow / 2, arrow, arrow),
                change.ratio > 1, theme)  # fmt: skip
    _draw_text(painter, room.adjusted(arrow + theme.px(GAP), 0, 0, 0), text, font, theme.colour("text"))
    painter.setOpacity(1.0)


def _number_width(tile: Tile, moment: int, style: Style, mark: str, theme: Theme) -> float:
    """Return the width of the line with a tile's number."""
    number = text_width(tile.text(moment), theme.font(style.number, bold=True))
    badge = theme.px(GAP) + mark_width(mark, theme)
    if style.line:
        name = text_width(theme.translate(tile.label), theme.font(style.name))
        return number + theme.px(2 * GAP) + name + (badge if mark != EXACT else 0)
    return number + badge * style.mark_at_number


def _draw_arrow(painter: QPainter, box: QRectF, up: bool, theme: Theme) -> None:
    """Draw a triangle that points up or down."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(theme.colour("text"))
    base, tip = (box.bottom(), box.top()) if up else (box.top(), box.bottom())
    corners = QPointF(box.left(), base), QPointF(box.right(), base), QPointF(box.center().x(), tip)
    painter.drawPolygon(QPolygonF(corners))


def number_box(box: QRectF, style: Style, theme: Theme) -> QRectF:
    """Return the part of a tile's box that changes with its number."""
    return box if style.line else QRectF(box.left(), box.top(), box.width(), theme.px(5) + theme.px(27))


def draw_tile(
    painter: QPainter,
    tile: Tile,
    text: str,
    box: QRectF,
    style: Style,
    mark: str,
    theme: Theme,
    seen: QRect,
) -> None:
    """Draw a tile's number, name and mark, and a line at its left unless it is the first.

    text: the number. seen: the painted area.
    """
    left = box.left() + theme.px(style.side)
    if box.left() > 0:
        painter.fillRect(QRectF(box.left(), box.top(), 1, box.height()), theme.colour("border"))
    if style.line:
        _draw_line(
            painter, QRectF(left, box.top(), box.width(), box.height()), tile, text, style, mark, theme
        )
        return
    number = QRectF(left, box.top() + theme.px(5), box.width(), theme.px(27))
    name = QRectF(left, number.bottom() + theme.px(1), box.width(), theme.px(16))
    bold, plain, label = (
        theme.font(style.number, bold=True),
        theme.font(style.name),
        theme.translate(tile.label),
    )
    _draw_text(painter, number, text, bold, theme.colour("text"))
    if seen.bottom() < name.top() and not style.mark_at_number:
        return
    _draw_text(painter, name, label, plain, theme.colour("muted"))
    line, after = (
        (number, text_width(text, bold)) if style.mark_at_number else (name, text_width(label, plain))
    )
    _draw_mark(painter, left + after + theme.px(GAP), line, mark, theme)


def _draw_line(
    painter: QPainter, box: QRectF, tile: Tile, text: str, style: Style, mark: str, theme: Theme
) -> None:
    """Draw a tile's number, name and, unless exact, mark in one line."""
    bold, plain, label = (
        theme.font(style.number, bold=True),
        theme.font(style.name),
        theme.translate(tile.label),
    )
    _draw_text(painter, box, text, bold, theme.colour("text"))
    x = text_width(text, bold) + theme.px(2 * GAP)
    _draw_text(painter, box.adjusted(x, 0, 0, 0), label, plain, theme.colour("muted"))
    if mark != EXACT:
        _draw_mark(painter, box.left() + x + text_width(label, plain) + theme.px(GAP), box, mark, theme)


def _draw_text(painter: QPainter, box: QRectF, text: str, font: QFont, colour: QColor) -> None:
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(box, MIDDLE, text)


def _draw_mark(painter: QPainter, x: float, line: QRectF, mark: str, theme: Theme) -> None:
    height = theme.px(15)
    box = QRectF(x, line.center().y() - height / 2, mark_width(mark, theme), height)
    draw_badge(painter, box, theme)
    painter.setFont(theme.font(MARK))
    painter.setPen(theme.colour("bad" if mark == PART else "muted"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, mark)
