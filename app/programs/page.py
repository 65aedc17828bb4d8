"""The page of a program without traces yet: its run time, current line, text and output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, Qt, QTimer
from PySide6.QtGui import QTextCursor, QTextFormat
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from ...tracer.model.launch import is_cuda_cpp
from ...tracer.model.notebook_cells import is_notebook
from ..model.named_file import read_small_text
from ..model.visible_text import escape_controls_in_lines, replace_controls
from ..views.source.highlight import Highlighter
from ..widgets.patterns import mixed
from ..widgets.plain_text import PlainLabel
from ..widgets.theme import Theme

TICK = 500  # milliseconds between updates of the run time
LARGEST = 2_000_000  # bytes of a program's text
SPACES = 4  # width of a tab in characters


class ProgramPage(QFrame):
    """Replaces the panes from the start of a program until its launches are shown.

    end: ends the program. run: runs it again. left: called after the page was hidden.
    """

    def __init__(
        self, theme: Theme, end: Callable[[], object], run: Callable[[], object], left: Callable[[], object]
    ) -> None:
        super().__init__()
        self._left = left
        self.setObjectName("panel")
        self.status, self.end, self.rerun = PlainLabel(), QPushButton("End"), QPushButton("Run again")
        self.text, self.output = _text_box("Program text"), _text_box("Program output")
        self.heading = PlainLabel("Output")
        self._highlighter = Highlighter(self.text.document(), theme)
        self._path, self._line, self._mark = Path(), 0, 0
        self._failed, self._progress = False, ""
        self._clock, self._tick = QElapsedTimer(), QTimer(self, interval=TICK)
        self._tick.timeout.connect(self._show_status)
        self.end.setToolTip("End the program (Esc)")
        self.end.clicked.connect(lambda: end())
        self.rerun.clicked.connect(lambda: run())
        self._build()
        self.set_theme(theme)

    def _build(self) -> None:
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.status.setWordWrap(True)
        row = QHBoxLayout()
        row.addWidget(self.status, 1)
        row.addWidget(self.end)
        row.addWidget(self.rerun)
        below = QWidget()
        column = QVBoxLayout(below)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.heading)
        column.addWidget(self.output, 1)
        self.parts = QSplitter(Qt.Orientation.Vertical)
        self.parts.addWidget(self.text)
        self.parts.addWidget(below)
        self.parts.setStretchFactor(0, 3)
        self.parts.setStretchFactor(1, 1)
        self.parts.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.addLayout(row)
        layout.addWidget(self.parts, 1)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        for box in (self.text, self.output):
            box.setFont(theme.font(13, mono=True))
            box.setTabStopDistance(SPACES * box.fontMetrics().horizontalAdvance(" "))
        self.status.setFont(theme.font(15, bold=True))
        self.heading.setFont(theme.font(12, bold=True))
        self._show_colours()
        gap = theme.px(12)
        layout = self.layout()
        if layout is not None:
            layout.setContentsMargins(gap, gap, gap, gap)
            layout.setSpacing(theme.px(8))
        self._show_status()
        self._mark_line(self._mark)

    def _show_colours(self) -> None:
        """Colour the program in its language."""
        text = self.text.toPlainText()
        self._highlighter.show_colours(text, self.theme, c=is_cuda_cpp(str(self._path)))

    def begin(self, path: Path) -> None:
        """Show the text of a program that starts."""
        self._path, self._line, self._failed, self._progress = path, 0, False, ""
        try:
            text = read_small_text(path, LARGEST, "program")
        except ValueError:
            text = ""
        text = "" if is_notebook(str(path)) else replace_controls(text)
        self.text.setPlainText(text)
        self._show_colours()
        self.text.setVisible(bool(text))
        self.output.clear()
        self._mark_line(0)
        self._clock.start()
        self._tick.start()
        self.end.show()
        self.rerun.hide()
        self._show_status()
        self.show()

    def show_line(self, line: int) -> None:
        """Show and mark the program's current line, 0 if unknown."""
        if line != self._line:
            self._line, self._progress = line, ""
            self._mark_line(line)
            self._show_status()

    def show_progress(self, sentence: str) -> None:
        """Show how long a launch has run."""
        self._progress = sentence
        self._show_status()

    def show_output(self, text: str) -> None:
        """Show the program's output so far."""
        self.output.setPlainText(escape_controls_in_lines(text))
        self.output.moveCursor(QTextCursor.MoveOperation.End)

    def fail(self, sentence: str, line: int) -> None:
        """Show the reason for missing launches, and mark the line, 0 for none."""
        self._failed = True
        self._tick.stop()
        self.end.hide()
        self.rerun.show()
        self._mark_line(line)
        self._say(sentence, "bad")

    def leave(self) -> None:
        """Hide the page, so that the panes are shown again."""
        self._tick.stop()
        if not self.isHidden():
            self.hide()
            self._left()

    @property
    def name(self) -> str:
        """The name of the program's file."""
        return self._path.name

    @property
    def marked(self) -> int:
        """The marked line, 0 for none."""
        return self._mark

    def _show_status(self) -> None:
        if self._failed:
            self._say(self.status.text(), "bad")
            return
        seconds = self._clock.elapsed() // 1000 if self._clock.isValid() else 0
        where = f", line {self._line}" if self._line else ""
        progress = f": {self._progress}" if self._progress else ""
        self._say(f"Running {self._path.name} … {seconds} s{where}{progress}", "text")

    def _say(self, sentence: str, colour: str) -> None:
        self.status.setText(sentence)
        self.status.setStyleSheet(f"color: {self.theme.colour(colour).name()}")

    def _mark_line(self, line: int) -> None:
        self._mark = line
        marks = []
        block = self.text.document().findBlockByNumber(line - 1)
        if line and block.isValid():
            mark = QTextEdit.ExtraSelection()
            tone = self.theme.colour("bad" if self._failed else "accent")
            mark.format.setBackground(mixed(tone, self.theme.colour("panel").name(), 0.75))
            mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            mark.cursor = QTextCursor(block)
            marks.append(mark)
            self.text.setTextCursor(mark.cursor)
            self.text.centerCursor()
        self.text.setExtraSelections(marks)


def _text_box(name: str) -> QPlainTextEdit:
    box = QPlainTextEdit()
    box.setReadOnly(True)
    box.setAccessibleName(name)
    box.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    return box
