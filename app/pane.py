"""A pane: one session's title, lesson and check, its memory, its counters, and the progress of the next one."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QSizePolicy, QVBoxLayout, QWidget

from ..tracer.trace import Trace
from .controls import button, mark, paint_icon
from .icons import icon
from .session import Selection, Session
from .theme import Theme
from .views.counters import CountersView
from .views.memory import MemoryView
from .views.view import View


class Pane(QFrame):
    """One of the two panes. `focused` tells that the user turned to it, `cancelled` that the tracing shall end."""

    focused = Signal()
    cancelled = Signal()

    def __init__(self, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAccessibleName(f"{name} pane")
        self.theme = theme
        self.session: Session | None = None
        self.selection = Selection()
        self.memory, self.counters = MemoryView(theme), CountersView(theme)
        self.views: tuple[View, ...] = (self.memory, self.counters)
        self.veil = Veil(self)
        self.veil.cancelled.connect(self.cancelled)
        self._build()
        for child in (self, *self.findChildren(QWidget)):
            child.installEventFilter(self)

    def _build(self) -> None:
        self.title, self.lesson = QLabel(), QLabel()
        self.title.setObjectName("title")
        self.lesson.setObjectName("lesson")
        self.lesson.setWordWrap(True)
        self.sign, self.verdict, self.part = QLabel(), QLabel(), QLabel()
        self.part.setObjectName("badge")
        head = QHBoxLayout()
        for widget in (self.title, self.part, self.sign, self.verdict):
            head.addWidget(widget)
        head.insertStretch(2, 1)
        self.head = QVBoxLayout()
        self.head.addLayout(head)
        self.head.addWidget(self.lesson)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addLayout(self.head)
        column.addWidget(self.memory, 1)
        column.addWidget(self.counters)

    def load(self, session: Session | None) -> None:
        """Show another session in place of the one before."""
        self.session = session
        self.veil.hide()
        self.title.setText(_title(session))
        self.lesson.setText(session.scenario.lesson if session and session.scenario else "")
        self._show_verdict()
        for view in self.views:
            view.load(session)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Draw a moment."""
        self.selection = selection
        for view in self.views:
            view.render_moment(moment, selection)

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        self.head.setContentsMargins(theme.px(14), theme.px(10), theme.px(14), theme.px(4))
        self.head.setSpacing(theme.px(2))
        self._show_verdict()
        self.veil.set_theme(theme)
        for view in self.views:
            view.set_theme(theme)

    def set_focused(self, focused: bool) -> None:
        """Show whether the right column follows this pane."""
        mark(self, "focused", focused)

    def _show_verdict(self) -> None:
        trace = self.session.trace if self.session else None
        sentence, good = _verdict(trace)
        self.verdict.setText(sentence)
        self.verdict.setObjectName("good" if good else "bad")
        mark(self.verdict, "good", good)
        picture = icon("check" if good else "warning", self.theme.colour("good" if good else "bad"))
        size = self.theme.px(14)
        self.sign.setPixmap(picture.pixmap(size, size))
        self.sign.setVisible(bool(sentence))
        self.part.setText(_part(trace))
        self.part.setToolTip(trace.notice if trace else "")
        self.part.setVisible(bool(self.part.text()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Turn to this pane at a click anywhere in it; nothing is kept from the widget that was clicked."""
        if event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.FocusIn):
            self.focused.emit()
        if watched is self and event.type() == QEvent.Type.Resize:
            self.veil.setGeometry(self.rect())
        return False


class Veil(QFrame):
    """What lies over a pane while the next session is made: the old picture dimmed, progress, a way out."""

    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("veil")
        self.text, self.bar = QLabel(), QProgressBar()
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text.setObjectName("title")
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of tracing")
        self.stop = button("Cancel tracing", "Cancel (Esc)", "close", "Cancel  Esc", self.cancelled.emit)
        box = QVBoxLayout(self)
        box.addStretch(1)
        for widget in (self.text, self.bar, self.stop):
            widget.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            box.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        box.addStretch(1)
        self.hide()

    def show_progress(self, text: str, done: int, total: int) -> None:
        """Show how far it is; a total of 0 means that nobody knows."""
        self.text.setText(text)
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        if self.isHidden():
            self.setGeometry(self.parentWidget().rect())
            self.raise_()
            self.show()

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        colour = QColor(theme.palette.panel)
        red, green, blue = colour.red(), colour.green(), colour.blue()
        self.setStyleSheet(f"QFrame#veil {{ background: rgba({red}, {green}, {blue}, 190); border-radius: 8px; }}")
        self.bar.setFixedWidth(theme.px(260))
        paint_icon(self.stop, theme)


def _title(session: Session | None) -> str:
    if session is None:
        return ""
    return session.title or (session.scenario.title if session.scenario else session.trace.kernel)


def _verdict(trace: Trace | None) -> tuple[str, bool]:
    """Return how the run ended, in a few words, and whether it is well."""
    if trace is None:
        return "", True
    if trace.error is not None:
        error = trace.error
        return f"{error.type} in block {error.block}, thread {error.thread}, line {error.line}", False
    if trace.check is None:
        return "", True
    number = f"{trace.check.largest_error:.0e}".replace("e-0", "e-").replace("e+00", "")
    return f"{'equals' if trace.check.equal else 'differs from'} NumPy ({number})", trace.check.equal


def _part(trace: Trace | None) -> str:
    if trace is None or not trace.is_part:
        return ""
    blocks = trace.grid[0] * trace.grid[1] * trace.grid[2]
    return f"a part: {len(trace.recorded):,} of {blocks:,} blocks"
