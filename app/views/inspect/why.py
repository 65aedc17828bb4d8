"""The path of a value in sentences; a click on one goes to its moment and selects its thread."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ...model.bookmark import TracedValue
from ...model.explanation import Explanation
from ...model.session import Selection, Session
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme, text_palette
from ..common.view import View
from .why_list import PLACE, WhyList

HINT = (
    "Right-click an element in a picture of memory and choose “Why this value?”, or press W for the element that the "
    "selected thread accessed last."
)
WAITING = "Following the value…"


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
        self.list = WhyList(theme, self)
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
