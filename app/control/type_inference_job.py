"""What Numba's type inference says of the kernels on stage: asked aside, in a process of its own, and added later."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from ...tracer.model.launch import Launch
from ...tracer.type_inference.client import Operation, TypeInference, may_have_operations, types_only
from ..model.session import Session
from .session_jobs import CLOSING_TIMEOUT, FunctionRunnable

Operations = tuple[Operation, ...]
DELAY = 2000  # milliseconds of peace after a session was loaded: the first frames come first


class TypeInferenceJob(QObject):
    """Adds the float64 arithmetic of kernels to their sessions.

    found: a session has findings that it had not before.
    """

    found = Signal(object)
    _answered = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._inference = TypeInference()
        self._known: dict[str, Operations] = {}
        self._questions: dict[str, Launch] = {}  # those that are not asked yet
        self._waiting: dict[str, list[Session]] = {}
        self.soon = QTimer(self, singleShot=True, interval=DELAY)
        self.soon.timeout.connect(self._start)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._answered.connect(self._take)

    def ask(self, session: Session) -> None:
        """Find out about a session's kernel; of types that were asked about before it is known at once."""
        if not may_have_operations(session.launch):
            return
        question = types_only(session.launch)
        key = question.key()
        if key in self._known:
            self._add_to(session, self._known[key])
            return
        if key not in self._waiting:
            self._questions[key] = question
            self.soon.start()
        self._waiting.setdefault(key, []).append(session)

    def is_idle(self) -> bool:
        """Return whether nothing is being found out."""
        return not self._waiting

    def close(self) -> None:
        """Find out nothing more."""
        self.soon.stop()
        self._pool.clear()
        self._inference.close()
        self._pool.waitForDone(CLOSING_TIMEOUT)

    def _start(self) -> None:
        questions, self._questions = self._questions, {}
        self._pool.start(FunctionRunnable(partial(self._infer, questions)))

    def _infer(self, questions: dict[str, Launch]) -> None:
        """In the thread: wait for the answers."""
        answers = self._inference.operations_of(list(questions.values()))
        for key, operations in zip(questions, answers, strict=True):
            self._answered.emit(key, operations)

    def _take(self, key: str, operations: Operations) -> None:
        self._known[key] = operations
        for session in self._waiting.pop(key, []):
            self._add_to(session, operations)

    def _add_to(self, session: Session, operations: Operations) -> None:
        if session.add_operations(operations):
            self.found.emit(session)
