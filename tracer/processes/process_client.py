"""The client of a process of ours: requests, their answers, time limits, and a new process after a crash."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from .json_process import JsonProcess, StartError

Answer = TypeVar("Answer")


class RunCancelledError(Exception):
    """The request was cancelled."""


class ProcessEndedError(Exception):
    """The process ended before its last answer. death: how it ended. is_late: whether the time limit ended it."""

    def __init__(self, name: str, death: str, is_late: bool) -> None:
        super().__init__(f"The {name} ended unexpectedly ({death})")
        self.death, self.is_late = death, is_late


class ProcessClient(Generic[Answer]):
    """Sends requests to a process, one after the other. All methods are thread-safe.

    The process starts with the first request, and again if it has ended. name: such as "tracing process", for
    messages. folder: for its standard error, created where missing; None for the system's. is_single: the process reads
    one request, to the end of its input. restarts: a process that ended within a request is replaced immediately.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        decoder: msgspec.json.Decoder[Answer],
        *,
        folder: Path | None = None,
        is_single: bool = False,
        restarts: bool = False,
    ) -> None:
        self._name, self._command, self._decoder = name, command, decoder
        self._folder, self._is_single, self._restarts = folder, is_single, restarts
        self._process: JsonProcess | None = None
        self._finish: weakref.finalize[..., object] | None = None  # ends the process
        self._turn = threading.Lock()  # held during a conversation
        self._state = threading.Lock()  # guards the process and the following flags
        self._is_busy = self._is_cancelled = self._is_closed = self._is_late = False

    @property
    def pid(self) -> int | None:
        """The process ID, None without a process."""
        process = self._process
        return None if process is None else process.pid

    def start(self) -> None:
        """Start the process if there is none, and return immediately; raises StartError."""
        with self._state:
            if not (self._is_busy or self._is_closed):
                self._running_process()

    def send(self, message: object) -> None:
        """Send a message that has no answer, also during a conversation; starts the process if there is none."""
        with contextlib.suppress(StartError):  # the next request reports it
            self.start()
        process = self._process
        if process is not None:
            with contextlib.suppress(ValueError):  # another thread is ending it
                process.send(message)

    @contextlib.contextmanager
    def conversation(
        self, request: object = None, seconds: float | None = None
    ) -> Iterator[Iterator[Answer]]:
        """Context manager that sends a request after the earlier ones, and gives an iterator of its answers.

        The iterator raises RunCancelledError after `cancel` or `close`, and ProcessEndedError if the process has ended
        otherwise. An exception in the block ends the process. request: None sends nothing. seconds: the time limit.
        Raises StartError.
        """
        with self._turn:
            with self._state:
                if self._is_closed:
                    raise RunCancelledError
                process = self._running_process()
                self._is_busy, self._is_cancelled, self._is_late = True, False, False
            alarm = threading.Timer(seconds or 0, self._give_up, [process])
            alarm.daemon = True
            is_over = False
            try:
                if request is not None:
                    process.send(request)
                if self._is_single:
                    process.end_input()
                if seconds is not None:
                    alarm.start()
                yield self._answers(process)
                process.forget_errors()
                is_over = True
            finally:
                alarm.cancel()
                with self._state:
                    self._is_busy = False
                    if self._is_closed or self._is_cancelled or self._is_single or not is_over:
                        self._end()
                        self._restart()

    def end_input(self) -> None:
        """Close the input of the process: no message follows."""
        process = self._process
        if process is not None:
            process.end_input()

    def cancel(self) -> None:
        """Cancel the current request, if there is one."""
        with self._state:
            if self._is_busy:
                self._is_cancelled = True
                self._kill()

    def rest(self) -> None:
        """End the process if it is idle; the next request starts another."""
        if self._turn.acquire(blocking=False):
            try:
                with self._state:
                    self._end()
            finally:
                self._turn.release()

    def close(self) -> None:
        """Cancel the current request, and all later ones; end the process."""
        with self._state:
            self._is_closed = True
            self._kill()
        self.rest()

    def detach_in_child(self) -> None:
        """In a forked process, release the process, which belongs to the parent."""
        self._is_closed = True
        if self._process is not None and self._finish is not None:
            self._finish.detach()
            self._process.detach_in_child()

    def _answers(self, process: JsonProcess) -> Iterator[Answer]:
        for line in process.lines():
            try:
                answer = self._decoder.decode(line)
            except msgspec.MsgspecError:
                process.end_input()  # which ends it
                break
            yield answer
        death = process.describe_death()
        if self._is_cancelled or self._is_closed:
            raise RunCancelledError
        raise ProcessEndedError(self._name, death, self._is_late)

    def _give_up(self, process: JsonProcess) -> None:
        self._is_late = True
        process.kill()

    def _running_process(self) -> JsonProcess:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            if self._folder is not None:
                with contextlib.suppress(OSError):  # the start reports problems with the folder
                    self._folder.mkdir(
                        0o700, exist_ok=True
                    )  # the system may have cleaned its temporary files
            self._process = JsonProcess(self._name, self._command, self._folder)
            self._finish = weakref.finalize(self, self._process.end)
        return self._process

    def _restart(self) -> None:
        if self._restarts and not self._is_closed:
            with contextlib.suppress(StartError):  # the next request reports it
                self._running_process()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _end(self) -> None:
        self._process = None
        if self._finish is not None:
            self._finish()
