"""What is done behind a program's back: one task after the other, in a thread that the program does not see."""

from __future__ import annotations

import _thread
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

ROOM = 1 << 27  # bytes that what waits may hold, before the program waits for it too
LEAVING = ("_exit", "abort", "execv", "execve")  # ways out of a process that leave nobody time: of `os`
Task = Callable[[], None]


class BehindProgram:
    """Does tasks in the order in which they come, while the program goes on.

    The thread lives as long as there is something to do, is none of those that the program finds, and is not there
    where it forks. room: bytes that tasks may hold until somebody who comes with another has to wait.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room, self._held = room, 0
        self._tasks: deque[tuple[Task, int]] = deque()  # the first is under way, each with what it holds
        self._failed: list[Task] = []
        self._changed = threading.Condition()
        self._works = False
        self._own = os.getpid()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._rest)

    @property
    def is_idle(self) -> bool:
        """Whether all is done."""
        return not self._tasks

    def do(self, task: Task, nbytes: int) -> None:
        """Have a task done, which holds so many bytes until then."""
        with self._changed:
            self._tasks.append((task, nbytes))
            self._held += nbytes
            if not self._works:
                self._begin()
            self._changed.wait_for(lambda: self._held <= self._room or not self._works)

    def finish(self) -> None:
        """Wait until all is done. What raised something is done again, and raises it here.

        That may have been for the program's builtins, which are in the place of Python's while it runs. Ctrl+C gives
        up what is not under way yet.
        """
        if os.getpid() != self._own:  # a fork of the program's, which has none of it
            return
        try:
            self._rest()
        except KeyboardInterrupt:
            self._give_up()
            raise
        failed, self._failed = self._failed, []
        for task in failed:
            task()

    @contextmanager
    def finished_before_leaving(self) -> Iterator[None]:
        """Finish also where the program leaves by what leaves nobody time, as os._exit."""
        ways = {name: getattr(os, name) for name in LEAVING}

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

    def _rest(self) -> None:
        """Wait until the thread has ended, and do what it has left."""
        with self._changed:
            self._changed.wait_for(lambda: not self._works)
        self._work()

    def _give_up(self) -> None:
        with self._changed:
            while len(self._tasks) > 1:
                self._held -= self._tasks.pop()[1]
            self._changed.wait_for(lambda: not self._works)

    def _begin(self) -> None:
        self._works = True
        try:
            _thread.start_new_thread(self._work, ())
        except RuntimeError:  # no thread is to be had: all is done in the end
            self._works = False

    def _work(self) -> None:
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
            self._works = False
            self._changed.notify_all()
            return False
