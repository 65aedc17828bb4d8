"""The client of Numba's compiler, which sends questions and receives answers.

The compiler needs no GPU, but it can't run next to Numba's simulator. It runs in a separate process (see `process`).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from ..model.launch import Array, Launch, Scalar
from ..processes.json_process import StartError, module_command
from ..processes.process_client import ProcessClient, ProcessEndedError, RunCancelledError
from .answer_cache import AnswerCache
from .question import ANSWER, NOTHING, Answer, Operation, Question, Refusal, SourceQuestion

COMMAND = module_command("tilescope.tracer.type_inference.process")
AnyQuestion = Question | SourceQuestion

__all__ = [
    "Answer",
    "Operation",
    "Refusal",
    "SourceQuestion",
    "TypeInference",
    "has_known_types",
    "source_question",
]


def has_known_types(launch: Launch) -> bool:
    """Check whether the types of all arguments of a launch are known, as a question about its source needs."""
    try:
        types = [np.dtype(argument.dtype) for argument in launch.arguments if argument.dtype]
    except (TypeError, ValueError):  # NumPy can't parse the text of a record's dtype
        return False
    return bool(launch.source) and not any(dtype.hasobject for dtype in types)


def source_question(launch: Launch) -> SourceQuestion:
    """Build the question about a launch from its source text; the sizes of arrays are normalised."""
    arguments = tuple(
        Array((1,) * len(argument.shape), argument.dtype)
        if isinstance(argument, Array)
        else Scalar(type(argument.value)(0), argument.dtype)
        for argument in launch.arguments
    )
    return SourceQuestion(
        Launch(launch.kernel, launch.source, arguments, (1, 1, 1), (1, 1, 1), launch.constants)
    )


class TypeInference:
    """Asks Numba's compiler, in a process that starts with the first question without a cached answer.

    `ask` returns immediately; `answers` waits for the results. folder: for the disk cache, None for no cache. seconds:
    the time limit after which the process is ended, counted from the beginning of a wait.
    """

    def __init__(self, folder: Path | None = None, seconds: float = 60.0) -> None:
        self._cache, self._seconds = AnswerCache(folder), seconds
        self._answers: dict[str, Answer] = {}
        self._waiting: queue.SimpleQueue[AnyQuestion | None] = queue.SimpleQueue()
        self._asked_keys: set[str] = set()
        self._thread: threading.Thread | None = None
        self.client = ProcessClient("type inference", COMMAND, ANSWER)
        self._closed = False
        self._changed = threading.Condition()  # notified of each answer and of each failure
        self._failed: set[str] = set()
        self._is_running = False

    def ask(self, question: AnyQuestion) -> str:
        """Send a question unless it was asked before; return the key of its answer."""
        key = question.key()
        if key in self._asked_keys or self._closed:
            return key
        self._asked_keys.add(key)
        if isinstance(question, Question) and question.missing():
            self._failed.add(key)
            return key
        cached = self._cache.get(key)
        if cached is not None:
            self._answers[key] = cached
            return key
        if self._thread is None:
            self._is_running = True
            self._thread = threading.Thread(target=self._run_thread, name="type inference", daemon=True)
            self._thread.start()
        self._waiting.put(question)
        return key

    def answers(self, patience: float = 0.0, notice: Callable[[], None] = lambda: None) -> dict[str, Answer]:
        """Wait for the answers to all questions, and return those received, by their keys.

        notice: called once if that takes longer than `patience` seconds.
        """
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(min(patience, self._seconds))
            if self._thread.is_alive():
                notice()
                self._thread.join(0 if self._closed else self._seconds - patience)
            if self._thread.is_alive():
                self.close()
                self._thread.join()
            self._thread, self._waiting = None, queue.SimpleQueue()
        return dict(self._answers)

    def answer_to(self, question: AnyQuestion) -> Answer:
        """Ask and wait for only this answer, `NOTHING` without one; the process then waits for the next question."""
        key = self.ask(question)
        with self._changed:
            self._changed.wait_for(
                lambda: key in self._answers or key in self._failed or not self._is_running or self._closed,
                self._seconds,
            )
        return self._answers.get(key, NOTHING)

    def answers_to(self, questions: Sequence[AnyQuestion]) -> list[Answer]:
        """Ask questions and return their answers, `NOTHING` for those without one."""
        keys = [self.ask(question) for question in questions]
        answers = self.answers()
        return [answers.get(key, NOTHING) for key in keys]

    def close(self) -> None:
        """End all questions, from any thread; later questions are ignored."""
        self._closed = True
        self.client.close()
        self._waiting.put(None)  # wakes the thread if it waits for a question
        with self._changed:
            self._changed.notify_all()

    def _run_thread(self) -> None:
        try:
            self._serve_questions()
        finally:
            self.client.rest()
            with self._changed:
                self._is_running = False
                self._changed.notify_all()

    def _note_failure(self, question: AnyQuestion) -> None:
        with self._changed:
            self._failed.add(question.key())
            self._changed.notify_all()

    def _serve_questions(self) -> None:
        """Ask one question after the other, in the thread."""
        while (question := self._waiting.get()) is not None:
            try:
                with self.client.conversation(question) as answers:
                    answer, key = next(answers), question.key()
            except ProcessEndedError:  # this question ended it
                self._note_failure(question)
                continue
            except (RunCancelledError, StartError, msgspec.MsgspecError, ValueError):
                return
            with self._changed:
                self._answers[key] = answer
                self._changed.notify_all()
            self._cache.put(key, answer)
