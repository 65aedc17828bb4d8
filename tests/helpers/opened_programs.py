"""Kernels and source lines of an opened program in the window."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tilescope.app.model.session import Session
from tilescope.app.views.source.editor import Editor
from tilescope.app.views.source.gutter import Gutter
from tilescope.app.window.main_window import MainWindow
from tilescope.tracer.races.detect import races_of
from tilescope.tracer.races.missed_barriers import missed_barriers_of


def kernels(window: MainWindow) -> list[str]:
    """List the kernels of the panes."""
    return [session.trace.kernel for session in window.stage.sessions if session is not None]


def races(session: Session) -> int:
    """Count the races of a launch."""
    return len(races_of(session.trace, missed_barriers_of(session.trace)))


def editor(window: MainWindow) -> Editor:
    """Return the editor of the Source panel."""
    return window.side.source.editor


def click_at(window: MainWindow, line: int) -> None:
    """Click in the gutter of a line."""
    editor(window).go_to(line)
    top = next(top for number, top, _ in editor(window).lines_in_sight() if number == line)
    QTest.mouseClick(editor(window).findChild(Gutter), Qt.MouseButton.LeftButton, pos=QPoint(6, int(top) + 7))
