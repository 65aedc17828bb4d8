"""Background work during a program: one task after the other, in a thread that the program does not see."""

from __future__ import annotations

import _thread
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

MAX_QUEUED_BYTES = 1 << 27  # bytes that queued tasks may hold before the program has to wait
EXIT_FUNCTIONS = ("_exit", "abort", "execv", "execve")  # functions of `os` that end the process at once
Task = Callable[[], None]


class BackgroundWriter:
    """Runs tasks in order while the program continues.

    The thread lives as long as there are tasks, is invisible to the program, and is joined before a fork. room: bytes
    that queued tasks may hold; a caller with more has to wait.
    """

    def __init__(self, room: int = MAX_QUEUED_BYTES) -> None:
        self._room, self._held = room, 0
        self._tasks: deque[tuple[Task, int]] = deque()  # the first one runs, each with its bytes
        self._failed: list[Task] = []
        self._changed = threading.Condition()
        self._is_running = False
        self._process = os.getpid()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._drain)

    @property
    def is_idle(self) -> bool:
        """Whether no task is left."""
        return not self._tasks

    def do(self, task: Task, nbytes: int) -> None:
        """Queue a task, which holds so many bytes until it has run."""
        with self._changed:
            self._tasks.append((task, nbytes))
            self._held += nbytes
            if not self._is_running:
                self._start_thread()
            self._changed.wait_for(lambda: self._held <= self._room or not self._is_running)

    def finish(self) -> None:
        """Wait for all tasks. A task that raised runs again here, and its exception propagates.

        It may have failed because the program replaces Python's builtins while it runs. Ctrl+C drops the tasks that
        have not started.
        """
        if os.getpid() != self._process:  # a fork of the program, which has no tasks
            return
        try:
            self._drain()
        except KeyboardInterrupt:
            self._give_up()
            raise
        failed, self._failed = self._failed, []
        for task in failed:
            task()

    @contextmanager
    def finished_before_leaving(self) -> Iterator[None]:
        """Finish the tasks also if the program calls a function that ends the process at once, such as os._exit."""
        ways = {name: getattr(os, name) for name in EXIT_FUNCTIONS}

        def finishing(leave: Callable[..., Any]) -> Callable[..., Any]:
            def finish_and_leave(*arguments: Any) -> Any:
                self.finish()
                return leave(*arguments)

            return finish_and_leave

        for name, leave in ways.items():
            setattr(os, name, finishing(leave))
        try:
            yield
        finally:
            for name, leave in ways.items():
                setattr(os, name, leave)

    def _drain(self) -> None:
        """Wait until the thread has ended, and run the tasks that it left."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_running)
        self._run_tasks()

    def _give_up(self) -> None:
        with self._changed:
            while len(self._tasks) > 1:
                self._held -= self._tasks.pop()[1]
            self._changed.wait_for(lambda: not self._is_running)

    def _start_thread(self) -> None:
        self._is_running = True
        try:
            _thread.start_new_thread(self._run_tasks, ())
        except RuntimeError:  # no thread can be started: the tasks run at the end
            self._is_running = False

    def _run_tasks(self) -> None:
        while self._has_task():
            task, nbytes = self._tasks[0]
            try:
                task()
            except Exception:  # noqa: BLE001  # see `finish`
                self._failed.append(task)
            del task
            with self._changed:
                self._tasks.popleft()
                self._held -= nbytes
                self._changed.notify_all()

    def _has_task(self) -> bool:
        with self._changed:
            if self._tasks:
                return True
            self._is_running = False
            self._changed.notify_all()
            return False
