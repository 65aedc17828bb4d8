"""The central widget of the window: bar, notice, panes, right column, timelines and transport, and who tells whom."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QSplitter, QVBoxLayout, QWidget

from ...kernels.scenarios.catalogue import groups
from ...tracer.measure.recorded_outcomes import Spread
from ..control.seed_jobs import SeedJobs, key_of
from ..control.stage import Stage
from ..control.type_inference_job import TypeInferenceJob
from ..model.bookmark import PictureChoice, SideChoice
from ..model.playhead import Playhead
from ..model.session import Session, launch_name
from ..model.setup_edits import differences
from ..views.memory.view_data import COLOUR_BY
from ..views.timeline.view import TimelineView
from ..widgets.controls import Themed
from ..widgets.notice import News, Notice
from ..widgets.theme import Theme
from .pane_alignment import align_colour_scales, align_counters, align_headings, align_matrices
from .panels.pane import Pane
from .panels.side import SidePanel
from .panels.transport import Transport
from .toolbar.toolbar import PANE_NAMES, Toolbar

# Pixels at the normal text size below which there is too little room for everything.
LOW, LOWER, LOWEST, NARROW = 860, 660, 390, 1000


class CentralWidget(QWidget):
    """Everything that the window holds. It shows what it is given and asks the stage for what the user wants.

    cancelled: the tracing shall end.
    """

    cancelled = Signal()

    def __init__(self, playhead: Playhead, stage: Stage, theme: Theme) -> None:
        super().__init__()
        self.stage, self.theme, self.colour = stage, theme, "auto"
        self.side_wanted: SideChoice = "auto"
        self.picture: PictureChoice = "auto"
        self.panes: list[Pane] = []
        self.timelines: list[TimelineView] = []
        self.toolbar, self.notice = Toolbar(groups()), Notice(theme)
        self.side, self.transport = SidePanel(theme), Transport(playhead, theme)
        self.spreads, self.types = SeedJobs(stage.jobs, self), TypeInferenceJob(self)
        self.spreads.progressed.connect(self._show_spread)
        self.types.found.connect(self.side.show_findings)
        stage.jobs.examined.connect(self._show_findings)
        self._build()
        for view in self.side.views:
            view.moment_asked.connect(lambda moment: stage.seek(stage.focus, moment))
            view.selection_asked.connect(lambda selection: stage.select(stage.focus, selection))

    def _build(self) -> None:
        self.across, self.down = QSplitter(Qt.Orientation.Horizontal), QSplitter(Qt.Orientation.Vertical)
        self.across.addWidget(self.side)
        self.down.addWidget(self.across)
        self.down.addWidget(self._build_foot())
        self.down.setStretchFactor(0, 1)
        self.foot_moved = False  # whether the user has chosen another height than the foot's own
        self.down.splitterMoved.connect(self._keep_height)
        for splitter in (self.across, self.down):
            splitter.setChildrenCollapsible(False)
        self.body = QVBoxLayout()
        self.body.addWidget(self.notice)
        self.body.addWidget(self.down, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.toolbar)
        column.addLayout(self.body, 1)
        self.notice.news = News(self.theme, self, self.foot)

    def splitter_states(self) -> tuple[bytes, ...]:
        """Return how the user has shared the room, in Qt's own bytes."""
        return tuple(bytes(splitter.saveState().data()) for splitter in (self.across, self.down))

    def restore_splitters(self, states: Sequence[bytes]) -> None:
        """Share the room as `splitter_states` says."""
        for splitter, state in zip((self.across, self.down), states, strict=False):
            splitter.restoreState(QByteArray(state))
            self.foot_moved = True

    def _keep_height(self) -> None:
        self.foot_moved = True

    def _build_foot(self) -> QFrame:
        self.foot = QFrame()
        self.foot.setObjectName("panel")
        self.foot_column = QVBoxLayout(self.foot)
        self.foot_column.addWidget(self.transport)
        return self.foot

    def set_theme(self, theme: Theme) -> None:
        """Hand colours and text size to every part."""
        self.theme = theme
        gap = theme.px(10)
        self.body.setContentsMargins(gap, gap, gap, gap)
        self.body.setSpacing(gap)
        self.foot_column.setContentsMargins(1, theme.px(6), 1, 1)
        self.foot_column.setSpacing(theme.px(4))
        for splitter in (self.across, self.down):
            splitter.setHandleWidth(gap)
        parts: list[Themed] = [self.toolbar, self.notice, self.side, self.transport]
        for part in (*parts, *self.panes, *self.timelines):
            part.set_theme(theme)
        self.toolbar.speak(self.theme)
        self.arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the room to the panes where there is little of it for the size of the text."""
        super().resizeEvent(event)
        self.arrange()

    def minimumSizeHint(self) -> QSize:
        """Return the room for what is left where the window is lowest: to get there, the rest must not hold it."""
        hint = super().minimumSizeHint()
        return QSize(hint.width(), min(hint.height(), self.theme.px(390)))

    def arrange(self) -> None:
        """Leave out what can be missed most where the window is low or narrow, and put it back where it is not.

        Low: the room that timelines ask for. Lower: the timeline of the pane that is not in focus; lowest: that
        one too. Narrow: the right column, unless the user wants it.
        """
        height, width = self.height() / self.theme.scale, self.width() / self.theme.scale
        for i, timeline in enumerate(self.timelines):
            timeline.setVisible(height >= LOWER or (height >= LOWEST and i == self.stage.focus))
        self.toolbar.fit(self.width())
        wanted = self.side_wanted == "auto" and width >= NARROW
        self.side.setVisible(wanted or self.side_wanted == "shown")
        self._share_height(height < LOW)

    def _share_height(self, low: bool) -> None:
        """Give the foot the height that its rows take at this width, which a splitter does not ask for."""
        shown = [timeline for timeline in self.timelines if not timeline.isHidden()]
        margins, gap = self.foot_column.contentsMargins(), self.foot_column.spacing()
        inside = self.width() - 2 * self.theme.px(10) - margins.left() - margins.right()
        fixed = (
            self.transport.heightForWidth(inside) + gap * len(shown) + margins.top() + margins.bottom() + 2
        )
        minimum = fixed + sum(timeline.minimumSizeHint().height() for timeline in shown)
        usual = fixed + sum(timeline.sizeHint().height() for timeline in shown)
        for timeline in shown:  # of what there is, each gets its share of what all ask for
            self.foot_column.setStretchFactor(timeline, timeline.sizeHint().height())
        self.foot.setMinimumHeight(minimum)
        if not self.foot_moved:
            foot = (minimum + usual) // 2 if low else usual
            self.down.setSizes([max(self.down.height() - foot, 1), foot])

    def toggle_bar(self) -> None:
        """Hide the bar at the top, for a lecture, or show it."""
        self.toolbar.setVisible(self.toolbar.isHidden())

    def toggle_side(self) -> None:
        """Show the right column, or hide it."""
        self.side_wanted = "shown" if self.side.isHidden() else "hidden"
        self.arrange()

    def show_tab(self, name: str) -> None:
        """Show a tab of the right column, and the column."""
        if self.side.isHidden():
            self.toggle_side()
        self.side.show_tab(name)

    def make_panes(self, count: int) -> None:
        """Have this many panes, each with its timeline."""
        while len(self.panes) > count:
            for gone in (self.panes.pop(), self.timelines.pop()):
                gone.hide()
                gone.deleteLater()
        while len(self.panes) < count:
            self._add_pane(len(self.panes))

    def _add_pane(self, i: int) -> None:
        pane, timeline, stage = Pane(PANE_NAMES[i], self.theme), TimelineView(self.theme), self.stage
        for view in (*pane.views, timeline):
            view.moment_asked.connect(lambda moment: stage.seek(i, moment))
            view.selection_asked.connect(lambda selection: stage.select(i, selection))
        timeline.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        timeline.x_range_changed.connect(lambda first, last: self._link_ranges(i, first, last))
        pane.cancelled.connect(self.cancelled)
        pane.heading.fitted.connect(lambda: align_headings(self.panes))
        pane.picture_asked.connect(self.show_picture)
        pane.show_picture(self.picture)
        pane.set_theme(self.theme)
        pane.memory.colour_by = self.colour
        self.panes.append(pane)
        self.timelines.append(timeline)
        align_headings(self.panes)
        self.across.insertWidget(i, pane)
        self.foot_column.insertWidget(i, timeline, 1)  # what is left over is theirs
        self.share_width()
        self.arrange()

    def _link_ranges(self, i: int, first: float, last: float) -> None:
        """Show in the other timelines what the user shows in this one: the same moments, or the same share."""
        ends, by_progress = self.stage.ends(), self.stage.link_mode == "progress"
        for other, timeline in enumerate(self.timelines):
            if other != i and ends[i] and ends[other]:
                share = ends[other] / ends[i] if by_progress else 1.0
                timeline.set_x_range((first - 1) * share + 1, (last - 1) * share + 1)

    def turn_to(self, widget: QWidget | None) -> None:
        """Turn to the pane whose picture or timeline this widget is a part of."""
        for i, parts in enumerate(zip(self.panes, self.timelines, strict=True)):
            if widget is not None and any(part is widget or part.isAncestorOf(widget) for part in parts):
                self.stage.set_focus(i)

    def share_width(self) -> None:
        """Give the panes three parts of the width each and the right column two."""
        for i in range(self.across.count()):
            self.across.setStretchFactor(i, 3 if i < len(self.panes) else 2)
        width = max(self.across.width(), 1000)
        self.across.setSizes([3 * width] * len(self.panes) + [2 * width])

    def load(self, i: int, session: Session | None) -> None:
        """Show a pane's session, or again the one before where there is no new one; `show_setups` comes next."""
        pane = self.panes[i]
        pane.overlay.uncover()
        if pane.session is not session:
            pane.load(session)
            self.timelines[i].load(session)
            if session is not None and session.is_examined:
                self.types.ask(session)
        known = [session for session in self.stage.sessions if session]
        self.side.compare(known)
        self.transport.serve(known)
        self._want_spreads()

    def _show_findings(self, session: Session) -> None:
        """Show the findings of a session, now that they are known, and ask for those that come later."""
        self.side.show_findings(session)
        self.types.ask(session)
        if self.colour == "races" or any(finding.kind == "race" for finding in session.findings):
            self.side.compare([session for session in self.stage.sessions if session])
            for pane in self.panes:
                pane.memory.reload()
            self.draw()

    def show_progress(self, i: int, done: int, total: int) -> None:
        """Show in a pane how many blocks of its next session are traced; a total of 0 means that nobody knows."""
        if i < len(self.panes):
            count = self.theme.say(f"{done:,} of {total:,} blocks") if total else "…"
            title = self.toolbar.title_of(self.stage.setups[i])  # the bar shows it only later
            self.panes[i].overlay.show_progress(f"Tracing {title}: {count}", done, total)

    def colour_by(self, choice: str) -> None:
        """Colour the cells of every pane by one of COLOUR_BY, and the lines of the source where that suits them."""
        if choice in COLOUR_BY:
            self.colour = choice
        for pane in self.panes:
            pane.memory.colour_by = self.colour
        self.side.colour_by(self.colour)

    def show_picture(self, choice: PictureChoice) -> None:
        """Show the memory in every pane or, of launches that count, the histogram."""
        self.picture = choice
        for pane in self.panes:
            pane.show_picture(choice)
        self._want_spreads()
        self.draw()

    def _want_spreads(self) -> None:
        """Ask for the spreads of racing counters that the panes show, where the user agreed to run the kernels."""
        shown = [pane.session for pane in self.panes if pane.session and pane.shows_histogram()]
        races = [session for session in shown if session.counting and session.counting.races]
        self.spreads.want(session for session in races if self.stage.may_run(session.launch))

    def _show_spread(self, key: str, spread: Spread) -> None:
        """Show what a racing counter ends at under other seeds, in the panes of that launch."""
        for pane in self.panes:
            if pane.session is not None and key_of(pane.session.launch) == key:
                pane.histogram.spread = spread

    def toggle_picture(self) -> None:
        """Turn from the histogram to the memory, or back; say why where there is none."""
        if not any(session and session.counting for session in self.stage.sessions):
            self.notice.inform(
                "There is no histogram: no kernel shown here counts with atomics or into bins."
            )
            return
        self.show_picture("memory" if any(pane.shows_histogram() for pane in self.panes) else "histogram")

    def show_setups(self) -> None:
        """Show in bar and transport what the panes run and how they are linked."""
        stage = self.stage
        if stage.setups:
            self.toolbar.show_setups(stage.setups, stage.focus, self.toolbar.shared, self._file_names())
            self.toolbar.speak(self.theme)
            self._show_differences()
        self.transport.show_link(stage.link_mode, len(self.panes) > 1)
        self.arrange()

    def toggle_link(self) -> None:
        """Link the panes the other way."""
        self.stage.set_link("moment" if self.stage.link_mode == "progress" else "progress")
        self.transport.show_link(self.stage.link_mode, len(self.panes) > 1)

    def _file_names(self) -> list[str]:
        """Return what the panes' trace files are called, "" where the file's name says it."""
        kernels = [session.launch.kernel if session else "" for session in self.stage.sessions]
        return [
            launch_name(Path(s.file), kernel) for s, kernel in zip(self.stage.setups, kernels, strict=True)
        ]

    def _show_differences(self) -> None:
        """Say in titles and timelines what the launches of the panes differ in, beside their kernels."""
        texts = differences(self.stage.setups, self.toolbar.scenarios)
        for pane, timeline, text in zip(self.panes, self.timelines, texts, strict=False):
            pane.heading.set_apart(text)
            timeline.set_apart(self.theme.say(text))

    def draw(self) -> None:
        """Draw the moment in every view that can be seen."""
        stage = self.stage
        align_colour_scales(self.panes, stage.selections)
        align_matrices(self.panes)
        align_counters(self.panes)
        for i, moment in enumerate(stage.moments()[: len(self.panes)]):
            self.panes[i].render_moment(moment, stage.selections[i])
            self.panes[i].set_focused(i == stage.focus and len(self.panes) > 1)
            if self.timelines[i].isVisible():
                self.timelines[i].render_moment(moment, stage.selections[i])
        session = stage.focused()
        if session is not None and self.side.isVisible():
            self.side.show_moment(session, stage.moments()[stage.focus], stage.selections[stage.focus])
        if session is not None:
            moment, block = stage.moments()[stage.focus], stage.selections[stage.focus].block
            self.transport.position.show_position(session, moment, block, settled=stage.is_settled())
