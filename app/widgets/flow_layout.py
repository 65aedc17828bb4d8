"""A row of widgets that becomes two or more rows where the window is narrow; some keep to the right edge."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget, QWidgetItem

Row = list[QLayoutItem]


class FlowLayout(QLayout):
    """Widgets from left to right, each as large as it asks to be; those added as `right` end at the right edge."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._hints: dict[QLayoutItem, QSize] = {}  # what the items want, until one wants something else
        self._broken: dict[tuple[object, ...], list[Row]] = {}  # the rows at a width, as long as that holds
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._right: set[QLayoutItem] = set()

    def insert(self, index: int, widget: QWidget) -> None:
        """Put a widget before the one of this index."""
        self.addChildWidget(widget)
        self._items.insert(index, QWidgetItem(widget))
        self.invalidate()

    def add(self, widget: QWidget, *, right: bool = False) -> None:
        """Put a widget at the end; from the first one at the right on, all are at the right."""
        self.insert(len(self._items), widget)
        if right:
            self._right.add(self._items[-1])

    def addItem(self, item: QLayoutItem) -> None:
        """Put an item at the end."""
        self._items.append(item)

    def invalidate(self) -> None:
        """Ask anew what the items want."""
        self._forget()
        super().invalidate()

    def _forget(self) -> None:
        self._hints.clear()
        self._broken.clear()

    def count(self) -> int:
        """Return how many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item, or None beyond the last."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove an item and return it."""
        if not 0 <= index < len(self._items):
            return None
        self._right.discard(self._items[index])
        self._forget()
        return self._items.pop(index)

    def hasHeightForWidth(self) -> bool:
        """Return that the height follows from the width."""
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
        """Return the size of the widest widget: narrower than that, something is cut."""
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
        """Return that no more room is asked for than there is."""
        return Qt.Orientation(0)

    def _gap(self) -> int:
        return max(self.spacing(), 0)

    def _rows(self, width: int) -> list[Row]:
        """Break the visible items into rows of at most this width; what is at the right stays together if it can."""
        shown = [item for item in self._items if not item.isEmpty()]
        key = width, self._gap(), *shown
        if key not in self._broken:
            self._broken[key] = self._break(shown, width)
        return self._broken[key]

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
        """Return the width of these items beside each other."""
        return sum(self._hint(item).width() for item in items) + self._gap() * (len(items) - 1)

    def _hint(self, item: QLayoutItem) -> QSize:
        """Return the size that an item wants: asked for once, since its style takes a while to say it."""
        if item not in self._hints:
            self._hints[item] = item.sizeHint()
        return self._hints[item]

    def _lay_out(self, row: Row, room: QRect) -> None:
        """Lay out one row: from the left edge, and what belongs at the right up to the right edge."""
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
