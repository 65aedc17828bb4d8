"""What a window has for writing lectures: the writer, the caption in place, the panel, dialogs and commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QFileDialog, QMainWindow, QMessageBox

from ...control.stage import Stage
from ...model.bookmark import Bookmark
from ...widgets.command import LINE, Command
from ...widgets.theme import Theme
from ..lecture.lectures import Lectures
from .writer import LaunchOf, LectureWriter

if TYPE_CHECKING:
    from .caption_editor import CaptionEditor
    from .panel import LecturePanel, PanelHeading

ALWAYS = ("Add the screen as a step", "Edit lecture", "Save lecture…")  # what can be done without a lecture
LECTURES = "Lectures (*.md)"
WIDTH = 380  # pixels of the panel at the normal text size


class WritingDesk(QObject):
    """Writes the lecture that a window presents.

    window: the parent of dialogs, which holds the panel. screen: says what it shows. launch_of: of the program that
    the user runs the launch that a trace is of. writing_changed: the user begins or ends to write.
    """

    writing_changed = Signal()

    def __init__(
        self,
        window: QMainWindow,
        lectures: Lectures,
        stage: Stage,
        screen: Callable[[], Bookmark],
        launch_of: LaunchOf,
    ) -> None:
        super().__init__(window)
        self.window, self.lectures, self.theme = window, lectures, lectures.look.theme
        self.bar, self.over, self.notice = (
            lectures.places.caption,
            lectures.places.body,
            lectures.places.notice,
        )
        self.writer = LectureWriter(lectures.player, stage, screen, self.choose_path, launch_of, self)
        self.writer.problem.connect(self._tell_problem)
        self.writer.told.connect(self.notice.inform)
        self.writer.saved.connect(lambda path: lectures.settings.note_lecture(str(path)))
        self.writer.left_unsaved.connect(lambda: QTimer.singleShot(0, self, self._offer_to_save))
        self.caption: CaptionEditor | None = None
        self.panel: LecturePanel | None = None
        self.dock: QDockWidget | None = None
        self.heading: PanelHeading | None = None
        self.bar.installEventFilter(self)
        self.writer.changed.connect(self.writing_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let a double click on the caption write it."""
        if watched is self.bar and event.type() == QEvent.Type.MouseButtonDblClick:
            self.edit_caption()
            return True
        return super().eventFilter(watched, event)

    def commands(self) -> list[Command]:
        """Return what writes a lecture."""
        return [
            LINE,
            Command("Add the screen as a step", "Ctrl+D", self.add_screen),
            Command("Write caption and notes", "F2", self.edit_caption),
            Command("Edit lecture", "Ctrl+Shift+L", self.toggle_panel, self.is_panel_shown),
            Command("Undo edit", "Ctrl+Z", self.undo),
            Command("Redo edit", "Ctrl+Shift+Z, Ctrl+Y", self.redo),
            Command("Save lecture…", "Ctrl+Shift+S", self.save),
        ]

    def allow(self, entries: Mapping[str, QAction]) -> None:
        """Let the keys for a lecture work while one is presented, and belong to others while none is."""

        def update() -> None:
            for command in self.commands():
                if command.text and command.text not in ALWAYS:
                    entries[command.text].setEnabled(self.writer.lecture() is not None)

        self.writer.changed.connect(update)
        update()

    def _tell_problem(self, sentence: str) -> None:
        """Say why an edit can't be made, or take that back for ""."""
        if sentence:
            self.notice.error(sentence, "writing")
        else:
            self.notice.clear(cause="writing")

    # Commands.

    def add_screen(self) -> None:
        """Add what is on screen as a step."""
        if self._taken():
            self.writer.add_screen()

    def undo(self) -> None:
        """Take the last edit back."""
        self.writer.undo()

    def redo(self) -> None:
        """Make the edit again that was undone."""
        self.writer.redo()

    def save(self) -> None:
        """Save the lecture in a file."""
        if self._taken():
            self.writer.save_as()

    def edit_caption(self) -> None:
        """Let caption and notes be written over the caption."""
        if self.caption is None:
            from .caption_editor import CaptionEditor  # what nobody writes with is not loaded

            self.caption = CaptionEditor(self.writer, self.bar, self.theme, self.over)
            self.caption.closed.connect(self.writing_changed)
            self.caption.closed.connect(partial(self.notice.clear, cause="writing"))
        self.caption.open()
        self.writing_changed.emit()

    def is_writing(self) -> bool:
        """Return whether the user writes at the lecture."""
        return self.is_panel_shown() or (self.caption is not None and self.caption.isVisible())

    def toggle_panel(self) -> None:
        """Show the panel, or hide it."""
        if self.is_panel_shown():
            if self._taken() and self.dock is not None:
                self.dock.hide()
            return
        panel, dock = self._made_panel()
        dock.show()
        panel.follow()
        panel.steps.setFocus()

    def is_panel_shown(self) -> bool:
        """Return whether the panel is there."""
        return self.dock is not None and self.dock.isVisible()

    def _made_panel(self) -> tuple[LecturePanel, QDockWidget]:
        if self.panel is None or self.dock is None:
            from .panel import LecturePanel, PanelHeading

            self.panel = LecturePanel(self.writer)
            self.dock = QDockWidget("Edit lecture", self.window)
            self.dock.setObjectName("edit lecture")
            self.dock.setWidget(self.panel)
            self.heading = PanelHeading(self.dock.windowTitle(), self.toggle_panel)
            self.dock.setTitleBarWidget(self.heading)
            self.dock.visibilityChanged.connect(lambda _shown: self.writing_changed.emit())
            self.dock.visibilityChanged.connect(
                lambda shown: self.panel.follow() if shown and self.panel else None
            )
            self.set_theme(self.theme)
            self.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
            self.window.resizeDocks([self.dock], [self.theme.px(WIDTH)], Qt.Orientation.Horizontal)
        return self.panel, self.dock

    def _taken(self) -> bool:
        """Take what is being written; return False where it can't be taken."""
        return all(part.take() for part in (self.caption, self.panel) if part is not None)

    # The window.

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        for part in (self.caption, self.panel, self.heading):
            if part is not None:
                part.set_theme(theme)

    def choose_path(self, suggested: Path) -> Path | None:
        """Ask for the file of a lecture."""
        path, _ = QFileDialog.getSaveFileName(self.window, "Save lecture", str(suggested), LECTURES)
        return (Path(path) if Path(path).suffix else Path(path).with_suffix(".md")) if path else None

    def may_close(self) -> bool:
        """Ask, where a lecture is in no file, whether it shall be saved; return False where nothing shall be closed."""
        self._taken()
        if not self.writer.has_unsaved:
            return True
        buttons = QMessageBox.StandardButton
        choice = QMessageBox.question(
            self.window,
            "Save the lecture?",
            "The lecture is in no file yet. Shall it be saved?",
            buttons.Save | buttons.Discard | buttons.Cancel,
        )
        return choice == buttons.Discard or (choice == buttons.Save and self.writer.save_as())

    def _offer_to_save(self) -> None:
        writer = self.writer
        answers = [("Save…", self.save), ("Present it again", writer.resume), ("Forget it", writer.discard)]
        self.notice.ask("The lecture that was left is in no file yet.", answers, "left lecture")
