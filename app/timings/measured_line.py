"""The measured time of a pane's kernel: a line of text that opens its chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from ..model.visible_text import escape_controls
from ..widgets.controls import mark
from ..widgets.plain_text import plain_tip
from ..widgets.theme import Theme

if TYPE_CHECKING:
    from .model.nearest_measured import MeasuredTime

UNMEASURED = "not measured"
WHY = "There is no measurement of this kernel, neither from this computer nor among those included with Tilescope."
Translate = Callable[[str], str]


class MeasuredLine(QPushButton):
    """Shows the measured time of a launch, or in grey the nearest measured launch, in the longest text that fits.

    A click opens the chart; Tab reaches it.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.texts: tuple[str, ...] = ("",)
        self.setObjectName("link")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_time(self, own: MeasuredTime | None, other: MeasuredTime | None, say: Translate) -> None:
        """Show the measured time, compared with the other pane; None shows that there is none."""
        from .model.nearest_measured import explanation, line_texts  # the window starts without it

        tip = f"{explanation(own, other)}\nClick for the chart." if own else WHY
        texts = line_texts(own, other) if own else (UNMEASURED,)
        mark(self, "muted", own is not None and not own.is_exact)
        self._show_texts([say(escape_controls(text)) for text in texts], say(tip), pressable=own is not None)

    def show_nothing(self) -> None:
        """Show no text: the measurements are not loaded yet, or the kernel is not one of Tilescope's."""
        self._show_texts([""], "", pressable=False)

    def _show_texts(self, texts: list[str], tip: str, *, pressable: bool) -> None:
        self.texts = tuple(texts)
        self.setEnabled(pressable)
        self.setToolTip(plain_tip(tip))
        self.setAccessibleName(texts[0])
        self.setAccessibleDescription(tip)

    def set_theme(self, theme: Theme) -> None:
        """Apply the text size."""
        self.theme = theme
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height of a line, since a style sheet would reset a fixed height."""
        height = QFontMetrics(self.theme.font()).lineSpacing() + self.theme.px(2)
        return QSize(super().sizeHint().width(), height)

    def width_of(self, text: str) -> int:
        """Return the width of a text."""
        return QFontMetrics(self.theme.font()).horizontalAdvance(text) + self.theme.px(8) if text else 0

    def fit(self, room: int) -> int:
        """Show the longest text that fits, or the shortest one; return its width."""
        text = next((text for text in self.texts if self.width_of(text) <= room), self.texts[-1])
        self.setText(text.replace("&", "&&"))
        self.setMaximumWidth(self.width_of(text))
        return self.width_of(text)
