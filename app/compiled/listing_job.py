"""PTX and SASS of the kernels on screen, compiled in a separate process; a thread waits for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from ...tracer.listing.client import Listings
from ...tracer.listing.listing import Listing, ListingJob
from ...tracer.storage.folders import cache_folder
from ..control.task import Task, TaskQueue
from ..model.session import Session

LISTINGS = "listings"  # their folder in the cache
FAILED = Listing(reason="The compilation failed; the terminal shows the error.")


class ListingJobs(QObject):
    """Adds listings of the compiled kernels to sessions. listed: gets a session that has its listing."""

    def __init__(self, parent: QObject, listed: Callable[[Session], object]) -> None:
        super().__init__(parent)
        self._listed = listed
        self._listings = Listings(cache_folder() / LISTINGS)
        self._tasks = TaskQueue(self, interrupt=self._listings.close)
        self.is_idle, self.wait = self._tasks.is_idle, self._tasks.wait

    def want(self, session: Session) -> None:
        """Compile a session's kernel, unless that is done or in progress."""
        if session.listing is None:
            work, take = (
                partial(self._listings.compile, ListingJob(session.launch)),
                partial(self._take, session),
            )
            self._tasks.start(Task(work, take, lambda _: take(FAILED), key=session))

    def close(self) -> None:
        """Stop compiling."""
        self._listings.close()
        self._tasks.close()

    def _take(self, session: Session, listing: Listing) -> None:
        session.add_listing(listing)
        self._listed(session)
