"""The path of a value in sentences; a click on one goes to its moment and selects its thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeySequence, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from ....tracer.causes.sentences import Sentence
from ...model.bookmark import TracedValue
from ...model.explanation import Explanation
from ...model.session import Selection, Session
from ...widgets.controls import on_choice
from ...widgets.patterns import mixed
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme, flat_sheet, text_palette
from ..common.view import View

HINT = (
    "Right-click an element in a picture of memory and choose “Why this value?”, or press W for the element that the "
    "selected thread accessed last."
)
WAITING = "Following the value…"

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


class WhyView(View):
    """Shows an explanation; the inspector gives it what belongs to the pane in focus."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.title, self.hint = PlainLabel(parent=self), PlainLabel(HINT, self)
        self.turn, self.close_button = QPushButton(self), QPushButton("Hide", self)
        self.turn.clicked.connect(self._turn)
        self.close_button.clicked.connect(lambda _checked: self.ask.trace_value(None))
        self.close_button.setAccessibleName("Hide the path of the value")
        self.close_button.setShortcut(QKeySequence())
        self.list = WhyList(theme, self)
        on_choice(self.list, self._go)
        self.hint.setWordWrap(True)
        self.traced: TracedValue | None = None
        self.explanation: Explanation | None = None
        self._arrange()
        self.set_theme(theme)

    def _arrange(self) -> None:
        self.title.setWordWrap(True)
        buttons = QHBoxLayout()
        buttons.addWidget(self.turn)
        buttons.addWidget(self.close_button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.addWidget(self.title)
        column.addLayout(buttons)
        column.addWidget(self.hint)
        column.addWidget(self.list, 1)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        super().set_theme(theme)
        self.title.setFont(theme.font(14, bold=True))
        self.hint.setFont(theme.font(13))
        self.title.setPalette(text_palette(theme, "text"))
        self.hint.setPalette(text_palette(theme, "muted"))
        for button in (self.turn, self.close_button):
            button.setFont(theme.font(12.5))
        self.list.set_theme(theme)
        self._show()

    def load(self, session: Session | None) -> None:
        """Load a session."""
        super().load(session)
        self._show()

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Mark the sentences of a moment."""
        changed = int(moment) != int(self.moment)
        super().render_moment(moment, selection)
        if changed:
            self.list.mark_moment(int(moment))

    def show_explanation(self, traced: TracedValue | None, explanation: Explanation | None) -> None:
        """Show another explanation; None while it is being computed, or without a traced value."""
        if (traced, explanation) != (self.traced, self.explanation):
            self.traced, self.explanation = traced, explanation
            self._show()

    def _show(self) -> None:
        has_value = self.traced is not None
        for part in (self.title, self.turn, self.close_button, self.list):
            part.setVisible(has_value)
        self.hint.setVisible(self.explanation is None)
        self.hint.setText(WAITING if has_value else HINT)
        self.list.clear()
        if self.traced is None:
            return
        name = self.explanation.title if self.explanation else self.traced.element
        forward = self.traced.forward
        self.title.setText(f"What {name} reaches" if forward else f"Why {name}?")
        self.turn.setText("Where from?" if forward else "Where to?")
        self.turn.setAccessibleName(
            "Show where the value comes from" if forward else "Show what the value reaches"
        )
        self.list.show_sentences(self.explanation.sentences if self.explanation else (), self.theme)
        self.list.mark_moment(int(self.moment))

    def _go(self, item: QListWidgetItem) -> None:
        row, moment = item.data(PLACE)
        if self.session is None or row < 0:
            return
        trace = self.session.trace
        self.ask.select(Selection(int(trace.block[row]), int(trace.thread[row])))
        self.ask.seek(float(moment))

    def _turn(self, _checked: bool) -> None:
        """Show the other direction."""
        if self.traced is not None:
            traced = self.traced
            moment = None if traced.moment is None and traced.forward else traced.moment
            self.ask.trace_value(
                TracedValue(traced.element, traced.block, traced.thread, moment, not traced.forward)
            )
