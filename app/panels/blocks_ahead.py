"""Prepares the pictures of other blocks while the window is idle, so that scrubbing is fast."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QObject, QTimer

from ..control.delay import Delay
from ..model.session import Selection, Session
from ..views.common.view import View

CALM = 60  # milliseconds without a new moment
MOST = 16  # blocks before and after the selected one
LARGEST = 40_000  # accesses of a block that can be prepared within a frame

Shown = tuple[Session | None, Selection, Sequence[View]]  # a pane's session, selection and views


class BlocksAhead(QObject):
    """Prepares the blocks around the selected ones in the views, one per turn of the event loop."""

    def __init__(
        self,
        shown: Callable[[], Iterable[Shown]],
        is_free: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        """is_free: returns True if no session is being loaded, which would compete for the processor."""
        super().__init__(parent)
        self._shown, self._is_free, self._queue = shown, is_free, deque[tuple[View, Session, int]]()
        self._idle_timer = Delay(self, CALM, self._begin)
        self._work_timer = QTimer(self, interval=0)
        self._work_timer.timeout.connect(self._next)

    def wait(self) -> None:
        """Restart after the next idle period, since the window has drawn."""
        self._work_timer.stop()
        self._idle_timer.start()

    def is_idle(self) -> bool:
        """Return True if no work is left."""
        return not (self._idle_timer.isActive() or self._work_timer.isActive())

    def _begin(self) -> None:
        if not self._is_free():
            self._idle_timer.start()
            return
        self._queue = deque(_nearest_blocks(self._shown()))
        self._work_timer.start()

    def _next(self) -> None:
        if not self._is_free():
            self.wait()
            return
        while self._queue:
            view, session, block = self._queue.popleft()
            if view.session is session and view.isVisible():
                view.prepare(block)
                return
        self._work_timer.stop()


def _nearest_blocks(shown: Iterable[Shown]) -> list[tuple[View, Session, int]]:
    """List the blocks to prepare, nearest first."""
    candidates: list[tuple[int, View, Session, int]] = []
    for session, selection, views in shown:
        if session is None or len(session.trace) > LARGEST * len(session.trace.blocks):
            continue
        blocks = session.trace.blocks
        here = int(blocks.searchsorted(selection.block))
        for index in range(max(0, here - MOST), min(len(blocks), here + MOST + 1)):
            distance = abs(index - here)
            candidates += [(distance, view, session, int(blocks[index])) for view in views if distance]
    return [(view, session, block) for _, view, session, block in sorted(candidates, key=lambda c: c[0])]
