"""A picture as layered pieces, of which only the changed ones are redrawn."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter

EDGE = 1  # pixels that antialiased edges may reach beyond a shape
NOWHERE = QRect()


class ByIdentity:
    """An object as part of a key, compared by identity."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)


class Piece(NamedTuple):
    """A part of a picture that is drawn by itself."""

    name: Hashable  # identifies the piece in this and other pictures
    key: Hashable  # everything that its appearance depends on
    area: QRect  # the pixels that it may cover, as `area` computes them
    draw: Callable[[QPainter], None]
    part: Callable[[Hashable], QRect] | None = None  # from its earlier key to the changed rectangle


class Pieces(NamedTuple):
    """A picture in pieces."""

    look: Hashable  # everything that all pieces depend on
    cells: Sequence[Piece]  # the lowest layer; cells do not overlap
    above: Sequence[Piece]  # the pieces over the cells, from the lowest to the highest


class DrawnPiece(NamedTuple):
    """A record of a drawn piece, without its `draw`, which keeps more objects alive."""

    key: Hashable  # as in `Piece`
    area: QRect  # as in `Piece`


class DrawnPicture(NamedTuple):
    """A record of a drawn picture."""

    look: Hashable  # as in `Pieces`
    pieces: Mapping[Hashable, DrawnPiece]  # by their names


def record_pieces(pieces: Iterable[Piece]) -> dict[Hashable, DrawnPiece]:
    """Record drawn pieces by their names."""
    return {piece.name: DrawnPiece(piece.key, piece.area) for piece in pieces}


def record_picture(picture: Pieces) -> DrawnPicture:
    """Record a drawn picture."""
    return DrawnPicture(picture.look, record_pieces([*picture.cells, *picture.above]))


def covered_pixels(box: QRectF) -> QRect:
    """Compute the pixels that a box may cover; none for an empty box."""
    return QRect() if box.isEmpty() else box.toAlignedRect().adjusted(-EDGE, -EDGE, EDGE, EDGE)


def changed_rect(before: DrawnPiece | None, after: Piece) -> QRect:
    """Compute the rectangle in which a piece differs from its earlier state."""
    if before is None:
        return after.area
    if before.key == after.key:
        return NOWHERE
    return after.part(before.key) if after.part else before.area | after.area


def changed_area(before: DrawnPicture, after: Pieces) -> QRect | None:
    """Compute the rectangle in which a picture differs from the earlier one; None for the complete picture.

    The result is one rectangle, because Qt is slower with a region of several.
    """
    if before.look != after.look:
        return None
    old, changed = dict(before.pieces), QRect()
    for piece in (*after.cells, *after.above):
        changed |= changed_rect(old.pop(piece.name, None), piece)
    for removed in old.values():
        changed |= removed.area
    return changed


def draw_pieces(painter: QPainter, pieces: Iterable[Piece], visible: QRect | None) -> None:
    """Draw the pieces that are visible in a rectangle; None draws all."""
    for piece in pieces:
        if visible is None or visible.intersects(piece.area):
            piece.draw(painter)
