"""Loads sessions from launches and trace files in threads: from memory first, then the cache, then the worker."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, QThreadPool, QTimer, Signal

from ...kernels.scenarios.catalogue import Scenario
from ...tracer.model.launch import Launch
from ...tracer.model.trace import Trace
from ...tracer.run.time_estimate import duration_text
from ...tracer.run.worker_client import LaunchTooSlowError, RunCancelledError, Worker, WorkerError
from ...tracer.run.worker_events import EARLY_NOTICE
from ...tracer.storage.trace_cache import TraceCache
from ...tracer.storage.trace_file import TraceFileError
from ..model.session import Session, build_session, scenario_of, session_of_file
from .runnable import CLOSING_TIMEOUT, FunctionRunnable, return_free_memory

KEPT_SESSIONS = 6  # sessions kept in memory, so that switching between two scenarios is instant

PATIENCE = 10.0  # seconds that a launch may take without a question to the user
CALM_DELAY = 50  # milliseconds after the last session was loaded, so that it is drawn first
FIRST_PAINTING = 1000  # milliseconds that sessions wait at most for the first paint: a window may be covered
GRACE = 300  # milliseconds that a pane waits for a background trace before that one is cancelled

MOST_AHEAD = 16_000_000  # accesses of the sessions in memory, about 1 GB, beyond which no more are prepared

# Accesses of a session whose construction leaves about 100 MB of free memory in glibc's heap.
LARGE = 10_000_000

NO_MEMORY = "There is not enough memory to draw this trace; choose a smaller size or fewer blocks."
Source = Launch | str  # of a session: a launch, or the path of a trace file


class SessionJobs(QObject):
    """Loads sessions for panes. A pane's latest request replaces its earlier one.

    ready: (pane, Session). progress: (pane, blocks done, blocks in all), 0 of 0 while the total is unknown.
    early: (pane, Session) to be shown until the session of the same request, in lockstep's order, is `ready`.
    failed: (pane, one sentence); failed_at: (pane, WorkerError) before it, if its file and line are known or the
    launch does not end. takes_long: (pane, Launch, seconds, blocks): the estimated time of all blocks.
    examined: a Session of a pane has its findings; they are computed once no pane waits for a picture.
    examining_failed: one sentence with the reason. became_idle: no session is being loaded or examined.
    prepared: a session of `prepare` is loaded (key, ""), or failed (key, one sentence with the reason).
    preparing: (key, blocks done, blocks in all) of the session that is being prepared.
    """

    ready = Signal(int, object)
    progress = Signal(int, int, int)
    early = Signal(int, object)
    failed_at = Signal(int, object)
    failed = Signal(int, str)
    takes_long = Signal(int, object, float, int)
    examined = Signal(object)
    examining_failed = Signal(str)
    became_idle = Signal()
    prepared = Signal(str, str)
    preparing = Signal(str, int, int)
    _examination_ended = Signal(object, str)
    _session_loaded = Signal(str, object)
    _session_failed = Signal(str, object)
    _early_loaded = Signal(str, object)
    _session_takes_long = Signal(str, object)
    _blocks_done = Signal(str, int, int)
    _preparation_ended = Signal(str, object, object)

    def __init__(self, worker: Worker, cache: TraceCache | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.worker, self.cache = worker, cache
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._requests: dict[int, str] = {}
        self._wanted: frozenset[str] = frozenset()  # replaced atomically: the threads read it
        self._in_progress: set[str] = set()
        self._early: dict[str, Session] = {}  # by key, shown until the final session is loaded
        self._shown: dict[int, Session] = {}  # the latest session of each pane
        self._examining: set[Session] = set()
        self._idle_work: list[Callable[[], None]] = []  # for a thread, once no pane waits for a picture
        self._has_dropped = False  # True if memory of dropped sessions is not returned yet
        self.calm = QTimer(self, singleShot=True, interval=CALM_DELAY)
        self.calm.timeout.connect(self._start_idle_work)
        self._tracing = ""
        self._one_at_a_time = threading.Lock()
        self._pool, self._background_pool = QThreadPool(self), QThreadPool(self)
        self._pool.setMaxThreadCount(2)
        self._deferred: list[
            Callable[[], None]
        ] = []  # for a thread, once events are handled for the first time
        self._has_begun = False  # whether events were handled
        self._begin_timer = QTimer(self, singleShot=True, interval=0)
        self._begin_timer.timeout.connect(self._begin)
        self._background_pool.setMaxThreadCount(1)
        self._to_prepare: dict[str, Source] = {}  # by key, in the order of preparation
        self._urgent: frozenset[str] = frozenset()  # the keys among them that the user waits for
        self._preparing = ""  # the key of the session in preparation
        self._unpreparable: set[str] = set()  # keys
        self._preparing_pool = QThreadPool(self)
        self._preparing_pool.setMaxThreadCount(1)
        self._grace = QTimer(self, singleShot=True, interval=GRACE)
        self._grace.timeout.connect(self._end_grace)
        self._grace_is_over = False  # whether another request has waited that long
        self._preparation_ended.connect(self._end_preparing)
        self._session_loaded.connect(self._finish)
        self._session_failed.connect(self._fail)
        self._early_loaded.connect(self._take_early)
        self._session_takes_long.connect(self._postpone)
        self._blocks_done.connect(self._report_blocks)
        self._examination_ended.connect(self._end_examining)

    def trace(
        self,
        pane: int,
        launch: Launch,
        scenario: Scenario | None,
        *,
        patient: bool = False,
        early: bool = False,
    ) -> None:
        """Load the session of a launch for a pane; unless `patient`, a slow launch emits `takes_long` instead.

        early: whether the pane shows the order of compiled code until lockstep's order is ready.
        """
        key = launch.key()
        patience = None if patient else PATIENCE
        self._request(pane, key, lambda: self._traced(key, launch, scenario, patience, early=early))

    def open(self, pane: int, path: str) -> None:
        """Load the session of a trace file for a pane."""
        self._request(pane, _file_key(Path(path)), lambda: session_of_file(Path(path)))

    def cancel(self, pane: int) -> bool:
        """Drop a pane's request; return True if there was one. An early session becomes `ready`, with a notice."""
        key = self._requests.pop(pane, None)
        self._update()
        if key in self._early:
            self._show(pane, without_lockstep(self._early[key], "it was cancelled"))
        return key is not None

    def drop(self, pane: int) -> None:
        """Drop a pane's request without a signal."""
        self._requests.pop(pane, None)
        self._update()

    def close(self) -> bool:
        """End the worker and wait briefly for the threads; return True if all have ended."""
        self._requests.clear()
        self._to_prepare = {}
        self._update()
        self._begin_timer.stop()
        self.calm.stop()
        self.worker.close()
        pools = (self._pool, self._background_pool, self._preparing_pool)
        for pool in pools:
            pool.clear()
        return all(pool.waitForDone(CLOSING_TIMEOUT) for pool in pools)

    def _request(self, pane: int, key: str, make: Callable[[], Session]) -> None:
        self._requests[pane] = key
        if key in self._sessions:
            self._finish(key, self._sessions[key])
            return
        self._update()
        if key in self._early:
            self.early.emit(pane, self._early[key])
        else:
            self.progress.emit(pane, 0, 0)
        if key not in self._in_progress and key != self._preparing:
            self._in_progress.add(key)
            self._start(partial(self._make_session, key, make))

    def wait_for_first_paint(self, window: QObject) -> None:
        """Begin once a new window has been painted: Python's threads would compete with it for the GIL."""
        if not self._has_begun:
            window.installEventFilter(self)
            self._begin_timer.setInterval(FIRST_PAINTING)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begin after the first paint of the window."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            self._begin_timer.setInterval(0)
        return False

    def _start(self, work: Callable[[], None]) -> None:
        """Run work in a thread; before the first events are handled, defer it."""
        if self._has_begun:
            self._pool.start(FunctionRunnable(work))
        else:
            self._deferred.append(work)
            self._begin_timer.start()

    def _begin(self) -> None:
        self._has_begun = True
        while self._deferred:
            self._start(self._deferred.pop(0))

    def session_in_memory(self, source: Source) -> Session | None:
        """Return the session of a launch or of a file's path if it is in memory, else None."""
        return self._sessions.get(session_key(source))

    def prepare(self, sources: Sequence[Source], urgent: int = 0) -> None:
        """Keep only these sessions from now on; load the missing ones with their findings.

        They are loaded in this order, one after the other, while no pane waits for one. urgent: the user waits for
        this many of the first sources. They start at once and may take long; the others may take `PATIENCE`, and are
        skipped if much memory is in use.
        """
        self._to_prepare = {session_key(source): source for source in sources}
        self._urgent = frozenset(list(self._to_prepare)[:urgent])
        self._unpreparable &= self._to_prepare.keys() - self._urgent
        self._update()
        self._drop_old()
        if self._urgent:
            self._prepare_next()
        self.calm.start()

    def compile_ahead(self, launches: Sequence[Launch]) -> None:
        """Compile the kernels of launches that may follow while the worker is idle.

        They replace those of the previous call. A pane's request waits for at most one of them, about half a second.
        """
        self._background_pool.start(FunctionRunnable(partial(self.worker.compile_ahead, tuple(launches))))

    def is_prepared(self) -> bool:
        """Return True if nothing is left to prepare."""
        return not (self._preparing or self._next_to_prepare())

    def _next_to_prepare(self) -> str:
        """Return the key of the next session to prepare, "" for none."""
        missing = (
            key for key in self._to_prepare if key not in self._sessions and key not in self._unpreparable
        )
        key = next(missing, "")
        full = sum(len(session.trace) for session in self._sessions.values()) > MOST_AHEAD
        return "" if full and key not in self._urgent else key

    def _prepare_next(self) -> None:
        """Prepare the next session, unless a pane waits for one."""
        key = self._next_to_prepare()
        if key and not (self._preparing or self._in_progress):
            self._preparing = key
            self._update()
            self._preparing_pool.start(FunctionRunnable(partial(self._prepare, key, self._to_prepare[key])))

    def _prepare(self, key: str, source: Source) -> None:
        """Load a session with its findings in a thread and send it to the window's thread."""
        session: Session | None = None
        result: Exception = WorkerError(
            "The trace could not be prepared for drawing; the terminal shows the error."
        )
        try:
            if isinstance(source, str):
                session = session_of_file(Path(source)).prepared().with_findings()
            else:
                patience = None if key in self._urgent else PATIENCE
                session = self._traced(key, source, scenario_of(source), patience).prepared().with_findings()
        except (LaunchTooSlowError, RunCancelledError, WorkerError, TraceFileError) as error:
            result = error
        except MemoryError:
            result = WorkerError(NO_MEMORY)
        finally:
            self._preparation_ended.emit(key, session, result)

    def _end_preparing(self, key: str, session: Session | None, result: Exception) -> None:
        self._preparing = ""
        if session is not None:
            self._finish(key, session)
            self.prepared.emit(key, "")
        elif isinstance(result, LaunchTooSlowError):
            self._unpreparable |= {key} - self._urgent  # urgent ones are loaded again, with patience
            self._postpone(key, result)
        else:
            error = result if str(result) else WorkerError("The tracing was cancelled.")
            self._fail(key, error)
            if not isinstance(result, RunCancelledError):  # a cancelled one may be loaded later
                self._unpreparable.add(key)
                self.prepared.emit(key, str(error))
        if self._urgent:
            self._prepare_next()
        self.calm.start()

    def _update(self) -> None:
        """Publish the wanted keys to the threads, and cancel a trace that is no longer wanted."""
        wanted = set(self._requests.values())
        if self._preparing in self._to_prepare and not self._must_yield():
            wanted.add(self._preparing)
        self._wanted = frozenset(wanted)
        if self._tracing and self._tracing not in self._wanted:
            self.worker.cancel()
            self.worker.start()  # warm again before it is needed

    def _must_yield(self) -> bool:
        """Return True if another request has waited longer than the grace period for the preparation."""
        urgent = set() if self._preparing in self._urgent else self._urgent - self._sessions.keys()
        if not {*self._requests.values(), *urgent} - {self._preparing}:
            self._grace.stop()
            self._grace_is_over = False
        elif not (self._grace_is_over or self._grace.isActive()):
            self._grace.start()
        return self._grace_is_over

    def _end_grace(self) -> None:
        self._grace_is_over = True
        self._update()

    def _make_session(self, key: str, make: Callable[[], Session]) -> None:
        """Load a session in a thread and send it to the window's thread."""
        failure: Exception | None = WorkerError(
            "The trace could not be prepared for drawing; the terminal shows the error. Choose another size or kernel."
        )
        try:
            self._session_loaded.emit(key, _prepared(make()))
            failure = None
        except LaunchTooSlowError as estimate:
            failure = None
            self._session_takes_long.emit(key, estimate)
        except RunCancelledError:
            failure = WorkerError("The tracing was cancelled.")
        except (WorkerError, TraceFileError) as error:
            failure = error
        except MemoryError:
            failure = WorkerError(NO_MEMORY)
        finally:
            if failure:
                self._session_failed.emit(key, failure)

    def _traced(
        self,
        key: str,
        launch: Launch,
        scenario: Scenario | None,
        patience: float | None,
        *,
        early: bool = False,
    ) -> Session:
        def show(first: Trace) -> None:
            with suppress(MemoryError):
                self._early_loaded.emit(key, build_session(launch, first, scenario).prepared())

        trace = self.cache.get(launch) if self.cache else None
        if trace is None:
            with self._one_at_a_time:
                if key not in self._wanted:
                    raise RunCancelledError
                self._tracing = key
                run = partial(self.worker.run, early=show) if early else self.worker.run
                try:
                    trace = run(
                        launch,
                        lambda done, total: self._blocks_done.emit(key, done, total),
                        patience=patience,
                    )
                finally:
                    self._tracing = ""
            if self.cache:
                self._idle_work.append(partial(self.cache.put, launch, trace))
        return build_session(launch, trace, scenario)

    def trace_in_background(self, launch: Launch, patience: float | None = None) -> Trace:
        """Trace a launch that no pane shows, in a thread, between the traces that panes wait for.

        patience: the longest time in seconds, None for no limit. Raises Cancelled, LaunchTooSlowError and other
        WorkerErrors.
        """
        trace = self.cache.get(launch) if self.cache else None
        if trace is None:
            with self._one_at_a_time:
                trace = self.worker.run(launch, patience=patience)
            if self.cache:
                self.cache.put(launch, trace)
        return trace

    def _finish(self, key: str, session: Session) -> None:
        self._in_progress.discard(key)
        self._sessions[key] = session
        self._sessions.move_to_end(key)
        self._drop_old()
        for pane in self._take_requests(key):
            self._show(pane, session)
        self._schedule_idle_work()

    def _show(self, pane: int, session: Session) -> None:
        """Send a pane its session, and schedule the search for findings."""
        self._shown[pane] = session
        self.ready.emit(pane, session)
        if not (session.is_examined or session in self._examining):
            self._examining.add(session)
            self._idle_work.append(partial(self._examine, session))
            self._schedule_idle_work()

    def _take_early(self, key: str, session: Session) -> None:
        """Show an early session until the final one is loaded; look for its findings meanwhile."""
        panes = [pane for pane, requested in self._requests.items() if requested == key]
        if not panes:
            return
        self._early[key] = session
        for pane in panes:
            self._shown[pane] = session
            self.early.emit(pane, session)
        self._examining.add(session)
        self._background_pool.start(FunctionRunnable(partial(self._examine, session)))

    def _keep_early(self, key: str, reason: str) -> bool:
        """Make an early session the final one, since lockstep's order will not follow; return False without one."""
        session = self._early.get(key)
        if session is None:
            return False
        final = without_lockstep(session, reason)
        for pane in self._take_requests(key):
            self._show(pane, final)
        self._schedule_idle_work()
        return True

    def _drop_old(self) -> None:
        """Keep the sessions that were requested last and those to prepare."""
        old = [key for key in self._sessions if key not in self._to_prepare]
        for key in old[: max(0, len(old) - KEPT_SESSIONS)]:
            del self._sessions[key]
            self._has_dropped = True

    def _schedule_idle_work(self) -> None:
        """Schedule the deferred work for later, since a session may be in drawing now."""
        if (self._idle_work or self._has_dropped or self._next_to_prepare()) and not self._in_progress:
            self.calm.start()

    def _start_idle_work(self) -> None:
        """Start the deferred work, unless a session is being loaded; its end schedules this again."""
        if self._has_dropped and not self._in_progress:
            self._has_dropped = False
            self._idle_work.append(return_free_memory)
        while self._idle_work and not self._in_progress:
            self._background_pool.start(FunctionRunnable(self._idle_work.pop(0)))
        self._prepare_next()

    def _examine(self, session: Session) -> None:
        """Compute the findings of a session that is still shown, in a thread."""
        message = "The findings could not be computed; the terminal shows the error."
        try:
            if session in tuple(self._shown.values()):
                session.with_findings()
            message = ""
        except MemoryError:
            message = "There is not enough memory to look for findings in this trace; choose a smaller size."
        finally:
            self._examination_ended.emit(session, message)

    def _end_examining(self, session: Session, message: str) -> None:
        self._examining.discard(session)
        if session.is_examined:
            self.examined.emit(session)
        if message:
            self.examining_failed.emit(message)
        if self.is_idle():
            self.became_idle.emit()

    def is_idle(self) -> bool:
        """Return True if no session is being loaded or examined."""
        return not (self._in_progress or self._examining)

    def _fail(self, key: str, error: Exception) -> None:
        self._in_progress.discard(key)
        if self._keep_early(key, str(error).removesuffix(".")):
            return
        for pane in self._take_requests(key):
            if isinstance(error, WorkerError) and error.file:
                self.failed_at.emit(pane, error)
            self.failed.emit(pane, str(error))
        self._schedule_idle_work()

    def _postpone(self, key: str, estimate: LaunchTooSlowError) -> None:
        self._in_progress.discard(key)
        if self._keep_early(key, f"that takes about {duration_text(estimate.seconds)}"):
            return
        for pane in self._take_requests(key):
            self.takes_long.emit(pane, estimate.launch, estimate.seconds, estimate.blocks)
        self._schedule_idle_work()

    def _take_requests(self, key: str) -> list[int]:
        """Remove the requests for a session and list their panes."""
        panes = [pane for pane, requested in self._requests.items() if requested == key]
        for pane in panes:
            del self._requests[pane]
        self._early.pop(key, None)
        self._update()
        return panes

    def _report_blocks(self, key: str, done: int, total: int) -> None:
        if key not in self._wanted:
            self._update()  # it was dropped just before it began
        for pane, requested in self._requests.items():
            if requested == key:
                self.progress.emit(pane, done, total)
        if key == self._preparing:
            self.preparing.emit(key, done, total)


def _prepared(session: Session) -> Session:
    """Prepare a session's pictures; return the memory freed by its construction first."""
    if len(session.trace) > LARGE:
        return_free_memory()
    return session.prepared()


def without_lockstep(session: Session, reason: str) -> Session:
    """Return an early session with a notice that lockstep's order is missing, and the reason."""
    note = f"Its threads ran one after the other; lockstep's order is not available: {reason}."
    final = replace(
        session, trace=replace(session.trace, notice=session.trace.notice.replace(EARLY_NOTICE, note))
    )
    vars(final).update(vars(session))  # what was computed of it
    return final


def session_key(source: Source) -> str:
    """Compute the key of a session from its launch, or from the current state of its file."""
    return source.key() if isinstance(source, Launch) else _file_key(Path(source))


def _file_key(path: Path) -> str:
    """Return a key that changes with the file, in ASCII, which Qt's signals carry unchanged."""
    try:
        status = path.stat()
    except OSError:
        return ascii(path)
    return f"{path.resolve()!a} {status.st_size} {status.st_mtime_ns}"
