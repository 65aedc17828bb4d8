"""The commands of exercises with their keys, and their menu."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from ..model.visible_text import escape_controls
from ..widgets.command import LINE, Command
from .controller import ExerciseController
from .model.library import SHIPPED

FOLDER = "Open folder of exercises…"
ALWAYS = ("Open exercise…", FOLDER, "Next exercise")  # available without an open exercise
NO_EXERCISE = "Open an exercise first"


def exercise_commands(exercises: ExerciseController, choose: Callable[[], object]) -> list[Command]:
    """List the commands that open, use and leave an exercise; choose: shows the list of exercises."""
    return [
        Command("Open exercise…", "Ctrl+Alt+E", choose),
        Command(FOLDER, "", exercises.ask_for_folder),
        LINE,
        Command("Next exercise", "Ctrl+Shift+N", exercises.next),
        Command("Next hint", "Ctrl+Shift+H", exercises.hint),
        LINE,
        Command("Show the stub again", "", exercises.ask_for_stub),
        Command("Save my text as…", "", exercises.save_as),
        Command("Leave the exercise", "", exercises.leave),
    ]


def allow_exercise(entries: Mapping[str, QAction], exercises: ExerciseController) -> None:
    """Enable the commands of an exercise while one is open; their status tip is the reason why they are not."""
    names = [command.text for command in exercise_commands(exercises, lambda: None) if command.text]

    def update() -> None:
        for name in names:
            entries[name].setEnabled(name in ALWAYS or exercises.is_open())
            entries[name].setStatusTip(NO_EXERCISE)

    exercises.changed.connect(update)
    update()


def offer_exercises(part: QMenu, exercises: ExerciseController) -> None:
    """List the exercises at the start of a menu, with a check mark for finished ones."""
    part.aboutToShow.connect(partial(_fill, part, exercises, part.actions()[0]))


def _fill(part: QMenu, exercises: ExerciseController, first: QAction) -> None:
    for old in part.actions()[: part.actions().index(first)]:
        part.removeAction(old)
        old.deleteLater()
    listed = exercises.exercises()
    for exercise in listed:
        action = QAction(f"{exercise.number}. {escape_controls(exercise.title)}".replace("&", "&&"), part)
        action.setCheckable(True)
        action.setChecked(exercises.is_done(exercise))
        action.triggered.connect(lambda _checked, exercise=exercise: exercises.open(exercise))
        part.insertAction(first, action)
    if listed and listed[0].folder.absolute() != SHIPPED.absolute():
        back = QAction("List the shipped exercises", part)
        back.triggered.connect(exercises.show_shipped)
        part.insertAction(first, back)
    part.insertSeparator(first)
