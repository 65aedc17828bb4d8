"""A copy of the audience's window for the speaker, which follows it."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from ...control.delay import Delay
from ...model.nothing import nothing
from ...widgets.widget_picture import picture_of

PAUSE = 60  # the shortest time between two copies, in milliseconds
SHARE = 10  # a copy takes at most this part of the time, so that the audience's picture plays smoothly


class LivePicture(QObject):
    """Copies a window after it is repainted, while it is followed. copied: there is a new picture."""

    def __init__(self, window: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.copied: Callable[[], object] = nothing
        self.window, self.image = window, QImage()
        self._is_following = False
        self._timer = Delay(self, PAUSE, self._copy)
        window.installEventFilter(self)

    def follow(self, follows: bool) -> None:
        """Copy the window now and after each repaint, or stop."""
        starts, self._is_following = follows and not self._is_following, follows
        if starts:
            self._copy()
        elif not follows:
            self._timer.stop()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Copy the window soon after it is repainted."""
        if self._is_following and event.type() == QEvent.Type.UpdateRequest and not self._timer.isActive():
            self._timer.start()
        return super().eventFilter(watched, event)

    def _copy(self) -> None:
        began = time.perf_counter()
        self.image = picture_of(self.window, self.window.devicePixelRatioF())
        taken = 1000 * (time.perf_counter() - began)
        self._timer.setInterval(max(PAUSE, round((SHARE - 1) * taken)))
        self.copied()
