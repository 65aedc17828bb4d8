"""The file with a hall's results: written after each vote, so that a crash of the window loses none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from ...tracer.storage.atomic_write import write_atomically
from ..control.task import Task, TaskQueue
from .model.results import Result, csv_text


class ResultsFile(QObject):
    """Writes results atomically, in a thread. problem: gets one sentence if that fails."""

    def __init__(self, path: Path | None, problem: Callable[[str], object], parent: QObject) -> None:
        super().__init__(parent)
        self.path, self._problem = path, problem  # None writes nothing
        self._results: dict[int, Result] = {}  # by the number of the question
        self._written = csv_text(())
        self._saving = TaskQueue(self)

    def result_of(self, question: int) -> Result | None:
        """Return the latest result of a question, None without one."""
        return self._results.get(question)

    def take(self, result: Result) -> None:
        """Replace the result of a question, and write the file."""
        if result != self._results.get(result.question.number):
            self._results[result.question.number] = result
            self._save()

    def close(self) -> None:
        """Write what is not written yet."""
        self._saving.close()
        text = self._text()
        if self.path is not None and text != self._written:
            try:
                write_atomically(self.path, text.encode())
            except OSError as error:
                self._report(error)

    def _text(self) -> str:
        return csv_text(self._results[number] for number in sorted(self._results))

    def _save(self) -> None:
        """Write the latest results, unless a thread writes: the end of its work calls this again."""
        path, text = self.path, self._text()
        if path is None or text == self._written or not self._saving.is_idle():
            return

        def write() -> str:
            write_atomically(path, text.encode())
            return text

        self._saving.start(Task(write, self._take_written, self._report, expected=(OSError,)))

    def _take_written(self, text: str) -> None:
        self._written = text
        self._save()

    def _report(self, error: BaseException) -> None:
        assert isinstance(error, OSError)
        self._problem(f"{self.path} can't be written: {error.strerror}.")
