"""The commands of a lecture with their keys, and its menu."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from ...model.visible_text import escape_controls
from ...widgets.command import LINE, Command
from ..model.library import lecture_title, shipped_lectures
from .lectures import Lectures

ALWAYS = ("Open lecture…",)  # available without a lecture
NO_LECTURE = "Open a lecture first"
LAST_STEP = "This is the last step"
HANDOUT, QUESTIONS = "Handout…", "Handout without answers…"
LECTURE_PAGE, LECTURE_FILM = "Save as web page…", "Save as film…"
OUTPUTS = (HANDOUT, QUESTIONS, LECTURE_PAGE, LECTURE_FILM)  # files that are written from a lecture

LeftLectures = Callable[[], Sequence[tuple[str, Callable[[], None]]]]  # titles, and what presents them


def lecture_commands(lectures: Lectures) -> list[Command]:
    """List the commands that open, present and check a lecture."""
    player = lectures.player
    return [
        Command("Open lecture…", "Ctrl+Alt+O", lectures.ask_for_file),
        LINE,
        Command("Next step", "PgDown", player.next),
        Command("Previous step", "PgUp", player.previous),
        Command("Return to the step", "Ctrl+Home", player.show_final_moment),
        Command("List of steps…", "Ctrl+G, Ctrl+L", lectures.list_steps),
        Command("Show the answer", "", player.reveal),
        LINE,
        Command("Blank the screen", "B, .", player.toggle_blank, lambda: player.is_blank),
        Command("Show timer", "T", lectures.toggle_clock, lambda: is_clock_shown(lectures)),
        Command("Restart timer", "", lectures.restart_clock),
        LINE,
        Command("Check this lecture", "", lectures.check),
        LINE,
        *(Command(text, "", partial(lectures.ask_for_output, text)) for text in OUTPUTS),
        LINE,
        Command("Leave the lecture", "", lectures.leave),
    ]


def is_clock_shown(lectures: Lectures) -> bool:
    """Return True if a lecture is presented with its timer."""
    return lectures.has_clock and lectures.player.lecture is not None


def allow(entries: Mapping[str, QAction], lectures: Lectures) -> None:
    """Enable the commands of a lecture while one is presented; their status tip is the reason why they are not."""
    names = [command.text for command in lecture_commands(lectures) if command.text]

    def update() -> None:
        for name in names:
            entries[name].setEnabled(name in ALWAYS or lectures.player.lecture is not None)
            entries[name].setStatusTip(NO_LECTURE)
        entries["Next step"].setEnabled(lectures.player.has_next())
        entries["Next step"].setStatusTip(NO_LECTURE if lectures.player.lecture is None else LAST_STEP)

    lectures.player.changed.connect(update)
    lectures.player.awaited_changed.connect(update)
    update()


def offer_lectures(part: QMenu, lectures: Lectures, left: LeftLectures) -> None:
    """Add the shipped and the recent lectures to a menu when it is first shown.

    left: lists the unsaved lectures that were left.
    """
    recent = QMenu("Recent lectures", part)
    recent.aboutToShow.connect(lambda: _fill_recent(recent, lectures, left()))
    part.insertMenu(part.actions()[1], recent)
    part.aboutToShow.connect(partial(_offer_shipped, part, lectures))


def _offer_shipped(part: QMenu, lectures: Lectures) -> None:
    if part.property("offered"):
        return
    part.setProperty("offered", True)
    first = part.actions()[0]
    for path in shipped_lectures():
        action = QAction(escape_controls(lecture_title(path)).replace("&", "&&"), part)
        action.triggered.connect(lambda _checked, path=path: lectures.open(path))
        part.insertAction(first, action)
    part.insertSeparator(first)


def _fill_recent(recent: QMenu, lectures: Lectures, left: Sequence[tuple[str, Callable[[], None]]]) -> None:
    recent.clear()
    for title, resume in left:
        recent.addAction(title.replace("&", "&&"), resume)
    for path in lectures.recent():
        recent.addAction(escape_controls(str(path)).replace("&", "&&"), partial(lectures.open, path))
    if recent.isEmpty():
        recent.addAction("No recent lectures").setEnabled(False)
