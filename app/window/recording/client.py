"""The process that records, as the window speaks to it."""

from __future__ import annotations

import threading

import msgspec
from PySide6.QtCore import QObject, Signal

from ....tracer.processes.json_process import JsonProcess, StartError, module_command
from .messages import Answer, Ask, Failed, Message, Show, Stop, Write, Written

COMMAND = module_command("tilescope.app.window.recorder")
GRACE = 3.0  # seconds in which it may take away what it has half-written


class RecordingProcess(QObject):
    """A process that records one thing that was on screen. answered: with an Answer."""

    answered = Signal(object)

    def __init__(self, show: Show, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process: JsonProcess | None = None
        self._is_closed = self._writes = False
        self._thread = threading.Thread(target=self._listen, daemon=True)
        try:
            self._process = JsonProcess("recording process", COMMAND)
        except StartError as error:
            self._refusal = str(error)
            return
        self._process.send(show)
        self._thread.start()

    @property
    def refusal(self) -> str:
        """Why it could not be started, "" where it was."""
        return "" if self._process else self._refusal

    def ask(self, question: Ask) -> None:
        """Ask what a recording would be; what is asked later makes up for what was asked before."""
        self._send(question)

    def write(self, message: Write) -> None:
        """Record."""
        self._writes = True
        self._send(message)

    def stop(self) -> None:
        """End a recording, which leaves no file; Failed tells that it is so."""
        self._send(Stop())

    def close(self) -> None:
        """End it, once it has taken away what it has half-written."""
        self._is_closed = True
        if self._process is not None:
            if self._writes:
                self._process.end_input()
                self._thread.join(GRACE)
            self._process.end()
            self._process = None

    def _send(self, message: Message) -> None:
        if self._process is not None:
            self._process.send(message)

    def _listen(self) -> None:
        process = self._process
        assert process is not None
        for line in process.lines():
            answer = msgspec.json.decode(line, type=Answer)
            self._writes &= not isinstance(answer, Written | Failed)
            if not self._is_closed:
                self.answered.emit(answer)
        if not self._is_closed:
            self.answered.emit(Failed(f"The recording ended: {process.death()}."))
