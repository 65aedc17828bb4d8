"""The head of a pane: title, what tells it from the other pane, how the launch ended, what it took, its lesson."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from ....tracer.model.trace import Trace
from ....tracer.storage.recorded_traces import device_of
from ...model.session import Session
from ...views.common.wording import (
    LUCKY,
    MEASURED,
    check_text,
    compared_text,
    is_lucky,
    made_text,
    pitfall_text,
)
from ...widgets.controls import mark
from ...widgets.icons import icon
from ...widgets.plain_text import PlainLabel, plain_tip
from ...widgets.switch import Switch
from ...widgets.theme import Theme
from .measured_line import MeasuredLine

if TYPE_CHECKING:
    from ...charts.nearest_measured import MeasuredTime

DRAG = "Drag it into a slide: it becomes a picture of this pane."
BESIDE = 800  # pixels at the normal text size, from which on the measured time stands beside the title


class PaneHeading(QWidget):
    """One line, what was measured, and the lesson below. What does not fit is said in fewer words, with all as a tip.

    Its height follows from the text size, the width, the lines of the lesson and whether there is room for a
    measured time, so that panes side by side agree. `fitted` tells that it has to be briefer than before, `needed`,
    or need not be. chart_asked: the measured time shall be seen in its chart.
    """

    fitted = Signal()
    chart_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme, self.lines = theme, 2
        self.session: Session | None = None
        self.needed = self.brevity = 0
        self.title, self.lesson = PlainLabel(), PlainLabel()
        self.title.setObjectName("title")
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.lesson.setObjectName("lesson")
        self.lesson.setWordWrap(True)
        self.lesson.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.apart = PlainLabel()
        self.apart.setObjectName("muted")
        self.apart.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.apart.hide()
        self._apart = ""
        self.sign, self.verdict, self.part = PlainLabel(), PlainLabel(), PlainLabel()
        self.pitfall = PlainLabel("pitfall")
        self.measured = MeasuredLine(theme)
        self.measured.hide()
        self.measured.clicked.connect(self.chart_asked)
        self._keeps_room = self._has_room = False
        self._shows_nearest = True
        self._keeps_verdict = False  # it would tell the answer to what is asked
        self._time: tuple[MeasuredTime | None, MeasuredTime | None] | None = None
        self._said: object = None  # what the line of the measured time says, and in which words
        self.part.setObjectName("badge")
        self.pitfall.setObjectName("pitfall")
        self.switch = Switch({"memory": "Memory", "histogram": "Histogram"}, "What the pane shows (H)")
        self.line = QHBoxLayout()
        self.line.addWidget(self.title, 1000)  # up to the width of its text
        self.line.addWidget(self.apart, 1000)
        self.line.addStretch(1)
        for widget in (self.switch, self.pitfall, self.part, self.sign, self.verdict):
            self.line.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.column = QVBoxLayout(self)
        self.column.addLayout(self.line)
        self.column.addWidget(self.measured)
        self.column.addWidget(self.lesson)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def load(self, session: Session | None) -> None:
        """Show title, lesson and verdict of another session, nothing for None."""
        self.session = session
        self.switch.setVisible(session is not None and session.counting is not None)
        self._show_texts()

    def set_apart(self, text: str) -> None:
        """Say beside the title what tells this pane from the other one."""
        if text != self._apart:
            self._apart = text
            self._fit()

    def set_brevity(self, brevity: int) -> None:
        """Say verdict and part in no more words than the other pane has room for: 0 are all, 2 the fewest."""
        if brevity != self.brevity:
            self.brevity = brevity
            self._fit()

    def keep_time_room(self, keep: bool) -> None:
        """Keep room for what was measured, also before it is known, or none: both panes or neither."""
        if keep != self._keeps_room:
            self._keeps_room = keep
            self._show_texts()

    def show_times(self, mine: MeasuredTime | None, other: MeasuredTime | None) -> None:
        """Say what this kernel took, beside the time of the other pane; None where nobody measured it."""
        if (mine, other) != self._time:
            self._time = mine, other
            self._show_texts()

    def show_nearest(self, shows: bool) -> None:
        """Name the nearest measured launch where this one was not measured, or show nothing there."""
        if shows != self._shows_nearest:
            self._shows_nearest = shows
            self._show_texts()

    def show_verdict(self) -> None:
        """Show how the launch ended, now that its findings are known."""
        self._show_texts()

    def keep_verdict(self, keep: bool) -> None:
        """Say nothing of how the launch ended, nor of what is wrong with it, or say it again."""
        if keep != self._keeps_verdict:
            self._keeps_verdict = keep
            self._show_texts()

    def set_lines(self, lines: int, *, time: bool = True) -> None:
        """Give the lesson so many lines, none to show it as the tip of the title only. time: has room, too."""
        if (lines, time) != (self.lines, self._has_room):
            self.lines, self._has_room = lines, time
            self._show_texts()

    def set_theme(self, theme: Theme) -> None:
        """Take colours, text size and words."""
        self.theme = theme
        self.measured.set_theme(theme)
        self.column.setContentsMargins(theme.px(14), theme.px(8), theme.px(14), theme.px(4))
        self.column.setSpacing(theme.px(2))
        self.line.setSpacing(theme.px(8))
        self._show_texts()

    def minimumSizeHint(self) -> QSize:
        """Return little width: what does not fit is said in fewer words."""
        return QSize(self.theme.px(160), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say as much as fits."""
        super().resizeEvent(event)
        self._show_texts()

    def _show_texts(self) -> None:
        self.title.setFixedHeight(self.theme.px(26))
        self._show_time()
        self._show_lesson()
        self._show_pitfall()
        self._show_verdict()
        self._fit()

    def _show_time(self) -> None:
        """Put the measured time beside the title where there is room, else on a line of its own."""
        beside = self.width() >= self.theme.px(BESIDE)
        if beside != self._is_time_beside():
            (self.column if beside else self.line).removeWidget(self.measured)
            line = self.line.indexOf(self.apart) + 1
            self.line.insertWidget(line, self.measured) if beside else self.column.insertWidget(
                1, self.measured
            )
        told = self.session is not None and self.session.scenario is not None and self._time
        if told and not self._shows_nearest and not (told[0] and told[0].is_exactly_asked):
            told = None
        said = told, self.theme.speaking(self.session.scenario if self.session else None).words
        if said != self._said:
            self._said = said
            self.measured.show_time(*told, self._say) if told else self.measured.show_nothing()
        self.measured.setVisible(self._keeps_room and self._has_room)
        if not beside:
            self.measured.fit(self.width() - 2 * self.theme.px(14))

    def _is_time_beside(self) -> bool:
        return self.line.indexOf(self.measured) >= 0

    def _time_width(self, room: int | None = None) -> int:
        """Return the width of the measured time beside the title, in as many words as fit there, else in all."""
        if not self._is_time_beside() or self.measured.isHidden():
            return 0
        width = self.measured.width_of(self.measured.texts[0]) if room is None else self.measured.fit(room)
        return width + self.line.spacing()

    def _show_lesson(self) -> None:
        lesson = self.session.scenario.lesson if self.session and self.session.scenario else ""
        scenario = self.session.scenario if self.session else None
        self.lesson_text = lesson if scenario and scenario.words else self._say(lesson)
        metrics = QFontMetrics(self.theme.font())
        room = self.width() - 2 * self.theme.px(14)
        self.lesson.setText(_shortened(self.lesson_text, room, self.lines, metrics))
        self.lesson.setToolTip(plain_tip(self.lesson_text))
        self.lesson.setFixedHeight(max(1, self.lines) * metrics.lineSpacing() + self.theme.px(2))
        self.lesson.setVisible(self.lines > 0)

    def _show_pitfall(self) -> None:
        scenario = self.session.scenario if self.session else None
        pitfall = "" if self._keeps_verdict else pitfall_text(scenario)
        pitfall = pitfall if scenario and scenario.words else self._say(pitfall)
        self.pitfall.setVisible(bool(pitfall))
        self.pitfall.setToolTip(plain_tip(pitfall))
        self.pitfall.setAccessibleDescription(pitfall)

    def _show_verdict(self) -> None:
        trace = self.session.trace if self.session else None
        good = trace is None or (trace.error is None and (trace.check is None or trace.check.equal))
        lucky = is_lucky(self.session)
        good &= not lucky
        told = self._say(LUCKY if lucky else check_text(trace)[0]) if trace else ""
        for label in (self.verdict, self.sign):
            label.setToolTip(plain_tip(f"{told}. {made_text(trace)}".strip() if told and trace else told))
        self.verdict.setObjectName("good" if good else "bad")
        mark(self.verdict, "good", good)
        size = self.theme.px(14)
        picture = icon("check" if good else "warning", self.theme.colour("good" if good else "bad"))
        self.sign.setPixmap(picture.pixmap(size, size))
        self.part.setToolTip(plain_tip(self._say(trace.notice) if trace else ""))

    def _fit(self) -> None:
        """Say verdict and part in as many words as leave the title whole; cut it only beside the fewest."""
        trace, name = self.session.trace if self.session else None, _title(self.session)
        verdicts = ("", "", "") if self._keeps_verdict else _verdicts(self.session)
        self.sign.setVisible(bool(verdicts[0]))
        metrics = QFontMetrics(self.theme.font(18, bold=True))
        words = list(zip(verdicts, _parts(trace), strict=True))
        minimum = metrics.horizontalAdvance(name) + self._apart_width()
        wanted = minimum + self._time_width()
        needed = next((n for n, said in enumerate(words) if wanted <= self._room(*said)), len(words) - 1)
        room = self._room(*words[max(needed, self.brevity)])
        room -= self._time_width(room - minimum - self.line.spacing())
        lesson = f"{self.lesson_text}\n" if not self.lines and self.lesson_text else ""
        tip = f"{lesson}{name}" if metrics.horizontalAdvance(name) > room else lesson.strip()
        tip = "\n".join(filter(None, (tip, DRAG)))
        self.title.setToolTip(plain_tip(tip))
        self.title.setText(metrics.elidedText(name, Qt.TextElideMode.ElideRight, max(room, 0)))
        self.title.setMaximumWidth(metrics.horizontalAdvance(self.title.text()) + 4)
        self._fit_apart(room - self.title.maximumWidth())
        self.title.setAccessibleName(name)

        if needed != self.needed:
            self.needed = needed
            self.fitted.emit()

    def _room(self, verdict: str, part: str) -> int:
        """Say these and return what they leave to the title."""
        self._show(self.verdict, verdict)
        self._show(self.part, part)
        return self.width() - self._beside_title()

    def _apart_width(self) -> int:
        """Return the width of what stands beside the title, with the gap between them."""
        width = QFontMetrics(self.theme.font()).horizontalAdvance(self._say(self._apart))
        return width + self.line.spacing() + 8 if self._apart else 0

    def _fit_apart(self, room: int) -> None:
        """Show what tells the pane from the other one, cut where there is less room than it needs."""
        metrics, said = QFontMetrics(self.theme.font()), self._say(self._apart)
        left = room - self.line.spacing()
        text = metrics.elidedText(said, Qt.TextElideMode.ElideRight, max(left, 0))
        self._show(self.apart, text if len(text) > 1 else "")
        self.apart.setMaximumWidth(metrics.horizontalAdvance(text) + 4)
        self.apart.setToolTip(plain_tip(said))

    def _show(self, label: QLabel, text: str) -> None:
        label.setText(self._say(text))
        label.setVisible(bool(text))

    def _beside_title(self) -> int:
        """Return the width of all that stands in the line but the title."""
        others = (self.switch, self.pitfall, self.part, self.sign, self.verdict)
        shown = [widget for widget in others if not widget.isHidden()]
        gaps = self.line.spacing() * len(shown) + 2 * self.theme.px(14)
        return sum(widget.sizeHint().width() for widget in shown) + gaps

    def _say(self, text: str) -> str:
        """Return a text in the words that the session is told in."""
        return self.theme.speaking(self.session.scenario if self.session else None).say(text)


def _title(session: Session | None) -> str:
    if session is None:
        return ""
    return session.title or (session.scenario.title if session.scenario else session.trace.kernel)


def _verdicts(session: Session | None) -> tuple[str, str, str]:
    """Return how the run ended, in a few words, in fewer, and as no more than its sign."""
    trace = session.trace if session else None
    if trace is None or (trace.error is None and trace.check is None):
        return "", "", ""
    if trace.error is not None:
        error = trace.error
        where = f"{error.type} in block {error.block}, thread {error.thread}, line {error.line}"
        return where, error.type, ""
    assert trace.check is not None
    if is_lucky(session):
        return LUCKY, LUCKY.partition(":")[0], ""
    short = "equals NumPy" if trace.check.equal else "differs from NumPy"
    short = "by chance" if trace.check.is_by_chance else short
    return compared_text(trace.check, brief=True), short, ""


def _parts(trace: Trace | None) -> tuple[str, str, str]:
    """Return how much of the launch is there, or who made it, in words and in one; "" where all is ours."""
    if trace is not None and trace.schedule == MEASURED:
        return f"{device_of(trace)} · {MEASURED}", MEASURED, MEASURED
    if trace is None or not trace.is_part:
        return "", "", ""
    blocks = trace.grid[0] * trace.grid[1] * trace.grid[2]
    return f"a part: {len(trace.recorded):,} of {blocks:,} blocks", "a part", "a part"


def _shortened(text: str, width: int, lines: int, metrics: QFontMetrics) -> str:
    """Return the text, or as many of its first words as fill so many lines of this width."""
    words = text.split(" ")
    while len(words) > 1 and lines and not _fits(" ".join(words), width, lines, metrics):
        words = [*words[:-2], words[-2].rstrip(",;:") + "…"]
    return " ".join(words)


def _fits(text: str, width: int, lines: int, metrics: QFontMetrics) -> bool:
    box = metrics.boundingRect(0, 0, max(width, 1), 10_000, int(Qt.TextFlag.TextWordWrap), text)
    return box.height() <= (lines + 0.5) * metrics.lineSpacing()
