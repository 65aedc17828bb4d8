"""The launches of a user's program: their errors are counted, the first with an error is shown, and lists offer all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject

from ...tracer.model.finding import count_noun
from ...tracer.storage.trace_file import TraceFileError
from ..control.delay import Delay
from ..control.task import Task, TaskQueue
from ..model.bookmark import Setup
from ..model.session import launch_name

LOOKING = 1000  # milliseconds that the first picture waits for the first error
PANES = 2
MOST_ACCESSES = 3_000_000  # in a trace that is examined: a second


class LaunchErrors(QObject):
    """Counts the errors of the launches in trace files.

    errors: the number for each launch, None while it is not known, and for a launch that is too large to look at ahead.
    counted: called with the index of a launch that was examined. finished: called when all were.
    """

    def __init__(
        self, parent: QObject, counted: Callable[[int], object], finished: Callable[[], object]
    ) -> None:
        super().__init__(parent)
        self._counted, self._finished = counted, finished
        self.errors: list[int | None] = []
        self._left = 0  # launches to examine
        self._run = 0
        self._tasks = TaskQueue(self)
        self.close = self._tasks.close

    def count(self, traces: list[Path]) -> None:
        """Count the errors of these launches; results of earlier calls are discarded."""
        self._run += 1
        self._tasks.keep(())
        self.errors, self._left = [None] * len(traces), len(traces)
        for i, path in enumerate(traces):
            take = partial(self._take, self._run, i)
            fail = partial(self._fail, self._run, i)
            expected = (TraceFileError, OSError, MemoryError)
            self._tasks.start(
                Task(partial(errors_in, path), take, fail, key=(self._run, i), expected=expected)
            )

    def _fail(self, run: int, i: int, _: BaseException) -> None:
        self._take(run, i, None)

    def _take(self, run: int, i: int, errors: int | None) -> None:
        if run != self._run:
            return
        self.errors[i] = errors
        self._left -= 1
        self._counted(i)
        if not self._left:
            self._finished()


def errors_in(path: Path) -> int | None:
    """Count the errors in a trace file, None if it is too large; raises TraceFileError."""
    from ...tracer.analysis.requests import requests_of  # the window starts without them
    from ...tracer.findings.all_findings import findings_of
    from ...tracer.storage.trace_file import load

    trace = load(path)
    if len(trace) > MOST_ACCESSES:
        return None
    return sum(finding.severity == "error" for finding in findings_of(trace, requests_of(trace)))


class LaunchLists(Protocol):
    """The lists of the panes, and the setups that are shown."""

    setups: tuple[Setup, ...]

    def offer_launches(self, heading: str, launches: Sequence[tuple[str, str]]) -> None:
        """Offer launches: the text and the path of each."""


class ProgramLaunches(QObject):
    """Chooses which launches the panes show.

    show: shows setups. report: shows a sentence. note_errors: takes a sentence about errors in other launches.
    """

    def __init__(
        self,
        lists: LaunchLists,
        show: Callable[[tuple[Setup, ...]], None],
        report: Callable[[str], None],
        note_errors: Callable[[str], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._lists, self._show, self._report, self._note_errors = lists, show, report, note_errors
        self._name, self._traces = "", list[Path]()
        self._own: tuple[Setup, ...] | None = None  # the setups that were shown without a request of the user
        self._counts = LaunchErrors(self, self._take, self._finish)
        self._wait = Delay(self, LOOKING, self._show_first)

    def take(self, name: str, traces: Sequence[Path]) -> None:
        """Show the launches of a program that ran: two at once, of more the first with an error."""
        self._name, self._traces, self._own = name, list(traces), None
        self._note_errors("")
        self._offer()
        if len(traces) <= PANES:
            self._counts.count([])
            self._show_pair(0)
            self._report(f"The program {name} ran; it runs again whenever it is saved.")
            return
        self._counts.count(self._traces)
        self._wait.start()

    def close(self) -> None:
        """Stop counting."""
        self._wait.stop()
        self._counts.close()

    def _take(self, i: int) -> None:
        """Show the first launch with an error, unless the user has chosen others meanwhile."""
        is_first = self._counts.errors[i] and not any(self._counts.errors[:i])
        if is_first and (self._own is None or self._lists.setups == self._own):
            self._show_pair(i)

    def _finish(self) -> None:
        if not self._counts.errors:
            return
        self._show_first()
        self._offer()
        sentence = self._errors_text()
        self._note_errors(sentence)
        start = f"The program {self._name} made {len(self._traces)} launches"
        self._report(f"{start}. {sentence or 'No error was found.'} The list of each pane has all launches.")

    def _show_first(self) -> None:
        if self._own is None:
            self._show_pair(0)

    def _show_pair(self, i: int) -> None:
        """Show a launch and the next one."""
        self._wait.stop()
        self._own = tuple(Setup(file=str(path)) for path in self._traces[i : i + PANES])
        self._show(self._own)

    def _errors_text(self) -> str:
        """Count the launches with errors in a sentence, "" for none; launches that were too large are counted too."""
        wrong = [i for i, errors in enumerate(self._counts.errors) if errors]
        unknown = self._counts.errors.count(None)
        texts = []
        if wrong:
            have = "has errors:" if len(wrong) == 1 else "have errors, the first is"
            texts.append(f"{len(wrong)} of {len(self._traces)} launches {have} launch {wrong[0] + 1}.")
        if unknown:
            verb = "was" if unknown == 1 else "were"
            texts.append(f"{count_noun(unknown, 'large launch')} {verb} not examined.")
        return " ".join(texts)

    def _offer(self) -> None:
        """Offer all launches in the lists of the panes."""
        errors = self._counts.errors if len(self._counts.errors) == len(self._traces) else []
        texts = [launch_name(path) for path in self._traces]
        for i, number in enumerate(errors):
            texts[i] += f" · {count_noun(number, 'error')}" if number else ""
        items = [(text, str(path)) for text, path in zip(texts, self._traces, strict=True)]
        self._lists.offer_launches(f"Launches of {self._name}", items)
