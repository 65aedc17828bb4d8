"""The window's client of the rendering process."""

from __future__ import annotations

import threading

import msgspec
from PySide6.QtCore import QObject, Signal

from ....tracer.processes.json_process import JsonProcess, StartError, module_command
from .messages import Answer, Ask, Failed, Message, Show, Stop, Write, Written

COMMAND = module_command("tilescope.app.window.film_renderer")
GRACE = 3.0  # seconds that it has to remove an unfinished file


class RenderingProcess(QObject):
    """A process that renders one state of the window. answered: with an Answer."""

    answered = Signal(object)

    def __init__(self, show: Show, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process: JsonProcess | None = None
        self._is_closed = self._writes = False
        self._thread = threading.Thread(target=self._listen, daemon=True)
        try:
            self._process = JsonProcess("rendering process", COMMAND)
        except StartError as error:
            self._refusal = str(error)
            return
        self._process.send(show)
        self._thread.start()

    @property
    def refusal(self) -> str:
        """The reason why it could not be started, "" if it was."""
        return "" if self._process else self._refusal

    def ask(self, question: Ask) -> None:
        """Ask for a preview and an estimate; a later question replaces an earlier one."""
        self._send(question)

    def write(self, message: Write) -> None:
        """Render the film."""
        self._writes = True
        self._send(message)

    def stop(self) -> None:
        """Stop rendering without a file; the answer is Failed."""
        self._send(Stop())

    def close(self) -> None:
        """End the process, after it has removed an unfinished file."""
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
            self.answered.emit(Failed(f"Rendering failed: {process.describe_death()}."))
