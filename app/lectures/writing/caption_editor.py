"""The in-place editor of caption and notes, over the caption of the current step and in its font size."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QMenu, QWidget

from ...control.delay import Delay
from ...model.nothing import nothing
from ...model.visible_text import escape_controls
from ...widgets.controls import button, paint_icon
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme
from ..model.edit.history import TextHistory
from ..model.edit.text import step_parts
from ..model.number_list import listed_numbers
from ..player.caption import CaptionBar
from .looks import caption_look, names_of, show_preview
from .words_edit import WordsEdit, has_focus_within
from .writer import LectureWriter

PAUSE = 150  # milliseconds after a key before the preview is updated
KEYS = "Ctrl+Enter applies, Escape cancels"


class CaptionEditor(QFrame):
    """Fields for title, caption and notes over the caption bar during editing.

    Ctrl+Enter or leaving the fields applies the edit; Escape cancels it. Ctrl+Space lists the numbers that a caption
    can show. An invalid text stays in its field, with the reason below. closed: the editor was closed.
    """

    def __init__(self, writer: LectureWriter, bar: CaptionBar, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.closed: Callable[[], object] = nothing
        self.setObjectName("panel")
        self.writer, self.bar, self.theme, self.over = writer, bar, theme, parent
        self.number = 0  # of the edited step
        self._history: TextHistory | None = None  # of its lecture
        self.title = WordsEdit("Title of the step", "The topic of this step", (1, 2), one_line=True)
        self.caption = WordsEdit("Caption", "Text for the audience", (2, 8))
        self.notes = WordsEdit("Notes", "Text for the speaker", (2, 8))
        self.heading, self.foot, self.keys = PlainLabel(), PlainLabel(), PlainLabel(KEYS)
        self.beside = PlainLabel("Notes for the speaker")
        for label in (self.heading, self.keys, self.beside):
            label.setObjectName("muted")
        tip = "Numbers that a caption can show, with their present values (Ctrl+Space)"
        self.numbers = button("Insert a number", tip, "down", "Insert a number", self.list_numbers)
        self.menu: QMenu | None = None  # of the numbers
        shortcut = QShortcut(
            QKeySequence("Ctrl+Space"), self.caption, context=Qt.ShortcutContext.WidgetShortcut
        )
        shortcut.activated.connect(self.list_numbers)
        self.foot.setWordWrap(True)
        self._build()
        self._preview_timer = Delay(self, PAUSE, self._preview)
        self._fields: dict[WordsEdit, Callable[[int, str], bool]] = {
            self.title: writer.set_step_title,
            self.caption: writer.set_caption,
            self.notes: writer.set_notes,
        }
        for field in self._fields:
            field.textChanged.connect(self._preview_timer.start)
            field.textChanged.connect(self._place_soon)
            field.edited = lambda: writer.problem("")
            field.taken = self.take
            field.given_up = self.give_up
            field.left = lambda: QTimer.singleShot(0, self, self._leave)
        writer.player.changed.connect(self._follow)
        parent.installEventFilter(self)
        bar.installEventFilter(self)
        self.hide()

    def _build(self) -> None:
        self.grid = QGridLayout(self)
        head = QHBoxLayout()
        head.addWidget(self.heading)
        head.addWidget(self.title, 1)
        head.addWidget(self.numbers)
        self.grid.addLayout(head, 0, 0)
        self.grid.addWidget(self.beside, 0, 1)
        self.grid.addWidget(self.caption, 1, 0, Qt.AlignmentFlag.AlignTop)
        self.grid.addWidget(self.notes, 1, 1, Qt.AlignmentFlag.AlignTop)
        self.grid.addWidget(self.foot, 2, 0, Qt.AlignmentFlag.AlignTop)
        self.grid.addWidget(self.keys, 2, 1, Qt.AlignmentFlag.AlignTop)
        self.grid.setRowStretch(2, 1)
        self.grid.setColumnStretch(0, 5)
        self.grid.setColumnStretch(1, 3)

    def open(self) -> None:
        """Edit the caption of the current step."""
        lecture = self.writer.lecture()
        if lecture is None:
            self.writer.problem(
                "There is no caption, since no lecture is presented. Press Ctrl+D to begin one."
            )
            return
        if self.isHidden():
            self._fill(self.writer.player.number)
        self.set_theme(self.theme)
        self.show()
        self.raise_()
        self._place()
        self._preview()
        self.caption.setFocus()

    def list_numbers(self) -> None:
        """Show a menu of the numbers that a caption can show, with their present values."""
        player = self.writer.player
        names = names_of(player) if player.number == self.number else None
        menu = self.menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        for group, numbers in groupby(listed_numbers(names or {}), lambda number: number.group):
            part = menu.addMenu(group[:1].upper() + group[1:])
            for number in numbers:
                text = f"{number.text}\t{escape_controls(number.value)}".replace("&", "&&")
                part.addAction(text, partial(self._insert, number.text))
        if menu.isEmpty():
            menu.addAction("The step has no numbers").setEnabled(False)
        menu.popup(self.numbers.mapToGlobal(QPoint(0, self.numbers.height())))

    def _insert(self, expression: str) -> None:
        self.caption.insertPlainText(f"{{{expression}}}")
        self.caption.setFocus()

    def _fill(self, number: int) -> None:
        """Show the texts of a step."""
        words = step_parts(self.writer.text, number, self.writer.path)
        self.number, self._history = number, self.writer.history
        self.heading.setText(f"Step {number + 1}")
        self.title.put(words.title)
        self.caption.put(words.caption)
        self.notes.put(words.notes)
        self.caption.moveCursor(QTextCursor.MoveOperation.End)

    def take(self) -> bool:
        """Apply the edit and close; return False and stay open if it is invalid."""
        if self.isHidden():
            return True
        taken = True
        for field, apply in self._fields.items():
            words = field.words()
            taken = taken and (not field.is_changed() or apply(self.number, words))
            if taken:
                field.held = words
        if taken:
            self._close()
        else:
            self._preview()
        return taken

    def give_up(self) -> None:
        """Cancel the edit."""
        for field in self._fields:
            field.put(field.held)
        self._close()

    def _close(self) -> None:
        had_focus = has_focus_within(self)
        self.hide()
        if had_focus:
            self.over.setFocus()
        self.closed()

    def _leave(self) -> None:
        if self.isVisible() and not has_focus_within(self):
            self.take()

    def _follow(self) -> None:
        """Apply the edit when another step is shown."""
        player = self.writer.player
        if self.isHidden():
            return
        if player.lecture is None or self.writer.history is not self._history:
            self._close()
        elif player.number != self.number:
            self.take()

    def _preview(self) -> None:
        """Show below the field the caption with its numbers, or its error."""
        if self.isHidden():
            return
        player = self.writer.player
        names = names_of(player) if player.number == self.number else None
        text, problem = caption_look(self.caption.words(), self.writer.path, names)
        self.caption.show_error(problem)
        has_numbers = "{" in self.caption.words()
        show_preview(self.foot, f"Reads: {text}" if has_numbers and text else "", problem)
        self._place()

    # Layout.

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size; the caption has the font size of the caption bar."""
        self.theme = theme
        paint_icon(self.numbers, theme)
        gap = theme.px(8)
        self.grid.setContentsMargins(theme.px(10), gap, theme.px(10), gap)
        self.grid.setSpacing(theme.px(4))
        self.grid.setHorizontalSpacing(theme.px(12))
        self.caption.set_theme(theme, max(theme.px(13), self.bar.letters))
        self.notes.set_theme(theme, theme.px(14))
        self.title.set_theme(theme, theme.px(14))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay over the caption."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place_soon()
        return super().eventFilter(watched, event)

    def _place_soon(self) -> None:
        if self.isVisible():
            QTimer.singleShot(0, self, self._place)

    def _place(self) -> None:
        over = self.over
        corner = self.bar.mapTo(over, QPoint(0, 0)) if self.bar.isVisible() else QPoint(0, 0)
        width = self.bar.width() if self.bar.isVisible() else over.width()
        height = max(self.sizeHint().height(), self.bar.height() if self.bar.isVisible() else 0)
        self.setGeometry(corner.x(), corner.y(), width, min(height, over.height()))
