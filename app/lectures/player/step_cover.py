"""Covers of the pictures: a note about a step in preparation, and the reason for a step without a picture."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from ...control.delay import Delay
from ...widgets.controls import button
from ...widgets.plain_text import PlainLabel, announce
from ...widgets.theme import Theme

NOTED_AFTER = 200  # milliseconds before the note appears, to avoid flicker


class StepNote(QFrame):
    """A line on a card over the lower edge of the pictures."""

    def __init__(self, theme: Theme, over: QWidget, above: QWidget) -> None:
        super().__init__(over)
        self.setObjectName("news")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.theme, self.over, self.above = theme, over, above
        self.sentence = PlainLabel(parent=self)
        self._delay_timer = Delay(self, NOTED_AFTER, self._appear)
        for widget in (over, above):
            widget.installEventFilter(self)
        self.hide()

    def show_sentence(self, sentence: str) -> None:
        """Show a sentence after a short delay, or hide it for ""."""
        self.sentence.setText(sentence)
        if not sentence:
            self._delay_timer.stop()
            self.hide()
        elif self.isHidden():
            self._delay_timer.start()
        else:
            self._place()

    def _appear(self) -> None:
        self._place()
        self.raise_()
        self.show()
        announce(self.sentence)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay above the widget when it moves."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        px = self.theme.px
        self.sentence.setFont(self.theme.font(15))
        self.sentence.adjustSize()
        self.sentence.move(px(16), px(9))
        self.resize(self.sentence.width() + px(32), self.sentence.height() + px(18))
        bottom = self.above.mapTo(self.over, QPoint(0, 0)).y() - px(12)
        self.move((self.over.width() - self.width()) // 2, bottom - self.height())


class StepCover(QFrame):
    """Covers the pictures if the step has none, with the reason and an optional button."""

    def __init__(self, theme: Theme, over: QWidget, below: QWidget) -> None:
        super().__init__(over)
        self.setObjectName("panel")
        self.theme, self.over, self.below = theme, over, below
        self.sentence = PlainLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.answer = button("Run it", "", text="Run it", run=self._answer)
        self._run: Callable[[], object] = lambda: None
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addWidget(self.sentence)
        column.addWidget(self.answer, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        for widget in (over, below):
            widget.installEventFilter(self)
        self.hide()

    def _answer(self) -> None:
        self._run()

    def show_reason(self, sentence: str, run: Callable[[], object] | None = None) -> None:
        """Cover the pictures with a sentence and an optional button; "" shows the pictures."""
        self.sentence.setText(sentence)
        self._run = run or (lambda: None)
        self.answer.setVisible(run is not None)
        self._place()
        if sentence:
            self.raise_()
        self.setVisible(bool(sentence))

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay below the caption when it grows."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide):
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        self.sentence.setFont(self.theme.font(20))
        self.answer.setFont(self.theme.font(18))
        top = self.below.mapTo(self.over, QPoint(0, self.below.height())).y() if self.below.isVisible() else 0
        self.setGeometry(0, top, self.over.width(), self.over.height() - top)
