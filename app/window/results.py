"""Results that come after the pictures: findings, measured times, compiled counters, other seeds, listings."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ...tracer.hardware.times.recorded_outcomes import Spread
from ..compiled.compiled_job import CompiledJob
from ..compiled.listing_job import ListingJobs
from ..control.causes_job import CausesJob, Question
from ..control.seed_jobs import SeedJobs, spread_key
from ..control.stage import Stage
from ..control.type_inference_job import TypeInferenceJob
from ..gpu_timelines.model.timeline_clocks import NOT_RECORDED, recorded_of
from ..model.explanation import reference_of
from ..model.session import Session
from ..panels.pane import Pane
from ..panels.side import Inspector
from ..timings.measured_job import MeasuredTimes
from ..views.timeline.view import TimelineView
from .pane_alignment import align_times

if TYPE_CHECKING:
    from ..timings.model.choice import Choice
    from ..timings.model.nearest_measured import MeasuredTime


class Results(QObject):
    """Requests results for the sessions in the panes, and shows them there and in the inspector.

    panes, timelines: the lists of the window, which change.
    findings_added: a session has further findings, from Numba's compiler.
    """

    findings_added = Signal(object)

    def __init__(
        self, stage: Stage, side: Inspector, panes: list[Pane], timelines: list[TimelineView], parent: QObject
    ) -> None:
        super().__init__(parent)
        self.stage, self.store, self.side, self.panes, self.timelines = (
            stage,
            stage.store,
            side,
            panes,
            timelines,
        )
        # Returns True for a trace of a program that the user ran here.
        self.spreads, self.types = (
            SeedJobs(stage.jobs, self, self._show_spread),
            TypeInferenceJob(self, self._show_more_findings),
        )
        self.measured = MeasuredTimes(self, stage.is_settled, self.store.invalidate)
        self.compiling = CompiledJob(lambda: stage.is_settled() and not self.is_behind, self)
        self.compiling.counted.connect(self._show_compiled)
        self.causes = CausesJob(self, self.store.invalidate)
        self.listings = ListingJobs(self, side.show_listing)
        stage.jobs.examined.connect(self._show_findings)

    def subscribe(self) -> None:
        """Request and show results once the panes show other launches."""
        store, stage, measured = self.store, self.stage, self.measured
        store.subscribe(
            lambda: (stage.setups, *stage.sessions, measured.sources), lambda _: self._show_times()
        )
        store.subscribe(
            lambda: (store.state.time, *stage.sessions, measured.sources), lambda _: self._show_clocks()
        )
        store.subscribe(
            lambda: (stage.setups, store.state.picture, store.state.compiled_here, *stage.sessions),
            lambda _: self._want(),
        )
        store.subscribe(
            lambda: (store.state.traced, store.state.selections, *stage.sessions),
            lambda _: self._want_causes(),
        )

    def _want_causes(self) -> None:
        """Request the path of the traced value in each pane."""
        traced, sessions = self.store.state.traced, self.stage.sessions
        pairs = [
            (i, session, selection)
            for i, (session, selection) in enumerate(zip(sessions, self.stage.selections, strict=False))
            if session is not None and traced is not None
        ]
        self.causes.want(
            Question(session, traced, selection, reference_of(sessions, i))
            for i, session, selection in pairs
            if traced is not None
        )

    @property
    def is_behind(self) -> bool:
        """True if the panes do not show all loaded sessions yet."""
        return [pane.session for pane in self.panes] != self.stage.sessions

    def _want(self) -> None:
        """Request what is computed about the shown sessions."""
        self._want_spreads()
        self.want_compiled()
        self.measured.want()

    def wait_for_compiler(self) -> None:
        """Wait for the compiler's results in the panes and the inspector, for a picture."""
        self.compiling.wait()
        self.causes.wait()
        session, state = self.stage.focused(), self.store.state
        if session is not None and state.tab == "code" and state.side != "hidden":
            self.listings.want(session)
            self.listings.wait()

    def close(self) -> None:
        """End all jobs."""
        for job in (self.spreads, self.types, self.measured, self.compiling, self.listings, self.causes):
            job.close()

    # Findings.

    def _show_findings(self, session: Session) -> None:
        """Show the findings of a session, now that they are known, and request those of the compiler."""
        self.side.show_findings(session)
        for pane in self.panes:
            if pane.session is session:
                pane.heading.show_verdict()
        self.types.ask(session)
        is_race_shown = self.store.state.colour_by == "races"
        if is_race_shown or any(finding.kind == "race" for finding in session.findings):
            self.side.source.compared = tuple(shown for shown in self.stage.sessions if shown)
            for pane in self.panes:
                pane.memory.reload()
            self.store.invalidate()

    def _show_more_findings(self, session: Session) -> None:
        """Show a session's findings with those of the compiler."""
        self.side.show_findings(session)
        self.findings_added.emit(session)

    # Other seeds.

    def _want_spreads(self) -> None:
        """Request the spreads of the racing counters on screen whose kernels may run."""
        shown = [pane.session for pane in self.panes if pane.session and pane.shows_histogram()]
        races = [session for session in shown if session.histogram_launch and session.histogram_launch.races]
        self.spreads.want(session for session in races if self.stage.may_run(session.launch))

    def _show_spread(self, key: str, spread: Spread) -> None:
        """Show the totals of a racing counter under other seeds, in the panes of that launch."""
        for pane in self.panes:
            if pane.session is not None and spread_key(pane.session) == key:
                pane.histogram.spread = spread

    # Compiled counters.

    def shows_compiled(self) -> bool:
        """Return True if compiled counters are visible."""
        return any(not pane.depths.isHidden() for pane in self.panes)

    def want_compiled(self) -> None:
        """Request the compiled counters of the panes whose kernels the user ran or agreed to run.

        Counting runs a kernel's code; compiling it for a listing runs nothing.
        """
        wanted, asks = [], self.store.state.asks_compiler
        for pane in self.panes:
            session = pane.session
            is_hidden = pane.shown.compiled == "hidden"
            if session is None or session.is_python_program or session.is_cuda_cpp or is_hidden:
                pane.depths.offer(False)
                continue
            may_run = self.stage.may_run(session.launch)
            pane.depths.offer(not may_run and asks)
            wanted += [session] * may_run
        self.compiling.want(wanted)

    def trust_pane(self, i: int) -> None:
        """Trust a kernel that came with a file, and count it, since the user agreed to run it."""
        session = self.panes[i].session
        if session is not None:
            self.stage.trust_text(session.launch.kernel, session.launch.source)
            self.want_compiled()

    def _show_compiled(self, session: Session) -> None:
        """Show the compiled counters of a session, now that they are known."""
        for pane in self.panes:
            if pane.session is session:
                pane.depths.show_compiled()
        if self.side.source.session is session:
            self.side.source.show_compiled(self.store.state.shows_fates)

    # Measured times and clocks.

    def _show_times(self) -> None:
        """Show the measured time of each pane's kernel, once the measurements are read."""
        align_times(self.panes, self._times() if self.measured.sources is not None else None)

    def _show_clocks(self) -> None:
        """Show moments in the timelines, or the recorded GPU clocks, which are read with the times."""
        is_stretched = self.store.state.time == "measured"
        is_read = self.measured.sources is not None
        recordings = recorded_of([pane.session for pane in self.panes]) if is_read else []
        why_not = NOT_RECORDED if is_read else ""
        for timeline, recorded in zip_longest(self.timelines, recordings):
            timeline.set_timeline(recorded, is_stretched, "" if recorded else why_not)

    def _times(self) -> list[MeasuredTime | None]:
        return self.measured.of_panes(self.stage.setups, [pane.session for pane in self.panes])

    def timings(self) -> tuple[Choice, str] | None:
        """Return the chart of the first pane with a measured time, and the measurement's path; None without one."""
        panes = [self.stage.focus, *range(len(self.panes))]
        return next((chart for i in panes if (chart := self.chart_of(i)) is not None), None)

    def chart_of(self, i: int) -> tuple[Choice, str] | None:
        """Return the chart of a pane's measured time, and the measurement's path; None without one."""
        from ..timings.model.nearest_measured import comparison_chart  # the window starts without it

        times = self._times()
        time = times[i] if i < len(times) else None
        return None if time is None else (comparison_chart(times, time), str(time.measured.source.path))
