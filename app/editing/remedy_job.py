"""Trial of the remedies of the findings on stage, in a separate process; proven remedies are shown."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from ...tracer.model.finding import Finding
from ...tracer.remedies.trial import ProvenFix, Trials
from ..control.task import Task, TaskQueue
from ..model.session import Session

DELAY = 500  # milliseconds after the findings are known, so that the pictures are drawn first
Fixes = list[tuple[Finding, ProvenFix]]


class RemedyJob(QObject):
    """Tries remedies that are edits of the kernel.

    proved: a session's findings have remedies that work.
    """

    proved = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._trials: Trials | None = None
        self._tasks = TaskQueue(self, delay=DELAY, interrupt=self._end_trials)
        self.is_idle, self.close = self._tasks.is_idle, self._tasks.close

    def ask(self, session: Session) -> None:
        """Try the remedies of a session's findings soon, if there are untried ones."""
        untried = session.untried_remedies
        if untried:
            work, take = partial(self._fixes_of, session, untried), partial(self._take, session, untried)
            key = session, [id(finding) for finding in untried]
            self._tasks.start(Task(work, take, key=key, expected=(OSError, MemoryError)))

    def _end_trials(self) -> None:
        if self._trials is not None:
            self._trials.close()

    def _fixes_of(self, session: Session, untried: list[Finding]) -> Fixes:
        """Try the remedies of a session, in the thread."""
        self._trials = Trials()
        return self._trials.prove_findings(session.trace, untried, list(session.all_findings))

    def _take(self, session: Session, tried: list[Finding], fixes: Fixes) -> None:
        if fixes:
            session.add_fixes(tried, {id(finding): (fix.remedy, fix.text) for finding, fix in fixes})
            self.proved.emit(session)
