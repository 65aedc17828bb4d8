"""The state of the panes: setups, sessions, selections and time, and the commands that change them."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QObject, Signal

from ...kernels.scenarios.catalogue import CatalogueError, find
from ...tracer.model.launch import Launch
from ...tracer.model.plan import PlanError, kernel_source
from ...tracer.run.worker_client import LaunchTooSlowError
from ...tracer.storage.launch_inputs import with_inputs
from ...tracer.storage.temp_folders import new_process_folder
from ..model import phase_steps
from ..model.bookmark import Link, Setup
from ..model.nothing import nothing
from ..model.pane_moments import pane_moments, playhead_moment
from ..model.session import Selection, Session, scenario_of
from ..model.setup_launch import edited_launch, launch_of_setup
from ..state.actions import ChangeSetup, Focus, LinkBy, Select, ShowPanes
from .delay import Delay
from .loading import Loading
from .playhead import Playhead
from .session_jobs import SessionJobs, Source
from .start_moment import StartMoment, at_first_load

GATHERING = 100  # milliseconds that a session waits for the sessions of the other panes


class Stage(QObject):
    """The state of the panes, without their widgets.

    loaded: this pane has another session. waiting: (pane, blocks done, blocks in all).
    asked: other setups are about to be shown. settled: all sessions are loaded. problem: one sentence.
    consent: (pane, launch) whose source came with a file; `trust` runs it. takes_long: (pane, launch,
    seconds, blocks); its first block is shown, and `run_however_long` runs all of them.

    The store has the setups, selections, focus and link. `setups` are those of the pictures, except while new sessions
    are being loaded.
    """

    loaded = Signal(int)
    asked = Signal()
    settled = Signal()
    problem = Signal(str)
    takes_long = Signal(int, object, float, int)

    def __init__(self, playhead: Playhead, jobs: SessionJobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.waiting: Callable[[int, int, int], object] = nothing
        self.consent: Callable[[int, Launch], object] = nothing
        self.playhead, self.jobs, self.store = playhead, jobs, playhead.store
        self.sessions: list[Session | None] = []
        self._start: StartMoment = at_first_load
        self._awaited: set[int] = set()  # panes whose session is being loaded
        self._arrived: dict[int, Session] = {}  # by pane, loaded sessions that wait for another pane's
        self._loadings: dict[int, Loading] = {}  # the latest of each pane
        self._gathering = Delay(self, GATHERING, self._take_all)
        self._early: set[int] = set()  # awaited panes that show the order of compiled code meanwhile
        self._first_selections: tuple[Selection, ...] = ()
        self._shown: dict[int, Setup] = {}  # the setup of each pane's picture
        # (kernel, text of its file), of each that the user agreed to run or wrote.
        self._trusted: set[tuple[str, str]] = set()
        self._file_sessions: dict[str, Session] = {}  # by path of a shown trace file, as it was saved
        self._rerun_launches: dict[int, Launch] = {}  # by pane, the changed launch of its file
        # Whether a trace is of a program that the user ran in this window.
        self.is_own_file: Callable[[str], bool] = lambda _: False
        self._inputs = new_process_folder()  # the folder of the input files of reruns
        self._unconfirmed: dict[int, Setup] = {}  # by pane, shown once the user agrees to run its text
        playhead.changed.connect(self._fit_selections)
        jobs.examining_failed.connect(self.problem)

    @property
    def setups(self) -> tuple[Setup, ...]:
        """The setups of the panes."""
        return self.store.state.panes

    @property
    def selections(self) -> tuple[Selection, ...]:
        """The selected block and thread of each pane."""
        return self.store.state.selections

    @property
    def focus(self) -> int:
        """The index of the pane that steps and the inspector follow."""
        return self.store.state.focus

    @property
    def link_mode(self) -> Link:
        """What the panes share: the moment, or the fraction of their ticks."""
        return self.store.state.link

    def ends(self) -> list[int]:
        """List the last moment of each pane, 0 for a pane without a session."""
        return [session.end if session else 0 for session in self.sessions]

    def moments(self) -> tuple[float, ...]:
        """Compute the moment of each pane."""
        return pane_moments(self.playhead.moment, self.ends(), self.link_mode)

    def shown_moments(self) -> tuple[float, ...]:
        """Compute the moment that each pane shows: an integer at rest, unless a fraction was asked for."""
        moments = self.moments()
        moves = self.playhead.playing or self.playhead.in_film
        if moves or all(moment % 1 for moment in moments):
            return moments
        return tuple(float(math.floor(moment)) for moment in moments)

    def toggle_play(self) -> None:
        """Play, or pause at the current moment of the pane in focus."""
        self.playhead.toggle()
        if not self.playhead.playing and self.sessions:
            self.seek(self.focus, math.floor(self.moments()[self.focus]))

    def show(self, setups: tuple[Setup, ...], selections: tuple[Selection, ...], start: StartMoment) -> bool:
        """Run these setups; once all are loaded, show `selections` at the moment that `start` returns.

        Return False, with `problem` emitted and nothing changed, when a setup cannot be launched.
        """
        wanted, setups = setups, tuple(map(self._without_untrusted_text, setups))
        try:
            launches = [None if setup.file else launch_of_setup(setup) for setup in setups]
        except CatalogueError as error:
            self.problem.emit(str(error))
            return False
        self.asked.emit()
        self._resize(setups)
        untrusted = {i: setup for i, setup in enumerate(wanted) if setup.source and setup != setups[i]}
        self._unconfirmed = dict(untrusted)  # a file whose session is in memory adds itself, and asks
        self._first_selections, self._start = selections, start
        self._awaited = set(range(len(setups)))
        self._arrived.clear()
        self._early.clear()
        self._rerun_launches.clear()
        files = {setup.file for setup in setups}
        self._file_sessions = {
            path: session for path, session in self._file_sessions.items() if path in files
        }
        for pane, (setup, launch) in enumerate(zip(setups, launches, strict=True)):
            if launch is not None and setup.without:  # skipped lines of a trusted text
                self.trust_text(launch.kernel, launch.source)
            self._request(pane, launch or setup.file, early=launch is not None and setup.is_edited)
        for pane, setup in untrusted.items():
            self.consent(pane, launch_of_setup(setup))
        return True

    def _request(self, pane: int, source: Source, *, patient: bool = False, early: bool = False) -> None:
        """Load a session for a pane; this replaces its earlier request."""
        earlier = self._loadings.get(pane)
        loading = self.jobs.load(source, replaces=earlier, patient=patient, early=early)
        self._loadings[pane] = loading
        loading.watch(
            partial(self._take, pane),
            partial(self._report_failure, pane),
            early=partial(self._take_early, pane),
            progress=partial(self._report_progress, pane),
        )

    def _without_untrusted_text(self, setup: Setup) -> Setup:
        """Remove a text that came with a lecture or a bookmark from a setup, unless the user trusts it."""
        if setup.file or not setup.source or (find(setup.scenario).kernel, setup.source) in self._trusted:
            return setup
        return msgspec.structs.replace(setup, source="", without=())

    def _resize(self, setups: tuple[Setup, ...]) -> None:
        count = len(setups)
        for pane in range(count, len(self.sessions)):
            self.jobs.drop(self._loadings.pop(pane, None))
            self._shown.pop(pane, None)
        self.sessions = self.sessions[:count] + [None] * (count - len(self.sessions))
        self.store.dispatch(ShowPanes(setups))

    def _take(self, pane: int, session: Session) -> None:
        """Take a session, or wait briefly for another pane's, so that both are drawn once."""
        self._arrived[pane] = session
        if self._awaited <= self._arrived.keys():
            self._take_all()
        elif not self._gathering.isActive():
            self._gathering.start()

    def _take_all(self) -> None:
        """Show the sessions that have arrived."""
        self._gathering.stop()
        arrived, self._arrived = self._arrived, {}
        taken = [
            pane
            for pane, session in arrived.items()
            if pane < len(self.sessions) and not self._start_rerun(pane, session)
        ]
        for pane in taken:
            self._copy_schedule(pane, arrived[pane])
            self._early.discard(pane)
            self._load(pane, arrived[pane])
        self._awaited -= set(taken)
        if taken:
            self._position()

    def _load(self, pane: int, session: Session) -> None:
        if (saved := self._file_sessions.get(self.setups[pane].file)) is not None:
            session.name_as(saved)
        self._shown[pane], self.sessions[pane] = self.setups[pane], session
        self.store.invalidate()
        self.loaded.emit(pane)

    def _take_early(self, pane: int, session: Session) -> None:
        """Show the order of compiled code; the final session replaces it at the moment shown then."""
        self._early.add(pane)
        self._load(pane, session)
        self._position()
        if self._awaited <= self._early:
            self._first_selections, self._start = (), lambda stage: stage.playhead.moment

    def _report_progress(self, pane: int, done: int, total: int) -> None:
        if pane not in self._early:
            self.waiting(pane, done, total)

    def _copy_schedule(self, pane: int, session: Session) -> None:
        """Copy the schedule of a trace file's launch into the pane's setup."""
        setup = self.setups[pane]
        if setup.file and not setup.rerun:
            self._set(pane, _scheduled_as(setup, session.launch))

    def _position(self) -> None:
        """Seek to the first moment of the new sessions; called for each one until all are loaded."""
        self.store.dispatch(Select(self._first_selections))
        self.playhead.set_end(max(self.ends(), default=0))
        self.playhead.seek(self._start(self))
        self._fit_selections()  # also if the playhead did not move
        if not self._awaited:
            self.settled.emit()

    def is_settled(self) -> bool:
        """Return True if all sessions are loaded."""
        return not self._awaited

    def is_replaced(self, pane: int) -> bool:
        """Return True if a pane's session will be replaced, since other setups are being loaded."""
        return pane in self._awaited and pane not in self._early

    def _report_failure(self, pane: int, error: Exception) -> None:
        if isinstance(error, LaunchTooSlowError):
            self._postpone(pane, error)
            return
        self.problem.emit(str(error))
        self._restore_setups([pane])

    def _restore_setups(self, panes: Iterable[int]) -> None:
        """Restore the setups of the shown pictures in these panes, which will get no others."""
        self._take_all()
        for pane in panes:
            self._set(pane, self._shown.get(pane, self.setups[pane]))
            self.loaded.emit(pane)
            self._awaited.discard(pane)
            self._position()

    def _set(self, pane: int, setup: Setup) -> None:
        self.store.dispatch(ChangeSetup(pane, setup))

    def _postpone(self, pane: int, estimate: LaunchTooSlowError) -> None:
        """Run the first block of a launch that takes long."""
        launch = estimate.launch
        first = 0 if launch.blocks is None else launch.blocks[0]
        self._run_blocks(pane, launch, (first,), cut=True)
        self.takes_long.emit(pane, launch, estimate.seconds, estimate.blocks)

    def run_however_long(self, pane: int, launch: Launch) -> None:
        """Run all blocks of a launch that `takes_long` was emitted for; only `cancel` ends it."""
        self._run_blocks(pane, launch, launch.blocks, cut=False)

    def _run_blocks(self, pane: int, launch: Launch, blocks: tuple[int, ...] | None, *, cut: bool) -> None:
        """Run these blocks of a launch, None for all, however long they take."""
        self._set(pane, msgspec.structs.replace(self.setups[pane], blocks=blocks, cut=cut))
        self._awaited.add(pane)
        self.loaded.emit(pane)
        chosen = msgspec.structs.replace(launch, blocks=blocks)
        self._request(pane, chosen, patient=True)

    def cancel(self) -> bool:
        """Cancel all loading and restore the shown setups; return True if any pane was waiting."""
        waiting = [pane for pane, loading in list(self._loadings.items()) if loading.cancel()]
        self._restore_setups(waiting)
        return bool(waiting)

    def _start_rerun(self, pane: int, session: Session) -> bool:
        """Run a file's kernel as its setup asks, or ask for consent; return True if a run was started."""
        setup = self.setups[pane]
        if not setup.file or session is None or session.launch == self._rerun_launches.get(pane):
            return False
        self._file_sessions[setup.file] = session
        if self.is_own_file(setup.file):
            self.trust_text(session.launch.kernel, session.launch.source)
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
            self._rerun_launches[pane] = launch
            self._request(pane, launch, early=setup.is_edited)
            return True
        # Until the user agrees, the saved trace is shown.
        self._unconfirmed[pane] = setup
        self._set(pane, msgspec.structs.replace(setup, rerun=False, source="", without=()))
        self.consent(pane, launch)
        return False

    def _may_run_text(self, kernel: str, text: str) -> bool:
        return not text or (kernel, text) in self._trusted

    def trust_text(self, kernel: str, text: str) -> None:
        """Trust a text of a kernel's file, since the user has written it or agreed to it."""
        self._trusted.add((kernel, text))

    def trust(self, pane: int, launch: Launch) -> None:
        """Run a launch whose source came with a file, and trust its source from now on."""
        setup = self._unconfirmed.pop(pane, self.setups[pane])
        session = self.sessions[pane]
        if setup.file and session is not None:
            self.trust_text(launch.kernel, session.launch.source)
        self.trust_text(launch.kernel, setup.source or launch.source)
        moment = self.playhead.moment
        self._start, self._first_selections = (lambda _: moment), self.selections
        if setup.file:
            setup = msgspec.structs.replace(_scheduled_as(setup, launch), rerun=True)
        self._set(pane, setup)
        self._awaited.add(pane)
        self._rerun_launches[pane] = launch
        self._request(pane, launch)

    def changed_launch(self, setup: Setup) -> Launch | None:
        """Apply a setup to the launch of a shown file; return None if that changes nothing.

        Its input arrays are those of the trace. Raises PlanError.
        """
        session = self._file_sessions[setup.file]
        launch = edited_launch(_rescheduled(session.launch, setup), setup)
        if launch == session.launch:
            return None
        try:
            return with_inputs(launch, session.trace, self._inputs)
        except OSError as error:
            raise PlanError(f"The launch's input can't be written: {error.strerror or error}.") from error

    @property
    def trusted(self) -> frozenset[tuple[str, str]]:
        """(kernel, text of its file), of each that the user agreed to run or wrote."""
        return frozenset(self._trusted)

    def launch_in(self, path: str) -> Launch | None:
        """Return the saved launch of a trace file that is shown; None for another file."""
        return self._file_sessions[path].launch if path in self._file_sessions else None

    def close(self) -> None:
        """Remove the input files of reruns."""
        shutil.rmtree(self._inputs, ignore_errors=True)

    def may_run(self, launch: Launch) -> bool:
        """Return True if a launch is the catalogue's or the user has agreed to run its source."""
        scenario = scenario_of(launch)
        own = scenario is not None and scenario.kernel == launch.kernel
        return (launch.kernel, launch.source) in self._trusted or (
            own and kernel_source(launch.kernel)[1] == launch.source
        )

    def _fit_selections(self) -> None:
        """Select a running block in every pane."""
        selections = list(self.selections)
        for pane, (session, moment) in enumerate(zip(self.sessions, self.moments(), strict=True)):
            if session is not None:
                selections[pane] = phase_steps.follow_running_block(session, selections[pane], moment)
        self.choose(selections)

    def choose(self, selections: Sequence[Selection]) -> None:
        """Select these blocks and threads, one a pane, at the current moment."""
        self.store.dispatch(Select(tuple(selections)))

    def set_focus(self, pane: int) -> None:
        """Give a pane the focus: steps and the inspector follow it."""
        self.store.dispatch(Focus(pane))

    def focus_next(self) -> None:
        """Give the other pane the focus."""
        self.set_focus((self.focus + 1) % max(len(self.setups), 1))

    def set_link(self, mode: Link) -> None:
        """Link the panes by moment or by progress; the pane in focus keeps its moment."""
        moment = self.moments()[self.focus] if self.sessions else 0.0
        self.store.dispatch(LinkBy(mode))
        self.seek(self.focus, moment)

    def seek(self, pane: int, moment: float) -> None:
        """Go to a moment of a pane; the others follow as linked."""
        if pane < len(self.sessions):
            self.playhead.seek(playhead_moment(moment, pane, self.ends(), self.link_mode))

    def select(self, pane: int, selection: Selection) -> None:
        """Select a block and thread; seek to the first moment of a block that is not running."""
        session = self.sessions[pane] if pane < len(self.sessions) else None
        if session is None:
            return
        selection = phase_steps.clamp_selection(session, selection)
        selections = list(self.selections)
        for other, other_session in enumerate(self.sessions):
            if other_session is not None and (other == pane or _have_same_shape(other_session, session)):
                selections[other] = selection
        self.choose(selections)
        start, end = phase_steps.block_span(session, selection.block)
        moment = self.moments()[pane]
        self.seek(pane, moment if start < max(moment, 1) < end + 1 else start + 1)

    def step(self, direction: int) -> None:
        """Move one moment of the pane in focus forward (1) or back (-1)."""
        self._go(lambda session, moment, block: (moment // 1 + 1) if direction > 0 else -(-moment // 1) - 1)

    def step_phase(self, direction: int) -> None:
        """Move to the next phase (1), or to the start of this phase or the previous one (-1).

        If the kernel of the pane in focus has no barriers, the phases are those of a pane that has some.
        """
        self._go(
            lambda session, moment, block: phase_steps.next_phase(session, block, moment, direction),
            self._pane_with_phases(),
        )

    def _pane_with_phases(self) -> int:
        """Return the pane in focus, or another one if only its kernel has barriers."""
        panes = [self.focus, *(i for i in range(len(self.sessions)) if i != self.focus)]
        return next((i for i in panes if has_phases(self.sessions[i])), self.focus)

    def step_block(self, direction: int) -> None:
        """Select the next block (1) or the previous one (-1)."""
        session = self.focused()
        if session is not None:
            selection = self.selections[self.focus]
            self.select(
                self.focus,
                Selection(phase_steps.next_block(session, selection.block, direction), selection.thread),
            )

    def _go(self, target: Callable[[Session, float, int], float], pane: int | None = None) -> None:
        """Seek to a moment of a pane, by default of the pane in focus."""
        pane = self.focus if pane is None else pane
        session = self.sessions[pane] if pane < len(self.sessions) else None
        if session is not None:
            moment, block = self.moments()[pane], self.selections[pane].block
            self.seek(pane, target(session, moment, block))

    def focused(self) -> Session | None:
        """Return the session of the pane in focus."""
        return self.sessions[self.focus] if self.focus < len(self.sessions) else None


def _scheduled_as(setup: Setup, launch: Launch) -> Setup:
    """Copy the schedule of a launch into a setup."""
    return msgspec.structs.replace(
        setup, schedule=launch.schedule, resident=launch.resident or "all", blocks=launch.blocks
    )


def _rescheduled(launch: Launch, setup: Setup) -> Launch:
    resident = (
        launch.resident if setup.resident is None else None if setup.resident == "all" else setup.resident
    )
    return msgspec.structs.replace(launch, schedule=setup.schedule, resident=resident, blocks=setup.blocks)


def has_phases(session: Session | None) -> bool:
    """Return True if barriers divide the blocks of a session into phases."""
    return (
        session is not None
        and session.requests.span_start.ndim > 1
        and session.requests.span_start.shape[1] > 1
    )


def _have_same_shape(session: Session, other: Session) -> bool:
    """Return True if both launches have the same grid and block shape, so selections carry over."""
    return (session.trace.grid, session.trace.block_dim) == (other.trace.grid, other.trace.block_dim)
