"""The central widget of the window: toolbar, notice, panes, inspector, timelines, transport; and their connections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QSplitter, QVBoxLayout, QWidget

from ...kernels.scenarios.catalogue import groups
from ...tracer.measure.recorded_outcomes import Spread
from ..control.compiled_job import CompiledJob
from ..control.listing_job import ListingJobs
from ..control.measured_job import MeasuredTimes
from ..control.seed_jobs import SeedJobs, schedule_free_key
from ..control.stage import Stage
from ..control.timeline_clocks import NOT_RECORDED, TimelineClocks, recorded_of
from ..control.type_inference_job import TypeInferenceJob
from ..model.bookmark import CompiledChoice, LayoutChoice, NearestChoice, PictureChoice, SideChoice
from ..model.playhead import Playhead
from ..model.session import Session, launch_name
from ..model.setup_edits import differences
from ..model.spotlight import Highlight, resolve_highlights
from ..views.memory.view_data import COLOUR_BY
from ..views.timeline.view import TimelineView
from ..widgets.appearance import dress
from ..widgets.controls import UNBOUND, Themed
from ..widgets.notice import News, Notice
from ..widgets.picture_drag import PictureDrag
from ..widgets.theme import Theme
from .pane_alignment import align_colour_scales, align_counters, align_headings, align_matrices, align_times
from .panels.blocks_ahead import BlocksAhead, Shown
from .panels.caption import CaptionBar
from .panels.charts import Charts
from .panels.pane import Pane
from .panels.side import Inspector
from .panels.transport import Transport
from .toolbar.toolbar import PANE_NAMES, Toolbar

if TYPE_CHECKING:
    from ..charts.choice import Choice
    from ..charts.nearest_measured import MeasuredTime
    from .program.page import ProgramPage

# Pixels at the normal text size below which some parts are left out.
LOW, LOWER, CRAMPED, LOWEST, NARROW = 860, 660, 440, 390, 1000
NARROW_WITH_LARGE_TEXT = 1200  # large text is for the pictures: they keep their room
SIDE_SHARE = 2  # parts of the width for the inspector, where a pane has three
SIDE = 0.8  # the inspector's text size in a lecture, relative to that of the pictures
FRAME = 2 / 3  # the text size of headings, timelines and transport, likewise
BAR: dict[LayoutChoice, bool] = {"ordinary": True, "lecture": False}  # whether the toolbar is shown
LECTURE_HEIGHT = 720  # the height in pixels at which a lecture's pictures have the normal text size


class CentralWidget(QWidget):
    """The content of the window: shows sessions and passes the user's requests to the stage.

    cancelled: the user cancels the tracing. selected: (pane, Selection) of a click. timings_asked: (Choice, path of
    a measurement) of the chart to show.
    """

    cancelled = Signal()
    selected = Signal(int, object)
    timings_asked = Signal(object, str)

    def __init__(self, playhead: Playhead, stage: Stage, theme: Theme) -> None:
        super().__init__()
        self.stage, self.theme, self.colour = stage, theme, "auto"
        self.side_wanted: SideChoice = "auto"
        self.side_share = SIDE_SHARE
        self.picture: PictureChoice = "auto"
        self.layout_choice: LayoutChoice = "ordinary"
        self.zoom: tuple[str, ...] = ()
        self.nearest: NearestChoice = "shown"
        self.compiled: CompiledChoice = "auto"
        self.is_own_file: Callable[[str], bool] = lambda _: (
            False
        )  # returns True for a trace of a program that the user ran here
        self.asks_compiler = True  # whether "auto" shows compiled counters once they are known
        self._pictures_only = False  # whether only pictures and caption are shown
        self._keeps_verdicts = False  # hides how launches ended, while a lecture asks
        self._side_theme: Theme | None = None
        self._foot_theme: Theme | None = None
        self._ordinary_splitters: tuple[bytes, ...] = (
            b"",
            b"",
        )  # the user's splitter states, while a lecture's layout is shown
        self._bar_wanted = dict(BAR)
        self.spotlight: tuple[str, ...] = ()
        self._highlights: tuple[object, tuple[Highlight | None, ...]] = ((), ())
        self._deferred: set[str] | None = None  # updates to run at the end of `at_once`, None outside
        self._toolbar_content: object = None  # shown by the toolbar
        self._times_key: object = None  # of the times in the headings of the panes
        self.page: ProgramPage | None = None  # of a program without traces yet
        self.panes: list[Pane] = []
        self.timelines: list[TimelineView] = []
        self.toolbar, self.notice = Toolbar(groups()), Notice(theme)
        self.side, self.transport = Inspector(theme), Transport(playhead, theme)
        self.caption = CaptionBar(theme)
        self.spreads, self.types = SeedJobs(stage.jobs, self), TypeInferenceJob(self)
        self.measured = MeasuredTimes(self, stage.is_settled)
        self.measured.loaded.connect(self._show_times)
        self.compiling = CompiledJob(lambda: stage.is_settled() and not self.is_held, self)
        self.compiling.counted.connect(self._show_compiled)
        self.listings = ListingJobs(self)
        self.listings.listed.connect(self.side.show_listing)
        self.side.listing_asked.connect(self.listings.want)
        self.ahead = BlocksAhead(self._shown, lambda: stage.is_settled() and stage.jobs.is_idle(), self)
        self.clocks = TimelineClocks(self)
        self.clocks.changed.connect(self._show_clocks)
        self.spreads.progressed.connect(self._show_spread)
        self.types.answered.connect(self.side.show_findings)
        stage.jobs.examined.connect(self._show_findings)
        self._build()
        self.side.moment_asked.connect(lambda moment: stage.seek(stage.focus, moment))
        self.side.selection_asked.connect(lambda selection: self.selected.emit(stage.focus, selection))

    def _build(self) -> None:
        self.across, self.down = QSplitter(Qt.Orientation.Horizontal), QSplitter(Qt.Orientation.Vertical)
        self.across.addWidget(self.side)
        self.down.addWidget(self.across)
        self.down.addWidget(self._build_foot())
        self.down.setStretchFactor(0, 1)
        self.foot_moved = False  # whether the user has changed the height of the foot
        self.width_moved = False  # and the widths
        self.down.splitterMoved.connect(self._keep_height)
        self.across.splitterMoved.connect(self._keep_width)
        for splitter in (self.across, self.down):
            splitter.setChildrenCollapsible(False)
        self.body = QVBoxLayout()
        self.body.addWidget(self.caption)
        self.body.addWidget(self.down, 1)
        self.charts = Charts(self.stage, self.theme, self.body, self.down, self)
        self.charts.changed.connect(self.arrange)
        self.charts.refused.connect(partial(self.notice.error, cause="chart"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.toolbar)
        column.addLayout(self.body, 1)
        self.notice.news = News(self.theme, self, self.foot)
        self.notice.float_over(self, self.foot)

    def show_page(self, page: ProgramPage) -> None:
        """Show the page of a program instead of the panes, until it leaves."""
        self.page = page
        self.body.addWidget(page, 1)
        self.down.hide()
        page.left.connect(self.down.show)

    def splitter_states(self) -> tuple[bytes, ...]:
        """Return Qt's splitter states of the ordinary layout, b"" for one that the user has not moved."""
        across, down = (bytes(splitter.saveState().data()) for splitter in (self.across, self.down))
        lecture = self.layout_choice == "lecture"
        return self._ordinary_splitters if lecture else (across * self.width_moved, down * self.foot_moved)

    def restore_splitters(self, states: Sequence[bytes]) -> None:
        """Restore the states that `splitter_states` returned."""
        for splitter, state in zip((self.across, self.down), states, strict=False):
            splitter.restoreState(QByteArray(state))
        self.width_moved, self.foot_moved = (*map(bool, states), False, False)[:2]

    def set_splitter_sizes(self, columns: Sequence[int], rows: Sequence[int]) -> None:
        """Set the widths of the columns and the heights of the rows, in points; an empty sequence changes nothing."""
        self.width_moved, self.foot_moved = self.width_moved or bool(columns), self.foot_moved or bool(rows)
        for splitter, sizes in ((self.across, columns), (self.down, rows)):
            if sizes:
                splitter.setSizes(sizes)

    def _keep_height(self) -> None:
        self.foot_moved = True

    def _keep_width(self) -> None:
        self.width_moved = True

    def _build_foot(self) -> QFrame:
        self.foot = QFrame()
        self.foot.setObjectName("panel")
        self.foot_column = QVBoxLayout(self.foot)
        self.rows = QBoxLayout(QBoxLayout.Direction.TopToBottom)  # the timelines
        self.foot_column.addLayout(self.rows, 1)
        self.foot_column.addWidget(self.transport)
        return self.foot

    def set_theme(self, theme: Theme) -> None:
        """Pass colours and text size to every part."""
        self.theme = theme
        parts: list[Themed] = [self.toolbar, self.caption, self.notice, self.transport]
        self.charts.set_theme(theme)
        if self.page is not None:
            self.page.set_theme(theme)
        for part in (*parts, *self.panes, *self.timelines):
            part.set_theme(theme)
        self._foot_theme = None
        self.toolbar.speak(self.theme)
        self.arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Rearrange the parts for the new size."""
        super().resizeEvent(event)
        self.arrange()

    def minimumSizeHint(self) -> QSize:
        """Return the size of the smallest arrangement, so that the window can shrink to it."""
        hint = super().minimumSizeHint()
        return QSize(hint.width(), min(hint.height(), self.theme.px(390)))

    @contextmanager
    def batch_updates(self) -> Iterator[None]:
        """Collect the updates inside the context and run each once at its end."""
        outer, self._deferred = self._deferred, set()
        try:
            yield
        finally:
            later, self._deferred = self._deferred, outer
            if "setups" in later:
                self.show_setups()
            elif "arrange" in later:
                self.arrange()
            if "draw" in later:
                self.draw()

    def _defer(self, task: str) -> bool:
        """Schedule a task for the end of `at_once`; return False outside of it."""
        if self._deferred is not None:
            self._deferred.add(task)
        return self._deferred is not None

    def arrange(self) -> None:
        """Hide the least important parts in a low or narrow window, and show them again in a larger one.

        Low: timelines get less height. Lower: only the timeline of the pane in focus. Cramped: less space between the
        parts. Lowest: no timeline. Narrow: no inspector, unless the user wants it.
        """
        if self._defer("arrange"):
            return
        height, width = self.height() / self.theme.scale, self.width() / self.theme.scale
        self._scale_foot()
        self._set_gaps()
        for i, timeline in enumerate(self.timelines):
            enough = height >= (LOWER if self.layout_choice == "ordinary" else LOWEST)
            timeline.setVisible(enough or (height >= LOWEST and i == self.stage.focus))
        self.toolbar.setVisible(self._bar_wanted[self.layout_choice] and not self._pictures_only)
        if not self.toolbar.isHidden():
            self.toolbar.fit(self.width())
        self.caption.fit(self.size())
        self.charts.fit(self.layout_choice, self.height())
        for pane in self.panes:
            pane.show_layout(self.layout_choice, self._picture_scale(), FRAME * self._picture_scale())
            pane.heading.show_close(len(self.panes) > 1 and self.layout_choice == "ordinary")
        side = replace(self.theme, scale=max(self.theme.scale, SIDE * self._picture_scale()))
        if side != self._side_theme:
            self._side_theme = side
            self.side.set_theme(side)
        narrow = NARROW if self.theme.scale <= 1 else NARROW_WITH_LARGE_TEXT
        wanted = self.side_wanted == "auto" and width >= narrow and self.layout_choice == "ordinary"
        wanted = (wanted or self.side_wanted == "shown") and not self._pictures_only
        appears = self.side.isHidden() and wanted
        self.side.setVisible(wanted)
        if appears:
            self._draw_side()  # skipped while it was hidden
        if not self.width_moved:
            self.distribute_width()
        shown = [timeline for timeline in self.timelines if not timeline.isHidden()]
        if self.layout_choice == "lecture":
            self._share_lecture_height(shown)
        else:
            self._share_height(shown, height < LOW)

    def _scale_foot(self) -> None:
        """Enlarge timelines and transport in a lecture on a very large screen, as the headings of the panes."""
        theme = replace(self.theme, scale=max(self.theme.scale, FRAME * self._picture_scale()))
        if theme != self._foot_theme:
            self._foot_theme = theme
            dress(self.foot, theme, self.theme)
            self.transport.set_theme(theme)
            for timeline in self.timelines:
                timeline.set_theme(theme)

    def _picture_scale(self) -> float:
        """Compute the smallest text size of the pictures: in a lecture it follows the size of the window."""
        size = min(self.height(), self.width() * 9 / 16) / LECTURE_HEIGHT
        return round(size, 1) if self.layout_choice == "lecture" else 0.0

    def _set_gaps(self) -> None:
        """Set the space between the parts: less for a lecture and in a low window."""
        lecture = self.layout_choice == "lecture"
        tight = lecture or self.height() < self.theme.px(CRAMPED)
        gap = self.theme.px(4 if tight else 10)
        self.body.setContentsMargins(gap, gap, gap, gap)
        self.body.setSpacing(gap)
        self.foot_column.setContentsMargins(1, self.theme.px(2 if tight else 6), 1, 1)
        self.foot_column.setSpacing(self.theme.px(0 if tight else 4))
        self.rows.setSpacing(self.foot_column.spacing())
        for splitter in (self.across, self.down):
            if splitter.handleWidth() != gap:  # otherwise Qt lays out again
                splitter.setHandleWidth(gap)
        for timeline in self.timelines:
            timeline.set_slim(tight)
        self.transport.set_slim(lecture)

    def _share_height(self, shown: Sequence[TimelineView], low: bool) -> None:
        """Give the foot the height of its rows at this width, which a splitter does not ask for.

        The pictures get the rest; the user may give the timelines more, up to their largest height.
        """
        fixed = self._height_without_timelines() + self.rows.spacing() * max(0, len(shown) - 1)
        minimum = fixed + sum(timeline.minimumSizeHint().height() for timeline in shown)
        usual = fixed + sum(timeline.sizeHint().height() for timeline in shown)
        for timeline in shown:  # the timelines share the height in proportion to their hints
            self.rows.setStretchFactor(timeline, timeline.sizeHint().height())
        self.foot.setMaximumHeight(UNBOUND)
        self.foot.setMinimumHeight(minimum)
        self.foot.setMaximumHeight(max(usual, fixed + sum(timeline.largest_height() for timeline in shown)))
        if not self.foot_moved:
            foot = (minimum + usual) // 2 if low else usual
            self.down.setSizes([max(self.down.height() - foot, 1), foot])

    def _share_lecture_height(self, shown: Sequence[TimelineView]) -> None:
        """Give the foot the height of its rows, with the timelines side by side."""
        foot = self._height_without_timelines() + max((t.sizeHint().height() for t in shown), default=0)
        for timeline in shown:
            self.rows.setStretchFactor(timeline, 1)
        self.foot.setFixedHeight(foot)
        self.down.setSizes([max(self.down.height() - foot, 1), foot])

    def _height_without_timelines(self) -> int:
        """Compute the height of the foot without the timelines."""
        margins, gap = self.foot_column.contentsMargins(), self.foot_column.spacing()
        inside = self.width() - 2 * self.body.spacing() - margins.left() - margins.right()
        return self.transport.heightForWidth(inside) + gap + margins.top() + margins.bottom() + 2

    def toggle_bar(self) -> None:
        """Show or hide the toolbar in the current layout."""
        self._bar_wanted[self.layout_choice] = self.toolbar.isHidden()
        self.arrange()

    def toggle_side(self) -> None:
        """Show or hide the inspector."""
        hidden: SideChoice = "hidden" if self.layout_choice == "ordinary" else "auto"
        self.side_wanted = "shown" if self.side.isHidden() else hidden
        self.arrange()

    def show_layout(self, choice: LayoutChoice) -> None:
        """Switch to the ordinary layout or to that of a lecture, in which the pictures of memory get all free room."""
        if choice == self.layout_choice:
            return
        if choice == "lecture":
            self._ordinary_splitters = self.splitter_states()
            self.width_moved = False
        self.layout_choice = choice
        lecture = choice == "lecture"
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self.rows.setDirection(right if lecture else down)
        self.arrange()
        if not lecture:
            self.restore_splitters(self._ordinary_splitters)
        self.draw()

    def toggle_layout(self) -> None:
        """Switch between the layouts of a lecture and of work."""
        self.show_layout("lecture" if self.layout_choice == "ordinary" else "ordinary")

    def show_zoom(self, names: tuple[str, ...]) -> None:
        """Show only the buffers with these names in the pictures of memory; () shows all."""
        self.zoom = names
        for pane in self.panes:
            pane.memory.only = names
        self.draw()

    def show_pictures_only(self, only: bool) -> None:
        """Show only the pictures of memory and a lecture's caption, or everything again."""
        self._pictures_only = only
        self.foot.setVisible(not only)
        for pane in self.panes:
            pane.show_picture_only(only)
        self.arrange()

    def show_tab(self, name: str) -> None:
        """Show the inspector with this tab."""
        if self.side.isHidden():
            self.toggle_side()
        self.side.show_tab(name)

    def make_panes(self, count: int) -> None:
        """Add or remove panes, each with its timeline, up to this count."""
        while len(self.panes) > count:
            for widget in (self.panes.pop(), self.timelines.pop()):
                widget.hide()
                widget.deleteLater()
        for pane in self.panes[:1]:
            pane.heading.show_close(False)
        if self.panes:
            align_headings(self.panes)  # the removed pane may have had less room
        while len(self.panes) < count:
            self._add_pane(len(self.panes))

    def hide_verdicts(self, keep: bool) -> None:
        """Hide how the launches ended, while a lecture asks, or show it again."""
        self._keeps_verdicts = keep
        for pane in self.panes:
            pane.heading.hide_verdict(keep)
            pane.depths.set_quiet(keep)
        self.side.source.show_compiled(self._shows_fates())

    def show_nearest(self, choice: NearestChoice) -> None:
        """Show the nearest measured launch in panes without a measurement, or show nothing there."""
        self.nearest = choice
        for pane in self.panes:
            pane.heading.show_nearest(choice == "shown")

    def show_compiled(self, choice: CompiledChoice) -> None:
        """Show or hide the compiled counters; auto: show them once they are known, except in offscreen windows."""
        self.compiled = choice
        for pane in self.panes:
            pane.show_compiled(self._compiled_here())
        self.side.source.show_compiled(self._shows_fates())
        self._want_compiled()

    def shows_compiled(self) -> bool:
        """Return True if compiled counters are visible."""
        return any(not pane.depths.isHidden() for pane in self.panes)

    def _compiled_here(self) -> CompiledChoice:
        return "hidden" if self.compiled == "auto" and not self.asks_compiler else self.compiled

    def _shows_fates(self) -> bool:
        return self._compiled_here() != "hidden" and not self._keeps_verdicts

    def _want_compiled(self) -> None:
        """Request the compiled counters of the panes whose kernels the user ran or agreed to run.

        Counting runs a kernel's code; compiling it for a listing runs nothing.
        """
        wanted = []
        for i, pane in enumerate(self.panes):
            session, hidden = pane.session, self._compiled_here() == "hidden"
            if session is None or session.is_python_program or hidden:
                pane.depths.offer(False)
                continue
            may_run = self.stage.may_run(session.launch) or self.is_own_file(self.stage.setups[i].file)
            pane.depths.offer(not may_run and self.asks_compiler)
            wanted += [session] * may_run
        self.compiling.want(wanted)

    def _trust_pane(self, i: int) -> None:
        """Trust a kernel that came with a file, and count it, since the user agreed to run it."""
        session = self.panes[i].session
        if session is not None:
            self.stage.trust_text(session.launch.kernel, session.launch.source)
            self._want_compiled()

    def wait_for_compiler(self) -> None:
        """Wait for the compiler's results in the panes and the inspector, for a picture."""
        self.compiling.wait()
        session = self.stage.focused()
        if session is not None and self.side.tab == "code" and self.side_wanted != "hidden":
            self.listings.want(session)
            self.listings.wait()

    def _show_compiled(self, session: Session) -> None:
        """Show the compiled counters of a session, now that they are known."""
        for pane in self.panes:
            if pane.session is session:
                pane.depths.show_compiled()
        if self.side.source.session is session:
            self.side.source.show_compiled(self._shows_fates())

    def _add_pane(self, i: int) -> None:
        pane, timeline, stage = (
            Pane(PANE_NAMES[i], self.theme),
            TimelineView(self._foot_theme or self.theme),
            self.stage,
        )
        for view in (*pane.views, timeline):
            view.moment_asked.connect(lambda moment: stage.seek(i, moment))
            view.selection_asked.connect(lambda selection: self.selected.emit(i, selection))
        timeline.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        timeline.x_range_changed.connect(lambda first, last: self._link_ranges(i, first, last))
        pane.cancelled.connect(self.cancelled)
        pane.heading.fitted.connect(lambda: align_headings(self.panes))
        pane.heading.chart_asked.connect(lambda: self._ask_timings(i))
        pane.heading.close_asked.connect(lambda: self.toolbar.close_pane(i))
        pane.picture_asked.connect(self.show_picture)
        PictureDrag(pane.heading, pane, partial(self.notice.error, cause="file"))
        pane.show_picture(self.picture)
        pane.set_theme(self.theme)
        pane.heading.hide_verdict(self._keeps_verdicts)
        pane.heading.show_nearest(self.nearest == "shown")
        pane.show_compiled(self._compiled_here())
        pane.depths.set_quiet(self._keeps_verdicts)
        pane.depths.agreed.connect(lambda: self._trust_pane(i))
        pane.memory.colour_by, pane.memory.only = self.colour, self.zoom
        pane.show_picture_only(self._pictures_only)
        self.panes.append(pane)
        self.timelines.append(timeline)
        align_headings(self.panes)
        self.across.insertWidget(i, pane)
        self.rows.insertWidget(i, timeline, 1)  # the timelines share the remaining room
        self.arrange()

    def _link_ranges(self, i: int, first: float, last: float) -> None:
        """Show the range of this timeline in the others too: the same moments, or the same share."""
        ends, by_progress = self.stage.ends(), self.stage.link_mode == "progress"
        for other, timeline in enumerate(self.timelines):
            if other != i and ends[i] and ends[other]:
                share = ends[other] / ends[i] if by_progress else 1.0
                timeline.set_x_range((first - 1) * share + 1, (last - 1) * share + 1)

    def focus_pictures(self) -> None:
        """Give the keyboard focus to the current pane or, if a chart covers it, to Play."""
        pane = next(iter(self.panes[self.stage.focus : self.stage.focus + 1]), None)
        target = pane if pane is not None and pane.isVisible() else self.transport.play
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def turn_to(self, widget: QWidget | None) -> None:
        """Make the pane current whose picture or timeline contains this widget."""
        for i, parts in enumerate(zip(self.panes, self.timelines, strict=True)):
            if widget is not None and any(part is widget or part.isAncestorOf(widget) for part in parts):
                self.stage.set_focus(i)

    def distribute_width(self) -> None:
        """Give each pane three parts of the width, and the inspector its share."""
        parts = [self.across.widget(i) for i in range(self.across.count())]
        shares = [
            3 if part in self.panes else self.side_share if part is self.side else 0 for part in parts
        ]  # 0: the widget will be removed
        for i, share in enumerate(shares):
            self.across.setStretchFactor(i, share)
        width = max(self.across.width(), 1000)
        self.across.setSizes([share * width for share in shares])

    def set_side_width(self, parts: int | None) -> None:
        """Set the inspector's parts of the width, where a pane has three; None for the default."""
        self.side_share = parts or SIDE_SHARE
        self.arrange()

    @property
    def is_held(self) -> bool:
        """True if painting is suspended (`hold`)."""
        return not self.side.updatesEnabled()

    def hold(self, holds: bool) -> None:
        """Suspend painting while sessions are loaded, or resume it and paint all changes at once."""
        for part in (*self.panes, *self.timelines, self.side, self.transport):
            part.setUpdatesEnabled(not holds)

    def load(self, i: int, session: Session | None) -> None:
        """Show a pane's session, or the previous one again if there is no new one; call `show_setups` next."""
        pane = self.panes[i]
        pane.overlay.uncover()
        if pane.session is not session:
            pane.load(session)
            self.timelines[i].load(session)
            if session is not None and session.is_examined:
                self.types.ask(session)
        sessions = [session for session in self.stage.sessions if session]
        self.side.compare(sessions)
        self.transport.serve(sessions, PANE_NAMES)
        self._want_spreads()
        self._want_compiled()
        self.measured.want()

    def _show_times(self) -> None:
        """Show the measured time of each pane's kernel, now or once the measurements are read."""
        times_key = [(pane, pane.session) for pane in self.panes], self.measured.sources
        if times_key != self._times_key:
            self._times_key = times_key
            align_times(self.panes, self._times() if self.measured.sources is not None else None)
            self._show_clocks()

    def _show_clocks(self) -> None:
        """Show moments in the timelines, or the recorded GPU clocks, which are read with the times."""
        is_read = self.measured.sources is not None
        recordings = recorded_of([pane.session for pane in self.panes]) if is_read else []
        why_not = NOT_RECORDED if is_read else ""
        for timeline, recorded in zip_longest(self.timelines, recordings):
            timeline.set_timeline(recorded, self.clocks.is_stretched, "" if recorded else why_not)

    def _times(self) -> list[MeasuredTime | None]:
        return self.measured.of_panes(self.stage.setups, [pane.session for pane in self.panes])

    def _ask_timings(self, i: int) -> None:
        """Request the chart of a pane's measured time."""
        if (chart := self._chart_of(i)) is not None:
            self.timings_asked.emit(*chart)

    def timings(self) -> tuple[Choice, str] | None:
        """Return the chart of the first pane with a measured time, and the measurement's path; None without one."""
        panes = [self.stage.focus, *range(len(self.panes))]
        return next((chart for i in panes if (chart := self._chart_of(i)) is not None), None)

    def _chart_of(self, i: int) -> tuple[Choice, str] | None:
        from ..charts.nearest_measured import comparison_chart  # the window starts without it

        times = self._times()
        time = times[i] if i < len(times) else None
        return None if time is None else (comparison_chart(times, time), str(time.measured.source.path))

    def _show_findings(self, session: Session) -> None:
        """Show the findings of a session, now that they are known, and request those of the compiler."""
        self.side.show_findings(session)
        for pane in self.panes:
            if pane.session is session:
                pane.heading.show_verdict()
        self.types.ask(session)
        if self.colour == "races" or any(finding.kind == "race" for finding in session.findings):
            self.side.compare([session for session in self.stage.sessions if session])
            for pane in self.panes:
                pane.memory.reload()
            self.draw()

    def show_progress(self, i: int, done: int, total: int) -> None:
        """Show the traced blocks of a pane's next session; a total of 0 is unknown."""
        if i < len(self.panes):
            count = self.theme.translate(f"{done:,} of {total:,} blocks") if total else "…"
            title = self.toolbar.title_of(self.stage.setups[i])  # the toolbar shows it later
            self.panes[i].overlay.show_progress(f"Tracing {title}: {count}", done, total)

    def remember_numbers(self) -> None:
        """Store the shown counters as the values before a change of setup."""
        for pane in self.panes:
            pane.counters.keep_numbers()

    def mark_changes(self) -> None:
        """Mark the counters that a change of setup has changed for a second."""
        for pane in self.panes:
            pane.counters.mark_changes(settled=self.stage.is_settled())

    def keep_pictures(self, waits: bool) -> None:
        """Keep the pictures visible while the user drags a parameter."""
        for pane in self.panes:
            pane.overlay.delay_cover(waits)

    def colour_by(self, choice: str) -> None:
        """Colour the cells of every pane by one of COLOUR_BY, and the source lines if that applies to them."""
        if choice in COLOUR_BY:
            self.colour = choice
        for pane in self.panes:
            pane.memory.colour_by = self.colour
        self.side.colour_by(self.colour)
        self.transport.show_colour(self.colour)

    def show_picture(self, choice: PictureChoice) -> None:
        """Show the memory in every pane, or the histogram of launches that count."""
        self.picture = choice
        for pane in self.panes:
            pane.show_picture(choice)
        self._want_spreads()
        self.draw()

    def _want_spreads(self) -> None:
        """Request the spreads of the racing counters on screen whose kernels may run."""
        shown = [pane.session for pane in self.panes if pane.session and pane.shows_histogram()]
        races = [session for session in shown if session.histogram_launch and session.histogram_launch.races]
        self.spreads.want(session for session in races if self.stage.may_run(session.launch))

    def _show_spread(self, key: str, spread: Spread) -> None:
        """Show the totals of a racing counter under other seeds, in the panes of that launch."""
        for pane in self.panes:
            if pane.session is not None and schedule_free_key(pane.session.launch) == key:
                pane.histogram.spread = spread

    def toggle_picture(self) -> None:
        """Switch between the histogram and the memory; report if there is no histogram."""
        if not any(session and session.histogram_launch for session in self.stage.sessions):
            self.notice.inform("There is no histogram: no shown kernel counts with atomics or into bins.")
            return
        self.show_picture("memory" if any(pane.shows_histogram() for pane in self.panes) else "histogram")

    def show_setups(self) -> None:
        """Show the setups of the panes in the toolbar, and their link in the transport."""
        if self.page is not None:
            self.page.leave()
        if self._defer("setups"):
            return
        stage = self.stage
        if stage.setups:
            self._show_in_bar()
            self._show_differences()
        self.transport.show_link(stage.link_mode, len(self.panes) > 1)
        self._show_times()
        self.charts.show_launches()
        self.arrange()

    def _show_in_bar(self) -> None:
        """Show the setups of the panes in the toolbar, unless it shows them already."""
        shown = self.stage.setups, self.stage.focus, self.toolbar.shared, self._file_names()
        if shown != self._toolbar_content:
            self._toolbar_content = shown
            self.toolbar.show_setups(*shown)
            self.toolbar.speak(self.theme)

    def toggle_link(self) -> None:
        """Switch between the link by moment and by progress."""
        self.stage.set_link("moment" if self.stage.link_mode == "progress" else "progress")
        self.transport.show_link(self.stage.link_mode, len(self.panes) > 1)

    def _file_names(self) -> list[str]:
        """List the kernel names for the panes' trace files, "" where the file's name shows it."""
        kernels = [session.launch.kernel if session else "" for session in self.stage.sessions]
        return [
            launch_name(Path(s.file), kernel) for s, kernel in zip(self.stage.setups, kernels, strict=True)
        ]

    def _show_differences(self) -> None:
        """Show the differences between the panes' launches, except their kernels, in headings and timelines."""
        texts = differences(self.stage.setups, self.toolbar.scenarios)
        for pane, timeline, text in zip(self.panes, self.timelines, texts, strict=False):
            pane.heading.show_difference(text)
            timeline.set_difference_text(self.theme.translate(text))

    def show_spotlight(self, names: tuple[str, ...]) -> None:
        """Highlight the parts with these names and dim the rest; () dims nothing. `draw` resolves the names."""
        self.spotlight = names

    def _apply_spotlight(self) -> None:
        """Resolve the spotlight for the shown sessions and pass the highlights to every view."""
        shown = [pane.session for pane in self.panes]
        key = self.spotlight, tuple(shown)
        if self._highlights[0] != key:
            self._highlights = key, resolve_highlights(self.spotlight, shown)
        for pane, timeline, highlight in zip(self.panes, self.timelines, self._highlights[1], strict=True):
            pane.set_spotlight(highlight)
            timeline.set_spotlight(highlight)
        if self.stage.focus < len(self.panes):
            self.side.set_spotlight(self._highlights[1][self.stage.focus])

    def _draw_side(self) -> None:
        """Draw the moment of the pane in focus in the inspector."""
        stage, session = self.stage, self.stage.focused()
        if session is not None and self.side.isVisible():
            self.side.show_moment(session, stage.shown_moments()[stage.focus], stage.selections[stage.focus])

    def _shown(self) -> list[Shown]:
        """List each pane's session, selection, and the views that draw other blocks in advance."""
        views = [(pane.memory, timeline) for pane, timeline in zip(self.panes, self.timelines, strict=True)]
        return list(zip(self.stage.sessions, self.stage.selections, views, strict=False))

    def draw(self) -> None:
        """Draw the moment in every visible view."""
        if self._defer("draw"):
            return
        stage = self.stage
        self._apply_spotlight()
        align_colour_scales(self.panes, stage.selections)
        align_matrices(self.panes)
        align_counters(self.panes)
        for pane in self.panes:
            pane.lay_out()
        for i, moment in enumerate(stage.shown_moments()[: len(self.panes)]):
            self.panes[i].render_moment(moment, stage.selections[i])
            self.panes[i].set_focused(i == stage.focus and len(self.panes) > 1)
            if self.timelines[i].isVisible():
                self.timelines[i].render_moment(moment, stage.selections[i])
        self._draw_side()
        self.ahead.wait()
        session = stage.focused()
        if session is not None:
            moment, block = stage.moments()[stage.focus], stage.selections[stage.focus].block
            name = PANE_NAMES[stage.focus] if len(self.panes) > 1 else ""
            self.transport.position.show_position(
                session, moment, block, settled=stage.is_settled(), pane=name
            )
