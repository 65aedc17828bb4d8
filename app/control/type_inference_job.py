"""What Numba's compiler makes of the kernels on stage: asked aside, in a process of its own, and added later."""

from __future__ import annotations

from functools import partial
from weakref import WeakSet

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from ...tracer.model.launch import is_python_program
from ...tracer.storage.folders import cache_folder
from ...tracer.type_inference.client import (
    Answer,
    SourceQuestion,
    TypeInference,
    can_be_asked,
    source_question,
)
from ..model.session import Session
from .runnable import CLOSING_TIMEOUT, FunctionRunnable

ANSWERS = "compiler"  # the folder of answers that are kept, among what can be made again
DELAY = 2000  # milliseconds of peace after a session was loaded: the first frames come first


class TypeInferenceJob(QObject):
    """Adds to sessions what Numba's compiler refuses of their kernels, and what it computes in float64.

    found: a session has findings that it had not before.
    """

    found = Signal(object)
    _answered = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._inference = TypeInference(cache_folder() / ANSWERS)
        self._known: dict[str, Answer] = {}
        self._questions: dict[str, SourceQuestion] = {}  # those that are not asked yet
        self._waiting: dict[str, WeakSet[Session]] = {}  # one that nobody shows any more need not wait
        self.soon = QTimer(self, singleShot=True, interval=DELAY)
        self.soon.timeout.connect(self._start)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._answered.connect(self._take)

    def ask(self, session: Session) -> None:
        """Find out about a session's kernel; of types that were asked about before it is known at once."""
        if is_python_program(session.launch) or not can_be_asked(session.launch):
            return
        question = source_question(session.launch)
        key = question.key()
        if key in self._known:
            self._add_to(session, self._known[key])
            return
        if key not in self._waiting:
            self._questions[key] = question
            self.soon.start()
        self._waiting.setdefault(key, WeakSet()).add(session)

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

    def _infer(self, questions: dict[str, SourceQuestion]) -> None:
        """In the thread: wait for the answers."""
        answers = self._inference.answers_to(list(questions.values()))
        for key, answer in zip(questions, answers, strict=True):
            self._answered.emit(key, answer)

    def _take(self, key: str, answer: Answer) -> None:
        self._known[key] = answer
        for session in self._waiting.pop(key, WeakSet()):
            self._add_to(session, answer)

    def _add_to(self, session: Session, answer: Answer) -> None:
        if session.add_answer(answer):
            self.found.emit(session)
