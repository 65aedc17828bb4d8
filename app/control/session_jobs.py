"""Loads sessions from launches and trace files in threads: from memory first, then the cache, then the worker."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, Signal

from ...tracer.model.launch import Launch
from ...tracer.model.trace import Trace
from ...tracer.processes.process_client import RunCancelledError
from ...tracer.run.time_estimate import duration_text
from ...tracer.run.worker_client import LaunchTooSlowError, Worker, WorkerError
from ...tracer.run.worker_events import EARLY_NOTICE
from ...tracer.storage.trace_cache import TraceCache
from ...tracer.storage.trace_file import TraceFileError
from ..model.session import Session, session_of_file, session_of_launch
from .delay import Delay
from .loading import Loading
from .task import Task, TaskQueue

KEPT_SESSIONS = 6  # sessions kept in memory, so that switching between two scenarios is instant

PATIENCE = 10.0  # seconds that a launch may take without a question to the user
CALM_DELAY = 50  # milliseconds after the last session was loaded, so that it is drawn first
FIRST_PAINTING = 1000  # milliseconds that sessions wait at most for the first paint: a window may be covered
GRACE = 300  # milliseconds that a pane waits for a background trace before that one is cancelled

MOST_AHEAD = 16_000_000  # accesses of the sessions in memory, about 1 GB, beyond which no more are prepared

# Accesses of a session whose construction leaves about 100 MB of free memory in glibc's heap.
LARGE = 10_000_000

NO_MEMORY = "There is not enough memory to draw this trace; choose a smaller size or fewer blocks."
NO_MEMORY_FOR_FINDINGS = (
    "There is not enough memory to look for findings in this trace; choose a smaller size."
)
Source = Launch | str  # of a session: a launch, or the path of a trace file


class SessionJobs(QObject):
    """Loads sessions. A new request replaces its owner's earlier one.

    examined: a shown Session has its findings; they are computed once no request waits for a session.
    examining_failed: one sentence with the reason. became_idle: no session is being loaded or examined.
    prepared: a session of `prepare` is loaded (key, ""), or failed (key, one sentence with the reason).
    preparing: (key, blocks done, blocks in all) of the session that is being prepared.
    """

    examined = Signal(object)
    examining_failed = Signal(str)
    became_idle = Signal()
    prepared = Signal(str, str)
    preparing = Signal(str, int, int)

    def __init__(self, worker: Worker, cache: TraceCache | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.worker, self.cache = worker, cache
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._requests: list[Loading] = []  # those that wait
        self._wanted: frozenset[str] = frozenset()  # replaced atomically: the threads read it
        self._in_progress: set[str] = set()
        self._early: dict[str, Session] = {}  # by key, shown until the final session is loaded
        self._loadings: tuple[Loading, ...] = ()  # of all owners; replaced atomically: the threads read it
        self._examining: set[Session] = set()
        self._idle_work: list[Task[None]] = []  # once no pane waits for a picture
        self._has_dropped = False  # True if memory of dropped sessions is not returned yet
        self.calm = Delay(self, CALM_DELAY, self._start_idle_work)
        self._tracing = ""
        self._one_at_a_time = threading.Lock()
        # Loading begins once events are handled.
        self._loading, self._background = TaskQueue(self, threads=2, delay=0), TaskQueue(self)
        self._has_begun = False  # whether the first session is being loaded
        self._loading.timer.timeout.connect(self._begin)
        self._to_prepare: dict[str, Source] = {}  # by key, in the order of preparation
        self._urgent: frozenset[str] = frozenset()  # the keys among them that the user waits for
        self._preparing = ""  # the key of the session in preparation
        self._unpreparable: set[str] = set()  # keys
        self._preparation = TaskQueue(self)
        self._grace = Delay(self, GRACE, self._end_grace)
        self._grace_is_over = False  # whether another request has waited that long

    def load(
        self, source: Source, *, replaces: Loading | None = None, patient: bool = False, early: bool = False
    ) -> Loading:
        """Load the session of a launch or of a trace file; unless `patient`, a slow launch fails.

        replaces: the owner's earlier request, which gets no more. early: whether the owner shows the order of compiled
        code until lockstep's order is ready.
        """
        key = session_key(source)
        loading = Loading(key, replaces.shown if replaces else None, self._cancel)
        self._remove(replaces)
        self._requests.append(loading)
        self._loadings += (loading,)
        if key in self._sessions:
            self._finish(key, self._sessions[key])
            return loading
        self._update()
        if key in self._early:
            loading.show_early(self._early[key])
        if key not in self._in_progress and key != self._preparing:
            self._in_progress.add(key)
            make = partial(self._make_session, key, source, None if patient else PATIENCE, early)
            self._loading.start(_task(make, partial(self._finish, key), partial(self._fail, key)))
        return loading

    def _cancel(self, loading: Loading) -> bool:
        was_waiting = loading in self._requests
        if was_waiting:
            self._requests.remove(loading)
        self._update()
        if was_waiting and loading.key in self._early:
            self._show(loading, without_lockstep(self._early[loading.key], "it was cancelled"))
        return was_waiting

    def drop(self, loading: Loading | None) -> None:
        """End a request whose owner shows nothing, without a callback."""
        self._remove(loading)
        self._update()

    def _remove(self, loading: Loading | None) -> None:
        self._requests = [other for other in self._requests if other is not loading]
        self._loadings = tuple(other for other in self._loadings if other is not loading)
        if loading is not None:
            loading.forget()

    def close(self) -> bool:
        """End the worker and wait briefly for the threads; return True if all have ended."""
        self._requests.clear()
        self._to_prepare = {}
        self._update()
        self.calm.stop()
        self.worker.close()
        ends = [queue.close() for queue in (self._loading, self._background, self._preparation)]
        return all(ends)

    def wait_for_first_paint(self, window: QObject) -> None:
        """Begin once a new window has been painted: Python's threads would compete with it for the GIL."""
        if not self._has_begun:
            window.installEventFilter(self)
            self._loading.timer.setInterval(FIRST_PAINTING)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begin after the first paint of the window."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            self._loading.timer.setInterval(0)
        return False

    def _begin(self) -> None:
        self._has_begun = True
        self._loading.timer.setInterval(0)

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
        self._background.start(Task(partial(self.worker.compile_ahead, tuple(launches))))

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
            patience = None if key in self._urgent else PATIENCE
            prepare = partial(self._prepare, key, self._to_prepare[key], patience)
            take, fail = partial(self._take_prepared, key), partial(self._fail_preparing, key)
            self._preparation.start(_task(prepare, take, fail))

    def _prepare(self, key: str, source: Source, patience: float | None) -> Session:
        """Load a session with its findings in a thread."""
        return self._session(key, source, patience).prepared().with_findings()

    def _take_prepared(self, key: str, session: Session) -> None:
        self._preparing = ""
        self._finish(key, session)
        self.prepared.emit(key, "")
        self._continue_preparing()

    def _fail_preparing(self, key: str, error: BaseException) -> None:
        self._preparing = ""
        reason = _reason(error)
        self._fail(key, reason)
        if isinstance(error, LaunchTooSlowError):
            self._unpreparable |= {key} - self._urgent  # urgent ones are loaded again, with patience
        elif not isinstance(error, RunCancelledError):  # a cancelled one may be loaded later
            self._unpreparable.add(key)
            self.prepared.emit(key, str(reason))
        self._continue_preparing()

    def _continue_preparing(self) -> None:
        if self._urgent:
            self._prepare_next()
        self.calm.start()

    def _update(self) -> None:
        """Publish the wanted keys to the threads, and cancel a trace that is no longer wanted."""
        wanted = {loading.key for loading in self._requests}
        if self._preparing in self._to_prepare and not self._must_yield():
            wanted.add(self._preparing)
        self._wanted = frozenset(wanted)
        if self._tracing and self._tracing not in self._wanted:
            self.worker.cancel()
            self.worker.start()  # warm again before it is needed

    def _must_yield(self) -> bool:
        """Return True if another request has waited longer than the grace period for the preparation."""
        urgent = set() if self._preparing in self._urgent else self._urgent - self._sessions.keys()
        if not {*(loading.key for loading in self._requests), *urgent} - {self._preparing}:
            self._grace.stop()
            self._grace_is_over = False
        elif not (self._grace_is_over or self._grace.isActive()):
            self._grace.start()
        return self._grace_is_over

    def _end_grace(self) -> None:
        self._grace_is_over = True
        self._update()

    def _make_session(self, key: str, source: Source, patience: float | None, early: bool) -> Session:
        """Load a session in a thread; return the memory freed by its construction before its pictures are prepared."""
        session = self._session(key, source, patience, early=early)
        if len(session.trace) > LARGE:
            return_free_memory()
        return session.prepared()

    def _session(self, key: str, source: Source, patience: float | None, *, early: bool = False) -> Session:
        """Load a session in a thread."""
        if isinstance(source, str):
            return session_of_file(Path(source))
        launch = source

        def show(first: Trace) -> None:
            with suppress(MemoryError):
                self._background.post(self._take_early, key, session_of_launch(launch, first).prepared())

        trace = self.cache.get(launch) if self.cache else None
        if trace is None:
            with self._one_at_a_time:
                if key not in self._wanted:
                    raise RunCancelledError
                self._tracing = key
                run = partial(self.worker.run, early=show) if early else self.worker.run
                try:
                    trace = run(
                        launch, partial(self._background.post, self._report_blocks, key), patience=patience
                    )
                finally:
                    self._tracing = ""
            if self.cache:
                self._idle_work.append(Task(partial(self.cache.put, launch, trace)))
        return session_of_launch(launch, trace)

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

    def trace_uncached(self, launch: Launch, patience: float | None = None) -> Trace:
        """Trace a launch as `trace_in_background` does, without the cache: for many launches that are shown once."""
        with self._one_at_a_time:
            return self.worker.run(launch, patience=patience)

    def _finish(self, key: str, session: Session) -> None:
        self._in_progress.discard(key)
        self._sessions[key] = session
        self._sessions.move_to_end(key)
        self._drop_old()
        for loading in self._take_requests(key):
            self._show(loading, session)
        self._schedule_idle_work()

    def _show(self, loading: Loading, session: Session) -> None:
        """Deliver a session, and schedule the search for findings."""
        loading.finish(session)
        if not (session.is_examined or session in self._examining):
            self._examining.add(session)
            self._idle_work.append(self._examination(session))
            self._schedule_idle_work()

    def _take_early(self, key: str, session: Session) -> None:
        """Show an early session until the final one is loaded; look for its findings meanwhile."""
        loadings = self._requests_of(key)
        if not loadings:
            return
        self._early[key] = session
        for loading in loadings:
            loading.show_early(session)
        self._examining.add(session)
        self._background.start(self._examination(session))

    def _keep_early(self, key: str, reason: str) -> bool:
        """Make an early session the final one, since lockstep's order will not follow; return False without one."""
        session = self._early.get(key)
        if session is None:
            return False
        final = without_lockstep(session, reason)
        for loading in self._take_requests(key):
            self._show(loading, final)
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
            self._idle_work.append(Task(return_free_memory))
        while self._idle_work and not self._in_progress:
            self._background.start(self._idle_work.pop(0))
        self._prepare_next()

    def _examination(self, session: Session) -> Task[None]:
        """Make the task that computes the findings of a session that is still shown."""
        end = partial(self._end_examining, session)
        return Task(partial(self._examine, session), end, end, expected=(MemoryError,))

    def _examine(self, session: Session) -> None:
        if any(loading.shown is session for loading in self._loadings):
            session.with_findings()

    def _end_examining(self, session: Session, error: BaseException | None) -> None:
        self._examining.discard(session)
        if session.is_examined:
            self.examined.emit(session)
        if isinstance(error, MemoryError):
            self.examining_failed.emit(NO_MEMORY_FOR_FINDINGS)
        elif error is not None:
            self.examining_failed.emit("The findings could not be computed; the terminal shows the error.")
        if self.is_idle():
            self.became_idle.emit()

    def is_idle(self) -> bool:
        """Return True if no session is being loaded or examined."""
        return not (self._in_progress or self._examining)

    def _fail(self, key: str, failure: BaseException) -> None:
        self._in_progress.discard(key)
        error = _reason(failure)
        reason = str(error).removesuffix(".")
        if isinstance(error, LaunchTooSlowError):
            reason = f"that takes about {duration_text(error.seconds)}"
        if self._keep_early(key, reason):
            return
        for loading in self._take_requests(key):
            loading.fail(error)
        self._schedule_idle_work()

    def _requests_of(self, key: str) -> list[Loading]:
        return [loading for loading in self._requests if loading.key == key]

    def _take_requests(self, key: str) -> list[Loading]:
        """Remove and list the requests for a session."""
        loadings = self._requests_of(key)
        self._requests = [loading for loading in self._requests if loading.key != key]
        self._early.pop(key, None)
        self._update()
        return loadings

    def _report_blocks(self, key: str, done: int, total: int) -> None:
        if key not in self._wanted:
            self._update()  # it was dropped just before it began
        for loading in self._requests_of(key):
            loading.report(done, total)
        if key == self._preparing:
            self.preparing.emit(key, done, total)


def _task(
    work: Callable[[], Session], done: Callable[[Session], None], failed: Callable[[BaseException], None]
) -> Task[Session]:
    """Make a task that loads a session."""
    return Task(work, done, failed, expected=(RunCancelledError, WorkerError, TraceFileError, MemoryError))


def _reason(error: BaseException) -> Exception:
    """Return the error that the user reads instead of one in a thread."""
    if isinstance(error, (WorkerError, TraceFileError)):
        return error
    if isinstance(error, RunCancelledError):
        return WorkerError("The tracing was cancelled.")
    if isinstance(error, MemoryError):
        return WorkerError(NO_MEMORY)
    return WorkerError(
        "The trace could not be prepared for drawing; the terminal shows the error. Choose another size or kernel."
    )


def return_free_memory() -> None:
    """Return freed memory to the system: glibc keeps the free parts of its heap, 20 MB after a few launches."""
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # other C libraries lack it
        ctypes.CDLL(None).malloc_trim(0)


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
