"""The panel of an exercise: task, picture and hints above, the verdict below."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSplitter, QVBoxLayout, QWidget

from ..control.delay import Delay
from ..lectures.model.captions import Caption, fill_caption
from ..model.nothing import nothing
from ..widgets.controls import button, paint_icon
from ..widgets.plain_text import PlainLabel, RichLabel
from ..widgets.switch import Switch
from ..widgets.theme import MONO, Theme
from .model.document import Exercise
from .model.hiding import visibility_of
from .model.verdict import Verdict
from .picture import PictureView, TaskPictureError
from .result import ResultHead, ResultRows
from .verdict_text import headline, rows_of, summary

LEAST = 0.4  # the smallest share of the height for the result
SMALLEST = 0.7  # the smallest scale of the picture, to fit without scrolling
LANGUAGES: dict[str, str] = {"numba": "Numba", "cuda-cpp": "CUDA C++"}
STALE = "For the previous text. "
SHORT_CODE = re.compile(r"<code>[^<]{,24}</code>")  # kept on one line


class PanelHeading(QWidget):
    """The title bar of the panel: the number of the exercise, and the button that leaves it."""

    def __init__(self, leave: Callable[[], None]) -> None:
        super().__init__()
        self.name = PlainLabel("Exercise")
        self.close_button = button("Leave the exercise", "Leave the exercise", "close", run=leave)
        self.close_button.setObjectName("flat")
        self.row = QHBoxLayout(self)
        self.row.addWidget(self.name, 1)
        self.row.addWidget(self.close_button)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.name.setFont(theme.font(12))
        self.name.setObjectName("muted")
        paint_icon(self.close_button, theme)
        self.row.setContentsMargins(theme.px(12), theme.px(4), theme.px(6), 0)


class ScrolledColumn(QScrollArea):
    """A column of widgets that scrolls if it is too high."""

    def __init__(self, widgets: Sequence[QWidget]) -> None:
        super().__init__()
        self.inner = QWidget()
        self.column = QVBoxLayout(self.inner)
        for widget in widgets:
            self.column.addWidget(widget)
        self.column.addStretch(1)
        self.setWidget(self.inner)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def wanted(self) -> int:
        """Return the height without scrolling."""
        height = self.column.heightForWidth(self.viewport().width())
        return max(height, self.column.sizeHint().height() if height < 0 else 0) + 2

    def set_theme(self, theme: Theme) -> None:
        """Apply the text size."""
        self.column.setContentsMargins(0, 0, theme.px(4), theme.px(4))
        self.column.setSpacing(theme.px(8))


class HintBox(QFrame):
    """A hint with a heading that folds and unfolds it. folded: it was folded or unfolded."""

    def __init__(self, number: int, html: str, theme: Theme) -> None:
        super().__init__()
        self.folded: Callable[[], object] = nothing
        self.setObjectName("hint")
        self.number = number
        self.head = button(
            f"Hint {number}", "Fold or unfold this hint", run=lambda: self.open(self.text.isHidden())
        )
        self.head.setObjectName("link")
        self.text = RichLabel(html)
        self.text.setWordWrap(True)
        self.column = QVBoxLayout(self)
        self.column.addWidget(self.head)
        self.column.addWidget(self.text)
        self.set_theme(theme)
        self.open(True)

    def open(self, is_open: bool) -> None:
        """Show the hint, or only its heading."""
        self.text.setVisible(is_open)
        self.head.setText(f"Hint {self.number} {'▾' if is_open else '▸'}")
        self.folded()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.text.setFont(theme.font(13.5))
        self.head.setFont(theme.font(13.5, bold=True))
        self.column.setContentsMargins(theme.px(8), theme.px(4), theme.px(8), theme.px(4))
        self.column.setSpacing(theme.px(2))
        self.setStyleSheet(
            f"QFrame#hint {{ background: {theme.palette.badge}; border: none; border-radius: {theme.px(6)}px; }}"
        )


class ExercisePanel(QFrame):
    """Shows an exercise and its verdict.

    line_asked: go to a line of the student's text. hint_asked, next_asked: show the next hint, the next exercise.
    return_asked: show the exercise again. hints: the number of shown hints.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.line_asked: Callable[[int], object] = nothing
        self.hint_asked: Callable[[], object] = nothing
        self.next_asked: Callable[[], object] = nothing
        self.return_asked: Callable[[], object] = nothing
        self.language_chosen: Callable[[str], object] = nothing
        self.setObjectName("panel")
        self.theme = theme
        self.exercise: Exercise | None = None
        self.verdict: Verdict | None = None
        self.file, self.hints, self.is_stale, self.note = "", 0, False, ""
        self._celebrates = self._reveals = False
        self.title, self.task, self.picture = PlainLabel(), RichLabel(), PictureView(theme)
        self.picture_problem = PlainLabel()
        self.hint_boxes: list[HintBox] = []
        self.error_label = PlainLabel()  # errors of the exercise or of the stored progress
        self.error_label.setObjectName("wrong")
        self.hint = button("Next hint", "Show the next hint", text="Hint", run=lambda: self.hint_asked())
        self.next = button(
            "Next exercise", "Go to the next exercise", text="Next exercise", run=lambda: self.next_asked()
        )
        self.head, self.rows = ResultHead(theme, (self.hint, self.next)), ResultRows()
        self.back = button("Show the exercise", "Show the kernel of the exercise again", text="Show my kernel again",
                           run=lambda: self.return_asked())  # fmt: skip
        self.back.hide()
        self.languages = Switch(LANGUAGES, "The language of your kernel", self)
        self.languages.chosen = lambda a: self.language_chosen(a)
        self.rows.asked = lambda line: self.line_asked(line)
        self._is_split = False  # whether the user has moved the splitter
        self._layout_timer = Delay(self, 0, self._share_height)
        self._build()
        self.set_theme(theme)

    def _build(self) -> None:
        for label in (self.title, self.task, self.picture_problem, self.error_label):
            label.setWordWrap(True)
        self.picture_problem.setObjectName("muted")
        self.task.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.above = ScrolledColumn(
            [self.title, self.languages, self.task, self.picture, self.picture_problem]
        )
        self.result = ScrolledColumn([self.rows])
        below = QWidget()
        self.lower_column = QVBoxLayout(below)
        self.lower_column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.head, self.back, self.error_label):
            self.lower_column.addWidget(widget)
        self.lower_column.addWidget(self.result, 1)
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.above)
        self.split.addWidget(below)
        self.split.splitterMoved.connect(self._keep_split)
        self.column = QVBoxLayout(self)
        self.column.addWidget(self.split)

    # Content.

    def show_exercise(self, exercise: Exercise, file: str, hints: int, *, done: bool) -> None:
        """Show a task without a verdict; file: the name of the student's text. hints: the number already seen."""
        self.exercise, self.file, self.verdict, self.is_stale = exercise, file, None, False
        self._is_split = False
        self.languages.setVisible(len(exercise.languages) > 1)
        self.languages.show_choice(exercise.language)
        self.title.setText(f"{exercise.number}. {exercise.title}" + (" (done)" if done else ""))
        self.task.setText(html_of(exercise.task))
        self._show_picture(exercise)
        for old in self.hint_boxes:
            old.hide()
            old.deleteLater()
        self.hint_boxes, self.hints = [], 0
        self.rows.show_rows((), self.theme)
        self.show_error("")
        self.show_hints(hints)
        self._reveals = False
        self.above.verticalScrollBar().setValue(0)
        self.result.verticalScrollBar().setValue(0)
        self._show_head()

    def _show_picture(self, exercise: Exercise) -> None:
        picture = exercise.picture
        try:
            self.picture.show_file(picture.path if picture else None, picture.text if picture else "")
            self.picture_problem.setText("")
        except TaskPictureError as problem:
            self.picture_problem.setText(f"{problem} It shows: {picture.text}" if picture else str(problem))
        self.picture_problem.setVisible(bool(self.picture_problem.text()))

    def show_verdict(self, verdict: Verdict, note: str = "", *, stale: bool) -> None:
        """Show a verdict; note: shown after it. stale: there is a newer text."""
        assert self.exercise
        self._celebrates = verdict.passed and self.verdict is not None and not self.verdict.passed
        self.verdict, self.note, self.is_stale = verdict, note, stale
        self._show_rows()
        self._show_head()

    def _show_rows(self) -> None:
        if self.exercise is not None and self.verdict is not None:
            shown = visibility_of(self.exercise, self.hints)
            self.rows.show_rows(list(rows_of(self.verdict, self.exercise, self.file, shown)), self.theme)

    def mark_stale(self, stale: bool) -> None:
        """Mark the verdict as that of the previous text, or as current."""
        if stale != self.is_stale:
            self.is_stale = stale
            self._show_head()

    def show_hints(self, count: int) -> None:
        """Show the first `count` hints, the last one unfolded, the others folded."""
        assert self.exercise
        for number, hint in enumerate(self.exercise.hints[self.hints : count], self.hints + 1):
            for old in self.hint_boxes:
                old.open(False)
            box = HintBox(number, html_of(hint), self.theme)
            box.folded = self._layout_timer.start
            self.hint_boxes.append(box)
            self.above.column.insertWidget(self.above.column.count() - 1, box)
        self._reveals = count > self.hints
        self.hints = max(self.hints, min(count, len(self.exercise.hints)))
        self._show_rows()
        self._show_buttons()

    def _reveal(self) -> None:
        """Scroll to the hint shown last."""
        if self.hint_boxes:
            self.above.ensureWidgetVisible(self.hint_boxes[-1], 0, 0)

    def show_error(self, sentence: str) -> None:
        """Show an error next to the verdict, "" for none."""
        self.error_label.setText(sentence)
        self.error_label.setVisible(bool(sentence))
        self._layout_timer.start()

    def offer_return(self, away: bool) -> None:
        """Show the button that returns to the exercise, or hide it."""
        self.back.setVisible(away)

    def _show_head(self) -> None:
        verdict = self.verdict
        stale = STALE if self.is_stale and verdict is not None else ""
        description = ". ".join(filter(None, (summary(verdict), self.note))) if verdict else ""
        line = f"{stale}{description}" if verdict else "Your text is judged as you type."
        sign = "" if verdict is None else "right" if verdict.passed else "error"
        self.head.show_result(headline(verdict), line, sign, joy=self._celebrates)
        self._celebrates = False
        self._show_buttons()

    def _show_buttons(self) -> None:
        """Offer the next hint, or the next exercise once this one is passed."""
        assert self.exercise
        count, passed = len(self.exercise.hints), self.verdict is not None and self.verdict.passed
        self.hint.setVisible(self.hints < count and not passed)
        self.hint.setText(f"Hint {self.hints + 1} of {count}")
        self.next.setVisible(passed)
        self._layout_timer.start()

    # Layout.

    def _keep_split(self) -> None:
        self._is_split = True

    def _share_height(self) -> None:
        """Give the task its full height, but the result at least its needs or its smallest share."""
        self.head.setFixedHeight(self.head.heightForWidth(self.head.width()))
        if self._is_split or self.exercise is None:
            return
        height = self.split.height() - self.split.handleWidth()
        others = self.lower_column.sizeHint().height() - self.result.sizeHint().height()
        wanted = self.result.wanted() + others
        most = height - min(wanted, max(round(LEAST * height), others))
        self.picture.shrink(1.0)
        missing = self.above.wanted() - most
        if missing > 0:
            full = self.picture.heightForWidth(self.picture.width())
            self.picture.shrink(max(SMALLEST, 1 - missing / full) if full else 1.0)
        above = min(self.above.wanted(), most)
        self.split.setSizes([max(above, 1), max(height - above, 1)])
        if self._reveals:
            self._reveals = False
            QTimer.singleShot(0, self, self._reveal)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the height again."""
        super().resizeEvent(event)
        self._layout_timer.start()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        px = theme.px
        self.column.setContentsMargins(px(12), px(8), px(8), px(8))
        self.lower_column.setSpacing(px(6))
        self.split.setHandleWidth(px(8))
        self.title.setFont(theme.font(18, bold=True))
        self.task.setFont(theme.font(13.5))
        for label in (self.picture_problem, self.error_label):
            label.setFont(theme.font(12.5))
        for hint in self.hint_boxes:
            hint.set_theme(theme)
        for part in (self.above, self.result, self.head, self.picture):
            part.set_theme(theme)
        self.next.setObjectName("primary")
        self.setMinimumWidth(px(220))
        if self.exercise is not None:
            self.rows.show_rows(self.rows.rows, theme)
            self._show_head()


def html_of(caption: Caption) -> str:
    """Render a task or hint as HTML with its text escaped."""
    mono = ", ".join(f"'{family}'" for family in MONO)
    html = SHORT_CODE.sub(lambda code: code[0].replace(" ", "\u00a0"), fill_caption(caption, {}).html)
    return html.replace("<code>", f'<code style="font-family: {mono}">').replace(
        "<pre>", f'<pre style="font-family: {mono}">'
    )
