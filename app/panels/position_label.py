"""The current position as text. It is drawn at every frame, so it has a fixed width."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ..model import phase_steps
from ..model.session import Session
from ..views.common.drawing import text_pixels
from ..views.common.wording import coordinates_text
from ..widgets.theme import Theme


class PositionLabel(QWidget):
    """A bold text followed by a muted one, or by a hint at the start."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # it paints its complete background
        self.theme = theme
        self.strong = self.quiet = ""
        self.widest = ("", "")
        self.with_quiet = True
        self.hint = "Press Space to play"  # shown until the time moves away from `_hint_at`
        self._hint_at: float | None = None

    def show_position(
        self, session: Session, moment: float, block: int, *, settled: bool, pane: str = ""
    ) -> None:
        """Show a session's position, or the hint until the time is moved after loading.

        pane: the name of its pane, "" for a single pane.
        """
        phase = phase_steps.phase_at(session, block, moment)
        where = f"block {coordinates_text(block, session.trace.grid)} · phase {phase}"
        if self.hint and settled:
            self._hint_at = moment if self._hint_at is None else self._hint_at
            self.hint = self.hint if moment == self._hint_at else ""
            where = self.hint or where
        where = self.theme.with_words_of(session.scenario).translate(where)
        self.show_texts(position_text(int(moment), session.end, pane), where)

    def keep_room_for(self, strong: str, quiet: str) -> None:
        """Reserve the width of these texts."""
        if self.widest != (strong, quiet):
            self.widest = strong, quiet
            self.updateGeometry()

    def show_quiet(self, shown: bool) -> None:
        """Show the muted text, or keep it only for screen readers."""
        if shown != self.with_quiet:
            self.with_quiet = shown
            self.updateGeometry()
            self.update()

    def show_texts(self, strong: str, quiet: str) -> None:
        """Show a bold text followed by a muted one."""
        if (strong, quiet) != (self.strong, self.quiet):
            self.strong, self.quiet = strong, quiet
            self.setAccessibleName(f"{strong}, {quiet}")
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        self.updateGeometry()
        self.update()

    def width_with(self, quiet: bool) -> int:
        """Return the width of the widest texts, with or without the muted one."""
        return self._after(self.widest[0]) + (self._width(self.widest[1], bold=False) if quiet else 0)

    def sizeHint(self) -> QSize:
        """Return the size for the widest texts."""
        return QSize(self.width_with(self.with_quiet), self.theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the size hint, since a cut number would be wrong."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw both texts."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), self.theme.colour("panel"))
        for text, bold, colour, x in (
            (self.strong, True, "text", 0),
            (self.quiet if self.with_quiet else "", False, "muted", self._after(self.strong)),
        ):
            painter.setFont(self.theme.font(15 if bold else 13, bold=bold))
            painter.setPen(self.theme.colour(colour))
            room = QRectF(self.rect()).adjusted(x, 0, 0, 0)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), text)
        painter.end()

    def _after(self, strong: str) -> int:
        return self._width(strong, bold=True) + self.theme.px(10)

    def _width(self, text: str, *, bold: bool) -> int:
        return text_pixels(text, self.theme.font(15 if bold else 13, bold=bold)) + 2


def position_text(moment: int, end: int, pane: str) -> str:
    """Format a moment, with its pane if there are several."""
    text = f"moment {moment:,} of {end:,}"
    return f"{pane}: {text}" if pane else text
