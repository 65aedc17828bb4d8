"""The request for a session: its progress, its early and final session or its error."""

from __future__ import annotations

from collections.abc import Callable

from ..model.nothing import nothing
from ..model.session import Session


class Loading:
    """A session that is being loaded; only the window's thread uses it.

    key: of the session. shown: the latest session that its owner shows, at first the one before.
    """

    def __init__(self, key: str, shown: Session | None, cancel: Callable[[Loading], bool]) -> None:
        self.key, self.shown = key, shown
        self.session: Session | None = None
        self._early: Session | None = None
        self._cancel = cancel
        self.forget()

    def forget(self) -> None:
        """Call nothing any more."""
        self._done: Callable[[Session], None] = nothing
        self._failed: Callable[[Exception], None] = nothing
        self._show_early: Callable[[Session], None] = nothing
        self._progress: Callable[[int, int], None] = nothing

    def watch(
        self,
        done: Callable[[Session], None],
        failed: Callable[[Exception], None],
        *,
        early: Callable[[Session], None] = nothing,
        progress: Callable[[int, int], None] = nothing,
    ) -> None:
        """Call `done` with the session, or `failed` with the error; at once if the session is in memory.

        failed: gets a WorkerError, with file and line if they are known, or a TraceFileError; a LaunchTooSlowError if
        the launch would take long. early: gets a session to show until the final one, which is in lockstep's order.
        progress: gets the blocks done and the blocks in all, 0 of 0 while the total is unknown.
        """
        self._done, self._failed, self._show_early, self._progress = done, failed, early, progress
        if self.session is not None:
            done(self.session)
        elif self._early is not None:
            early(self._early)
        else:
            progress(0, 0)

    def cancel(self) -> bool:
        """End the request; return True if it was waiting. An early session becomes final, with a notice."""
        return self._cancel(self)

    def report(self, done: int, total: int) -> None:
        """Report the blocks done."""
        self._progress(done, total)

    def show_early(self, session: Session) -> None:
        """Deliver the early session."""
        self.shown = self._early = session
        self._show_early(session)

    def finish(self, session: Session) -> None:
        """Deliver the final session."""
        self.shown = self.session = session
        self._done(session)

    def fail(self, error: Exception) -> None:
        """Deliver the error."""
        self._failed(error)
