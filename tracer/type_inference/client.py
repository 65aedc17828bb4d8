"""Numba's compiler as seen from the process that shows its answers: what to ask, and what comes back.

Asking needs no GPU, but not Numba's simulator: it happens in a process of its own (see `process`).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from ..model.launch import Array, Launch, Scalar
from ..processes.json_process import JsonProcess, StartError, module_command
from .answer_cache import AnswerCache
from .question import ANSWER, NOTHING, Answer, Operation, Question, Refusal, SourceQuestion

COMMAND = module_command("tilescope.tracer.type_inference.process")
Asked = Question | SourceQuestion

__all__ = [
    "Answer",
    "Operation",
    "Refusal",
    "SourceQuestion",
    "TypeInference",
    "can_be_asked",
    "source_question",
]


def can_be_asked(launch: Launch) -> bool:
    """Return whether all arguments of a launch are known, so that its source text may say what Numba makes of it."""
    try:
        types = [np.dtype(a.dtype) for a in launch.arguments if a.dtype]
    except (TypeError, ValueError):  # records, whose text NumPy does not read
        return False
    return bool(launch.source) and not any(t.hasobject for t in types)


def source_question(launch: Launch) -> SourceQuestion:
    """Return the question about a launch of which only the source text is known: sizes don't matter to it."""
    arguments = tuple(
        Array((1,) * len(a.shape), a.dtype) if isinstance(a, Array) else Scalar(type(a.value)(0), a.dtype)
        for a in launch.arguments
    )
    return SourceQuestion(
        Launch(launch.kernel, launch.source, arguments, (1, 1, 1), (1, 1, 1), launch.constants)
    )


class TypeInference:
    """Asks Numba's compiler, in a process that starts with the first question to which no answer is kept.

    `ask` returns at once, and the answers are waited for where they are taken: what launches goes on meanwhile.
    folder: where answers are kept for other runs, None for nowhere. seconds: until the process is ended, counted
    from when somebody waits.
    """

    def __init__(self, folder: Path | None = None, seconds: float = 60.0) -> None:
        self._cache, self._seconds = AnswerCache(folder), seconds
        self._answers: dict[str, Answer] = {}
        self._waiting: queue.SimpleQueue[Asked | None] = queue.SimpleQueue()
        self._asked: set[str] = set()
        self._thread: threading.Thread | None = None
        self._process: JsonProcess | None = None
        self._closed = False
        self._changed = threading.Condition()  # is told of each answer, and of each that won't come
        self._lost: set[str] = set()
        self._talking = False

    def ask(self, question: Asked) -> str:
        """Ask, unless that was done before; return the key by which the answer is found."""
        key = question.key()
        if key in self._asked or self._closed:
            return key
        self._asked.add(key)
        if isinstance(question, Question) and question.missing():
            self._lost.add(key)
            return key
        kept = self._cache.get(key)
        if kept is not None:
            self._answers[key] = kept
            return key
        if self._thread is None:
            self._talking = True
            self._thread = threading.Thread(target=self._talk_to_the_end, name="type inference", daemon=True)
            self._thread.start()
        self._waiting.put(question)
        return key

    def answers(self, patience: float = 0.0, notice: Callable[[], None] = lambda: None) -> dict[str, Answer]:
        """Wait for the answers to all questions, and return those that came, by their keys.

        notice: called once where that takes longer than `patience` seconds.
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

    def answer_to(self, question: Asked) -> Answer:
        """Ask and wait for this answer alone, `NOTHING` where none came; the process waits for the next question."""
        key = self.ask(question)
        with self._changed:
            self._changed.wait_for(
                lambda: key in self._answers or key in self._lost or not self._talking or self._closed,
                self._seconds,
            )
        return self._answers.get(key, NOTHING)

    def answers_to(self, questions: Sequence[Asked]) -> list[Answer]:
        """Ask some questions and return their answers, `NOTHING` where none came."""
        keys = [self.ask(question) for question in questions]
        found = self.answers()
        return [found.get(key, NOTHING) for key in keys]

    def close(self) -> None:
        """End what is asked, from another thread; nothing is asked any more."""
        self._closed = True
        if self._process is not None:
            self._process.kill()
        self._waiting.put(None)  # one that waits for a question
        with self._changed:
            self._changed.notify_all()

    def _talk_to_the_end(self) -> None:
        try:
            self._talk()
        finally:
            with self._changed:
                self._talking = False
                self._changed.notify_all()

    def _lose(self, question: Asked) -> None:
        with self._changed:
            self._lost.add(question.key())
            self._changed.notify_all()

    def _talk(self) -> None:
        """In the thread: ask one question after the other; a process that died over one gets a successor."""
        question = self._waiting.get()
        while question is not None and not self._closed:
            try:
                with JsonProcess("type inference", COMMAND) as self._process:
                    if self._closed:
                        return
                    lines = self._process.lines()
                    while question is not None and self._answered(question, self._process, lines):
                        question = self._waiting.get()
            except (StartError, msgspec.MsgspecError, ValueError):
                return
            if question is not None:  # the one that ended the process
                self._lose(question)
                question = self._waiting.get()

    def _answered(self, question: Asked, process: JsonProcess, lines: Iterator[bytes]) -> bool:
        """Ask a question; return whether an answer came."""
        process.send(question)
        line = next(lines, None)
        if line is None:
            return False
        answer, key = ANSWER.decode(line), question.key()
        with self._changed:
            self._answers[key] = answer
            self._changed.notify_all()
        self._cache.put(key, answer)
        return True
