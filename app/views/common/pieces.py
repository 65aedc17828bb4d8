"""A picture as pieces that lie over one another, of which only those are drawn anew that look otherwise than before."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter

EDGE = 1  # pixels around what is drawn that antialiased edges may reach
NOWHERE = QRect()


class Same:
    """Any object as part of a key: equal to itself alone."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)


class Piece(NamedTuple):
    """Something that is drawn."""

    name: Hashable  # which piece it is, in this picture and in others
    key: Hashable  # all that its looks follow from
    area: QRect  # the whole pixels that may show something of it, as `area` returns them
    draw: Callable[[QPainter], None]
    part: Callable[[Hashable], QRect] | None = None  # from its key before to the part that differs


class Pieces(NamedTuple):
    """A picture."""

    look: Hashable  # what all pieces follow from
    cells: Sequence[Piece]  # the lowest, none of which lies over another
    above: Sequence[Piece]  # what lies over them, from the lowest to the highest


class Drawn(NamedTuple):
    """What is left of a piece that was drawn: nothing of what draws it, which holds more than the picture shows."""

    key: Hashable  # as in `Piece`
    area: QRect  # as in `Piece`


class DrawnPicture(NamedTuple):
    """What is left of a picture that was drawn."""

    look: Hashable  # as in `Pieces`
    pieces: Mapping[Hashable, Drawn]  # by their names


def drawn(pieces: Iterable[Piece]) -> dict[Hashable, Drawn]:
    """Return what is left of pieces."""
    return {piece.name: Drawn(piece.key, piece.area) for piece in pieces}


def drawn_picture(picture: Pieces) -> DrawnPicture:
    """Return what is left of a picture."""
    return DrawnPicture(picture.look, drawn([*picture.cells, *picture.above]))


def area(box: QRectF) -> QRect:
    """Return the whole pixels that may show something of a box, none of an empty one."""
    return QRect() if box.isEmpty() else box.toAlignedRect().adjusted(-EDGE, -EDGE, EDGE, EDGE)


def difference(before: Drawn | None, after: Piece) -> QRect:
    """Return the rectangle in which a piece looks otherwise than before."""
    if before is None:
        return after.area
    if before.key == after.key:
        return NOWHERE
    return after.part(before.key) if after.part else before.area | after.area


def changed_area(before: DrawnPicture, after: Pieces) -> QRect | None:
    """Return the rectangle in which a picture looks otherwise than before, None where that is anywhere.

    One rectangle: of several Qt would draw row by row, which takes longer.
    """
    if before.look != after.look:
        return None
    old, found = dict(before.pieces), QRect()
    for piece in (*after.cells, *after.above):
        found |= difference(old.pop(piece.name, None), piece)
    for gone in old.values():
        found |= gone.area
    return found


def draw_pieces(painter: QPainter, pieces: Iterable[Piece], seen: QRect | None) -> None:
    """Draw those pieces that are to be seen in a rectangle, all of them for None."""
    for piece in pieces:
        if seen is None or seen.intersects(piece.area):
            piece.draw(painter)
