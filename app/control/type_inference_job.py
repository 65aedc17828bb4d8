"""Findings of Numba's compiler about the kernels on stage, computed in a separate process and added later."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakSet

from PySide6.QtCore import QObject

from ...tracer.model.launch import is_python_program
from ...tracer.storage.folders import cache_folder
from ...tracer.type_inference.client import (
    Answer,
    SourceQuestion,
    TypeInference,
    has_known_types,
    source_question,
)
from ..model.session import Session
from .task import Task, TaskQueue

ANSWERS = "compiler"  # the folder of the answers in the cache
DELAY = 2000  # milliseconds after a session was loaded, so that the first frames are drawn first


class TypeInferenceJob(QObject):
    """Adds findings about code that Numba's compiler refuses or computes in float64 to sessions.

    answered: gets a session with new findings.
    """

    def __init__(self, parent: QObject | None, answered: Callable[[Session], object]) -> None:
        super().__init__(parent)
        self._answered = answered
        self._inference = TypeInference(cache_folder() / ANSWERS)
        self._answers: dict[str, Answer] = {}
        self._questions: dict[str, SourceQuestion] = {}  # not asked yet
        self._waiting: dict[str, WeakSet[Session]] = {}  # weak: a session no longer shown need not wait
        self._tasks = TaskQueue(self, delay=DELAY, interrupt=self._inference.close)
        self.soon = self._tasks.timer

    def ask(self, session: Session) -> None:
        """Request the findings of a session's kernel; add known ones at once."""
        if is_python_program(session.launch) or session.is_cuda_cpp or not has_known_types(session.launch):
            return
        question = source_question(session.launch)
        key = question.key()
        if key in self._answers:
            self._add_to(session, self._answers[key])
            return
        if key not in self._waiting:
            self._questions[key] = question
            self._tasks.start(Task(self._infer, self._take))
        self._waiting.setdefault(key, WeakSet()).add(session)

    def is_idle(self) -> bool:
        """Return True if no session waits for an answer."""
        return not self._waiting

    def close(self) -> None:
        """Stop the inference."""
        self._inference.close()
        self._tasks.close()

    def _infer(self) -> dict[str, Answer]:
        """Wait for the answers to all questions, in the thread."""
        questions = [self._questions.popitem() for _ in range(len(self._questions))]
        answers = self._inference.answers_to([question for _, question in questions])
        return {key: answer for (key, _), answer in zip(questions, answers, strict=True)}

    def _take(self, answers: dict[str, Answer]) -> None:
        self._answers |= answers
        for key, answer in answers.items():
            for session in self._waiting.pop(key, WeakSet()):
                self._add_to(session, answer)

    def _add_to(self, session: Session, answer: Answer) -> None:
        if session.add_answer(answer):
            self._answered(session)
