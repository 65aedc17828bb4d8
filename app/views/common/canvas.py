"""The cells of all buffers as one opaque picture, in which only those that have changed are drawn anew."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from PySide6.QtGui import QColor, QPainter, QPixmap

from .pieces import Drawn, Piece, difference, drawn


class Canvas:
    """What lies below all that moves. It follows from the cells alone, whatever stood there before."""

    def __init__(self) -> None:
        self._key: Hashable = None
        self._picture = QPixmap()
        self._drawn: dict[Hashable, Drawn] = {}

    def picture(
        self, look: Hashable, size: tuple[int, int], ratio: float, ground: QColor, cells: Iterable[Piece]
    ) -> QPixmap:
        """Return the picture of these cells, of a size in logical pixels, sharp at `ratio`; look: as in `Pieces`."""
        if (look, size, ratio) != self._key:
            self._key, self._drawn = (look, size, ratio), {}
            self._picture = QPixmap(*(max(1, round(length * ratio)) for length in size))
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(ground)
        cells = list(cells)
        other = [(piece, difference(self._drawn.get(piece.name), piece)) for piece in cells]
        changed = [(piece, area) for piece, area in other if not area.isEmpty()]
        if changed:
            painter = QPainter(self._picture)
            for piece, area in changed:
                painter.setClipRect(area)
                painter.fillRect(area, ground)
                piece.draw(painter)
            painter.end()
        self._drawn = drawn(cells)
        return self._picture
