"""Reports when a file was saved, also by an editor that replaces the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject

from ...control.delay import Delay
from ...model.nothing import nothing

SAVING_DELAY = 150  # milliseconds after which an editor has surely written the complete file


class FileWatch(QObject):
    """Watches one file. saved: its content has changed, or it exists again."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.saved: Callable[[], object] = nothing
        self._path: Path | None = None
        self._state: object = None
        self._watcher = QFileSystemWatcher(self)
        self._delay_timer = Delay(self, SAVING_DELAY, self._check)
        self._watcher.fileChanged.connect(lambda _: self._delay_timer.start())
        self._watcher.directoryChanged.connect(lambda _: self._delay_timer.start())

    def watch(self, path: Path | None) -> None:
        """Watch this file instead of the previous one; None watches none."""
        path = path.absolute() if path else None
        if path == self._path:
            return
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if watched:
            self._watcher.removePaths(watched)
        self._path, self._state = path, _state_of(path)
        self._delay_timer.stop()
        if path is not None:
            self._watcher.addPath(str(path.parent))  # reports a file that replaces this one
            self._watcher.addPath(str(path))

    def _check(self) -> None:
        if self._path is None:
            return
        self._watcher.addPath(str(self._path))  # a replaced file has lost its watch
        state = _state_of(self._path)
        if state != self._state:
            self._state = state
            self.saved()


def _state_of(path: Path | None) -> object:
    """Return a value that changes when a file is written; None without a file."""
    try:
        status = path.stat() if path else None
    except OSError:
        return None
    return status and (status.st_ino, status.st_size, status.st_mtime_ns)
