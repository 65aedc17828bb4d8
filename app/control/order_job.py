"""The search for an order of threads that changes a launch's result, in a thread; it can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from ...tracer.model.launch import Launch
from ...tracer.model.trace import Trace
from ...tracer.orders.elements import ElementError
from ...tracer.orders.saved_launch import SavedLaunchError, runnable_launch
from ...tracer.orders.search import OrderSearchError, SearchLimits, SearchResult, search_orders
from ...tracer.processes.process_client import RunCancelledError
from ...tracer.run.worker_client import WorkerError
from ...tracer.storage.temp_folders import new_process_folder
from ..model.session import Session
from .session_jobs import SessionJobs
from .task import Task, TaskQueue

LIMITS = SearchLimits(orders=2000, seconds=30.0)
PATIENCE = 10.0  # seconds that one run may take
INTERRUPTIONS = 20  # times that panes may interrupt a run, which then begins again


class OrderJob(QObject):
    """Searches the orders of one session at a time.

    progressed: gets the orders tried and the most orders after each run. searched: gets the result at the end. failed:
    gets one sentence with the reason.
    """

    def __init__(
        self,
        jobs: SessionJobs,
        parent: QObject,
        *,
        progressed: Callable[[int, float], object],
        searched: Callable[[Session, SearchResult], object],
        failed: Callable[[str], object],
    ) -> None:
        super().__init__(parent)
        self.jobs = jobs
        self._progressed, self._searched, self._failed = progressed, searched, failed
        self._is_stopped = False  # read by the thread
        self._folder = ""
        self._tasks = TaskQueue(self)
        self.is_idle, self.wait = self._tasks.is_idle, self._tasks.wait

    def search(self, session: Session, element: str = "") -> None:
        """Search the orders of a session's launch; with an element, count its final values over all of them."""
        self._is_stopped = False
        expected = (ElementError, OrderSearchError, SavedLaunchError, RunCancelledError, WorkerError)
        done, failed = partial(self._searched, session), self._fail
        search = partial(self._search, session, element)
        self._tasks.start(Task(search, done, failed, key=(session, element), expected=expected))

    def stop(self) -> bool:
        """End the search after the current run; return True if there was one."""
        was_searching = not self.is_idle()
        self._is_stopped = True
        return was_searching

    def close(self) -> None:
        """Stop; the worker must be closed before."""
        self._is_stopped = True
        self._tasks.close()

    def _search(self, session: Session, element: str) -> SearchResult:
        self._folder = self._folder or str(new_process_folder())
        launch = session.launch if session.scenario else runnable_launch(session.trace, Path(self._folder))
        return search_orders(
            launch,
            self._run,
            LIMITS,
            element=element,
            stopped=lambda: self._is_stopped,
            progress=lambda tried, most: self._tasks.post(self._progressed, tried, most),
        )

    def _run(self, launch: Launch) -> Trace:
        """Trace a launch; begin again if a pane needs the worker."""
        for _ in range(INTERRUPTIONS):
            try:
                return self.jobs.trace_uncached(launch, PATIENCE)
            except RunCancelledError:
                if self._is_stopped:
                    raise
        raise OrderSearchError("The search was interrupted too often by other launches; start it again.")

    def _fail(self, error: BaseException) -> None:
        if not isinstance(error, RunCancelledError):
            self._failed(str(error) or "The search for another order has failed.")
