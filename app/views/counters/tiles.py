"""Tiles: a big number, its name and its mark; how many fit in a width, where they stand, how one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf

from msgspec import Struct
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPolygonF

from ...widgets.theme import Theme
from ..common.drawing import MIDDLE, draw_badge, width_of
from ..common.wording import EXACT, PART

Amount = Callable[[int], float]  # a number at a moment
Words = Callable[[float], str]
NAME, MARK, GAP = 10, 9, 3  # sizes at the normal text size
ARROW = 7  # beside a number that has changed
MINIMUM_TILES = 4  # tiles below which they are drawn smaller


class Tile(Struct, frozen=True):
    """A number of the strip."""

    label: str  # what it is called
    meaning: str  # a sentence
    amount: Amount  # it itself at a moment
    words: Words  # how it is written
    rank: int  # 0 is shown first where room is short
    widest: str  # the text that needs most room, whenever that is

    def text(self, moment: int) -> str:
        """Return its words at a moment."""
        return self.words(self.amount(moment))


class Change(Struct, frozen=True):
    """What a number was before another setup was chosen."""

    before: str  # in words
    ratio: float  # what it is now to what it was: infinity where it was 0

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what stands beside the number, in ever fewer words; "" where an arrow has to do."""
        if self.ratio in (0, inf):
            return f"was {self.before}", ""
        sign, times = ("×", self.ratio) if self.ratio > 1 else ("÷", 1 / self.ratio)
        return f"was {self.before}", f"{sign}{times:.3g}", f"{sign}{times:.2g}", ""


class Style(Struct, frozen=True):
    """How large a tile's parts are, in pixels at the normal text size, and where they stand."""

    number: float  # the size of the number
    side: float  # the margin at both sides
    beside_number: bool  # whether the mark stands beside the number instead of the name
    line: bool = False  # whether number and name stand in one line, with a mark only where it is not exact
    name: float = NAME  # the size of the name


ROOMY, COMPACT, LINE = Style(19, 8, False), Style(15, 5, True), Style(15, 8, True, True)
LARGE, LARGE_LINE = (
    Style(23, 8, False, name=13),
    Style(20, 8, True, True, 14),
)  # with a number in the spotlight
HEIGHTS = {"tall": 54, "line": 30, "none": 0}


class Grid(Struct, frozen=True):
    """How the tiles stand in their row: so many, in this style."""

    count: int
    style: Style


def minimum_width(tile: Tile, style: Style, mark: str, theme: Theme) -> float:
    """Return the width that a tile needs at any moment."""
    number = width_of(tile.widest, theme.font(style.number, bold=True))
    name = width_of(theme.say(tile.label), theme.font(style.name))
    badge = theme.px(GAP) + mark_width(mark, theme)
    if style.line:
        return number + theme.px(2 * GAP) + name + (badge if mark != EXACT else 0) + 2 * theme.px(style.side)
    parts = (number + badge, name) if style.beside_number else (number, name + badge)
    return max(parts) + 2 * theme.px(style.side)


def mark_width(mark: str, theme: Theme) -> float:
    """Return the width of a mark's badge."""
    return width_of(mark, theme.font(MARK)) + theme.px(6)


def grid_of(
    tiles: Sequence[Tile],
    width: float,
    mark: str,
    theme: Theme,
    styles: Sequence[Style],
    least: int = MINIMUM_TILES,
) -> Grid:
    """Return the first of the styles in which so many of the tiles (given by rank) fit, else the last of them."""
    minimum = min(least, len(tiles))
    tried = [Grid(_fitting(tiles, width, style, mark, theme), style) for style in styles]
    return next((grid for grid in tried if grid.count >= minimum), tried[-1])


def _fitting(tiles: Sequence[Tile], width: float, style: Style, mark: str, theme: Theme) -> int:
    """Return how many of the tiles fit in equal columns, at least one."""
    widths = [minimum_width(tile, style, mark, theme) for tile in tiles]
    fits = [n for n in range(1, len(tiles) + 1) if n * max(widths[:n]) <= width]
    return max(fits, default=min(1, len(tiles)))


def boxes(grid: Grid, room: QRectF) -> list[QRectF]:
    """Return the boxes of the tiles: equal ones beside each other."""
    edges = [round(room.left() + i * room.width() / max(1, grid.count)) for i in range(grid.count + 1)]
    return [QRectF(a, room.top(), b - a, room.height()) for a, b in pairwise(edges)]


def draw_changed(
    painter: QPainter, tile: Tile, moment: int, box: QRectF, style: Style, mark: str, change: Change,
    strength: float, theme: Theme,
) -> None:  # fmt: skip
    """Draw under a tile that its number has changed, at this strength of 0 to 1, and beside it what it was."""
    ground, inside = QColor(theme.colour("border")), box.adjusted(2, 2, -1, -2)
    ground.setAlphaF(strength)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(inside, theme.px(5), theme.px(5))
    after = _number_width(tile, moment, style, mark, theme)
    left = box.left() + theme.px(style.side) + after + theme.px(GAP)
    top, tall = (box.top(), box.height()) if style.line else (box.top() + theme.px(5), theme.px(27))
    room = QRectF(left, top, inside.right() - theme.px(GAP) - left, tall)
    font = theme.font(NAME)
    arrow = theme.px(ARROW)
    text = next(t for t in change.texts if not t or arrow + theme.px(GAP) + width_of(t, font) <= room.width())
    painter.setOpacity(max(strength, 0.25))
    _draw_arrow(painter, QRectF(min(left, inside.right() - arrow - 2), room.center().y() - arrow / 2, arrow, arrow),
                change.ratio > 1, theme)  # fmt: skip
    _draw_text(painter, room.adjusted(arrow + theme.px(GAP), 0, 0, 0), text, font, theme.colour("text"))
    painter.setOpacity(1.0)


def _number_width(tile: Tile, moment: int, style: Style, mark: str, theme: Theme) -> float:
    """Return the width of all that stands in the line of a tile's number."""
    number = width_of(tile.text(moment), theme.font(style.number, bold=True))
    badge = theme.px(GAP) + mark_width(mark, theme)
    if style.line:
        name = width_of(theme.say(tile.label), theme.font(style.name))
        return number + theme.px(2 * GAP) + name + (badge if mark != EXACT else 0)
    return number + badge * style.beside_number


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
    """Draw a tile's number, its name and its mark, and a line at its left but for the first.

    text: the number; seen: what is painted.
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
    bold, plain, label = theme.font(style.number, bold=True), theme.font(style.name), theme.say(tile.label)
    _draw_text(painter, number, text, bold, theme.colour("text"))
    if seen.bottom() < name.top() and not style.beside_number:
        return
    _draw_text(painter, name, label, plain, theme.colour("muted"))
    line, after = (number, width_of(text, bold)) if style.beside_number else (name, width_of(label, plain))
    _draw_mark(painter, left + after + theme.px(GAP), line, mark, theme)


def _draw_line(
    painter: QPainter, box: QRectF, tile: Tile, text: str, style: Style, mark: str, theme: Theme
) -> None:
    """Draw a tile's number, its name and, where it is not exact, its mark beside each other."""
    bold, plain, label = theme.font(style.number, bold=True), theme.font(style.name), theme.say(tile.label)
    _draw_text(painter, box, text, bold, theme.colour("text"))
    x = width_of(text, bold) + theme.px(2 * GAP)
    _draw_text(painter, box.adjusted(x, 0, 0, 0), label, plain, theme.colour("muted"))
    if mark != EXACT:
        _draw_mark(painter, box.left() + x + width_of(label, plain) + theme.px(GAP), box, mark, theme)


def _draw_text(painter: QPainter, box: QRectF, text: str, font: QFont, colour: QColor) -> None:
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(box, MIDDLE, text)


def _draw_mark(painter: QPainter, x: float, line: QRectF, mark: str, theme: Theme) -> None:
    tall = theme.px(15)
    box = QRectF(x, line.center().y() - tall / 2, mark_width(mark, theme), tall)
    draw_badge(painter, box, theme)
    painter.setFont(theme.font(MARK))
    painter.setPen(theme.colour("bad" if mark == PART else "muted"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, mark)
