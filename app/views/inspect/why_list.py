"""The sentences of a value's path as a list: each with a sign, indented by its distance from the element."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ....tracer.causes.sentences import Sentence
from ...widgets.patterns import mixed
from ...widgets.theme import Theme, flat_sheet

ModelIndex = QModelIndex | QPersistentModelIndex
PLACE, LOOK, NOW = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1, Qt.ItemDataRole.UserRole + 2
WRAP = Qt.TextFlag.TextWordWrap
SIZE, INDENT, SIGN, DEEPEST = 13.0, 16, 18, 4  # of the text, and widths at the normal text size
CERTAIN = ("foreign", "stale", "unwritten")  # faults that are wrong in every order
WORDS = {
    "foreign": "race",
    "stale": "read too early",
    "unwritten": "no content",
    "leftover": "left from an earlier phase",
    "unordered": "not ordered",
}


class WhyList(QListWidget):
    """The sentences of one path."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("The path of the value")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self._delegate = SentenceDelegate(theme, self)
        self.setItemDelegate(self._delegate)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self._delegate.theme = theme
        self.setStyleSheet(flat_sheet("QListWidget", theme))
        self.doItemsLayout()

    def show_sentences(self, sentences: Sequence[Sentence], theme: Theme) -> None:
        """List other sentences, in the theme's vocabulary."""
        self.clear()
        for sentence in sentences:
            text = theme.translate(sentence.text)
            item = QListWidgetItem(text)
            fault = f"{WORDS[sentence.fault]}: " if sentence.fault else ""
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{fault}{text}")
            item.setData(PLACE, (sentence.row, sentence.moment))
            item.setData(LOOK, (sentence.depth, sentence.fault))
            self.addItem(item)

    def mark_moment(self, moment: int) -> None:
        """Show in bold the sentences about a moment."""
        for number in range(self.count()):
            item = self.item(number)
            is_now = item.data(PLACE)[1] == moment
            if bool(item.data(NOW)) != is_now:
                item.setData(NOW, is_now)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the sentences again."""
        super().resizeEvent(event)
        self.doItemsLayout()


class SentenceDelegate(QStyledItemDelegate):
    """Draws one sentence."""

    def __init__(self, theme: Theme, parent: WhyList) -> None:
        super().__init__(parent)
        self.theme = theme
        self._list = parent

    def sizeHint(self, option: QStyleOptionViewItem, index: ModelIndex) -> QSize:
        """Return the size of a row at the width of the list."""
        width = max(1, self._list.viewport().width())
        return QSize(width, self._room(QRect(0, 0, width, 0), index).bottom() + self.theme.px(5))

    def _room(self, row: QRect, index: ModelIndex) -> QRect:
        """Return the rectangle of a row's text; wide enough for bold letters."""
        px, (depth, fault) = self.theme.px, index.data(LOOK)
        left = px(8) + px(INDENT) * min(depth, DEEPEST) + (px(SIGN) if fault else 0)
        room = QRect(row.left() + left, row.top() + px(4), max(1, row.width() - left - px(8)), 100_000)
        return QFontMetrics(self.theme.font(SIZE, bold=True)).boundingRect(room, WRAP, str(index.data()))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: ModelIndex) -> None:
        """Draw the sign of a fault and the sentence, in bold at its moment."""
        theme, (_, fault) = self.theme, index.data(LOOK)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, mixed(theme.colour("panel"), theme.palette.accent, 0.14))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, theme.colour("badge"))
        room = self._room(option.rect, index)
        painter.setFont(theme.font(SIZE, bold=bool(index.data(NOW))))
        painter.setPen(theme.colour("bad" if fault in CERTAIN else "text"))
        painter.drawText(room.adjusted(0, 0, theme.px(4), 0), WRAP, str(index.data()))
        if fault:
            sign = QRect(room.left() - theme.px(SIGN), room.top(), theme.px(SIGN), room.height())
            painter.drawText(sign, Qt.AlignmentFlag.AlignTop, "⚠" if fault in CERTAIN else "?")
        painter.restore()
