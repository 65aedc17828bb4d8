"""The overlay of a pane while its next session is loaded."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QProgressBar, QVBoxLayout, QWidget

from ...tracer.run.time_estimate import TimeEstimate, left_text
from ..control.delay import Delay
from ..widgets.controls import button, paint_icon
from ..widgets.plain_text import PlainLabel
from ..widgets.theme import Theme

COVERED_AFTER = 200  # milliseconds before the overlay appears, to avoid flicker
PACE = 100  # milliseconds between updates of the progress bar
COVERED_IN_DRAG = 1500  # the same delay while the user drags a parameter


class ProgressOverlay(QFrame):
    """Dims a pane while its next session is loaded, and shows progress and a Cancel button."""

    def __init__(self, parent: QWidget, cancel: Callable[[], object]) -> None:
        super().__init__(parent)
        self.setObjectName("overlay")
        self.text, self.bar, self.pace = PlainLabel(), QProgressBar(), TimeEstimate()
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text.setWordWrap(True)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Tracing progress")
        self.stop = button("Cancel tracing", "Cancel (Esc)", "close", "Cancel  Esc", cancel)
        card = QFrame()
        card.setObjectName("panel")
        inside = QVBoxLayout(card)
        inside.addWidget(self.text)
        for widget in (self.bar, self.stop):
            inside.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        box = QVBoxLayout(self)
        box.addWidget(card, 0, Qt.AlignmentFlag.AlignCenter)
        self._paint_timer = QTimer(self, singleShot=True, interval=PACE)
        self._cover_timer = Delay(self, COVERED_AFTER, self._cover)
        self.hide()

    def show_progress(self, text: str, count: str, done: int, total: int) -> None:
        """Show the progress, with the count below the text; a total of 0 is unknown."""
        left = left_text(self.pace.seconds_left(done, total)) if total else ""
        self.text.setText("\n".join(filter(None, (text, count, left))))
        self.bar.setRange(0, total)
        if done == total or not self._paint_timer.isActive():
            self.bar.setValue(done)  # this repaints the bar and the pane below it synchronously
            self._paint_timer.start()
        if self.isHidden() and not self._cover_timer.isActive():
            self._cover_timer.start()

    def delay_cover(self, waits: bool) -> None:
        """Delay the overlay while the user drags a parameter, so that the picture stays visible."""
        self._cover_timer.setInterval(COVERED_IN_DRAG if waits else COVERED_AFTER)

    def uncover(self) -> None:
        """Hide the overlay, or cancel its appearance."""
        self._cover_timer.stop()
        self.hide()

    def _cover(self) -> None:
        self.raise_()
        self.show()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        colour = QColor(theme.palette.panel)
        red, green, blue = colour.red(), colour.green(), colour.blue()
        self.setStyleSheet(
            f"QFrame#overlay {{ background: rgba({red}, {green}, {blue}, 165); border-radius: 8px; }}"
        )
        self.bar.setFixedWidth(theme.px(260))
        self.text.setFont(theme.font(15, bold=True))
        paint_icon(self.stop, theme)
