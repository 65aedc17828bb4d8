"""The menu of the main window: every command, the palette, and the dialogs of the Help menu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from PySide6.QtWidgets import QWidget

from ..control.stage import Stage
from ..editing.kernel_editing import KernelEditing
from ..exercises.commands import FOLDER, allow_exercise, exercise_commands, offer_exercises
from ..exercises.controller import ExerciseController
from ..lectures.model.library import TOUR
from ..lectures.player.commands import allow, lecture_commands, offer_lectures
from ..lectures.player.lectures import Lectures
from ..lectures.writing.authoring import LectureAuthoring
from ..widgets.appearance import Look
from ..widgets.command import LINE, Command, Commands
from .actions import (
    PALETTE,
    Menu,
    file_commands,
    go_commands,
    keys,
    offer_recent,
    offer_text_size,
    play_commands,
    view_commands,
)
from .central_widget import CentralWidget
from .navigation import Navigation
from .open_save import FileOperations
from .order_search import OrderSearch

PRESENTER = "Presenter's window"


class MenuParts(NamedTuple):
    """The parts of the window whose commands the menu shows."""

    window: QWidget  # has the shortcuts, is the parent of dialogs, and fills the screen
    stage: Stage
    central: CentralWidget
    look: Look
    navigation: Navigation
    files: FileOperations
    editing: KernelEditing
    lectures: Lectures
    authoring: LectureAuthoring
    exercises: ExerciseController
    orders: OrderSearch


class WindowCommands(NamedTuple):
    """The commands of the window itself."""

    copy_command: Callable[[], object]
    render: Callable[[], object]  # a film or page
    leave: Callable[[], object]
    show_timings: Callable[[], object]
    escape: Callable[[], object]
    toggle_presenter: Callable[[], object]
    toggle_layout: Callable[[], object]


class WindowMenu:
    """Builds the menu. entries: the actions, by text."""

    def __init__(self, parts: MenuParts, own: WindowCommands) -> None:
        self.parts, self.own = parts, own
        self.menu = menu = Menu(parts.window, self.commands())
        self.entries = menu.entries
        offer_recent(menu.parts["File"], parts.files)
        offer_lectures(menu.parts["Lectures"], parts.lectures, parts.authoring.left_lectures)
        allow(self.entries, parts.lectures)
        parts.authoring.allow(self.entries)
        parts.orders.allow(self.entries)
        offer_exercises(menu.parts["Exercises"], parts.exercises)
        allow_exercise(self.entries, parts.exercises)
        offer_text_size(menu.parts["View"], parts.look)
        parts.central.toolbar.menu.setMenu(menu)

    def commands(self) -> Commands:
        """List every command of the window, by menu."""
        parts, own = self.parts, self.own
        stage, central, navigation = parts.stage, parts.central, parts.navigation
        return {
            "File": file_commands(parts.files, own.copy_command, own.render, own.leave),
            "Play": play_commands(stage.playhead, stage, central),
            "Go": go_commands(navigation.travel, stage, central, own.show_timings, own.escape),
            "Kernel": parts.editing.commands(),
            "Order": parts.orders.commands(),
            "Lectures": [
                *lecture_commands(parts.lectures), LINE, Command(PRESENTER, "F7", own.toggle_presenter),
                *parts.authoring.commands(),
            ],
            "Exercises": exercise_commands(parts.exercises, self._choose_exercise),
            "View": view_commands(
                parts.window, central, parts.look, navigation.colouring, own.toggle_layout
            ),
            "Help": [
                Command("Two-minute tour", "", partial(parts.lectures.open, TOUR)),
                Command(PALETTE, "Ctrl+Shift+P", self._show_palette),
                LINE,
                Command("Keyboard shortcuts", "F1", self._show_keys),
                Command("About Tilescope", "", self._show_about),
            ],
        }  # fmt: skip

    def _show_keys(self) -> None:
        from .dialogs import show_keys  # loaded on first use

        show_keys(self.parts.window, self.parts.look.theme, keys(self.commands()))

    def _show_palette(self) -> None:
        from .palette import (  # loaded on first use
            command_entries,
            exercise_entries,
            lecture_entries,
            scenario_entries,
            shortcut_entries,
            show_palette,
        )

        toolbar = self.parts.central.toolbar
        entries = [
            *command_entries(self.commands(), self.entries),
            *scenario_entries(toolbar.scenarios.values(), partial(toolbar.pick, self.parts.stage.focus)),
            *lecture_entries(self.parts.lectures, self.parts.authoring.left_lectures),
            *exercise_entries(self.parts.exercises),
            *shortcut_entries(self._show_keys),
        ]
        show_palette(self.parts.window, self.parts.look.theme, entries)

    def _choose_exercise(self) -> None:
        from .palette import Entry, exercise_entries, show_palette  # loaded on first use

        exercises = self.parts.exercises
        entries = [*exercise_entries(exercises), Entry(FOLDER, "Exercises", exercises.ask_for_folder)]
        show_palette(self.parts.window, self.parts.look.theme, entries, "Find an exercise")

    def _show_about(self) -> None:
        from .dialogs import show_about  # loaded on first use

        show_about(self.parts.window, self.parts.look.theme)
