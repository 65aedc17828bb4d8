"""What leaves the window: its state as a command, and films, pages and pictures from the Share menu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from PySide6.QtCore import QProcess
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from ...tracer.processes.json_process import module_command
from ..control.stage import Stage
from ..exercises.controller import ExerciseController
from ..lectures.model.document import Lecture
from ..lectures.player.commands import HANDOUT, LECTURE_FILM, LECTURE_PAGE, QUESTIONS
from ..lectures.player.lectures import Lectures
from ..model.bookmark import Bookmark
from ..model.visible_text import escape_controls
from ..widgets.appearance import Look
from ..widgets.notice import Notice
from .central_widget import CentralWidget
from .open_save import FileOperations
from .room import read_room

NO_TRACE, NO_LECTURE = "no trace is shown", "no lecture is open"
WRITING = "a lecture is being written"
PICTURES = {"PNG picture…": ".png", "SVG picture…": ".svg", "PDF picture…": ".pdf"}
FILM, PAGE = "Film…", "Web page…"


class LectureOutput(NamedTuple):
    """A file that a command writes from a lecture's file."""

    noun: str  # of the file, for messages
    filters: str  # of the dialog for its name
    suffixes: tuple[str, ...]  # of its kinds, the usual one first
    command: tuple[str, ...]  # of the command line, with options


def lecture_outputs() -> dict[str, LectureOutput]:
    """List the files that can be written from an open lecture, by the text of their command."""
    from ..films.kinds import KINDS, unavailable_reason  # loaded on first use

    films = [kind for kind in KINDS if kind.suffix and not unavailable_reason(kind)]
    pdf = "Handouts (*.pdf)", (".pdf",)
    return {
        HANDOUT: LectureOutput("handout", *pdf, ("lecture",)),
        QUESTIONS: LectureOutput("handout", *pdf, ("lecture", "--no-answers")),
        LECTURE_PAGE: LectureOutput("web page", "Web pages (*.html)", (".html",), ("render",)),
        LECTURE_FILM: LectureOutput(
            "film",
            ";;".join(f"{kind.name} (*{kind.suffix})" for kind in films),
            tuple(kind.suffix for kind in films),
            ("render",),
        ),
    }


class ShareParts(NamedTuple):
    """The parts of the window that the menu uses."""

    window: QWidget  # the parent of dialogs
    notice: Notice
    save_picture: Callable[[str], object]  # with a suffix
    render: Callable[[str], object]  # a film or page, with a suffix; "" for the usual one
    has_trace: Callable[[], bool]
    lecture: Callable[[], Lecture | None]  # the open one
    folder: Callable[[], str]  # in which dialogs start


class ShareMenu(QMenu):
    """The menu of the Share button. entries: its actions by text."""

    def __init__(self, parts: ShareParts) -> None:
        super().__init__("Share", parts.window)
        self.parts = parts
        self._process: QProcess | None = None
        self.entries: dict[str, QAction] = {}
        for text, suffix in PICTURES.items():
            self._add(text, partial(parts.save_picture, suffix))
        self.addSeparator()
        self._add(FILM, partial(parts.render, ""))
        self._add(PAGE, partial(parts.render, ".html"))
        for text in (HANDOUT, QUESTIONS):
            self._add(text, partial(self.ask_for_output, text))
        self.aboutToShow.connect(self.update_entries)

    def _add(self, text: str, run: Callable[[], object]) -> None:
        self.entries[text] = self.addAction(text)
        self.entries[text].triggered.connect(lambda _checked: run())

    def reasons(self) -> dict[str, str]:
        """Map each entry that can't be used now to the reason."""
        reasons = {} if self.parts.has_trace() else dict.fromkeys((FILM, PAGE), NO_TRACE)
        if not self.parts.has_trace():
            reasons |= dict.fromkeys([text for text in PICTURES if text != "PNG picture…"], NO_TRACE)
        if self.parts.lecture() is None:
            reasons |= dict.fromkeys((HANDOUT, QUESTIONS), NO_LECTURE)
        elif self._process is not None:
            reasons |= dict.fromkeys((HANDOUT, QUESTIONS), WRITING)
        return reasons

    def update_entries(self) -> None:
        """Enable the entries that can be used, and show the reason in the others."""
        reasons = self.reasons()
        for text, action in self.entries.items():
            action.setEnabled(text not in reasons)
            action.setText(f"{text}  ({reasons[text]})" if text in reasons else text)

    def ask_for_output(self, text: str) -> None:
        """Ask for a name and write a file from the open lecture in another process, by the command's text."""
        lecture, output = self.parts.lecture(), lecture_outputs()[text]
        if self._process is not None:
            self.parts.notice.inform(f"{WRITING[0].upper()}{WRITING[1:]}. Wait until it is saved.")
        elif lecture is not None:
            suggestion = str(Path(self.parts.folder()) / f"{lecture.path.stem}{output.suffixes[0]}")
            name, chosen_filter = QFileDialog.getSaveFileName(
                self.parts.window, f"Write {output.noun}", suggestion, output.filters
            )
            if name:
                path, usual = (
                    Path(name),
                    next(
                        (suffix for suffix in output.suffixes if f"*{suffix})" in chosen_filter),
                        output.suffixes[0],
                    ),
                )
                is_known = path.suffix.lower() in output.suffixes
                self._write(output, lecture.path, path if is_known else path.with_name(path.name + usual))

    def _write(self, output: LectureOutput, lecture: Path, path: Path) -> None:
        process = self._process = QProcess(self)
        process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        process.finished.connect(lambda code, _status: self._report(output.noun, process, code, path))
        program, *words = module_command("tilescope")
        command, *options = output.command
        process.start(program, [*words, command, str(lecture), *options, "-o", str(path)])
        self.parts.notice.inform(f"Writing the {output.noun} {escape_controls(path.name)}…")

    def _report(self, noun: str, process: QProcess, code: int, path: Path) -> None:
        output = process.readAll().toStdString().strip().splitlines()
        self._process = None
        process.deleteLater()
        if code == 0:
            self.parts.notice.inform(f"The {noun} was saved as {escape_controls(str(path))}.")
        else:
            reason = escape_controls(output[-1]) if output else "The process ended early."
            self.parts.notice.error(f"The {noun} was not written. {reason}", "file")

    def close_process(self) -> None:
        """End a process that still writes a lecture, since the window closes."""
        if self._process is not None:
            self._process.finished.disconnect()
            self._process.kill()
            self._process.waitForFinished(1000)
            self._process = None


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
        parts.lectures.output_asked = self.share.ask_for_output

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
