"""The central widget of the window: toolbar, notice, panes, inspector, timelines, transport; each renders the state."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...kernels.scenarios.catalogue import groups
from ...tracer.model.finding import Finding
from ...tracer.model.order import Order
from ..control.playhead import Playhead
from ..control.stage import Stage
from ..lectures.player.caption import CaptionBar
from ..model.bookmark import PictureChoice, TracedValue
from ..model.explanation import traced_at_moment
from ..model.kernel_source import counterpart_of
from ..model.session import Selection, Session
from ..panels.blocks_ahead import BlocksAhead, Shown
from ..panels.charts import Charts
from ..panels.pane import Pane, PaneRequests
from ..panels.side import Inspector, SideRequests
from ..panels.transport import Transport, TransportRequests
from ..state.actions import ChoosePicture, ShowTab, ToggleSide, TraceValue
from ..state.view_models import (
    PANE_NAMES,
    BarView,
    PaneView,
    PaneViews,
    SideView,
    TransportView,
    bar_view,
    explain_in_pane,
    layout_view,
    side_view,
)
from ..views.common.requests import ViewRequests
from ..views.timeline.view import TimelineView
from ..widgets.controls import Themed
from ..widgets.notice import News, Notice
from ..widgets.picture_drag import PictureDrag
from ..widgets.plain_text import PlainLabel
from ..widgets.theme import Theme
from .arrangement import ArrangedParts, Arrangement
from .pane_alignment import align_colour_scales, align_counters, align_headings, align_matrices
from .results import Results
from .toolbar.toolbar import Toolbar, ToolbarRequests

if TYPE_CHECKING:
    from ..programs.page import ProgramPage
    from ..timings.model.choice import Choice
    from ..timings.model.figure import Datum


class WindowRequests(NamedTuple):
    """What the content calls when the user asks for what only the window can do."""

    cancel: Callable[[], object]  # the tracing
    select: Callable[[int, Selection], object]  # a block and thread of a pane
    show_chart: Callable[[Choice, str], object]  # of a measurement, with its path
    open_measured: Callable[[Datum], object]  # the kernel of a measured value
    run: Callable[[str], object]  # a command, by its name
    colour: Callable[[str], object]  # the cells
    fix: Callable[[Finding], object]  # the cause of a finding
    choose_order: Callable[[Order], object]  # of the threads of the pane in focus
    find_order: Callable[[], object]  # that changes the result of the pane in focus
    count_values: Callable[[str], object]  # of an element, over the orders
    toolbar: ToolbarRequests


class CentralWidget(QWidget):
    """The content of the window. Every part renders a view model of the state, and then moments of sessions."""

    def __init__(self, playhead: Playhead, stage: Stage, theme: Theme, ask: WindowRequests) -> None:
        super().__init__()
        self.stage, self.store, self.playhead, self.theme = stage, stage.store, playhead, theme
        self._ask = ask
        self._has_new = False  # whether new sessions are not drawn yet
        self._drawn: tuple[object, ...] = ()  # what the pictures of the drawn moment depend on
        self.page: ProgramPage | None = None  # of a program without traces yet
        self.panes: list[Pane] = []
        self.timelines: list[TimelineView] = []
        self.toolbar, self.notice, self.caption = (
            Toolbar(groups(), ask.toolbar),
            Notice(theme),
            CaptionBar(theme),
        )
        self.side = Inspector(theme, self._side_requests())
        self.transport = Transport(
            theme,
            TransportRequests(ask.run, playhead.set_speed, playhead.set_loop, stage.set_link, ask.colour),
        )
        self.results = Results(stage, self.side, self.panes, self.timelines, self)
        self.ahead = BlocksAhead(self._shown, lambda: stage.is_settled() and stage.jobs.is_idle(), self)
        self._views = PaneViews(self.toolbar.scenarios)
        self._build()
        self._subscribe()

    def _side_requests(self) -> SideRequests:
        stage = self.stage
        return SideRequests(
            pick_tab=lambda name: self.store.dispatch(ShowTab(name)),
            views=ViewRequests(
                seek=lambda moment: stage.seek(stage.focus, moment),
                select=lambda selection: self._ask.select(stage.focus, selection),
                list_code=lambda session: self.results.listings.want(session),
                fix=self._ask.fix,
                trace_value=self.trace_value,
                choose_order=self._ask.choose_order,
                find_order=self._ask.find_order,
                count_values=self._ask.count_values,
                leave=self.focus_pictures,
            ),
        )

    def trace_value(self, traced: TracedValue | None) -> None:
        """Show the path of a value, in the pictures and in the inspector; None hides it."""
        self.store.dispatch(TraceValue(traced, appears=traced is not None and not self._shows_side()))

    def trace_selected(self) -> None:
        """Show the path of the value that the selected thread accessed last; report if it made no access yet."""
        stage, session = self.stage, self.stage.focused()
        if session is None:
            return
        from ..model.value_causes import element_of_thread  # the first window shows no path

        moment = stage.shown_moments()[stage.focus]
        traced = element_of_thread(session, stage.selections[stage.focus], moment)
        if traced is None:
            self.notice.inform("The selected thread made no access yet; go to a later moment.")
        else:
            self.trace_value(traced_at_moment(traced, moment, session))

    def _build(self) -> None:
        parts = ArrangedParts(
            self, self.toolbar, self.caption, self.side, self.transport, self.panes, self.timelines
        )
        self.arrangement = arrangement = Arrangement(parts, self.theme, self._draw_side)
        self.across, self.down, self.foot = arrangement.across, arrangement.down, arrangement.foot
        self.body = arrangement.body
        refuse = partial(self.notice.error, cause="chart")
        self.charts = arrangement.charts = Charts(
            self.stage, self.theme, self.body, self.down, refuse, self, self._ask.open_measured
        )
        self.charts.is_covered = self._is_covered
        self.waiting = PlainLabel()  # covers the panes until their first picture
        self.waiting.setObjectName("panel")
        self.waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.waiting.hide()
        self.body.addWidget(self.waiting, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.toolbar)
        column.addLayout(self.body, 1)
        self.notice.news = News(self.theme, self, self.foot)
        self.notice.float_over(self, self.foot)

    # From the state to the panels.

    def _subscribe(self) -> None:
        """Render each part once a turn if its view model has changed, in this order."""
        store, stage = self.store, self.stage
        store.subscribe(lambda: len(stage.sessions), self._make_panes)
        store.subscribe(lambda: self._views.compute(store.state, stage.sessions), self._render_panes)
        store.subscribe(lambda: bar_view(store.state, stage.sessions), self._render_bar)
        store.subscribe(self._transport_view, self._render_transport)
        store.subscribe(self._loaded, self._serve_transport)
        store.subscribe(self._side_view, self.side.render_view)
        store.subscribe(lambda: store.state.chart, self.charts.render_view)
        store.subscribe(
            lambda: (store.state.chart, stage.setups, *stage.sessions), lambda _: self.charts.show_launches()
        )
        self.results.subscribe()
        store.subscribe(
            lambda: (layout_view(store.state), stage.setups, *stage.sessions, self.results.measured.sources),
            lambda _: self.arrangement.render_view(layout_view(store.state)),
        )

    def _loaded(self) -> tuple[Session, ...]:
        return tuple(session for session in self.stage.sessions if session)

    def _side_view(self) -> SideView:
        highlights, focus = self._views.highlights(self.store.state, self.stage.sessions), self.stage.focus
        explanation = explain_in_pane(self.store.state, self.stage.sessions, focus)
        return side_view(self.store.state, self._loaded(), highlights, explanation)

    def _render_transport(self, view: TransportView) -> None:
        self.transport.render_view(view)
        self.arrangement.fit_transport()

    def _serve_transport(self, sessions: tuple[Session, ...]) -> None:
        self.transport.serve(sessions, PANE_NAMES)
        self.arrangement.fit_transport()

    def _transport_view(self) -> TransportView:
        state, head = self.store.state, self.playhead
        return TransportView(
            state.link, state.colour_by, head.speed, head.is_speed_chosen, state.loop, head.playing, head.end,
            len(state.panes) > 1,
        )  # fmt: skip

    def _make_panes(self, count: int) -> None:
        """Add or remove panes, each with its timeline, up to this count."""
        if self.page is not None and count:
            self.page.leave()
        while len(self.panes) > count:
            for widget in (self.panes.pop(), self.timelines.pop()):
                widget.hide()
                widget.deleteLater()
        while len(self.panes) < count:
            self._add_pane(len(self.panes))
        align_headings(self.panes)  # a removed pane may have had less room

    def _add_pane(self, i: int) -> None:
        stage = self.stage
        requests = PaneRequests(
            self._ask.cancel,
            self._choose_picture,
            lambda: self._ask_timings(i),
            lambda: self.toolbar.close_pane(i),
            lambda: self.results.trust_pane(i),
            lambda: align_headings(self.panes),
        )
        pane, timeline = (
            Pane(PANE_NAMES[i], self.theme, requests),
            TimelineView(self.arrangement.foot_theme or self.theme),
        )
        for view in (*pane.views, timeline):
            view.ask = ViewRequests(
                seek=lambda moment: stage.seek(i, moment),
                select=lambda selection: self._ask.select(i, selection),
                trace_value=lambda traced: self._trace_in(i, traced),
            )
        timeline.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        timeline.x_range_changed = lambda first, last: self._link_ranges(i, first, last)
        PictureDrag(pane.heading, pane, partial(self.notice.error, cause="file"))
        pane.set_theme(self.theme)
        self.panes.append(pane)
        self.timelines.append(timeline)
        self.arrangement.insert(i, pane, timeline)

    def _trace_in(self, i: int, traced: TracedValue | None) -> None:
        """Show the path of a value that the user chose in a pane."""
        self.stage.set_focus(i)
        self.trace_value(traced)

    def _render_panes(self, views: tuple[PaneView, ...]) -> None:
        """Show other sessions and choices in the panes and timelines."""
        for view, pane, timeline in zip(views, self.panes, self.timelines, strict=True):
            if pane.render_view(view):
                self._has_new = self._has_new or view.session is not None
                timeline.load(view.session)
                if view.session is not None and view.session.is_examined:
                    self.results.types.ask(view.session)
            timeline.set_difference_text(self.theme.translate(view.difference))
            timeline.set_spotlight(view.highlight)
            timeline.set_explanation(view.explanation)

    def _render_bar(self, view: BarView) -> None:
        """Show the setups of the panes in the toolbar."""
        if view.setups:
            self.toolbar.show_setups(view.setups, view.focus, view.shared, view.names)
            self.toolbar.speak(self.theme)

    def uncover(self, i: int) -> None:
        """Hide the progress of a pane, which has its session or gets no other."""
        if i < len(self.panes):
            self.panes[i].overlay.uncover()

    def show_page(self, page: ProgramPage) -> None:
        """Show the page of a program instead of the panes, until it leaves."""
        self.page = page
        self.body.addWidget(page, 1)
        page.show()
        self.charts.show_panes()

    def cover(self, sentence: str) -> None:
        """Show a sentence instead of the panes while the first picture is made; "" shows the panes."""
        self.waiting.setText(sentence)
        self.waiting.setVisible(bool(sentence))
        self.charts.show_panes()

    def _is_covered(self) -> bool:
        return not self.waiting.isHidden() or (self.page is not None and not self.page.isHidden())

    def set_theme(self, theme: Theme) -> None:
        """Pass colours and text size to every part."""
        self.theme = self.arrangement.theme = theme
        parts: list[Themed] = [self.toolbar, self.caption, self.notice, self.transport]
        self.charts.set_theme(theme)
        if self.page is not None:
            self.page.set_theme(theme)
        self.waiting.setFont(theme.font(15, bold=True))
        for part in (*parts, *self.panes, *self.timelines):
            part.set_theme(theme)
        for pane, timeline in zip(self.panes, self.timelines, strict=True):
            timeline.set_difference_text(theme.translate(pane.shown.difference))
        self.arrangement.foot_theme = None
        self.toolbar.speak(self.theme)
        self.arrangement.arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Rearrange the parts for the new size."""
        super().resizeEvent(event)
        self.arrangement.arrange()

    def minimumSizeHint(self) -> QSize:
        """Return the size of the smallest arrangement, so that the window can shrink to it."""
        hint = super().minimumSizeHint()
        return QSize(hint.width(), min(hint.height(), self.theme.px(390)))

    # Commands.

    def toggle_side(self) -> None:
        """Show or hide the inspector."""
        self.store.dispatch(ToggleSide(self._shows_side()))

    def show_tab(self, name: str) -> None:
        """Show the inspector with this tab."""
        self.store.dispatch(ShowTab(name, appears=not self._shows_side()))

    def _shows_side(self) -> bool:
        return self.arrangement.shows_side(layout_view(self.store.state))

    def toggle_link(self) -> None:
        """Switch between the link by moment and by progress."""
        self.stage.set_link("moment" if self.stage.link_mode == "progress" else "progress")

    def toggle_picture(self) -> None:
        """Switch between the histogram and the memory; report if there is no histogram."""
        if not any(session and session.histogram_launch for session in self.stage.sessions):
            self.notice.inform("There is no histogram: no shown kernel counts with atomics or into bins.")
            return
        views = self._views.compute(self.store.state, self.stage.sessions)
        self._choose_picture("memory" if any(view.shows_histogram() for view in views) else "histogram")

    def _choose_picture(self, choice: PictureChoice) -> None:
        """Show the memory in every pane, or the histogram of launches that count."""
        self.store.dispatch(ChoosePicture(choice))

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

    def _ask_timings(self, i: int) -> None:
        """Request the chart of a pane's measured time."""
        if (chart := self.results.chart_of(i)) is not None:
            self._ask.show_chart(*chart)

    def show_progress(self, i: int, done: int, total: int) -> None:
        """Show the traced blocks of a pane's next session; a total of 0 is unknown."""
        if i < len(self.panes):
            count = self.theme.translate(f"{done:,} of {total:,} blocks") if total else "…"
            title = self.toolbar.title_of(self.stage.setups[i])  # the toolbar shows it later
            self.panes[i].overlay.show_progress(f"Tracing {title}", count, done, total)

    def remember_numbers(self) -> None:
        """Store the shown counters as the values before a change of setup."""
        for pane in self.panes:
            pane.counters.keep_numbers()

    def _mark_changes(self) -> None:
        """Mark the counters that a change of setup has changed for a second."""
        for pane in self.panes:
            pane.counters.mark_changes(settled=self.stage.is_settled())

    def keep_pictures(self, waits: bool) -> None:
        """Keep the pictures visible while the user drags a parameter."""
        for pane in self.panes:
            pane.overlay.delay_cover(waits)

    # Moments.

    def _draw_side(self) -> None:
        """Draw the moment of the pane in focus in the inspector."""
        stage, session = self.stage, self.stage.focused()
        if session is None or not self.side.isVisible():
            return
        if stage.is_replaced(stage.focus) and self.side.session not in stage.sessions:
            return  # the inspector keeps the session of a removed pane until the next one is loaded
        self.side.show_moment(session, stage.shown_moments()[stage.focus], stage.selections[stage.focus])
        other = counterpart_of(stage.sessions, stage.focus)
        if other is None:
            self.side.sources.show_counterpart(None)
        else:
            moment, selection = stage.shown_moments()[other], stage.selections[other]
            self.side.sources.show_counterpart(stage.sessions[other], moment, selection, other)

    def _shown(self) -> list[Shown]:
        """List each pane's session, selection, and the views that draw other blocks in advance."""
        views = [(pane.memory, timeline) for pane, timeline in zip(self.panes, self.timelines, strict=True)]
        return list(zip(self.stage.sessions, self.stage.selections, views, strict=False))

    def draw_changes(self) -> None:
        """Draw the moment unless it is drawn already: panes whose sessions are being loaded keep their pictures."""
        if self.store.is_invalid or self._drawn != self._drawn_state():
            self.draw()

    def _drawn_state(self) -> tuple[object, ...]:
        """Collect the state and the sessions that the pictures of a moment come from."""
        return replace(self.store.state, panes=(), shared=True), *self.stage.sessions

    def draw(self) -> None:
        """Draw the moment in every visible view."""
        self._drawn, self.store.is_invalid = self._drawn_state(), False
        stage = self.stage
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
        if self._has_new:
            self._has_new = False
            self._mark_changes()
