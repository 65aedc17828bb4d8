"""Undo and redo: the earlier texts of a lecture."""

from __future__ import annotations

MAX_TEXTS = 200  # texts to go back to
MAX_CHARACTERS = 20_000_000  # of all texts


class TextHistory:
    """A text, its predecessors and the undone texts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._back: list[str] = []
        self._forward: list[str] = []

    def push(self, text: str) -> bool:
        """Push another text; return whether it differs. This clears the undone texts."""
        if text == self.text:
            return False
        self._back.append(self.text)
        self._forward.clear()
        self.text = text
        while len(self._back) > MAX_TEXTS or (
            sum(map(len, self._back)) > MAX_CHARACTERS and len(self._back) > 1
        ):
            del self._back[0]
        return True

    def undo(self) -> bool:
        """Go back by one text; return whether there is one."""
        return self._move(self._back, self._forward)

    def redo(self) -> bool:
        """Go forward to an undone text; return whether there is one."""
        return self._move(self._forward, self._back)

    @property
    def can_undo(self) -> bool:
        """Whether there is a text to go back to."""
        return bool(self._back)

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone text."""
        return bool(self._forward)

    def _move(self, source: list[str], target: list[str]) -> bool:
        if not source:
            return False
        target.append(self.text)
        self.text = source.pop()
        return True
