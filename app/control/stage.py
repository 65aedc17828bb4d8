"""What is on stage: setups, sessions, selections and time of the panes, and the commands that change them."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from ...kernels.scenarios.catalogue import CatalogueError, find
from ...tracer.model.launch import Launch
from ...tracer.model.plan import PlanError, kernel_source
from ...tracer.storage.launch_inputs import with_inputs
from ...tracer.storage.temp_folders import new_process_folder
from ..model import phase_steps
from ..model.bookmark import Link, Setup
from ..model.pane_moments import pane_moments, playhead_moment
from ..model.playhead import Playhead
from ..model.session import Selection, Session, scenario_of
from ..model.setup_launch import edited_launch, launch_of_setup
from .session_jobs import SessionJobs
from .start_moment import StartMoment, at_first_load

GATHERING = 100  # milliseconds that a session waits for those of the other panes


class Stage(QObject):
    """The panes without their widgets.

    changed: draw again. loaded: this pane has another session. waiting: (pane, blocks done, blocks in all).
    positioned: after `loaded`, time and selections are where the sessions shall be looked at first.
    asked: other setups are about to be shown. settled: nothing is being made any more. problem: one sentence.
    consent: (pane, launch) whose source came with a file and is run after `trust`. takes_long: (pane, launch,
    seconds, blocks) of which the first block is shown, and all of which is run after `run_however_long`.
    focus_changed: another pane is in focus.

    `setups` are those of the pictures, but while others are being made.
    """

    changed = Signal()
    loaded = Signal(int)
    waiting = Signal(int, int, int)
    positioned = Signal()
    asked = Signal()
    settled = Signal()
    problem = Signal(str)
    takes_long = Signal(int, object, float, int)
    consent = Signal(int, object)
    focus_changed = Signal()

    def __init__(self, playhead: Playhead, jobs: SessionJobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.playhead, self.jobs = playhead, jobs
        self.setups: tuple[Setup, ...] = ()
        self.sessions: list[Session | None] = []
        self.selections: list[Selection] = []
        self.focus = 0
        self.link_mode: Link = "progress"
        self._start: StartMoment = at_first_load
        self._awaited: set[int] = set()  # panes whose session is being made
        self._here: dict[int, Session] = {}  # by pane, those that came and wait for another pane's
        self._gathering = QTimer(self, singleShot=True, interval=GATHERING)
        self._gathering.timeout.connect(self._take_all)
        self._early: set[int] = set()  # of these the ones that show what compiled code did meanwhile
        self._first_selections: tuple[Selection, ...] = ()
        self._shown: dict[int, Setup] = {}  # the setup of each pane's picture
        # Kernel and text of its file, of each that the user agreed to run or wrote.
        self._trusted: set[tuple[str, str]] = set()
        self._of_files: dict[str, Session] = {}  # by path of a trace file that a pane shows, as it was saved
        self._reruns_of: dict[int, Launch] = {}  # by pane, the launch that its file's was changed to
        self._inputs = new_process_folder()  # files with what launches that are run again were given
        self._unasked: dict[int, Setup] = {}  # by pane, what is shown once the user agrees to run its text
        playhead.changed.connect(self._follow)
        jobs.ready.connect(self._take)
        jobs.early.connect(self._take_early)
        jobs.progress.connect(self._tell_progress)
        jobs.failed.connect(self._miss)
        jobs.takes_long.connect(self._postpone)
        jobs.examining_failed.connect(self.problem)

    def ends(self) -> list[int]:
        """Return the last moment of each pane, 0 for one that has no session yet."""
        return [session.end if session else 0 for session in self.sessions]

    def moments(self) -> tuple[float, ...]:
        """Return the moment of each pane."""
        return pane_moments(self.playhead.moment, self.ends(), self.link_mode)

    def shown_moments(self) -> tuple[float, ...]:
        """Return the moment that each pane shows: at rest a whole one, unless a moment between was asked for."""
        moments = self.moments()
        moves = self.playhead.playing or self.playhead.in_film
        if moves or all(moment % 1 for moment in moments):
            return moments
        return tuple(float(math.floor(moment)) for moment in moments)

    def toggle_play(self) -> None:
        """Play, or pause at the moment that the pane in focus is in."""
        self.playhead.toggle()
        if not self.playhead.playing and self.sessions:
            self.seek(self.focus, math.floor(self.moments()[self.focus]))

    def show(self, setups: tuple[Setup, ...], selections: tuple[Selection, ...], start: StartMoment) -> bool:
        """Run these setups; when all are there, look at `selections` at the moment that `start` returns.

        Return False, with `problem` emitted and nothing changed, when a setup cannot be launched.
        """
        wanted, setups = setups, tuple(map(self._without_strange_text, setups))
        try:
            launches = [None if setup.file else launch_of_setup(setup) for setup in setups]
        except CatalogueError as error:
            self.problem.emit(str(error))
            return False
        self.asked.emit()
        self._resize(len(setups))
        strange = {i: setup for i, setup in enumerate(wanted) if setup.source and setup != setups[i]}
        self._unasked = dict(strange)  # a file whose session is at hand adds itself, and asks
        self.setups, self._first_selections, self._start = setups, selections, start
        self._awaited = set(range(len(setups)))
        self._here.clear()
        self._early.clear()
        self._reruns_of.clear()
        files = {setup.file for setup in setups}
        self._of_files = {path: session for path, session in self._of_files.items() if path in files}
        for pane, (setup, launch) in enumerate(zip(setups, launches, strict=True)):
            if launch is None:
                self.jobs.open(pane, setup.file)
            else:
                self.jobs.trace(pane, launch, find(setup.scenario), early=setup.is_edited)
        for pane, setup in strange.items():
            self.consent.emit(pane, launch_of_setup(setup))
        return True

    def _without_strange_text(self, setup: Setup) -> Setup:
        """Return a setup without a text that came with a lecture or a bookmark, until somebody agrees to it."""
        if setup.file or not setup.source or (find(setup.scenario).kernel, setup.source) in self._trusted:
            return setup
        return msgspec.structs.replace(setup, source="", without=())

    def _resize(self, count: int) -> None:
        for pane in range(count, len(self.sessions)):
            self.jobs.cancel(pane)
            self._shown.pop(pane, None)
        missing = count - len(self.sessions)
        self.sessions = self.sessions[:count] + [None] * missing
        self.selections = self.selections[:count] + [Selection()] * missing
        self.focus = max(0, min(self.focus, count - 1))

    def _take(self, pane: int, session: Session) -> None:
        """Take a session, or wait a little for another pane's: all is drawn once then, and not twice."""
        if pane >= len(self.sessions):
            return
        self._here[pane] = session
        if self._awaited <= self._here.keys():
            self._take_all()
        elif not self._gathering.isActive():
            self._gathering.start()

    def _take_all(self) -> None:
        """Show the sessions that came."""
        self._gathering.stop()
        came, self._here = self._here, {}
        taken = [
            pane
            for pane, session in came.items()
            if pane < len(self.sessions) and not self._reruns(pane, session)
        ]
        for pane in taken:
            self._adopt(pane, came[pane])
            self._early.discard(pane)
            self._load(pane, came[pane])
        self._awaited -= set(taken)
        if taken:
            self._position()

    def _load(self, pane: int, session: Session) -> None:
        self._shown[pane], self.sessions[pane] = self.setups[pane], session
        self.loaded.emit(pane)

    def _take_early(self, pane: int, session: Session) -> None:
        """Show what compiled code did; the session that counts takes its place at the moment that is looked at then."""
        if pane < len(self.sessions):
            self._early.add(pane)
            self._load(pane, session)
            self._position()
            if self._awaited <= self._early:
                self._first_selections, self._start = (), lambda stage: stage.playhead.moment

    def _tell_progress(self, pane: int, done: int, total: int) -> None:
        if pane not in self._early:
            self.waiting.emit(pane, done, total)

    def _adopt(self, pane: int, session: Session) -> None:
        """Let the setup of a trace file say how the file's launch was scheduled."""
        setup = self.setups[pane]
        if setup.file and not setup.rerun:
            self._set(pane, _scheduled_as(setup, session.launch))

    def _position(self) -> None:
        """Go where the new sessions shall be looked at; again with each that comes, until all are there."""
        known = self._first_selections[: len(self.selections)]
        self.selections[: len(known)] = known
        self.playhead.set_end(max(self.ends(), default=0))
        self.playhead.seek(self._start(self))
        self._fit_selections()  # also where the playhead stays where it was
        self.positioned.emit()
        if not self._awaited:
            self.settled.emit()

    def is_settled(self) -> bool:
        """Return whether nothing is being made."""
        return not self._awaited

    def _miss(self, pane: int, sentence: str) -> None:
        if pane >= len(self.setups):
            return  # it was made for somebody else
        self.problem.emit(sentence)
        self._restore_setups([pane])

    def _restore_setups(self, panes: Iterable[int]) -> None:
        """Return to the setups of the pictures of these panes, of which no others will come."""
        self._take_all()
        for pane in panes:
            self._set(pane, self._shown.get(pane, self.setups[pane]))
            self.loaded.emit(pane)
            self._awaited.discard(pane)
            self._position()

    def _set(self, pane: int, setup: Setup) -> None:
        self.setups = (*self.setups[:pane], setup, *self.setups[pane + 1 :])

    def _postpone(self, pane: int, launch: Launch, seconds: float, blocks: int) -> None:
        if pane >= len(self.setups):
            return
        first = 0 if launch.blocks is None else launch.blocks[0]
        self._run_blocks(pane, launch, (first,), cut=True)
        self.takes_long.emit(pane, launch, seconds, blocks)

    def run_however_long(self, pane: int, launch: Launch) -> None:
        """Run all blocks of a launch that `takes_long` was emitted for; only `cancel` ends it."""
        self._run_blocks(pane, launch, launch.blocks, cut=False)

    def _run_blocks(self, pane: int, launch: Launch, blocks: tuple[int, ...] | None, *, cut: bool) -> None:
        """Run some blocks of a launch, or all, however long they take."""
        self._set(pane, msgspec.structs.replace(self.setups[pane], blocks=blocks, cut=cut))
        self._awaited.add(pane)
        self.loaded.emit(pane)
        chosen = msgspec.structs.replace(launch, blocks=blocks)
        self.jobs.trace(pane, chosen, scenario_of(chosen), patient=True)

    def cancel(self) -> bool:
        """Stop making sessions, go back to the setups of what is shown; return whether any was being made."""
        waiting = [pane for pane in range(len(self.sessions)) if self.jobs.cancel(pane)]
        self._restore_setups(waiting)
        return bool(waiting)

    def _reruns(self, pane: int, session: Session) -> bool:
        """Run a file's kernel with the schedule that the setup asks for, after the user agreed to run it."""
        setup = self.setups[pane]
        if not setup.file or session is None or session.launch == self._reruns_of.get(pane):
            return False
        self._of_files[setup.file] = session
        if not (setup.rerun or setup.is_edited):
            return False
        try:
            launch = self.changed_launch(setup)
        except CatalogueError as error:
            self.problem.emit(str(error))
            return False
        if launch is None:
            return False
        if self.may_run(session.launch) and self._may_run_text(launch.kernel, setup.source):
            self._reruns_of[pane] = launch
            self.jobs.trace(pane, launch, scenario_of(launch), early=setup.is_edited)
            return True
        # Until then it is shown as it is.
        self._unasked[pane] = setup
        self._set(pane, msgspec.structs.replace(setup, rerun=False, source="", without=()))
        self.consent.emit(pane, launch)
        return False

    def _may_run_text(self, kernel: str, text: str) -> bool:
        return not text or (kernel, text) in self._trusted

    def trust_text(self, kernel: str, text: str) -> None:
        """Take a text of a kernel's file for one that the user has written, or agreed to."""
        self._trusted.add((kernel, text))

    def trust(self, pane: int, launch: Launch) -> None:
        """Run a launch whose source came with a file, and its like from now on."""
        setup = self._unasked.pop(pane, self.setups[pane])
        session = self.sessions[pane]
        if setup.file and session is not None:
            self.trust_text(launch.kernel, session.launch.source)
        self.trust_text(launch.kernel, setup.source or launch.source)
        moment = self.playhead.moment
        self._start, self._first_selections = (lambda _: moment), tuple(self.selections)
        if setup.file:
            setup = msgspec.structs.replace(_scheduled_as(setup, launch), rerun=True)
        self._set(pane, setup)
        self._awaited.add(pane)
        self._reruns_of[pane] = launch
        self.jobs.trace(pane, launch, scenario_of(launch))

    def changed_launch(self, setup: Setup) -> Launch | None:
        """Return the launch of a shown file as a setup has it, None where that is what the file holds.

        It is given what the trace says that its arrays held. Raises PlanError.
        """
        session = self._of_files[setup.file]
        launch = edited_launch(_rescheduled(session.launch, setup), setup)
        if launch == session.launch:
            return None
        try:
            return with_inputs(launch, session.trace, self._inputs)
        except OSError as error:
            raise PlanError(f"The launch's input can't be written: {error.strerror or error}.") from error

    @property
    def trusted(self) -> frozenset[tuple[str, str]]:
        """Kernel and text of its file, of each that the user agreed to run or wrote."""
        return frozenset(self._trusted)

    def launch_in(self, path: str) -> Launch | None:
        """Return the launch of a trace file that is shown, as it was saved; None of another."""
        return self._of_files[path].launch if path in self._of_files else None

    def close(self) -> None:
        """Remove the files that reruns were given."""
        shutil.rmtree(self._inputs, ignore_errors=True)

    def may_run(self, launch: Launch) -> bool:
        """Return whether a launch is one of the catalogue's, or its source one that the user agreed to run."""
        scenario = scenario_of(launch)
        own = scenario is not None and scenario.kernel == launch.kernel
        return (launch.kernel, launch.source) in self._trusted or (
            own and kernel_source(launch.kernel)[1] == launch.source
        )

    def _follow(self) -> None:
        self._fit_selections()
        self.changed.emit()

    def _fit_selections(self) -> None:
        """Let every pane look at a block that runs now."""
        for pane, (session, moment) in enumerate(zip(self.sessions, self.moments(), strict=True)):
            if session is not None:
                self.selections[pane] = phase_steps.follow(session, self.selections[pane], moment)

    def set_focus(self, pane: int) -> None:
        """Turn to a pane: steps and the right column follow it."""
        if pane != self.focus and 0 <= pane < len(self.sessions):
            self.focus = pane
            self.focus_changed.emit()
            self.changed.emit()

    def focus_next(self) -> None:
        """Turn to the other pane."""
        self.set_focus((self.focus + 1) % max(len(self.sessions), 1))

    def set_link(self, mode: Link) -> None:
        """Link the panes by moment or by progress; the pane in focus stays where it is."""
        moment = self.moments()[self.focus] if self.sessions else 0.0
        self.link_mode = mode
        self.seek(self.focus, moment)

    def seek(self, pane: int, moment: float) -> None:
        """Go to a moment of a pane; the others follow as linked."""
        if pane < len(self.sessions):
            self.playhead.seek(playhead_moment(moment, pane, self.ends(), self.link_mode))

    def select(self, pane: int, selection: Selection) -> None:
        """Look at a block and thread; a block that does not run now is visited at its first moment."""
        session = self.sessions[pane] if pane < len(self.sessions) else None
        if session is None:
            return
        selection = phase_steps.within(session, selection)
        for other, held in enumerate(self.sessions):
            if held is not None and (other == pane or _alike(held, session)):
                self.selections[other] = selection
        start, end = phase_steps.block_span(session, selection.block)
        moment = self.moments()[pane]
        self.seek(pane, moment if start < max(moment, 1) < end + 1 else start + 1)

    def step(self, direction: int) -> None:
        """Go one moment of the pane in focus forward (1) or back (-1)."""
        self._go(lambda session, moment, block: (moment // 1 + 1) if direction > 0 else -(-moment // 1) - 1)

    def step_phase(self, direction: int) -> None:
        """Go to the next phase (1), or to the start of this one or the one before (-1).

        Where the kernel of the pane in focus has no barriers, the phases are those of a pane that has some.
        """
        self._go(
            lambda session, moment, block: phase_steps.next_phase(session, block, moment, direction),
            self._pane_with_phases(),
        )

    def _pane_with_phases(self) -> int:
        """Return the pane in focus, or another one where only its kernel has barriers."""
        panes = [self.focus, *(i for i in range(len(self.sessions)) if i != self.focus)]
        return next((i for i in panes if has_phases(self.sessions[i])), self.focus)

    def step_block(self, direction: int) -> None:
        """Look at the next block (1) or the one before (-1)."""
        session = self.focused()
        if session is not None:
            selection = self.selections[self.focus]
            self.select(
                self.focus,
                Selection(phase_steps.next_block(session, selection.block, direction), selection.thread),
            )

    def _go(self, target: Callable[[Session, float, int], float], pane: int | None = None) -> None:
        """Go to a moment of a pane, by default of the one in focus."""
        pane = self.focus if pane is None else pane
        session = self.sessions[pane] if pane < len(self.sessions) else None
        if session is not None:
            moment, block = self.moments()[pane], self.selections[pane].block
            self.seek(pane, target(session, moment, block))

    def focused(self) -> Session | None:
        """Return the session of the pane in focus."""
        return self.sessions[self.focus] if self.focus < len(self.sessions) else None


def _scheduled_as(setup: Setup, launch: Launch) -> Setup:
    """Return a setup that says how a launch is scheduled."""
    return msgspec.structs.replace(
        setup, schedule=launch.schedule, resident=launch.resident or "all", blocks=launch.blocks
    )


def _rescheduled(launch: Launch, setup: Setup) -> Launch:
    resident = (
        launch.resident if setup.resident is None else None if setup.resident == "all" else setup.resident
    )
    return msgspec.structs.replace(launch, schedule=setup.schedule, resident=resident, blocks=setup.blocks)


def has_phases(session: Session | None) -> bool:
    """Return whether barriers divide the blocks of a session into phases."""
    return (
        session is not None
        and session.requests.span_start.ndim > 1
        and session.requests.span_start.shape[1] > 1
    )


def _alike(one: Session, other: Session) -> bool:
    """Return whether the same numbers name blocks and threads in the same position in both grids."""
    return (one.trace.grid, one.trace.block_dim) == (other.trace.grid, other.trace.block_dim)
