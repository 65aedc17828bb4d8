"""What the kernel of a pane was measured to take: a line of text that opens its chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from ...model.visible_text import visible
from ...widgets.controls import mark
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme

if TYPE_CHECKING:
    from ...charts.nearest_measured import MeasuredTime

UNMEASURED = "not measured"
WHY = "Nobody has measured this kernel: neither was it done here, nor for the times that Tilescope brings along."
Say = Callable[[str], str]


class MeasuredLine(QPushButton):
    """Shows the measured time of a launch, or in grey the nearest measured launch, in as many words as fit.

    Pressing it opens the chart; Tab reaches it.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.texts: tuple[str, ...] = ("",)
        self.setObjectName("link")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_time(self, mine: MeasuredTime | None, other: MeasuredTime | None, say: Say) -> None:
        """Show what was measured, compared with the other pane; None shows that nothing was."""
        from ...charts.nearest_measured import explanation, line_texts  # the window starts without it

        tip = f"{explanation(mine, other)}\nPress for the chart." if mine else WHY
        texts = line_texts(mine, other) if mine else (UNMEASURED,)
        mark(self, "muted", mine is not None and not mine.is_exactly_asked)
        self._tell([say(visible(text)) for text in texts], say(tip), pressable=mine is not None)

    def show_nothing(self) -> None:
        """Say nothing: nobody knows yet, or it is no kernel that Tilescope measures."""
        self._tell([""], "", pressable=False)

    def _tell(self, texts: list[str], tip: str, *, pressable: bool) -> None:
        self.texts = tuple(texts)
        self.setEnabled(pressable)
        self.setToolTip(plain_tip(tip))
        self.setAccessibleName(texts[0])
        self.setAccessibleDescription(tip)

    def set_theme(self, theme: Theme) -> None:
        """Take the text size."""
        self.theme = theme
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height of a line; a style sheet would take back a fixed one whenever it is applied."""
        height = QFontMetrics(self.theme.font()).lineSpacing() + self.theme.px(2)
        return QSize(super().sizeHint().width(), height)

    def width_of(self, text: str) -> int:
        """Return the room that a text takes."""
        return QFontMetrics(self.theme.font()).horizontalAdvance(text) + self.theme.px(8) if text else 0

    def fit(self, room: int) -> int:
        """Say as much as fits, the time alone where nothing does; return the width of that."""
        text = next((text for text in self.texts if self.width_of(text) <= room), self.texts[-1])
        self.setText(text.replace("&", "&&"))
        self.setMaximumWidth(self.width_of(text))
        return self.width_of(text)
