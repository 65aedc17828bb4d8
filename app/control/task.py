"""Tasks: work that threads do for the window, one queue for each kind, with results in the window's thread."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QEventLoop, QObject, QRunnable, QThreadPool, Signal

from ..model.nothing import nothing
from .delay import Delay

CLOSING_TIMEOUT = 2000  # milliseconds that closing waits for a thread that cannot be stopped
GONE = "has been deleted"  # part of PySide's message about a deleted object or signal source
_CLOSED: list[QObject] = []  # queues with a thread that did not end in time and still uses them
T = TypeVar("T")


class Task(Generic[T]):
    """One piece of work for a thread; `done`, `failed` and `begun` are called in the window's thread.

    work: returns the result, in the thread. done: gets the result. failed: gets an error; the terminal shows it too
    unless its type is in `expected`. key: identifies the task among those of its queue; None for no other.
    """

    def __init__(
        self,
        work: Callable[[], T],
        done: Callable[[T], object] = nothing,
        failed: Callable[[BaseException], object] = nothing,
        *,
        key: object = None,
        expected: tuple[type[BaseException], ...] = (),
        begun: Callable[[], object] = nothing,
    ) -> None:
        self.work, self.done, self.failed, self.begun = work, done, failed, begun
        self.key, self.expected = key, expected
        self.is_outdated = False  # whether its result is no longer wanted
        self.is_interrupted = False  # whether it was ended early; its result is discarded


class _Runnable(QRunnable):
    """A function without arguments that a QThreadPool calls in one of its threads."""

    def __init__(self, call: Callable[[], None]) -> None:
        super().__init__()
        self._calls = [call]

    def run(self) -> None:
        """Call the function once; Python prints its exceptions, and nothing else is affected."""
        call = self._calls.pop()  # a pool may keep a runnable after its end, which must not keep a trace
        try:
            call()
        except RuntimeError as error:
            if GONE not in str(error):  # the window was deleted, so no one needs the result
                raise


class TaskQueue(QObject):
    """Does tasks in threads, in the order of their requests; only the window's thread calls it, except `post`.

    threads: that work at the same time. delay: milliseconds after the last request before waiting tasks begin; None
    begins immediately. is_free: returns False while waiting tasks have to wait longer. interrupt: ends the running
    work. grace: milliseconds before outdated work is interrupted.
    became_idle: no task runs or waits.
    """

    became_idle = Signal()
    _posted = Signal(object)  # a call from a thread to the window's thread

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        threads: int = 1,
        delay: int | None = None,
        is_free: Callable[[], bool] = lambda: True,
        interrupt: Callable[[], object] = nothing,
        grace: int = 0,
    ) -> None:
        super().__init__(parent)
        self._is_free, self._interrupt_work, self._has_delay = is_free, interrupt, delay is not None
        self._waiting: list[Task[Any]] = []
        self._running: list[Task[Any]] = []
        self.timer = Delay(self, delay or 0, self._begin_waiting)
        self._grace = Delay(self, grace, self.interrupt)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(threads)
        self._pool.setExpiryTimeout(-1)  # a process may end with the thread that started it
        self._posted.connect(self._call)

    def start(self, task: Task[T], *, newest_only: bool = False) -> None:
        """Begin a task as soon as possible, unless there is one with its key, which continues.

        newest_only: makes all others outdated.
        """
        if newest_only:
            self.keep([task.key])
        current = [] if task.key is None else self._tasks_of(task.key)
        if current:
            current[0].is_outdated = False
            self._watch_outdated()
            return
        self._waiting.append(task)
        if self._has_delay:
            self.timer.start()
        else:
            self._begin_waiting()

    def keep(self, keys: Collection[object]) -> None:
        """Drop the waiting tasks with other keys, and interrupt running ones after the grace period."""
        self._waiting = [task for task in self._waiting if task.key in keys]
        for task in self._running:
            task.is_outdated = task.key not in keys
        self._watch_outdated()

    def interrupt(self) -> None:
        """Interrupt the outdated tasks now."""
        outdated = [task for task in self._running if task.is_outdated]
        for task in outdated:
            task.is_interrupted = True
        if outdated:
            self._interrupt_work()

    def is_idle(self) -> bool:
        """Return True if no task runs or waits."""
        return not (self._running or self._waiting)

    def wait(self) -> None:
        """Handle events until no task runs or waits."""
        loop = QEventLoop()
        self.became_idle.connect(loop.quit)
        while not self.is_idle():
            loop.exec()

    def post(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function in the window's thread; any thread may call this."""
        self._posted.emit(partial(function, *arguments))

    def close(self, timeout: int = CLOSING_TIMEOUT) -> bool:
        """Drop and interrupt all tasks, and wait at most `timeout` milliseconds; return True if all threads ended.

        A queue whose thread has not ended outlives its owner: Qt must not delete what a thread uses.
        """
        self.timer.stop()
        self.keep(())
        self._grace.stop()
        self.interrupt()
        if self._pool.waitForDone(timeout):
            return True
        self.setParent(None)
        _CLOSED.append(self)
        return False

    def _tasks_of(self, key: object) -> list[Task[Any]]:
        tasks = (*self._running, *self._waiting)
        return [task for task in tasks if task.key == key and not task.is_interrupted]

    def _watch_outdated(self) -> None:
        """Start the grace period of outdated tasks."""
        if any(task.is_outdated for task in self._running):
            self._grace.start()
        else:
            self._grace.stop()

    def _begin_waiting(self) -> None:
        """Begin waiting tasks while threads are free, unless a timer will call this."""
        if self.timer.isActive():
            return
        if self._waiting and not self._is_free():
            self.timer.start()
            return
        while self._waiting and len(self._running) < self._pool.maxThreadCount():
            task = self._waiting.pop(0)
            self._running.append(task)
            task.begun()
            self._pool.start(_Runnable(partial(self._run, task)))

    def _run(self, task: Task[T]) -> None:
        """Do a task in a thread."""
        try:
            result = task.work()
        except BaseException as error:
            self.post(self._end, task, partial(task.failed, error))
            if not isinstance(error, task.expected):
                raise
        else:
            self.post(self._end, task, partial(self._deliver, task, result))

    def _deliver(self, task: Task[T], result: T) -> None:
        if not task.is_interrupted:
            task.done(result)

    def _end(self, task: Task[T], deliver: Callable[[], object]) -> None:
        self._running.remove(task)
        self._watch_outdated()
        self._begin_waiting()
        deliver()
        if self.is_idle():
            self.became_idle.emit()

    def _call(self, call: Callable[[], object]) -> None:
        call()
