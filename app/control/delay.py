"""Calls that wait until something has been quiet for some time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


class Delay(QTimer):
    """Calls a function once, some milliseconds after the latest `start`, unless `stop` comes first."""

    def __init__(self, parent: QObject, milliseconds: int, call: Callable[[], object]) -> None:
        super().__init__(parent, singleShot=True, interval=milliseconds)
        self.timeout.connect(call)
