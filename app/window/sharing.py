"""What leaves the window: its state as a command, and films, pages and pictures from the Share menu."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from PySide6.QtWidgets import QWidget

from ..control.stage import Stage
from ..exercises.controller import ExerciseController
from ..lectures.player.lectures import Lectures
from ..model.bookmark import Bookmark
from ..widgets.appearance import Look
from .central_widget import CentralWidget
from .open_save import FileOperations
from .room import read_room
from .share import ShareMenu, ShareParts


class OutputParts(NamedTuple):
    """The parts of the window that outputs show."""

    window: QWidget  # the parent of dialogs
    stage: Stage
    central: CentralWidget
    look: Look
    files: FileOperations
    lectures: Lectures
    exercises: ExerciseController


class Outputs:
    """Copies the window as a command, and renders it as a film or page. share: the menu."""

    def __init__(self, parts: OutputParts) -> None:
        self.parts = parts
        player, stage = parts.lectures.player, parts.stage
        self.share = ShareMenu(
            ShareParts(
                parts.window, parts.central.notice, parts.files.save_picture, self.open_render_dialog,
                lambda: stage.focused() is not None, lambda: player.lecture, parts.files.folder,
            )
        )  # fmt: skip
        parts.central.toolbar.share.setMenu(self.share)
        parts.lectures.output_asked.connect(self.share.ask_for_output)

    def screen(self) -> Bookmark:
        """Return the bookmark, with the actual visibility of the inspector and the compiled counters."""
        central = self.parts.central
        side = "hidden" if central.side.isHidden() else "shown"
        compiled = "shown" if central.results.shows_compiled() else "hidden"
        return msgspec.structs.replace(self.parts.stage.store.state.bookmark(), side=side, compiled=compiled)

    def copy_command(self) -> None:
        """Copy a command to the clipboard that draws the current window."""
        from .copy_command import LectureStep  # loaded on first use

        parts, player = self.parts, self.parts.lectures.player
        step = None
        if player.lecture is not None:
            asking = parts.lectures.is_asking()
            step = LectureStep(player.lecture.path, player.number, asking, player.chosen)
        if parts.exercises.work.is_here():
            parts.central.notice.error("An exercise cannot be copied as a command; save the picture instead.")
        else:
            parts.files.copy_command(self.screen(), read_room(parts.central), parts.look.theme.name, step)

    def open_render_dialog(self, suffix: str = "") -> None:
        """Open the dialog that renders the current window as a film or page, with a kind of file chosen."""
        from ..films.opening import open_render_dialog  # loaded on first use

        parts = self.parts
        places, room = (parts.central.notice, parts.files.folder), read_room(parts.central)
        dialog = open_render_dialog(
            parts.window, parts.look.theme, parts.stage, self.screen, *places, room, parts.lectures.caption()
        )
        if dialog is not None and suffix and not dialog.is_recording:
            dialog.fields.choose_kind(suffix)
