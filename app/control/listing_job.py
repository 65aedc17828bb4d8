"""PTX and SASS of the kernels that somebody looks at: compiled in a process of ours, in a thread that waits for it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEventLoop, QObject, QThreadPool, Signal

from ...tracer.listing.client import Listings
from ...tracer.listing.listing import Listing, ListingJob
from ...tracer.storage.folders import cache_folder
from ..model.session import Session
from .runnable import CLOSING_TIMEOUT, FunctionRunnable

LISTINGS = "listings"  # their folder, among what can be made again


class ListingJobs(QObject):
    """Adds to sessions what their kernels are compiled to. found: a session has its listing."""

    found = Signal(object)
    _compiled = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._listings = Listings(cache_folder() / LISTINGS)
        self._under_way: list[Session] = []
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._compiled.connect(self._take)

    def want(self, session: Session) -> None:
        """Compile a session's kernel, unless that is done or under way."""
        if session.listing is None and not any(one is session for one in self._under_way):
            self._under_way.append(session)
            self._pool.start(FunctionRunnable(partial(self._compile, session)))

    def is_idle(self) -> bool:
        """Return whether nothing is being compiled."""
        return not self._under_way

    def wait(self) -> None:
        """Wait for what is being compiled, for a picture that shows it."""
        loop = QEventLoop()
        self.found.connect(loop.quit)
        while not self.is_idle():
            loop.exec()

    def close(self) -> None:
        """Compile nothing more."""
        self._pool.clear()
        self._listings.close()
        self._pool.waitForDone(CLOSING_TIMEOUT)

    def _compile(self, session: Session) -> None:
        """In the thread: wait for the listing."""
        listing = Listing(reason="It could not be compiled; the terminal says why.")
        try:
            listing = self._listings.of(ListingJob(session.launch))
        finally:
            self._compiled.emit(session, listing)

    def _take(self, session: Session, listing: Listing) -> None:
        self._under_way = [one for one in self._under_way if one is not session]
        session.add_listing(listing)
        self.found.emit(session)
