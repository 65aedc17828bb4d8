"""Problems of lines, and the strip below the source that lists them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from ....tracer.model.finding import SEVERITIES
from ...model.nothing import nothing
from ...model.visible_text import escape_controls_in_lines
from ...widgets.patterns import mixed
from ...widgets.plain_text import PlainLabel, plain_tip
from ...widgets.theme import Theme
from ..common.severity import draw_sign
from ..common.wording import plural

SEVERITY_COLOURS = {"error": "bad", "warning": "bad", "note": "muted"}
LINES = 3  # of a sentence that are shown
MOST = 3  # problems in the strip: the source needs the room
KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class Problem(NamedTuple):
    """An error, a warning or a note at a line."""

    line: int  # from 1
    sentence: str
    severity: str = "error"  # in SEVERITIES


class ProblemLabel(PlainLabel):
    """One problem with its line and its sign; a click or Enter goes to the line."""

    def __init__(self, problem: Problem, theme: Theme) -> None:
        self.full_text = escape_controls_in_lines(f"Line {problem.line}: {problem.sentence}")
        super().__init__(self.full_text)
        self.asked: Callable[[int], object] = nothing
        self.problem, self.theme = problem, theme
        self.setToolTip(plain_tip(problem.sentence))
        self.setWordWrap(True)
        self.setFont(theme.font(13))
        self.setContentsMargins(theme.px(30), theme.px(4), theme.px(8), theme.px(4))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(f"{problem.severity} in line {problem.line}: {problem.sentence}")

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the sign before the sentence, and a frame when focused."""
        painter, px = QPainter(self), self.theme.px
        if self.hasFocus():
            painter.setPen(self.theme.colour("accent"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        top = px(4) + (self.fontMetrics().height() - px(16)) / 2
        draw_sign(painter, QRectF(px(8), top, px(16), px(16)), self.problem.severity, self.theme)
        painter.end()
        super().paintEvent(event)

    def heightForWidth(self, width: int) -> int:
        """Compute the height at a width, where the text is shortened differently from now."""
        margins, metrics = self.contentsMargins(), self.fontMetrics()
        inside = width - margins.left() - margins.right()
        text_height = _height(shortened(self.full_text, metrics, inside), metrics, inside)
        return text_height + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        """Return the height at the current width."""
        return QSize(super().sizeHint().width(), self.heightForWidth(max(1, self.width())))

    def minimumSizeHint(self) -> QSize:
        """Return the height of one line."""
        return QSize(0, self.heightForWidth(1 << 20))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the sentence to a few lines; the tooltip has all of it."""
        super().resizeEvent(event)
        shown = shortened(self.full_text, self.fontMetrics(), self.contentsRect().width())
        if shown != self.text():
            self.setText(shown)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the line."""
        self.asked(self.problem.line)

    def event(self, event: QEvent) -> bool:
        """Keep the keys that go to the line from the window's shortcuts."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() in KEYS
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the line with Enter or Space."""
        if event.key() in KEYS:
            self.asked(self.problem.line)
        else:
            super().keyPressEvent(event)


def shortened(text: str, metrics: QFontMetrics, width: int) -> str:
    """Return the words of a text that fit in LINES lines, with an ellipsis if some are left out."""

    def fits(shown: str) -> bool:
        return _height(shown, metrics, width) <= LINES * metrics.lineSpacing()

    words = text.split(" ")
    if fits(text):
        return text
    fitting = bisect(range(1, len(words)), False, key=lambda count: not fits(" ".join(words[:count]) + " …"))
    return " ".join(words[: max(1, fitting)]) + " …"


def _height(text: str, metrics: QFontMetrics, width: int) -> int:
    """Return the height in pixels of a text wrapped at a width."""
    room = QRect(0, 0, max(width, 1), 1 << 20)
    return metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, text).height()


class ProblemStrip(QFrame):
    """The problems of a text, one below the other, the worst first; hidden where there are none."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.asked: Callable[[int], object] = nothing  # the line to go to
        self.setObjectName("problems")
        self.setAccessibleName("Problems in the source")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._theme, self.problems = theme, tuple[Problem, ...]()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self.hide()

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show these problems."""
        self.problems = tuple(sorted(problems, key=lambda p: (SEVERITIES.index(p.severity), p.line)))
        self._build()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        self._theme = theme
        self._build()

    def _build(self) -> None:
        while (item := self.column.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for problem in self.problems[:MOST]:
            label = ProblemLabel(problem, self._theme)
            label.asked = self.asked
            self.column.addWidget(label)
        if more := max(0, len(self.problems) - MOST):
            self.column.addWidget(self._rest(more))
        palette, edge = self._theme.palette, self._theme.px(4)
        ground = mixed(self._theme.colour("panel"), palette.bad, 0.08).name()
        self.setStyleSheet(
            f"QFrame#problems {{ background: {ground}; border: none; border-left: {edge}px solid {palette.bad}; }}"
        )
        self.setVisible(bool(self.problems))

    def _rest(self, more: int) -> PlainLabel:
        label = PlainLabel(f"and {plural(more, 'more problem')}, marked at the lines")
        label.setObjectName("muted")
        label.setFont(self._theme.font(12))
        label.setContentsMargins(self._theme.px(30), 0, 0, self._theme.px(4))
        return label

    def minimumSizeHint(self) -> QSize:
        """Return a height that leaves room for the source."""
        return QSize(0, super().minimumSizeHint().height())
