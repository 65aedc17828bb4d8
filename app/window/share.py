"""The Share menu: pictures, a film, a web page and a lecture's handout; disabled entries state the reason."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QProcess
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from ...tracer.processes.json_process import module_command
from ..lecture.document import Lecture
from ..model.visible_text import escape_controls
from ..widgets.notice import Notice

NO_TRACE, NO_LECTURE = "no trace is shown", "no lecture is open"
WRITING = "a lecture is being written"
PICTURES = {"PNG picture…": ".png", "SVG picture…": ".svg", "PDF picture…": ".pdf"}
FILM, PAGE, HANDOUT = "Film…", "Web page…", "Handout…"
PDF, PAGES = "Handouts (*.pdf)", "Web pages (*.html)"


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
        self._add(HANDOUT, self._ask_for_handout)
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
            reasons[HANDOUT] = NO_LECTURE
        elif self._process is not None:
            reasons[HANDOUT] = WRITING
        return reasons

    def update_entries(self) -> None:
        """Enable the entries that can be used, and show the reason in the others."""
        reasons = self.reasons()
        for text, action in self.entries.items():
            action.setEnabled(text not in reasons)
            action.setText(f"{text}  ({reasons[text]})" if text in reasons else text)

    def _ask_for_handout(self) -> None:
        self._ask_for_file("Write handout", PDF, ".pdf", self.write_handout)

    def ask_for_page(self) -> None:
        """Ask for a name and write the open lecture as a web page in another process."""
        if self._process is not None:
            self.parts.notice.inform(f"{WRITING[0].upper()}{WRITING[1:]}. Wait until it is saved.")
        else:
            self._ask_for_file("Write web page", PAGES, ".html", self.write_page)

    def _ask_for_file(self, title: str, kinds: str, suffix: str, write: Callable[[Path, Path], None]) -> None:
        lecture = self.parts.lecture()
        if lecture is None:
            return
        suggestion = str(Path(self.parts.folder()) / f"{lecture.path.stem}{suffix}")
        path, _ = QFileDialog.getSaveFileName(self.parts.window, title, suggestion, kinds)
        if path:
            write(lecture.path, Path(path).with_suffix(suffix))

    def write_handout(self, lecture: Path, path: Path) -> None:
        """Write the handout of a lecture's file as PDF; the notice reports the result."""
        self._write("handout", "lecture", lecture, path)

    def write_page(self, lecture: Path, path: Path) -> None:
        """Write a lecture's file as a web page that replays it; the notice reports the result."""
        self._write("web page", "render", lecture, path)

    def _write(self, noun: str, command: str, lecture: Path, path: Path) -> None:
        process = self._process = QProcess(self)
        process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        process.finished.connect(lambda code, _status: self._report(noun, process, code, path))
        program, *words = module_command("tilescope")
        process.start(program, [*words, command, str(lecture), "-o", str(path)])
        self.parts.notice.inform(f"Writing the {noun} {escape_controls(path.name)}…")

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
