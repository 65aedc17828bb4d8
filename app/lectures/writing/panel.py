"""The editing panel of a lecture: its steps, and the texts of the current one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from ...control.delay import Delay
from ...widgets.controls import button, paint_icon
from ...widgets.flow_layout import FlowLayout
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme
from ..model.edit.history import TextHistory
from ..model.edit.text import step_parts
from .looks import answer_look, caption_look, change_problem, names_of, question_gap, show_preview
from .step_table import StepTable
from .words_edit import WordsEdit
from .writer import LectureWriter

PAUSE = 200  # milliseconds after a key before the preview is updated
STEPS = 0.4  # the largest share of the height for the list of steps
QUESTION = ("ask", "choices", "answer")


class PanelHeading(QWidget):
    """The title bar of the panel: its name and a Close button."""

    def __init__(self, name: str, close: Callable[[], None]) -> None:
        super().__init__()
        self.name = PlainLabel(name)
        self.close_button = button("Close the panel", "Close (Ctrl+Shift+L)", "close", run=close)
        self.close_button.setObjectName("flat")
        self.row = QHBoxLayout(self)
        self.row.addWidget(self.name, 1)
        self.row.addWidget(self.close_button)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.name.setFont(theme.font(14, bold=True))
        paint_icon(self.close_button, theme)
        self.row.setContentsMargins(theme.px(10), theme.px(4), theme.px(6), theme.px(2))


class LecturePanel(QFrame):
    """Title, steps, and the texts of the current step; leaving a field applies its edit."""

    def __init__(self, writer: LectureWriter) -> None:
        super().__init__()
        self.setObjectName("panel")
        self.writer = writer
        self.number = 0  # of the step in the fields
        self._history: TextHistory | None = None  # of the lecture in the fields
        self._is_taking = False
        self.title = WordsEdit("Title of the lecture", "Title of the lecture", (1, 2), one_line=True)
        self.steps = StepTable()
        self.fields = {
            "title": WordsEdit("Title of the step", "The topic of this step", (1, 2), one_line=True),
            "caption": WordsEdit("Caption", "Markdown; {left.global_sectors} is a number", (3, 12)),
            "notes": WordsEdit("Notes", "Text for the speaker", (2, 10)),
            "change": WordsEdit("Change", "The lines that change, such as: at: next phase", (2, 12)),
            "ask": WordsEdit("Question", "The question, or empty", (1, 4), one_line=True),
            "choices": WordsEdit("Choices", "8 | 16 | {left.tile}, or none", (1, 3), one_line=True),
            "answer": WordsEdit("Answer", "left.global_sectors", (1, 3), one_line=True),
        }
        self.previews = {name: PlainLabel() for name in (*self.fields, "file")}
        self._is_split = False  # whether the user has moved the splitter
        self.labels: list[QLabel] = []
        self.buttons: dict[str, QPushButton] = {}  # by text
        self._build()
        self._preview_timer = Delay(self, PAUSE, self._preview)
        self._connect()

    # Construction.

    def _build(self) -> None:
        column = self.column = QVBoxLayout(self)
        column.addWidget(self.title)
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.setChildrenCollapsible(False)
        self.top = self._build_steps()
        self.split.addWidget(self.top)
        self.split.addWidget(self._build_step())
        self.split.setStretchFactor(1, 1)
        self.split.splitterMoved.connect(self._keep_split)
        column.addWidget(self.split, 1)
        foot = QHBoxLayout()
        self.save = button("Save lecture", "Save to a file (Ctrl+Shift+S)", text="Save…", run=self._save)
        self.previews["file"].setObjectName("muted")
        self.previews["file"].setWordWrap(True)
        foot.addWidget(self.previews["file"], 1)
        foot.addWidget(self.save)
        column.addLayout(foot)

    def _build_steps(self) -> QWidget:
        container = QWidget()
        column = self.upper = QVBoxLayout(container)
        column.setContentsMargins(0, 0, 0, 0)
        row = self.row = FlowLayout()
        writer = self.writer
        acts: dict[str, tuple[str, Callable[[], object]]] = {
            "Add screen": ("Add the screen as the next step (Ctrl+D)", writer.add_screen),
            "Copy": ("Duplicate this step", lambda: writer.copy(self.number)),
            "Delete": ("Delete this step (Del in the list)", lambda: writer.take_out(self.number)),
            "Undo": ("Undo the last edit (Ctrl+Z)", writer.undo),
            "Redo": ("Redo the last undone edit (Ctrl+Shift+Z)", writer.redo),
        }
        for name, (tip, run) in acts.items():
            push_button = button(name, tip, text=name, run=self._after_taking(run))
            row.add(push_button)
            self.buttons[name] = push_button
        column.addWidget(self.steps, 1)
        column.addLayout(row)
        return container

    def _after_taking(self, run: Callable[[], object]) -> Callable[[], None]:
        def act() -> None:
            if self.take():
                run()

        return act

    def _build_step(self) -> QWidget:
        container = QWidget()
        column = self.form = QVBoxLayout(container)
        for name, label in (
            ("title", "Step"), ("caption", "Caption for the audience"), ("notes", "Notes for the speaker"),
            ("change", "Changes from the previous step"), ("ask", "Question"),
            ("choices", "Choices, separated by |"), ("answer", "Answer, computed when it is shown"),
        ):  # fmt: skip
            heading = PlainLabel(label)
            heading.setObjectName("muted")
            heading.setBuddy(self.fields[name])
            heading.setAlignment(Qt.AlignmentFlag.AlignBottom)
            heading.setWordWrap(True)
            self.labels.append(heading)
            self.previews[name].setWordWrap(True)
            self.previews[name].hide()
            for widget in (heading, self.fields[name], self.previews[name]):
                column.addWidget(widget)
        column.addStretch(1)
        self.area = QScrollArea()
        self.area.setWidget(container)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return self.area

    def _connect(self) -> None:
        for field in (self.title, *self.fields.values()):
            field.textChanged.connect(self._preview_timer.start)
            field.keeps_height = True  # the fields below stay in place from step to step
            field.edited = lambda: self.writer.problem("")
            field.taken = lambda: self.take(half=True)
            field.left = lambda: self.take(half=True)
            field.given_up = self._revert_field
        self.steps.chosen = self._choose
        self.steps.moved = self._move
        self.steps.taken_out = lambda number: self.take() and self.writer.take_out(number)
        self.writer.changed.connect(self.follow)
        self.writer.player.changed.connect(self.follow)

    def _keep_split(self) -> None:
        self._is_split = True

    def _share_height(self) -> None:
        """Give the list its full height, up to its largest share, unless the user has moved the splitter."""
        below = self.row.heightForWidth(self.split.width()) + self.upper.spacing()
        self.top.setMinimumHeight(self.steps.minimumHeight() + below)
        if not self._is_split:
            height = self.split.height()
            above = min(self.steps.sizeHint().height() + below, round(STEPS * height))
            self.split.setSizes([above, max(height - above, 1)])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the height again."""
        super().resizeEvent(event)
        self._share_height()

    # Content.

    def follow(self) -> None:
        """Show the current step, after the edit of another one is applied."""
        if self.isHidden() or self._is_taking:
            return
        is_same_lecture = self.writer.history is self._history
        if is_same_lecture and self.number != self.writer.number and not self.take():
            return
        self._show()

    def _show(self) -> None:
        writer, lecture = self.writer, self.writer.lecture()
        for widget in (self.split, self.title, self.save):
            widget.setEnabled(lecture is not None)
        self.previews["file"].setText(self._file_state())
        self.save.setVisible(writer.is_unsaved or writer.left is not None)
        self.buttons["Undo"].setEnabled(writer.history.can_undo)
        self.buttons["Redo"].setEnabled(writer.history.can_redo)
        if lecture is None:
            return
        number = min(writer.number, len(lecture.steps) - 1)
        is_same_step = writer.history is self._history and number == self.number
        self.number, self._history = number, writer.history
        self.steps.show_steps([step.title for step in lecture.steps], self.number)
        self._share_height()
        words = step_parts(writer.text, number, writer.path)
        texts = {
            self.title: lecture.title,
            **{self.fields[name]: getattr(words, name) for name in self.fields},
        }
        for field, text in texts.items():
            field.put_under_edit(text) if is_same_step else field.put(text)
        self._preview()

    def _file_state(self) -> str:
        writer = self.writer
        if writer.lecture() is None:
            return "No lecture is presented. Press Ctrl+D to begin one with the screen."
        if writer.is_unsaved or writer.file is None:
            return "Not saved yet"
        if writer.file.is_shipped:
            return "Included with Tilescope; your first edit makes a copy"
        return f"{writer.path.name}, saved at each edit"

    def _preview(self) -> None:
        """Show previews and errors below the fields."""
        if self.isHidden() or self.writer.lecture() is None:
            return
        player, path = self.writer.player, self.writer.path
        names = names_of(player) if player.number == self.number else None
        text, wrong = caption_look(self.fields["caption"].words(), path, names)
        has_numbers = "{" in self.fields["caption"].words()
        self._show_preview("caption", f"Reads: {text}" if text and has_numbers else "", wrong)
        self._show_preview("change", "", change_problem(self.fields["change"].words(), path.parent))
        ask, choices, answer = (" ".join(self.fields[name].words().split()) for name in QUESTION)
        answer, wrong = answer_look(ask, choices, answer, names)
        self._show_preview("answer", f"Here: {answer}" if answer else "", wrong)

    def _show_preview(self, name: str, text: str, problem: str) -> None:
        self.fields[name].show_error(problem)
        show_preview(self.previews[name], text, problem)

    # Edits.

    def take(self, *, half: bool = False) -> bool:
        """Apply every changed field; return False if one is invalid, which keeps its text.

        half: allow an incomplete question.
        """
        if self._is_taking or self.isHidden():
            return True
        self._is_taking = True
        try:
            taken = self._take_fields(half)
        finally:
            self._is_taking = False
        if taken:
            self._show()
        else:
            self._preview()
        return taken

    def _take_fields(self, half: bool) -> bool:
        writer, number = self.writer, self.number
        if writer.lecture() is None:
            return True
        if self.title.is_changed() and not self._mark_applied(
            writer.set_title(self.title.words()), self.title
        ):
            return False
        setters = {
            "title": writer.set_step_title,
            "caption": writer.set_caption,
            "notes": writer.set_notes,
            "change": writer.set_change,
        }
        for name, put in setters.items():
            field = self.fields[name]
            if field.is_changed() and not self._mark_applied(put(number, field.words()), field):
                return False
        return self._take_question(half)

    def _take_question(self, half: bool) -> bool:
        """Apply the question once it is complete; if `half`, an incomplete one stays in its fields."""
        fields = [self.fields[name] for name in QUESTION]
        ask, choices, answer = (field.words() for field in fields)
        if not any(field.is_changed() for field in fields):
            return True
        if gap := question_gap(ask, choices, answer):
            if not half:
                self.writer.problem(gap)
            return half
        return self._mark_applied(self.writer.set_question(self.number, ask, choices, answer), *fields)

    @staticmethod
    def _mark_applied(done: bool, *fields: WordsEdit) -> bool:
        for field in fields if done else ():
            field.held = field.words()
        return done

    def _revert_field(self) -> None:
        """Restore the text of the field in focus."""
        for field in (self.title, *self.fields.values()):
            if field.hasFocus():
                field.put(field.held)
        self._preview()

    def _choose(self, number: int) -> None:
        if self.take():
            self.writer.player.go(number, play=False, answered=False)

    def _move(self, number: int, to: int) -> None:
        if not self.take() or not self.writer.move(number, to):
            self._show()

    def _save(self) -> None:
        if self.take():
            self.writer.save_as()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        px = theme.px
        self.column.setContentsMargins(px(10), px(8), px(10), px(8))
        self.column.setSpacing(px(6))
        self.row.setSpacing(px(4))
        self.form.setContentsMargins(0, px(4), px(6), px(4))
        self.form.setSpacing(px(3))
        self.split.setHandleWidth(px(8))
        self.title.set_theme(theme, px(16))
        self.steps.set_theme(theme)
        for name, field in self.fields.items():
            field.set_theme(theme, mono=name in ("change", "choices", "answer"))
        for label in self.labels:
            label.setFont(theme.font(12))
            label.setMinimumHeight(px(24))
        self.setMinimumWidth(px(220))
