"""Lecture editing in the window: the writer, the in-place caption editor, the panel, dialogs and commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QFileDialog, QMainWindow, QMessageBox

from ...control.stage import Stage
from ...model.bookmark import Bookmark
from ...model.nothing import nothing
from ...model.visible_text import escape_controls
from ...widgets.command import LINE, Command
from ...widgets.theme import Theme
from ..model.edit.source import lecture_of
from ..player.commands import NO_LECTURE
from ..player.lectures import Lectures
from .drafts import Draft, Drafts
from .writer import LaunchOf, LectureWriter, drafts_folder

if TYPE_CHECKING:
    from .caption_editor import CaptionEditor
    from .panel import LecturePanel, PanelHeading

ALWAYS = (
    "Add the screen as a step",
    "Edit lecture",
    "Undo edit",
    "Save lecture…",
)  # available without a lecture
LECTURES = "Lectures (*.md)"
WRITING = "writing"  # the cause of messages about edits
UNSAVED = "unsaved lecture"  # the cause of the offer to save a lecture that was left
WIDTH = 380  # pixels of the panel at the normal text size


class LectureAuthoring(QObject):
    """Edits the lecture that a window presents.

    window: the parent of dialogs, contains the panel. screen: returns its state. launch_of: returns the launch in the
    user's program that made a trace. writing_changed: the user begins or ends editing.
    """

    def __init__(
        self,
        window: QMainWindow,
        lectures: Lectures,
        stage: Stage,
        screen: Callable[[], Bookmark],
        launch_of: LaunchOf,
    ) -> None:
        super().__init__(window)
        self.writing_changed: Callable[[], object] = nothing
        self.window, self.lectures, self.theme = window, lectures, lectures.look.theme
        self.bar, self.over, self.notice = (
            lectures.places.caption,
            lectures.places.body,
            lectures.places.notice,
        )
        self.writer = LectureWriter(lectures.player, stage, screen, self.choose_path, launch_of, self)
        self.writer.problem = self._show_problem
        self.writer.informed = self.notice.inform
        self.writer.saved = lambda path: lectures.settings.note_lecture(str(path))
        self.writer.left_unsaved = lambda: QTimer.singleShot(0, self, self._offer_to_save)
        self.caption: CaptionEditor | None = None
        self.panel: LecturePanel | None = None
        self.dock: QDockWidget | None = None
        self.heading: PanelHeading | None = None
        self.bar.installEventFilter(self)
        self.writer.changed.connect(lambda: self.writing_changed())
        self.drafts = Drafts(drafts_folder())
        self.writer.changed.connect(self._follow_unsaved)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Edit the caption on a double click."""
        if watched is self.bar and event.type() == QEvent.Type.MouseButtonDblClick:
            self.edit_caption()
            return True
        return super().eventFilter(watched, event)

    def commands(self) -> list[Command]:
        """List the commands that edit a lecture."""
        return [
            LINE,
            Command("Add the screen as a step", "Ctrl+D", self.add_screen),
            Command("Edit caption and notes", "F2", self.edit_caption),
            Command("Edit lecture", "Ctrl+Shift+L", self.toggle_panel, self.is_panel_shown),
            Command("Undo edit", "Ctrl+Z", self.undo),
            Command("Redo edit", "Ctrl+Shift+Z, Ctrl+Y", self.redo),
            Command("Save lecture…", "Ctrl+Shift+S", self.save),
        ]

    def allow(self, entries: Mapping[str, QAction]) -> None:
        """Enable the commands that need a lecture while one is presented."""

        def update() -> None:
            for command in self.commands():
                if command.text and command.text not in ALWAYS:
                    entries[command.text].setEnabled(self.writer.lecture() is not None)
                    entries[command.text].setStatusTip(NO_LECTURE)

        self.writer.changed.connect(update)
        update()

    def _show_problem(self, sentence: str) -> None:
        """Show the error of an edit, or clear it for ""."""
        if sentence:
            self.notice.error(sentence, WRITING)
        else:
            self.notice.clear(cause=WRITING)

    # Commands.

    def add_screen(self) -> None:
        """Add the screen as a step."""
        if self._apply_edits():
            self.writer.add_screen()

    def undo(self) -> None:
        """Undo what the newest message offers to undo, else the lecture's last edit."""
        if not self.notice.undo():
            self.writer.undo()

    def redo(self) -> None:
        """Redo the last undone edit."""
        self.writer.redo()

    def save(self) -> None:
        """Save the lecture to a file."""
        if self._apply_edits():
            self.writer.save_as()

    def edit_caption(self) -> None:
        """Open the in-place editor of caption and notes."""
        if self.caption is None:
            from .caption_editor import CaptionEditor  # loaded on first use

            self.caption = CaptionEditor(self.writer, self.bar, self.theme, self.over)
            self.caption.closed = self._end_caption
        self.caption.open()
        self.writing_changed()

    def _end_caption(self) -> None:
        self.writing_changed()
        self.notice.clear(cause=WRITING)

    def is_writing(self) -> bool:
        """Return True if the user is editing the lecture."""
        return self.is_panel_shown() or (self.caption is not None and self.caption.isVisible())

    def toggle_panel(self) -> None:
        """Show or hide the panel."""
        if self.is_panel_shown():
            if self._apply_edits() and self.dock is not None:
                self.dock.hide()
            return
        panel, dock = self._ensure_panel()
        dock.show()
        panel.follow()
        panel.fields["caption"].setFocus()

    def is_panel_shown(self) -> bool:
        """Return True if the panel is visible."""
        return self.dock is not None and self.dock.isVisible()

    def _ensure_panel(self) -> tuple[LecturePanel, QDockWidget]:
        if self.panel is None or self.dock is None:
            from .panel import LecturePanel, PanelHeading

            self.panel = LecturePanel(self.writer)
            self.dock = QDockWidget("Edit lecture", self.window)
            self.dock.setObjectName("edit lecture")
            self.dock.setWidget(self.panel)
            self.heading = PanelHeading(self.dock.windowTitle(), self.toggle_panel)
            self.dock.setTitleBarWidget(self.heading)
            self.dock.visibilityChanged.connect(lambda _shown: self.writing_changed())
            self.dock.visibilityChanged.connect(
                lambda shown: self.panel.follow() if shown and self.panel else None
            )
            self.set_theme(self.theme)
            self.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
            self.window.resizeDocks([self.dock], [self.theme.px(WIDTH)], Qt.Orientation.Horizontal)
        return self.panel, self.dock

    def _apply_edits(self) -> bool:
        """Apply pending edits; return False if one is invalid."""
        return all(part.take() for part in (self.caption, self.panel) if part is not None)

    # The window.

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        for part in (self.caption, self.panel, self.heading):
            if part is not None:
                part.set_theme(theme)

    def choose_path(self, suggested: Path) -> Path | None:
        """Ask for the file of a lecture."""
        path, _ = QFileDialog.getSaveFileName(self.window, "Save lecture", str(suggested), LECTURES)
        return (Path(path) if Path(path).suffix else Path(path).with_suffix(".md")) if path else None

    def may_close(self) -> bool:
        """Ask about an unsaved lecture; return False if the user cancels."""
        self._apply_edits()
        if not self.writer.has_unsaved:
            return True
        buttons = QMessageBox.StandardButton
        choice = QMessageBox.question(
            self.window,
            "Save the lecture?",
            "The lecture has not been saved yet. Do you want to save it?",
            buttons.Save | buttons.Discard | buttons.Cancel,
        )
        if choice == buttons.Discard:
            self.drafts.remove()
        return choice == buttons.Discard or (choice == buttons.Save and self.writer.save_as())

    def recover(self) -> None:
        """Offer the unsaved lecture of a program that was killed."""
        draft = self.drafts.recover()
        if draft is not None:
            self.writer.restore(Path(draft.path), draft.text)
            self._offer_to_save("The lecture of an earlier session has not been saved yet.")

    def left_lectures(self) -> list[tuple[str, Callable[[], None]]]:
        """List the unsaved lecture that was left: its title and a function that presents it."""
        left = self.writer.left
        if left is None:
            return []
        title = lecture_of(left[1].text, left[0].path).title
        return [(f"{escape_controls(title)} (not saved yet)", self.writer.resume)]

    def _follow_unsaved(self) -> None:
        """Keep the draft of an unsaved lecture, and end the offer to save it once there is none."""
        unsaved = self.writer.unsaved()
        if unsaved is None:
            self.drafts.remove()
        else:
            self.drafts.keep(Draft(str(unsaved[0].absolute()), unsaved[1]))
        if self.writer.left is None:
            self.notice.clear(cause=UNSAVED)

    def _offer_to_save(self, sentence: str = "The lecture that you left has not been saved yet.") -> None:
        writer = self.writer
        answers = [("Save…", self.save), ("Present it again", writer.resume), ("Discard", writer.discard)]
        self.notice.clear(cause="left lecture")
        self.notice.ask(sentence, answers, UNSAVED)
