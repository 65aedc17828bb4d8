"""What lies over a pane while its next session is made."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QProgressBar, QVBoxLayout, QWidget

from ....tracer.run.time_estimate import TimeEstimate, left_text
from ...widgets.controls import button, paint_icon
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme

COVERED_AFTER = 200  # milliseconds: what comes sooner is not announced by a flicker
PACE = 100  # milliseconds from one painting of the bar to the next
COVERED_BY_HAND = 1500  # where one picture follows the other while a hand moves a parameter


class ProgressOverlay(QFrame):
    """What lies over a pane while the next session is made: the old picture dimmed, progress, a way out."""

    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("overlay")
        self.text, self.bar, self.pace = PlainLabel(), QProgressBar(), TimeEstimate()
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of tracing")
        self.stop = button("Cancel tracing", "Cancel (Esc)", "close", "Cancel  Esc", self.cancelled.emit)
        card = QFrame()
        card.setObjectName("panel")
        inside = QVBoxLayout(card)
        for widget in (self.text, self.bar, self.stop):
            inside.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        box = QVBoxLayout(self)
        box.addWidget(card, 0, Qt.AlignmentFlag.AlignCenter)
        self._paced = QTimer(self, singleShot=True, interval=PACE)
        self._soon = QTimer(self, singleShot=True, interval=COVERED_AFTER)
        self._soon.timeout.connect(self._cover)
        self.hide()

    def show_progress(self, text: str, done: int, total: int) -> None:
        """Show how far it is; a total of 0 means that nobody knows."""
        left = left_text(self.pace.seconds_left(done, total)) if total else ""
        self.text.setText(f"{text}\n{left}".strip())
        self.bar.setRange(0, total)
        if done == total or not self._paced.isActive():
            self.bar.setValue(done)  # which paints at once, with all that lies below
            self._paced.start()
        if self.isHidden() and not self._soon.isActive():
            self._soon.start()

    def wait_for_hand(self, waits: bool) -> None:
        """Cover the picture later while a hand moves a parameter, so that it stays in sight."""
        self._soon.setInterval(COVERED_BY_HAND if waits else COVERED_AFTER)

    def uncover(self) -> None:
        """Show what lies below, now or where it was to be covered soon."""
        self._soon.stop()
        self.hide()

    def _cover(self) -> None:
        self.raise_()
        self.show()

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        colour = QColor(theme.palette.panel)
        red, green, blue = colour.red(), colour.green(), colour.blue()
        self.setStyleSheet(
            f"QFrame#overlay {{ background: rgba({red}, {green}, {blue}, 165); border-radius: 8px; }}"
        )
        self.bar.setFixedWidth(theme.px(260))
        self.text.setFont(theme.font(15, bold=True))
        paint_icon(self.stop, theme)
