"""Where we are, in words: drawn at every frame, so it keeps its room and never moves what stands beside it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ...model import phase_steps
from ...model.session import Session
from ...views.common.drawing import pixels_of
from ...views.common.wording import coordinates_text
from ...widgets.theme import Theme


class PositionLabel(QWidget):
    """A strong text and a quiet one behind it, or a hint while there is nothing to say."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # nothing is painted below it
        self.theme = theme
        self.strong = self.quiet = ""
        self.widest = ("", "")
        self.with_quiet = True
        self.hint = "Space plays"  # shown until the time is moved from `_hint_at`
        self._hint_at: float | None = None

    def show_position(
        self, session: Session, moment: float, block: int, *, settled: bool, pane: str = ""
    ) -> None:
        """Say where a session is; or give the hint once all is there, until the time is moved.

        pane: the name of its pane, "" where there is only one.
        """
        phase = phase_steps.phase_at(session, block, moment)
        where = f"block {coordinates_text(block, session.trace.grid)} · phase {phase}"
        if self.hint and settled:
            self._hint_at = moment if self._hint_at is None else self._hint_at
            self.hint = self.hint if moment == self._hint_at else ""
            where = self.hint or where
        where = self.theme.speaking(session.scenario).say(where)
        self.show_texts(position_text(int(moment), session.end, pane), where)

    def keep_room_for(self, strong: str, quiet: str) -> None:
        """Keep the room that these texts need."""
        if self.widest != (strong, quiet):
            self.widest = strong, quiet
            self.updateGeometry()

    def show_quiet(self, shown: bool) -> None:
        """Show the quiet text, or only keep it for those who hear it."""
        if shown != self.with_quiet:
            self.with_quiet = shown
            self.updateGeometry()
            self.update()

    def show_texts(self, strong: str, quiet: str) -> None:
        """Show a strong text and a quiet one behind it."""
        if (strong, quiet) != (self.strong, self.quiet):
            self.strong, self.quiet = strong, quiet
            self.setAccessibleName(f"{strong}, {quiet}")
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        self.updateGeometry()
        self.update()

    def width_with(self, quiet: bool) -> int:
        """Return the width of the widest texts, with the quiet one or without."""
        return self._after(self.widest[0]) + (self._width(self.widest[1], bold=False) if quiet else 0)

    def sizeHint(self) -> QSize:
        """Return the room for the widest texts."""
        return QSize(self.width_with(self.with_quiet), self.theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the same: a cut number is a wrong number."""
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
        return pixels_of(text, self.theme.font(15 if bold else 13, bold=bold)) + 2


def position_text(moment: int, end: int, pane: str) -> str:
    """Return a moment in words, with its pane where there are several."""
    text = f"moment {moment:,} of {end:,}"
    return f"{pane}: {text}" if pane else text
