"""The path of a value in sentences; a click on one goes to its moment and selects its thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ....tracer.causes.sentences import Sentence
from ...model.bookmark import TracedValue
from ...model.explanation import Explanation
from ...model.session import Selection, Session
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme, flat_sheet, text_palette
from ..common.view import View

HINT = (
    "Right-click an element in a picture of memory and choose “Why this value?”, or press W for the element that the "
    "selected thread accessed last."
)
WAITING = "Following the value…"
INDENT, DEEPEST = "\u2003", 4
SIGNS = {"foreign": "⚠ ", "stale": "⚠ ", "unwritten": "⚠ ", "unordered": "? ", "leftover": "? ", "": ""}
WORDS = {
    "leftover": "left from an earlier phase",
    "foreign": "race",
    "stale": "read too early",
    "unwritten": "no content",
    "unordered": "not ordered",
}
ROW = Qt.ItemDataRole.UserRole


class WhyView(View):
    """Shows an explanation; the inspector gives it what belongs to the pane in focus."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.title, self.hint = PlainLabel(parent=self), PlainLabel(HINT, self)
        self.turn, self.close_button = QPushButton(self), QPushButton("Hide", self)
        self.turn.clicked.connect(self._turn)
        self.close_button.clicked.connect(lambda _checked: self.value_asked.emit(None))
        self.close_button.setAccessibleName("Hide the path of the value")
        self.close_button.setShortcut(QKeySequence())
        self.list = QListWidget(self)
        self.list.setAccessibleName("The path of the value")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(self._go)
        self.list.itemActivated.connect(self._go)
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
        self.list.setFont(theme.font(13))
        self.list.setStyleSheet(flat_sheet("QListWidget", theme))
        self.list.setSpacing(theme.px(3))
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
            self._mark_moment()

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
        for sentence in self.explanation.sentences if self.explanation else ():
            self._add(sentence)
        self._mark_moment()

    def _add(self, sentence: Sentence) -> None:
        text = self.reword(sentence.text)
        item = QListWidgetItem(f"{INDENT * min(sentence.depth, DEEPEST)}{SIGNS[sentence.fault]}{text}")
        fault = f"{WORDS[sentence.fault]}: " if sentence.fault else ""
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{fault}{text}")
        item.setData(ROW, (sentence.row, sentence.moment))
        is_certain = sentence.fault in ("foreign", "stale", "unwritten")
        item.setForeground(self.theme.colour("bad" if is_certain else "text"))
        self.list.addItem(item)

    def _mark_moment(self) -> None:
        """Show in bold the sentences about the current moment."""
        for number in range(self.list.count()):
            item = self.list.item(number)
            is_now = item.data(ROW)[1] == int(self.moment)
            item.setFont(self.theme.font(13, bold=is_now))

    def _go(self, item: QListWidgetItem) -> None:
        row, moment = item.data(ROW)
        if self.session is None or row < 0:
            return
        trace = self.session.trace
        self.selection_asked.emit(Selection(int(trace.block[row]), int(trace.thread[row])))
        self.moment_asked.emit(float(moment))

    def _turn(self, _checked: bool) -> None:
        """Show the other direction."""
        if self.traced is not None:
            traced = self.traced
            moment = None if traced.moment is None and traced.forward else traced.moment
            self.value_asked.emit(
                TracedValue(traced.element, traced.block, traced.thread, moment, not traced.forward)
            )
