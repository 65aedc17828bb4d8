"""PTX and SASS of the kernels on screen, compiled in a separate process; a thread waits for it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEventLoop, QObject, QThreadPool, Signal

from ...tracer.listing.client import Listings
from ...tracer.listing.listing import Listing, ListingJob
from ...tracer.storage.folders import cache_folder
from ..model.session import Session
from .runnable import CLOSING_TIMEOUT, FunctionRunnable

LISTINGS = "listings"  # their folder in the cache


class ListingJobs(QObject):
    """Adds listings of the compiled kernels to sessions. found: a session has its listing."""

    listed = Signal(object)
    _compiled = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._listings = Listings(cache_folder() / LISTINGS)
        self._in_progress: list[Session] = []
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._compiled.connect(self._take)

    def want(self, session: Session) -> None:
        """Compile a session's kernel, unless that is done or in progress."""
        if session.listing is None and not any(pending is session for pending in self._in_progress):
            self._in_progress.append(session)
            self._pool.start(FunctionRunnable(partial(self._compile, session)))

    def is_idle(self) -> bool:
        """Return True if no kernel is being compiled."""
        return not self._in_progress

    def wait(self) -> None:
        """Wait for the running compilation, for a picture that shows the listing."""
        loop = QEventLoop()
        self.listed.connect(loop.quit)
        while not self.is_idle():
            loop.exec()

    def close(self) -> None:
        """Stop compiling."""
        self._pool.clear()
        self._listings.close()
        self._pool.waitForDone(CLOSING_TIMEOUT)

    def _compile(self, session: Session) -> None:
        """Wait for the listing, in the thread."""
        listing = Listing(reason="The compilation failed; the terminal shows the error.")
        try:
            listing = self._listings.compile(ListingJob(session.launch))
        finally:
            self._compiled.emit(session, listing)

    def _take(self, session: Session, listing: Listing) -> None:
        self._in_progress = [pending for pending in self._in_progress if pending is not session]
        session.add_listing(listing)
        self.listed.emit(session)
