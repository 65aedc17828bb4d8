"""Trial of the remedies of the findings on stage, in a separate process; proven remedies are shown."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from ...tracer.model.finding import Finding
from ...tracer.remedies.trial import ProvenFix, TrialCase, Trials, trial_case
from ...tracer.storage.temp_folders import new_process_folder
from ..model.session import Session
from .runnable import CLOSING_TIMEOUT, FunctionRunnable

DELAY = 500  # milliseconds after the findings are known, so that the pictures are drawn first
Fixes = list[tuple[Finding, ProvenFix]]


class RemedyJob(QObject):
    """Tries remedies that are edits of the kernel.

    proved: a session's findings have remedies that work.
    """

    proved = Signal(object)
    _ended = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[Session] = []
        self._running = 0
        self._trials: Trials | None = None
        self.soon = QTimer(self, singleShot=True, interval=DELAY)
        self.soon.timeout.connect(self._start)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._ended.connect(self._take)

    def ask(self, session: Session) -> None:
        """Try the remedies of a session's findings soon, if there are untried ones."""
        if session.untried_remedies and session not in self._waiting:
            self._waiting.append(session)
            self.soon.start()

    def is_idle(self) -> bool:
        """Return True if no remedy is being tried."""
        return not (self._waiting or self._running)

    def close(self) -> None:
        """Stop the trials."""
        self.soon.stop()
        self._pool.clear()
        if self._trials is not None:
            self._trials.close()
        self._pool.waitForDone(CLOSING_TIMEOUT)

    def _start(self) -> None:
        sessions, self._waiting = self._waiting, []
        for session in sessions:
            self._running += 1
            self._pool.start(FunctionRunnable(partial(self._try, session)))

    def _try(self, session: Session) -> None:
        """Try the remedies of a session, in the thread."""
        fixes: Fixes = []
        try:
            with suppress(OSError, MemoryError):
                fixes = self._fixes_of(session)
        finally:
            self._ended.emit(session, fixes)

    def _fixes_of(self, session: Session) -> Fixes:
        folder = new_process_folder()
        try:
            untried, trace = session.untried_remedies, session.trace
            cases = [(finding, trial_case(trace, finding, untried, folder)) for finding in untried]
            return list(self._prove([(finding, case) for finding, case in cases if case is not None]))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _prove(self, cases: list[tuple[Finding, TrialCase]]) -> Iterable[tuple[Finding, ProvenFix]]:
        self._trials = Trials()
        fixes = self._trials.prove_all([case for _, case in cases])
        return [(finding, fix) for (finding, _), fix in zip(cases, fixes, strict=True) if fix is not None]

    def _take(self, session: Session, fixes: Fixes) -> None:
        self._running -= 1
        if fixes:
            session.add_fixes({id(finding): (fix.remedy, fix.text) for finding, fix in fixes})
            self.proved.emit(session)
