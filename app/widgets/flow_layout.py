"""A row of widgets that wraps into several rows in a narrow window; some stay at the right edge."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget, QWidgetItem

Row = list[QLayoutItem]


class FlowLayout(QLayout):
    """Widgets from left to right at their size hints; those added as `right` end at the right edge."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._hints: dict[QLayoutItem, QSize] = {}  # size hints, until one changes
        self._row_cache: dict[tuple[object, ...], list[Row]] = {}  # rows by width, gap and items
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._right: set[QLayoutItem] = set()

    def insert(self, index: int, widget: QWidget) -> None:
        """Put a widget before the one of this index."""
        self.addChildWidget(widget)
        self._items.insert(index, QWidgetItem(widget))
        self.invalidate()

    def add(self, widget: QWidget, *, right: bool = False) -> None:
        """Append a widget; after the first one at the right edge, all are at the right edge."""
        self.insert(len(self._items), widget)
        if right:
            self._right.add(self._items[-1])

    def addItem(self, item: QLayoutItem) -> None:
        """Append an item."""
        self._items.append(item)

    def invalidate(self) -> None:
        """Drop the cached sizes."""
        self._clear_caches()
        super().invalidate()

    def _clear_caches(self) -> None:
        self._hints.clear()
        self._row_cache.clear()

    def count(self) -> int:
        """Count the items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item, or None for an index out of range."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove an item and return it."""
        if not 0 <= index < len(self._items):
            return None
        self._right.discard(self._items[index])
        self._clear_caches()
        return self._items.pop(index)

    def hasHeightForWidth(self) -> bool:
        """Return True: the height depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows at this width."""
        margins = self.contentsMargins()
        rows = self._rows(width - margins.left() - margins.right())
        heights = [max(self._hint(item).height() for item in row) for row in rows]
        return sum(heights) + self._gap() * max(len(rows) - 1, 0) + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        """Return the size of all widgets in one row."""
        shown = [self._hint(item) for item in self._items if not item.isEmpty()]
        margins = self.contentsMargins()
        width = sum(size.width() + self._gap() for size in shown) + margins.left() + margins.right()
        return QSize(width, self.heightForWidth(width))

    def minimumSize(self) -> QSize:
        """Return the smallest size that cuts no widget."""
        sizes = [item.minimumSize() for item in self._items if not item.isEmpty()]
        margins = self.contentsMargins()
        width = max((size.width() for size in sizes), default=0) + margins.left() + margins.right()
        height = max((size.height() for size in sizes), default=0) + margins.top() + margins.bottom()
        return QSize(width, height)

    def setGeometry(self, rect: QRect) -> None:
        """Place every widget."""
        super().setGeometry(rect)
        inside = rect.marginsRemoved(self.contentsMargins())
        y = inside.top()
        for row in self._rows(inside.width()):
            height = max(self._hint(item).height() for item in row)
            self._lay_out(row, QRect(inside.left(), y, inside.width(), height))
            y += height + self._gap()

    def expandingDirections(self) -> Qt.Orientation:
        """Return no direction: the layout does not expand."""
        return Qt.Orientation(0)

    def _gap(self) -> int:
        return max(self.spacing(), 0)

    def _rows(self, width: int) -> list[Row]:
        """Break the visible items into rows of at most this width; keep the items at the right together if they fit."""
        shown = [item for item in self._items if not item.isEmpty()]
        key = width, self._gap(), *shown
        if key not in self._row_cache:
            self._row_cache[key] = self._break(shown, width)
        return self._row_cache[key]

    def _break(self, shown: Row, width: int) -> list[Row]:
        rows: list[Row] = [[]]
        used = 0
        for i, item in enumerate(shown):
            first_right = item in self._right and (i == 0 or shown[i - 1] not in self._right)
            needed = self._width(shown[i:] if first_right else [item])
            if rows[-1] and used + needed > width:
                rows.append([])
                used = 0
            rows[-1].append(item)
            used += self._width([item]) + self._gap()
        return [row for row in rows if row]

    def _width(self, items: Row) -> int:
        """Return the width of these items side by side."""
        return sum(self._hint(item).width() for item in items) + self._gap() * (len(items) - 1)

    def _hint(self, item: QLayoutItem) -> QSize:
        """Return an item's size hint, cached since the style computes it slowly."""
        if item not in self._hints:
            self._hints[item] = item.sizeHint()
        return self._hints[item]

    def _lay_out(self, row: Row, room: QRect) -> None:
        """Lay out one row from the left edge, with the `right` items up to the right edge."""
        x = room.left()
        spare = room.width() - self._width(row)
        moved = False
        for item in row:
            if item in self._right and not moved:
                x, moved = x + max(spare, 0), True
            hint = self._hint(item)
            size = QSize(min(hint.width(), room.width()), hint.height())
            item.setGeometry(QRect(QPoint(x, room.top() + (room.height() - size.height()) // 2), size))
            x += size.width() + self._gap()
