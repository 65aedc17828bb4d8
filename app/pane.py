"""A pane: one session's title, lesson and check, its memory, its counters, and the progress of the next one."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ..tracer.pace import Pace, left_text
from ..tracer.trace import Trace
from .bookmark import PictureChoice
from .controls import button, mark, paint_icon
from .flow import FlowLayout
from .icons import icon
from .session import Selection, Session
from .switch import Switch
from .theme import Theme
from .views.counters import CountersView
from .views.histogram import HistogramView
from .views.memory import MemoryView
from .views.pitfall import pitfall_text
from .views.view import View

VEILED_AFTER = 200  # milliseconds: what comes sooner is not announced by a flicker


class Pane(QFrame):
    """One of the two panes.

    cancelled: the tracing shall end. picture_asked: show the memory, or the histogram.
    """

    cancelled = Signal()
    picture_asked = Signal(str)

    def __init__(self, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAccessibleName(f"{name} pane")
        self.theme = theme
        self.session: Session | None = None
        self.selection = Selection()
        self.terse = False
        self.picture: PictureChoice = "auto"
        self.memory, self.counters = MemoryView(theme), CountersView(theme)
        self.histogram = HistogramView(theme)
        self.views: tuple[View, ...] = (self.memory, self.histogram, self.counters)
        self.veil = Veil(self)
        self.veil.cancelled.connect(self.cancelled)
        self._build()
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def _build(self) -> None:
        self.title, self.lesson = QLabel(), QLabel()
        self.title.setObjectName("title")
        self.lesson.setObjectName("lesson")
        self.lesson.setWordWrap(True)
        self.sign, self.verdict, self.part = QLabel(), QLabel(), QLabel()
        self.part.setObjectName("badge")
        self.pitfall = QLabel("pitfall")
        self.pitfall.setObjectName("pitfall")
        ending = QWidget()
        row = QHBoxLayout(ending)
        row.setContentsMargins(0, 0, 0, 0)
        self.switch = Switch({"memory": "Memory", "histogram": "Histogram"}, "What the pane shows (H)")
        self.switch.chosen.connect(self.picture_asked)
        for widget in (self.switch, self.pitfall, self.part, self.sign, self.verdict):
            row.addWidget(widget)
        self.line = FlowLayout()
        self.line.add(self.title)
        self.line.add(ending, right=True)
        self.head = QVBoxLayout()
        self.head.addLayout(self.line)
        self.head.addWidget(self.lesson)
        policy = self.counters.sizePolicy()
        policy.setVerticalPolicy(QSizePolicy.Policy.Minimum)  # as many rows as its width asks for
        self.counters.setSizePolicy(policy)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addLayout(self.head)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.memory)
        self.stack.addWidget(self.histogram)
        column.addWidget(self.stack, 1)
        column.addWidget(self.counters)

    def load(self, session: Session | None) -> None:
        """Show another session in place of the one before."""
        self.session = session
        self.veil.lift()
        self.title.setText(_title(session))
        self._show_lesson()
        self._show_verdict()
        for view in self.views:
            view.load(session)
        self.show_picture(self.picture)

    def shows_histogram(self) -> bool:
        """Return whether the pane shows the histogram of a launch that counts."""
        counts = self.session is not None and self.session.counting is not None
        return counts and self.picture != "memory"

    def show_picture(self, choice: PictureChoice) -> None:
        """Show the memory or, where the launch counts, its histogram; auto is the histogram where there is one."""
        self.picture = choice
        self.switch.setVisible(self.session is not None and self.session.counting is not None)
        self.switch.show_choice("histogram" if self.shows_histogram() else "memory")
        self.stack.setCurrentWidget(self.histogram if self.shows_histogram() else self.memory)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Draw a moment."""
        self.selection = selection
        for view in (self.histogram if self.shows_histogram() else self.memory, self.counters):
            view.render_moment(moment, selection)

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        self.head.setContentsMargins(theme.px(14), theme.px(10), theme.px(14), theme.px(4))
        self.head.setSpacing(theme.px(2))
        self.line.setSpacing(theme.px(8))
        self._show_lesson()
        self._show_verdict()
        self.veil.set_theme(theme)
        for view in self.views:
            view.set_theme(theme)

    def set_terse(self, terse: bool) -> None:
        """Show the lesson as a tip of the title only, or as a line of its own."""
        if terse == self.terse:
            return
        self.terse = terse
        self.counters.set_terse(terse)
        self._show_lesson()
        self._show_verdict()

    def _show_lesson(self) -> None:
        lesson = self.session.scenario.lesson if self.session and self.session.scenario else ""
        pitfall = pitfall_text(self.session.scenario if self.session else None)
        if self.session and self.session.scenario and not self.session.scenario.words:
            lesson, pitfall = self._say(lesson), self._say(pitfall)
        self.lesson.setText(lesson)
        self.lesson.setVisible(bool(lesson) and not self.terse)
        self.title.setToolTip(lesson)
        self.pitfall.setVisible(bool(pitfall))
        self.pitfall.setToolTip(pitfall)
        self.pitfall.setAccessibleDescription(pitfall)

    def _say(self, text: str) -> str:
        """Return a text in the words that the session is told in."""
        return self.theme.speaking(self.session.scenario if self.session else None).say(text)

    def set_focused(self, focused: bool) -> None:
        """Show whether the right column follows this pane."""
        mark(self, "focused", focused)

    def _show_verdict(self) -> None:
        trace = self.session.trace if self.session else None
        sentence, good = _verdict(trace, self.terse)
        self.verdict.setText(self._say(sentence))
        self.verdict.setObjectName("good" if good else "bad")
        mark(self.verdict, "good", good)
        picture = icon("check" if good else "warning", self.theme.colour("good" if good else "bad"))
        size = self.theme.px(14)
        self.sign.setPixmap(picture.pixmap(size, size))
        self.sign.setVisible(bool(sentence))
        self.part.setText(self._say(_part(trace)))
        self.part.setToolTip(self._say(trace.notice) if trace else "")
        self.part.setVisible(bool(self.part.text()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the veil over everything."""
        super().resizeEvent(event)
        self.veil.setGeometry(self.rect())


class Veil(QFrame):
    """What lies over a pane while the next session is made: the old picture dimmed, progress, a way out."""

    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("veil")
        self.text, self.bar, self.pace = QLabel(), QProgressBar(), Pace()
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
        self._soon = QTimer(self, singleShot=True, interval=VEILED_AFTER)
        self._soon.timeout.connect(self._drop)
        self.hide()

    def show_progress(self, text: str, done: int, total: int) -> None:
        """Show how far it is; a total of 0 means that nobody knows."""
        left = left_text(self.pace.left(done, total)) if total else ""
        self.text.setText(f"{text}\n{left}".strip())
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        if self.isHidden() and not self._soon.isActive():
            self._soon.start()

    def lift(self) -> None:
        """Show what lies below, now or where it was to be covered soon."""
        self._soon.stop()
        self.hide()

    def _drop(self) -> None:
        self.raise_()
        self.show()

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        colour = QColor(theme.palette.panel)
        red, green, blue = colour.red(), colour.green(), colour.blue()
        self.setStyleSheet(
            f"QFrame#veil {{ background: rgba({red}, {green}, {blue}, 165); border-radius: 8px; }}"
        )
        self.bar.setFixedWidth(theme.px(260))
        self.text.setFont(theme.font(15, bold=True))
        paint_icon(self.stop, theme)


def _title(session: Session | None) -> str:
    if session is None:
        return ""
    return session.title or (session.scenario.title if session.scenario else session.trace.kernel)


def _verdict(trace: Trace | None, terse: bool) -> tuple[str, bool]:
    """Return how the run ended, in a few words or fewer, and whether it is well."""
    if trace is None:
        return "", True
    if trace.error is not None:
        error = trace.error
        return f"{error.type} in block {error.block}, thread {error.thread}, line {error.line}", False
    if trace.check is None:
        return "", True
    verdict = f"{'equals' if trace.check.equal else 'differs from'} NumPy"
    if terse:
        return verdict, trace.check.equal
    number = f"{trace.check.largest_error:.0e}".replace("e-0", "e-").replace("e+00", "")
    return f"{verdict} ({number})", trace.check.equal


def _part(trace: Trace | None) -> str:
    if trace is None or not trace.is_part:
        return ""
    blocks = trace.grid[0] * trace.grid[1] * trace.grid[2]
    return f"a part: {len(trace.recorded):,} of {blocks:,} blocks"
