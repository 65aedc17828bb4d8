"""Where a window stood and what it showed: put back when the program starts, kept when it ends."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QByteArray, QSize

from . import settings
from .bookmark import Bookmark

if TYPE_CHECKING:
    from .main_window import MainWindow

USUAL = QSize(1600, 900)


def restore(window: MainWindow) -> None:
    """Let a window take the place on the screen that it had last."""
    room = window.screen().availableSize() * 0.95
    window.resize(room.boundedTo(USUAL))
    if window.settings.geometry:
        window.restoreGeometry(QByteArray(window.settings.geometry))
    splitters = window.frame.across, window.frame.down
    for splitter, state in zip(splitters, window.settings.splitters, strict=False):
        splitter.restoreState(QByteArray(state))
        window.frame.foot_moved = True


def remember(window: MainWindow) -> None:
    """Write what a window shows and its place into its settings file, if it has one."""
    if window.settings_file is None:
        return
    splitters = window.frame.across, window.frame.down
    window.settings = msgspec.structs.replace(
        window.settings,
        bookmark=_lasting(window),
        geometry=bytes(window.saveGeometry().data()),
        splitters=tuple(bytes(splitter.saveState().data()) for splitter in splitters),
    )
    complaint = settings.save(window.settings_file, window.settings)
    if complaint:
        print(complaint, file=sys.stderr)


def _lasting(window: MainWindow) -> Bookmark:
    """Return the window's bookmark, without panes where they show traces that cannot be opened again."""
    mark, program, sessions = window.bookmark(), window.program, window.stage.sessions
    files = [(setup.file, session) for setup, session in zip(mark.panes, sessions, strict=True) if setup.file]
    if any(session is None or (program and program.owns(file)) for file, session in files):
        return msgspec.structs.replace(mark, panes=(), selections=(), moment=None, focus=0)
    return mark
