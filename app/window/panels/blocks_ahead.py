"""What pictures of other blocks take, made while the window rests, so that a scrub finds it there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QObject, QTimer

from ...model.session import Selection, Session
from ...views.common.view import View

CALM = 60  # milliseconds without a new moment
MOST = 16  # blocks before and behind the selected one
LARGEST = 40_000  # accesses of a block, beyond which its part takes more than a frame's time

Shown = tuple[Session | None, Selection, Sequence[View]]  # what a pane shows, and its views


class BlocksAhead(QObject):
    """Has views prepare the blocks around the selected ones, one a turn of the event loop."""

    def __init__(
        self,
        shown: Callable[[], Iterable[Shown]],
        is_free: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        """is_free: whether no session is being made, which would have to share the processor."""
        super().__init__(parent)
        self._shown, self._is_free, self._left = shown, is_free, deque[tuple[View, Session, int]]()
        self._calm = QTimer(self, singleShot=True, interval=CALM)
        self._calm.timeout.connect(self._begin)
        self._turn = QTimer(self, interval=0)
        self._turn.timeout.connect(self._next)

    def wait(self) -> None:
        """Begin anew once the window has rested for a while: something was drawn."""
        self._turn.stop()
        self._calm.start()

    def is_idle(self) -> bool:
        """Return whether nothing is left to be made."""
        return not (self._calm.isActive() or self._turn.isActive())

    def _begin(self) -> None:
        if not self._is_free():
            self._calm.start()
            return
        self._left = deque(_around(self._shown()))
        self._turn.start()

    def _next(self) -> None:
        if not self._is_free():
            self.wait()
            return
        while self._left:
            view, session, block = self._left.popleft()
            if view.session is session and view.isVisible():
                view.prepare(block)
                return
        self._turn.stop()


def _around(shown: Iterable[Shown]) -> list[tuple[View, Session, int]]:
    """Return what is to be prepared, the nearest blocks first."""
    found: list[tuple[int, View, Session, int]] = []
    for session, selection, views in shown:
        if session is None or len(session.trace) > LARGEST * len(session.trace.blocks):
            continue
        blocks = session.trace.blocks
        here = int(blocks.searchsorted(selection.block))
        for place in range(max(0, here - MOST), min(len(blocks), here + MOST + 1)):
            far = abs(place - here)
            found += [(far, view, session, int(blocks[place])) for view in views if far]
    return [(view, session, block) for _, view, session, block in sorted(found, key=lambda one: one[0])]
