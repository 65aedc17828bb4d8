"""The commands of a lecture, with their keys, and its menu."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from ...lecture.library import shipped, title_of
from ...model.visible_text import visible
from ...widgets.command import LINE, Command
from .lectures import Lectures

ALWAYS = ("Open lecture…",)  # what can be done without a lecture


def lecture_commands(lectures: Lectures) -> list[Command]:
    """Return what opens, walks through and checks a lecture."""
    player = lectures.player
    return [
        Command("Open lecture…", "Ctrl+Alt+O", lectures.ask_for_file),
        LINE,
        Command("Next step", "PgDown", player.next),
        Command("Previous step", "PgUp", player.previous),
        Command("Back to the step as it stands", "Ctrl+Home", player.stand),
        Command("List of steps…", "Ctrl+G, Ctrl+L", lectures.list_steps),
        Command("Show the answer", "", player.reveal),
        LINE,
        Command("Blank the screen", "B, .", player.toggle_blank, lambda: player.is_blank),
        Command("Clock", "T", lectures.toggle_clock, lambda: lectures.has_clock),
        Command("Start the clock anew", "", lectures.restart_clock),
        LINE,
        Command("Check this lecture", "", lectures.check),
        Command("Leave the lecture", "", lectures.leave),
    ]


def allow(entries: Mapping[str, QAction], lectures: Lectures) -> None:
    """Let the keys of a lecture work while one is presented, and belong to others while none is."""
    names = [command.text for command in lecture_commands(lectures) if command.text]

    def update() -> None:
        for name in names:
            entries[name].setEnabled(name in ALWAYS or lectures.player.lecture is not None)

    lectures.player.changed.connect(update)
    update()


def offer_lectures(part: QMenu, lectures: Lectures) -> None:
    """Put the shipped lectures by title, and those opened lately, at the head of a menu when it is first shown."""
    recent = QMenu("Recent lectures", part)
    recent.aboutToShow.connect(lambda: _fill_recent(recent, lectures))
    part.insertMenu(part.actions()[1], recent)
    part.aboutToShow.connect(partial(_offer_shipped, part, lectures))


def _offer_shipped(part: QMenu, lectures: Lectures) -> None:
    if part.property("offered"):
        return
    part.setProperty("offered", True)
    first = part.actions()[0]
    for path in shipped():
        made = QAction(visible(title_of(path)).replace("&", "&&"), part)
        made.triggered.connect(lambda _checked, path=path: lectures.open(path))
        part.insertAction(first, made)
    part.insertSeparator(first)


def _fill_recent(recent: QMenu, lectures: Lectures) -> None:
    recent.clear()
    for path in lectures.recent():
        recent.addAction(visible(str(path)).replace("&", "&&"), partial(lectures.open, path))
    if not lectures.recent():
        recent.addAction("none yet").setEnabled(False)
