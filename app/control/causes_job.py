"""Paths of values of large launches, computed in a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject

from ..model.bookmark import TracedValue
from ..model.session import Selection, Session
from .task import Task, TaskQueue


class Question(NamedTuple):
    """The value of a session to explain."""

    session: Session
    traced: TracedValue
    selection: Selection
    reference: Session | None


class CausesJob(QObject):
    """Explains values of launches for which the window would wait. explained: called once one is known."""

    def __init__(self, parent: QObject, explained: Callable[[], object]) -> None:
        super().__init__(parent)
        self._explained = explained
        self._tasks = TaskQueue(self)
        self.is_idle, self.wait, self.close = self._tasks.is_idle, self._tasks.wait, self._tasks.close

    def want(self, questions: Iterable[Question]) -> None:
        """Explain these values, unless that is done or in progress; drop others."""
        questions = list(questions)
        if not questions:
            self._tasks.keep(())
            return
        from ..model.value_causes import explain_now, explanation_of  # the first window shows no path

        missing = [question for question in questions if explanation_of(*question) is None]
        self._tasks.keep(missing)
        for question in missing:
            self._tasks.start(
                Task(partial(explain_now, *question), lambda _: self._explained(), key=question)
            )
