"""The heading of a pane: title, difference from the other pane, verdict, measured time, lesson."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from ...tracer.model.finding import index_in
from ...tracer.model.trace import Trace
from ...tracer.storage.recorded_traces import device_of
from ..model.session import Session
from ..timings.measured_line import MeasuredLine
from ..views.common.wording import (
    LUCKY,
    MEASURED,
    compared_text,
    engine_text,
    is_right_by_luck,
    pitfall_text,
    verdict_text,
)
from ..widgets.controls import button, mark, paint_icon
from ..widgets.icons import icon
from ..widgets.plain_text import PlainLabel, plain_tip
from ..widgets.switch import Switch
from ..widgets.theme import Theme

if TYPE_CHECKING:
    from ..timings.model.nearest_measured import MeasuredTime

DRAG = "Drag this heading into a slide to insert a picture of the pane."
TITLE_SIZES = (18, 16, 14)  # of the letters, from the usual one
INLINE_TIME = 800  # minimum width for the measured time next to the title, in pixels at the normal text size


class HeadingView(Struct, frozen=True):
    """What a heading shows."""

    session: Session | None = None
    difference: str = ""  # from the other pane
    hides_verdict: bool = False  # it could give away the answer of a question
    nearest: bool = True  # whether the nearest measured launch is shown without a measurement
    is_closable: bool = False


class PaneHeading(QWidget):
    """The title line, the measured time, and the lesson below. Long texts are shortened, with the full text as tooltip.

    The height depends only on the text size, the width, the lines of the lesson and the room for a measured time, so
    that panes side by side agree. fit: called when the needed brevity (`needed`) has changed. show_chart: shows the
    measured time in its chart. close: closes the pane.
    """

    def __init__(
        self,
        theme: Theme,
        fit: Callable[[], object],
        show_chart: Callable[[], object],
        close: Callable[[], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.theme, self.lines, self._fit_all = theme, 2, fit
        self.shown = HeadingView()
        self.needed = self.brevity = 0
        self.title, self.lesson = PlainLabel(), PlainLabel()
        self.title.setObjectName("title")
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.lesson.setObjectName("lesson")
        self.lesson.setWordWrap(True)
        self.lesson.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.difference = PlainLabel()
        self.difference.setObjectName("muted")
        self.difference.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.difference.hide()
        self.sign, self.verdict, self.part = PlainLabel(), PlainLabel(), PlainLabel()
        self.pitfall = PlainLabel("pitfall")
        self.measured = MeasuredLine(theme)
        self.measured.hide()
        self.measured.clicked.connect(show_chart)
        self._reserves_time = self._has_time_room = False
        self._time: tuple[MeasuredTime | None, MeasuredTime | None] | None = None
        self._time_content: object = None  # the shown times and their vocabulary
        self.part.setObjectName("badge")
        self.pitfall.setObjectName("pitfall")
        self.switch = Switch({"memory": "Memory", "histogram": "Histogram"}, "Picture of the pane (H)")
        self.switch.hide()
        self.close_button = button("Close the pane", "Close this pane", "close", run=close)
        self.close_button.setObjectName("flat")
        self.close_button.hide()  # until there is another pane
        self.line = QHBoxLayout()
        self.line.addWidget(self.title, 1000)  # at most the width of its text
        self.line.addWidget(self.difference, 1000)
        self.line.addStretch(1)
        for widget in (self.switch, self.pitfall, self.part, self.sign, self.verdict, self.close_button):
            self.line.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.column = QVBoxLayout(self)
        self.column.addLayout(self.line)
        self.column.addWidget(self.measured)
        self.column.addWidget(self.lesson)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def session(self) -> Session | None:
        """The session of the pane."""
        return self.shown.session

    def render_view(self, view: HeadingView) -> None:
        """Show title, lesson and verdict of a session."""
        if view != self.shown:
            self.shown = view
            session = view.session
            self.switch.setVisible(session is not None and session.histogram_launch is not None)
            self.close_button.setVisible(view.is_closable)
            self._show_texts()

    def set_brevity(self, brevity: int) -> None:
        """Limit the length of verdict and part, as the other pane needs: 0 is the longest, 2 the shortest."""
        if brevity != self.brevity:
            self.brevity = brevity
            self._fit()

    def reserve_time(self, keep: bool) -> None:
        """Reserve space for the measured time, even before it is known, or release it."""
        if keep != self._reserves_time:
            self._reserves_time = keep
            self._show_texts()

    def show_times(self, own: MeasuredTime | None, other: MeasuredTime | None) -> None:
        """Show the time of this kernel, compared with the other pane's; None without a measurement."""
        if (own, other) != self._time:
            self._time = own, other
            self._show_texts()

    def show_verdict(self) -> None:
        """Show the verdict again, since the visible findings have changed."""
        self._show_texts()

    def set_lines(self, lines: int, *, time: bool = True) -> None:
        """Set the number of lines of the lesson, 0 to show it only as tooltip. time: whether the time has room."""
        if (lines, time) != (self.lines, self._has_time_room):
            self.lines, self._has_time_room = lines, time
            self._show_texts()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours, text size and vocabulary."""
        self.theme = theme
        self.measured.set_theme(theme)
        paint_icon(self.close_button, theme)
        self.close_button.setFixedHeight(theme.px(24))  # lower than the title
        self.column.setContentsMargins(theme.px(14), theme.px(8), theme.px(14), theme.px(4))
        self.column.setSpacing(theme.px(2))
        self.line.setSpacing(theme.px(8))
        self._show_texts()

    def minimumSizeHint(self) -> QSize:
        """Return a small width, since texts are shortened to fit."""
        return QSize(self.theme.px(160), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the texts."""
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
        """Show the measured time next to the title if it fits, else on a separate line."""
        is_inline = self.width() >= self.theme.px(INLINE_TIME)
        if is_inline != self._is_time_inline():
            (self.column if is_inline else self.line).removeWidget(self.measured)
            line = self.line.indexOf(self.difference) + 1
            self.line.insertWidget(line, self.measured) if is_inline else self.column.insertWidget(
                1, self.measured
            )
        times = self.session is not None and self.session.scenario is not None and self._time
        if times and not self.shown.nearest and not (times[0] and times[0].is_exact):
            times = None
        content = times, self.theme.with_words_of(self.session.scenario if self.session else None).words
        if content != self._time_content:
            self._time_content = content
            self.measured.show_time(*times, self._translate) if times else self.measured.show_nothing()
        self.measured.setVisible(self._reserves_time and self._has_time_room)
        if not is_inline:
            self.measured.fit(self.width() - 2 * self.theme.px(14))

    def _is_time_inline(self) -> bool:
        return self.line.indexOf(self.measured) >= 0

    def _time_width(self, room: int | None = None) -> int:
        """Return the width of the measured time next to the title, shortened to the room if one is given."""
        if not self._is_time_inline() or self.measured.isHidden():
            return 0
        width = self.measured.width_of(self.measured.texts[0]) if room is None else self.measured.fit(room)
        return width + self.line.spacing()

    def _show_lesson(self) -> None:
        lesson = self.session.scenario.lesson if self.session and self.session.scenario else ""
        scenario = self.session.scenario if self.session else None
        self.lesson_text = lesson if scenario and scenario.words else self._translate(lesson)
        metrics = QFontMetrics(self.theme.font())
        room = self.width() - 2 * self.theme.px(14)
        self.lesson.setText(_shortened(self.lesson_text, room, self.lines, metrics))
        self.lesson.setToolTip(plain_tip(self.lesson_text))
        self.lesson.setFixedHeight(max(1, self.lines) * metrics.lineSpacing() + self.theme.px(2))
        self.lesson.setVisible(self.lines > 0)

    def _show_pitfall(self) -> None:
        scenario = self.session.scenario if self.session else None
        pitfall = "" if self.shown.hides_verdict else pitfall_text(scenario)
        pitfall = pitfall if scenario and scenario.words else self._translate(pitfall)
        self.pitfall.setVisible(bool(pitfall))
        self.pitfall.setToolTip(plain_tip(pitfall))
        self.pitfall.setAccessibleDescription(pitfall)

    def _show_verdict(self) -> None:
        trace = self.session.trace if self.session else None
        verdict, good = verdict_text(self.session) if self.session else ("", True)
        text = self._translate(verdict)
        for label in (self.verdict, self.sign):
            label.setToolTip(plain_tip(f"{text}. {engine_text(trace)}".strip() if text and trace else text))
        self.verdict.setObjectName("good" if good else "bad")
        mark(self.verdict, "good", good)
        size = self.theme.px(14)
        picture = icon("check" if good else "warning", self.theme.colour("good" if good else "bad"))
        self.sign.setPixmap(picture.pixmap(size, size))
        self.part.setToolTip(plain_tip(self._translate(trace.notice) if trace else ""))

    def _fit(self) -> None:
        """Shorten verdict and part, then the title's letters, until it fits; cut it only as a last resort."""
        trace, name = self.session.trace if self.session else None, _title(self.session)
        verdicts = ("", "", "") if self.shown.hides_verdict else _verdicts(self.session)
        self.sign.setVisible(bool(verdicts[0]))
        levels = [(*texts, TITLE_SIZES[0]) for texts in zip(verdicts, _parts(trace), strict=True)]
        levels += [(*levels[-1][:2], size) for size in TITLE_SIZES[1:]]
        others = self._difference_width() + self._time_width()
        needed = next(
            (
                n
                for n, (verdict, part, size) in enumerate(levels)
                if self._title_width(name, size) + others <= self._room(verdict, part)
            ),
            len(levels) - 1,
        )
        verdict, part, size = levels[max(needed, self.brevity)]
        font = self.theme.font(size, bold=True)
        metrics = QFontMetrics(font)
        self.title.setFont(font)
        room = self._room(verdict, part)
        minimum = self._title_width(name, size) + self._difference_width()
        room -= self._time_width(room - minimum - self.line.spacing())
        lesson = f"{self.lesson_text}\n" if not self.lines and self.lesson_text else ""
        tip = f"{lesson}{name}" if metrics.horizontalAdvance(name) > room else lesson.strip()
        tip = "\n".join(filter(None, (tip, DRAG)))
        self.title.setToolTip(plain_tip(tip))
        self.title.setText(metrics.elidedText(name, Qt.TextElideMode.ElideRight, max(room, 0)))
        self.title.setMaximumWidth(metrics.horizontalAdvance(self.title.text()) + 4)
        self._fit_difference(room - self.title.maximumWidth())
        self.title.setAccessibleName(name)

        if needed != self.needed:
            self.needed = needed
            self._fit_all()

    def _title_width(self, name: str, size: float) -> int:
        return QFontMetrics(self.theme.font(size, bold=True)).horizontalAdvance(name)

    def _room(self, verdict: str, part: str) -> int:
        """Show these texts and return the width left for the title."""
        self._show(self.verdict, verdict)
        self._show(self.part, part)
        return self.width() - self._width_without_title()

    def _difference_width(self) -> int:
        """Return the width of the difference from the other pane, with its gap."""
        width = QFontMetrics(self.theme.font()).horizontalAdvance(self._translate(self.shown.difference))
        return width + self.line.spacing() + 8 if self.shown.difference else 0

    def _fit_difference(self, room: int) -> None:
        """Show the difference from the other pane, elided to the room."""
        metrics, full_text = QFontMetrics(self.theme.font()), self._translate(self.shown.difference)
        left = room - self.line.spacing()
        text = metrics.elidedText(full_text, Qt.TextElideMode.ElideRight, max(left, 0))
        self._show(self.difference, text if len(text) > 1 else "")
        self.difference.setMaximumWidth(metrics.horizontalAdvance(text) + 4)
        self.difference.setToolTip(plain_tip(full_text))

    def _show(self, label: QLabel, text: str) -> None:
        label.setText(self._translate(text))
        label.setVisible(bool(text))

    def _width_without_title(self) -> int:
        """Return the width of the line without the title."""
        others = (self.switch, self.pitfall, self.part, self.sign, self.verdict, self.close_button)
        shown = [widget for widget in others if not widget.isHidden()]
        gaps = self.line.spacing() * len(shown) + 2 * self.theme.px(14)
        return sum(widget.sizeHint().width() for widget in shown) + gaps

    def _translate(self, text: str) -> str:
        """Translate a text into the vocabulary of the session."""
        return self.theme.with_words_of(self.session.scenario if self.session else None).translate(text)


def _title(session: Session | None) -> str:
    if session is None:
        return ""
    return session.title or (session.scenario.title if session.scenario else session.trace.kernel)


def _verdicts(session: Session | None) -> tuple[str, str, str]:
    """Return the verdict in a long form, a short form, and an empty one, which leaves only the sign."""
    trace = session.trace if session else None
    if trace is None or (trace.error is None and trace.check is None):
        return "", "", ""
    if trace.error is not None:
        error = trace.error
        block, thread = index_in(error.block, trace.grid), index_in(error.thread, trace.block_dim)
        where = f"{error.type} in block {block}, thread {thread}, line {error.line}"
        return where, error.type, ""
    assert trace.check is not None
    if is_right_by_luck(session):
        return LUCKY, LUCKY.partition(":")[0], ""
    short = "equals NumPy" if trace.check.equal else "differs from NumPy"
    short = "by chance" if trace.check.is_by_chance else short
    return compared_text(trace.check, brief=True), short, ""


def _parts(trace: Trace | None) -> tuple[str, str, str]:
    """Describe a partial or measured trace in three lengths; "" for a complete trace of Tilescope."""
    if trace is not None and trace.schedule == MEASURED:
        return f"{device_of(trace)} · {MEASURED}", MEASURED, MEASURED
    if trace is None or not trace.is_part:
        return "", "", ""
    blocks = trace.grid[0] * trace.grid[1] * trace.grid[2]
    return f"a part: {len(trace.recorded):,} of {blocks:,} blocks", "a part", "a part"


def _shortened(text: str, width: int, lines: int, metrics: QFontMetrics) -> str:
    """Shorten a text to complete words that fit in this number of lines."""
    words = text.split(" ")
    while len(words) > 1 and lines and not _fits(" ".join(words), width, lines, metrics):
        words = [*words[:-2], words[-2].rstrip(",;:") + "…"]
    return " ".join(words)


def _fits(text: str, width: int, lines: int, metrics: QFontMetrics) -> bool:
    box = metrics.boundingRect(0, 0, max(width, 1), 10_000, int(Qt.TextFlag.TextWordWrap), text)
    return box.height() <= (lines + 0.5) * metrics.lineSpacing()
