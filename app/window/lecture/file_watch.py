"""Tells when a file was saved, also by an editor that puts another file in its place."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

SAVING_DELAY = 150  # milliseconds after which an editor has surely written the whole file


class FileWatch(QObject):
    """Watches one file. saved: it is another one than before, or there again."""

    saved = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path: Path | None = None
        self._state: object = None
        self._watcher = QFileSystemWatcher(self)
        self._soon = QTimer(self, singleShot=True, interval=SAVING_DELAY)
        self._soon.timeout.connect(self._look)
        self._watcher.fileChanged.connect(lambda _: self._soon.start())
        self._watcher.directoryChanged.connect(lambda _: self._soon.start())

    def watch(self, path: Path | None) -> None:
        """Watch this file in place of the one before; None watches none."""
        path = path.absolute() if path else None
        if path == self._path:
            return
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if watched:
            self._watcher.removePaths(watched)
        self._path, self._state = path, _state_of(path)
        self._soon.stop()
        if path is not None:
            self._watcher.addPath(str(path.parent))  # which tells of a file that takes the place of this one
            self._watcher.addPath(str(path))

    def _look(self) -> None:
        if self._path is None:
            return
        self._watcher.addPath(str(self._path))  # where another file is in its place, the watch has ended
        state = _state_of(self._path)
        if state != self._state:
            self._state = state
            self.saved.emit()


def _state_of(path: Path | None) -> object:
    """Return what is another value once a file was written anew; None where there is no file."""
    try:
        found = path.stat() if path else None
    except OSError:
        return None
    return found and (found.st_ino, found.st_size, found.st_mtime_ns)
