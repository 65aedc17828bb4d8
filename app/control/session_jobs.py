"""From launches and trace files to sessions, off the window's thread: memory first, then the cache, then the worker."""

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
from ...tracer.run.worker_client import Cancelled, TakesLong, Worker, WorkerError
from ...tracer.run.worker_events import EARLY
from ...tracer.storage.trace_cache import TraceCache
from ...tracer.storage.trace_file import TraceFileError
from ..model.session import Session, build_session, scenario_of, session_of_file
from .runnable import CLOSING_TIMEOUT, FunctionRunnable, return_free_memory

KEPT_SESSIONS = 6  # sessions kept in memory, so that going back and forth between two scenarios costs nothing

PATIENCE = 10.0  # seconds that a launch may take without anybody being asked
CALM_DELAY = 50  # milliseconds after the last session came, which belong to drawing it
FIRST_PAINTING = 1000  # milliseconds that sessions wait for a new window to be painted: it may be covered
GRACE = 300  # milliseconds for which a pane waits for a trace made ahead, before that one is given up

MOST_AHEAD = 16_000_000  # accesses of the sessions in memory, about 1 GB, beyond which no more are made ahead

LARGE = 10_000_000  # accesses of a session whose making leaves a hundred megabytes that glibc would keep

NO_MEMORY = "There is not enough memory to draw this trace; choose a smaller size or fewer blocks."
Source = Launch | str  # what a session is made from: a launch, or the path of a trace file


class SessionJobs(QObject):
    """Makes the sessions that the panes ask for; a pane's newer wish replaces its older one.

    ready: (pane, Session). progress: (pane, blocks done, blocks in all), 0 of 0 while nobody knows.
    early: (pane, Session) to be shown until the same wish's is `ready`: lockstep's order is being made.
    failed: (pane, one sentence); failed_at: (pane, WorkerError) before it, where its file and line are known, or the
    launch does not end. takes_long: (pane, Launch, seconds, blocks): all of them would take so long.
    examined: a Session that some pane got has its findings now; they come once no pane waits for a picture.
    examining_failed: one sentence, why there are none. became_idle: nothing is being made or examined any more.
    prepared: a session of `prepare` is there (key, ""), or will not come (key, one sentence why).
    preparing: (key, blocks done, blocks in all) of the one that is being prepared.
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
    _session_made = Signal(str, object)
    _session_failed = Signal(str, object)
    _early_made = Signal(str, object)
    _session_takes_long = Signal(str, object)
    _blocks_done = Signal(str, int, int)
    _preparation_ended = Signal(str, object, object)

    def __init__(self, worker: Worker, cache: TraceCache | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.worker, self.cache = worker, cache
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._wishes: dict[int, str] = {}
        self._wanted: frozenset[str] = frozenset()  # replaced as a whole: the threads read it
        self._under_way: set[str] = set()
        self._early: dict[str, Session] = {}  # by key, what is shown while the session that counts is made
        self._shown: dict[int, Session] = {}  # what each pane got last
        self._examining: set[Session] = set()
        self._later: list[Callable[[], None]] = []  # for a thread, once no pane waits for a picture
        self._dropped = False  # whether sessions were, whose memory is not given back yet
        self.calm = QTimer(self, singleShot=True, interval=CALM_DELAY)
        self.calm.timeout.connect(self._start_later)
        self._tracing = ""
        self._one_at_a_time = threading.Lock()
        self._pool, self._background_pool = QThreadPool(self), QThreadPool(self)
        self._pool.setMaxThreadCount(2)
        self._first: list[Callable[[], None]] = []  # for a thread, once events are handled
        self._is_begun = False  # whether they were
        self._beginning = QTimer(self, singleShot=True, interval=0)
        self._beginning.timeout.connect(self._begin)
        self._background_pool.setMaxThreadCount(1)
        self._ahead: dict[str, Source] = {}  # what is prepared, by key, in the order in which it is wanted
        self._urgent: frozenset[str] = frozenset()  # of those the ones that somebody waits for
        self._preparing = ""  # the key of the one that is being made
        self._left_out: set[str] = set()  # keys of those that can't be prepared
        self._preparing_pool = QThreadPool(self)
        self._preparing_pool.setMaxThreadCount(1)
        self._grace = QTimer(self, singleShot=True, interval=GRACE)
        self._grace.timeout.connect(self._lose_patience)
        self._is_impatient = False  # whether somebody has waited so long for something else
        self._preparation_ended.connect(self._end_preparing)
        self._session_made.connect(self._finish)
        self._session_failed.connect(self._fail)
        self._early_made.connect(self._take_early)
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
        """Make the session of a launch for a pane; unless `patient`, one that takes long is left to be asked about.

        early: whether the pane shows what compiled code did until lockstep's order has been made.
        """
        key = launch.key()
        patience = None if patient else PATIENCE
        self._request(pane, key, lambda: self._traced(key, launch, scenario, patience, early=early))

    def open(self, pane: int, path: str) -> None:
        """Make the session of a trace file for a pane."""
        self._request(pane, _file_key(Path(path)), lambda: session_of_file(Path(path)))

    def cancel(self, pane: int) -> bool:
        """Drop a pane's wish; return whether there was one. What the pane shows early is `ready` then, and says so."""
        key = self._wishes.pop(pane, None)
        self._update()
        if key in self._early:
            self._show(pane, without_lockstep(self._early[key], "it was cancelled"))
        return key is not None

    def drop(self, pane: int) -> None:
        """Drop a pane's wish, of which nothing more is heard."""
        self._wishes.pop(pane, None)
        self._update()

    def close(self) -> bool:
        """End the worker and wait a little for the threads; return whether none is left."""
        self._wishes.clear()
        self._ahead = {}
        self._update()
        self._beginning.stop()
        self.calm.stop()
        self.worker.close()
        pools = (self._pool, self._background_pool, self._preparing_pool)
        for pool in pools:
            pool.clear()
        return all(pool.waitForDone(CLOSING_TIMEOUT) for pool in pools)

    def _request(self, pane: int, key: str, make: Callable[[], Session]) -> None:
        self._wishes[pane] = key
        if key in self._sessions:
            self._finish(key, self._sessions[key])
            return
        self._update()
        if key in self._early:
            self.early.emit(pane, self._early[key])
        else:
            self.progress.emit(pane, 0, 0)
        if key not in self._under_way and key != self._preparing:
            self._under_way.add(key)
            self._start(partial(self._make_session, key, make))

    def give_way(self, window: QObject) -> None:
        """Begin once a window that is being shown has been painted: threads of Python would take turns with it."""
        if not self._is_begun:
            window.installEventFilter(self)
            self._beginning.setInterval(FIRST_PAINTING)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begin after the first painting of the window."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            self._beginning.setInterval(0)
        return False

    def _start(self, work: Callable[[], None]) -> None:
        """Do something in a thread, at first once the window that shares the processor with it had its turn."""
        if self._is_begun:
            self._pool.start(FunctionRunnable(work))
        else:
            self._first.append(work)
            self._beginning.start()

    def _begin(self) -> None:
        self._is_begun = True
        while self._first:
            self._start(self._first.pop(0))

    def held(self, source: Source) -> Session | None:
        """Return the session of a launch or of a file's path where it is in memory."""
        return self._sessions.get(key_of(source))

    def prepare(self, sources: Sequence[Source], urgent: int = 0) -> None:
        """Hold these sessions and no others any more; make those that are missing, their findings too.

        They are made in this order, one after the other, while no pane waits for one. urgent: as many of the first
        somebody waits for: they begin at once and may take long, while the others may take `PATIENCE` and are left
        out where much memory is in use.
        """
        self._ahead = {key_of(source): source for source in sources}
        self._urgent = frozenset(list(self._ahead)[:urgent])
        self._left_out &= self._ahead.keys() - self._urgent
        self._update()
        self._drop_old()
        if self._urgent:
            self._prepare_next()
        self.calm.start()

    def compile_ahead(self, launches: Sequence[Launch]) -> None:
        """Have the kernels of launches that may come next compiled while the worker has nothing else to do.

        They replace those of the call before. A wish of a pane waits for at most one of them, about half a second.
        """
        self._background_pool.start(FunctionRunnable(partial(self.worker.compile_ahead, tuple(launches))))

    def is_prepared(self) -> bool:
        """Return whether nothing is left to be made ahead."""
        return not (self._preparing or self._missing())

    def _missing(self) -> str:
        """Return the key of what is to be prepared next, "" for nothing."""
        missing = (key for key in self._ahead if key not in self._sessions and key not in self._left_out)
        key = next(missing, "")
        full = sum(len(session.trace) for session in self._sessions.values()) > MOST_AHEAD
        return "" if full and key not in self._urgent else key

    def _prepare_next(self) -> None:
        """Make the next of the sessions that are wanted ahead, unless a pane waits for one."""
        key = self._missing()
        if key and not (self._preparing or self._under_way):
            self._preparing = key
            self._update()
            self._preparing_pool.start(FunctionRunnable(partial(self._prepare, key, self._ahead[key])))

    def _prepare(self, key: str, source: Source) -> None:
        """In a thread: make a session with its findings and send it to the window's thread."""
        session: Session | None = None
        result: Exception = WorkerError("The trace could not be prepared for drawing; the terminal says why.")
        try:
            if isinstance(source, str):
                session = session_of_file(Path(source)).prepared().examined()
            else:
                patience = None if key in self._urgent else PATIENCE
                session = self._traced(key, source, scenario_of(source), patience).prepared().examined()
        except (TakesLong, Cancelled, WorkerError, TraceFileError) as error:
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
        elif isinstance(result, TakesLong):
            self._left_out |= {key} - self._urgent  # which are made anew, with patience
            self._postpone(key, result)
        else:
            error = result if str(result) else WorkerError("The tracing was cancelled.")
            self._fail(key, error)
            if not isinstance(result, Cancelled):  # which may be made later
                self._left_out.add(key)
                self.prepared.emit(key, str(error))
        if self._urgent:
            self._prepare_next()
        self.calm.start()

    def _update(self) -> None:
        """Tell the threads what is wanted, and end a trace that nobody wants any more."""
        wanted = set(self._wishes.values())
        if self._preparing in self._ahead and not self._gives_way():
            wanted.add(self._preparing)
        self._wanted = frozenset(wanted)
        if self._tracing and self._tracing not in self._wanted:
            self.worker.cancel()
            self.worker.start()  # warm again before it is needed

    def _gives_way(self) -> bool:
        """Return whether somebody has waited for a while for something else than what is made ahead."""
        urgent = set() if self._preparing in self._urgent else self._urgent - self._sessions.keys()
        if not {*self._wishes.values(), *urgent} - {self._preparing}:
            self._grace.stop()
            self._is_impatient = False
        elif not (self._is_impatient or self._grace.isActive()):
            self._grace.start()
        return self._is_impatient

    def _lose_patience(self) -> None:
        self._is_impatient = True
        self._update()

    def _make_session(self, key: str, make: Callable[[], Session]) -> None:
        """In a thread: make a session and send it to the window's thread."""
        why: Exception | None = WorkerError(
            "The trace could not be prepared for drawing; the terminal says why. Choose another size or kernel."
        )
        try:
            self._session_made.emit(key, _prepared(make()))
            why = None
        except TakesLong as long:
            why = None
            self._session_takes_long.emit(key, long)
        except Cancelled:
            why = WorkerError("The tracing was cancelled.")
        except (WorkerError, TraceFileError) as error:
            why = error
        except MemoryError:
            why = WorkerError(NO_MEMORY)
        finally:
            if why:
                self._session_failed.emit(key, why)

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
                self._early_made.emit(key, build_session(launch, first, scenario).prepared())

        trace = self.cache.get(launch) if self.cache else None
        if trace is None:
            with self._one_at_a_time:
                if key not in self._wanted:
                    raise Cancelled
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
                self._later.append(partial(self.cache.put, launch, trace))
        return build_session(launch, trace, scenario)

    def trace_unshown(self, launch: Launch, patience: float | None = None) -> Trace:
        """In a thread: return the trace of a launch that no pane shows, made between those that panes wait for.

        patience: seconds that it may take, None for any. Raises Cancelled and WorkerError, such as TakesLong.
        """
        trace = self.cache.get(launch) if self.cache else None
        if trace is None:
            with self._one_at_a_time:
                trace = self.worker.run(launch, patience=patience)
            if self.cache:
                self.cache.put(launch, trace)
        return trace

    def _finish(self, key: str, session: Session) -> None:
        self._under_way.discard(key)
        self._sessions[key] = session
        self._sessions.move_to_end(key)
        self._drop_old()
        for pane in self._served(key):
            self._show(pane, session)
        self._rest()

    def _show(self, pane: int, session: Session) -> None:
        """Give a pane its session, whose findings come later."""
        self._shown[pane] = session
        self.ready.emit(pane, session)
        if not (session.is_examined or session in self._examining):
            self._examining.add(session)
            self._later.append(partial(self._examine, session))
            self._rest()

    def _take_early(self, key: str, session: Session) -> None:
        """Show a session until the one that counts has been made; its findings are looked for meanwhile."""
        panes = [pane for pane, wish in self._wishes.items() if wish == key]
        if not panes:
            return
        self._early[key] = session
        for pane in panes:
            self._shown[pane] = session
            self.early.emit(pane, session)
        self._examining.add(session)
        self._background_pool.start(FunctionRunnable(partial(self._examine, session)))

    def _keep_early(self, key: str, why: str) -> bool:
        """Leave it at what is shown early, if anything is, since the session that counts will not come."""
        session = self._early.get(key)
        if session is None:
            return False
        kept = without_lockstep(session, why)
        for pane in self._served(key):
            self._show(pane, kept)
        self._rest()
        return True

    def _drop_old(self) -> None:
        """Keep the sessions that were asked for last, and those that are wanted ahead."""
        old = [key for key in self._sessions if key not in self._ahead]
        for key in old[: max(0, len(old) - KEPT_SESSIONS)]:
            del self._sessions[key]
            self._dropped = True

    def _rest(self) -> None:
        """Do what can wait a little later, since a session may be drawn just now."""
        if (self._later or self._dropped or self._missing()) and not self._under_way:
            self.calm.start()

    def _start_later(self) -> None:
        """Do now what could wait, unless another session is being made: the end of that one comes back here."""
        if self._dropped and not self._under_way:
            self._dropped = False
            self._later.append(return_free_memory)
        while self._later and not self._under_way:
            self._background_pool.start(FunctionRunnable(self._later.pop(0)))
        self._prepare_next()

    def _examine(self, session: Session) -> None:
        """In a thread: find out what is worth telling about a session that is still shown."""
        why = "The findings could not be worked out; the terminal says why."
        try:
            if session in tuple(self._shown.values()):
                session.examined()
            why = ""
        except MemoryError:
            why = "There is not enough memory to look for findings in this trace; choose a smaller size."
        finally:
            self._examination_ended.emit(session, why)

    def _end_examining(self, session: Session, why: str) -> None:
        self._examining.discard(session)
        if session.is_examined:
            self.examined.emit(session)
        if why:
            self.examining_failed.emit(why)
        if self.is_idle():
            self.became_idle.emit()

    def is_idle(self) -> bool:
        """Return whether no session is being made or examined."""
        return not (self._under_way or self._examining)

    def _fail(self, key: str, error: Exception) -> None:
        self._under_way.discard(key)
        if self._keep_early(key, str(error).removesuffix(".")):
            return
        for pane in self._served(key):
            if isinstance(error, WorkerError) and error.file:
                self.failed_at.emit(pane, error)
            self.failed.emit(pane, str(error))
        self._rest()

    def _postpone(self, key: str, long: TakesLong) -> None:
        self._under_way.discard(key)
        if self._keep_early(key, f"that takes about {duration_text(long.seconds)}"):
            return
        for pane in self._served(key):
            self.takes_long.emit(pane, long.launch, long.seconds, long.blocks)
        self._rest()

    def _served(self, key: str) -> list[int]:
        """Return the panes that wanted this, whose wish is now fulfilled."""
        panes = [pane for pane, wish in self._wishes.items() if wish == key]
        for pane in panes:
            del self._wishes[pane]
        self._early.pop(key, None)
        self._update()
        return panes

    def _report_blocks(self, key: str, done: int, total: int) -> None:
        if key not in self._wanted:
            self._update()  # it was dropped just before it began
        for pane, wish in self._wishes.items():
            if wish == key:
                self.progress.emit(pane, done, total)
        if key == self._preparing:
            self.preparing.emit(key, done, total)


def _prepared(session: Session) -> Session:
    """Return a session with what its pictures need, which takes memory: first what it took to make it is given back."""
    if len(session.trace) > LARGE:
        return_free_memory()
    return session.prepared()


def without_lockstep(session: Session, why: str) -> Session:
    """Return an early session whose trace says that lockstep's order was not made, and why."""
    said = f"Its threads ran one after the other; the order of lockstep was not made: {why}."
    kept = replace(session, trace=replace(session.trace, notice=session.trace.notice.replace(EARLY, said)))
    vars(kept).update(vars(session))  # what was computed of it
    return kept


def key_of(source: Source) -> str:
    """Return the key of a session: that of the launch, or of the file as it is now."""
    return source.key() if isinstance(source, Launch) else _file_key(Path(source))


def _file_key(path: Path) -> str:
    """Return a key that changes when the file does, in letters that a signal of Qt's brings over as they are."""
    try:
        found = path.stat()
    except OSError:
        return ascii(path)
    return f"{path.resolve()!a} {found.st_size} {found.st_mtime_ns}"
