"""The cells of all buffers as one opaque picture; only changed cells are redrawn."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from PySide6.QtGui import QColor, QPainter, QPixmap

from .pieces import DrawnPiece, Piece, changed_rect, record_pieces


class Canvas:
    """The opaque background below all moving parts. It depends only on the cells, not on earlier pictures."""

    def __init__(self) -> None:
        self._key: Hashable = None
        self._picture = QPixmap()
        self._drawn: dict[Hashable, DrawnPiece] = {}

    def picture(
        self, look: Hashable, size: tuple[int, int], ratio: float, ground: QColor, cells: Iterable[Piece]
    ) -> QPixmap:
        """Draw these cells on a picture of a size in logical pixels, sharp at `ratio`; look: as in `Pieces`."""
        if (look, size, ratio) != self._key:
            self._key, self._drawn = (look, size, ratio), {}
            self._picture = QPixmap(*(max(1, round(length * ratio)) for length in size))
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(ground)
        cells = list(cells)
        differences = [(piece, changed_rect(self._drawn.get(piece.name), piece)) for piece in cells]
        changed = [(piece, area) for piece, area in differences if not area.isEmpty()]
        if changed:
            painter = QPainter(self._picture)
            for piece, area in changed:
                painter.setClipRect(area)
                painter.fillRect(area, ground)
                piece.draw(painter)
            painter.end()
        self._drawn = record_pieces(cells)
        return self._picture
