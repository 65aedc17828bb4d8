"""The arrangement of the window: which parts are shown, and their sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QSplitter, QVBoxLayout, QWidget

from ..lectures.player.caption import CaptionBar
from ..panels.charts import Charts
from ..panels.pane import Pane
from ..panels.side import Inspector
from ..panels.transport import Transport
from ..state.view_models import LayoutView, layout_view
from ..state.window_state import FIRST_STATE
from ..views.timeline.view import TimelineView
from ..widgets.appearance import dress
from ..widgets.controls import UNBOUND
from ..widgets.theme import Theme
from .toolbar.toolbar import Toolbar

# Pixels at the normal text size below which some parts are left out.
LOW, LOWER, CRAMPED, LOWEST, NARROW = 860, 660, 440, 390, 1000
NARROW_WITH_LARGE_TEXT = 1200  # large text is for the pictures: they keep their room
SIDE = 0.8  # the inspector's text size in a lecture, relative to that of the pictures
FRAME = 2 / 3  # the text size of headings, timelines and transport, likewise
LECTURE_HEIGHT = 720  # the height in pixels at which a lecture's pictures have the normal text size


class ArrangedParts(NamedTuple):
    """The parts of the window; the lists of panes and timelines change."""

    window: QWidget  # whose size counts
    toolbar: Toolbar
    caption: CaptionBar
    side: Inspector
    transport: Transport
    panes: list[Pane]
    timelines: list[TimelineView]


class Arrangement:
    """Puts the parts into splitters and layouts. draw_side: draws the inspector, which was hidden until now."""

    def __init__(self, parts: ArrangedParts, theme: Theme, draw_side: Callable[[], object]) -> None:
        self.parts, self.theme, self._draw_side = parts, theme, draw_side
        self.layout: LayoutView = layout_view(FIRST_STATE)
        self.charts: Charts | None = None  # created after the layouts that contain them
        self.height_moved = False  # whether the user has changed the height of the foot
        self.width_moved = False  # and the widths
        self._side_theme: Theme | None = None
        self._transport_height = 0  # with margins, when the parts were last arranged
        self.foot_theme: Theme | None = None  # of timelines and transport, None until they are arranged
        # The user's splitter states, while a lecture's layout is shown.
        self._ordinary: tuple[bytes, ...] = (b"", b"")
        self._build()

    def _build(self) -> None:
        self.across, self.down = QSplitter(Qt.Orientation.Horizontal), QSplitter(Qt.Orientation.Vertical)
        self.foot = QFrame()
        self.foot.setObjectName("panel")
        self.foot_column = QVBoxLayout(self.foot)
        self.rows = QBoxLayout(QBoxLayout.Direction.TopToBottom)  # the timelines
        self.foot_column.addLayout(self.rows, 1)
        self.foot_column.addWidget(self.parts.transport)
        self.across.addWidget(self.parts.side)
        self.down.addWidget(self.across)
        self.down.addWidget(self.foot)
        self.down.setStretchFactor(0, 1)
        self.down.splitterMoved.connect(self._keep_height)
        self.across.splitterMoved.connect(self._keep_width)
        for splitter in (self.across, self.down):
            splitter.setChildrenCollapsible(False)
        self.body = QVBoxLayout()
        self.body.addWidget(self.parts.caption)
        self.body.addWidget(self.down, 1)
        self.body.addStretch(0)  # keeps the caption at the top while nothing else is shown

    def _keep_height(self) -> None:
        self.height_moved = True

    def _keep_width(self) -> None:
        self.width_moved = True

    def insert(self, i: int, pane: Pane, timeline: TimelineView) -> None:
        """Put a pane and its timeline at an index."""
        self.across.insertWidget(i, pane)
        self.rows.insertWidget(i, timeline, 1)  # the timelines share the remaining room

    # Sizes that the user has set.

    def splitter_states(self) -> tuple[bytes, ...]:
        """Return Qt's splitter states of the ordinary layout, b"" for one that the user has not moved."""
        across, down = (bytes(splitter.saveState().data()) for splitter in (self.across, self.down))
        return (
            self._ordinary
            if self.layout.is_lecture
            else (across * self.width_moved, down * self.height_moved)
        )

    def restore_splitters(self, states: Sequence[bytes]) -> None:
        """Restore the states that `splitter_states` returned."""
        for splitter, state in zip((self.across, self.down), states, strict=False):
            splitter.restoreState(QByteArray(state))
        self.width_moved, self.height_moved = (*map(bool, states), False, False)[:2]

    def set_splitter_sizes(self, columns: Sequence[int], rows: Sequence[int]) -> None:
        """Set the widths of the columns and the heights of the rows, in points; an empty sequence changes nothing."""
        self.width_moved, self.height_moved = (
            self.width_moved or bool(columns),
            self.height_moved or bool(rows),
        )
        for splitter, sizes in ((self.across, columns), (self.down, rows)):
            if sizes:
                splitter.setSizes(sizes)

    # Arranging.

    def render_view(self, layout: LayoutView) -> None:
        """Take another layout, in which the pictures of memory may get all free room."""
        was_lecture, is_lecture = self.layout.is_lecture, layout.is_lecture
        if is_lecture and not was_lecture:
            self._ordinary = self.splitter_states()
            self.width_moved = False
        self.layout = layout
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self.rows.setDirection(right if is_lecture else down)
        self.foot.setVisible(not layout.is_picture_only)
        self.arrange()
        if was_lecture and not is_lecture:
            self.restore_splitters(self._ordinary)

    def shows_side(self, layout: LayoutView) -> bool:
        """Return True if a layout shows the inspector in this window."""
        narrow = NARROW if self.theme.scale <= 1 else NARROW_WITH_LARGE_TEXT
        return layout.shows_side(self.parts.window.width() / self.theme.scale >= narrow)

    def arrange(self) -> None:
        """Hide the least important parts in a low or narrow window, and show them again in a larger one.

        Low: timelines get less height. Lower: only the timeline of the pane in focus. Cramped: less space between the
        parts. Lowest: no timeline. Narrow: no inspector, unless the user wants it.
        """
        parts, window = self.parts, self.parts.window
        height = window.height() / self.theme.scale
        self._scale_foot()
        self._set_gaps()
        for i, timeline in enumerate(parts.timelines):
            enough = height >= (LOWEST if self.layout.is_lecture else LOWER)
            timeline.setVisible(enough or (height >= LOWEST and i == self.layout.focus))
        parts.toolbar.setVisible(self.layout.shows_bar)
        if not parts.toolbar.isHidden():
            parts.toolbar.fit(window.width())
        parts.caption.fit(window.size())
        if self.charts is not None:
            self.charts.fit(self.layout.layout, window.height())
        for pane in parts.panes:
            pane.show_layout(self.layout.is_lecture, self._picture_scale(), FRAME * self._picture_scale())
        self._arrange_side()
        if not self.width_moved:
            self._distribute_width()
        self._transport_height = self._height_without_timelines()
        shown = [timeline for timeline in parts.timelines if not timeline.isHidden()]
        if self.layout.is_lecture:
            self._share_lecture_height(shown)
        else:
            self._share_height(shown, height < LOW)

    def fit_transport(self) -> None:
        """Arrange the parts again if the transport needs another height, as with a longer legend."""
        if self._height_without_timelines() != self._transport_height:
            self.arrange()

    def _arrange_side(self) -> None:
        """Show or hide the inspector, with the text size of the layout."""
        theme = replace(self.theme, scale=max(self.theme.scale, SIDE * self._picture_scale()))
        if theme != self._side_theme:
            self._side_theme = theme
            self.parts.side.set_theme(theme)
        shown = self.shows_side(self.layout)
        appears = self.parts.side.isHidden() and shown
        self.parts.side.setVisible(shown)
        if appears:
            self._draw_side()  # skipped while it was hidden

    def _scale_foot(self) -> None:
        """Enlarge timelines and transport in a lecture on a very large screen, as the headings of the panes."""
        theme = replace(self.theme, scale=max(self.theme.scale, FRAME * self._picture_scale()))
        if theme != self.foot_theme:
            self.foot_theme = theme
            dress(self.foot, theme, self.theme)
            self.parts.transport.set_theme(theme)
            for timeline in self.parts.timelines:
                timeline.set_theme(theme)

    def _picture_scale(self) -> float:
        """Compute the smallest text size of the pictures: in a lecture it follows the size of the window."""
        window = self.parts.window
        size = min(window.height(), window.width() * 9 / 16) / LECTURE_HEIGHT
        return round(size, 1) if self.layout.is_lecture else 0.0

    def _set_gaps(self) -> None:
        """Set the space between the parts: less for a lecture and in a low window."""
        tight = self.layout.is_lecture or self.parts.window.height() < self.theme.px(CRAMPED)
        gap = self.theme.px(4 if tight else 10)
        self.body.setContentsMargins(gap, gap, gap, gap)
        self.body.setSpacing(gap)
        self.foot_column.setContentsMargins(1, self.theme.px(2 if tight else 6), 1, 1)
        self.foot_column.setSpacing(self.theme.px(0 if tight else 4))
        self.rows.setSpacing(self.foot_column.spacing())
        for splitter in (self.across, self.down):
            if splitter.handleWidth() != gap:  # otherwise Qt lays out again
                splitter.setHandleWidth(gap)
        for timeline in self.parts.timelines:
            timeline.set_slim(tight)
        self.parts.transport.set_slim(self.layout.is_lecture)

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
        if not self.height_moved:
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
        inside = self.parts.window.width() - 2 * self.body.spacing() - margins.left() - margins.right()
        return self.parts.transport.heightForWidth(inside) + gap + margins.top() + margins.bottom() + 2

    def _distribute_width(self) -> None:
        """Give each pane three parts of the width, and the inspector its share."""
        widgets = [self.across.widget(i) for i in range(self.across.count())]
        share = self.layout.side_share
        shares = [
            3 if widget in self.parts.panes else share if widget is self.parts.side else 0
            for widget in widgets
        ]  # 0: the widget will be removed
        for i, share in enumerate(shares):
            self.across.setStretchFactor(i, share)
        width = max(self.across.width(), 1000)
        self.across.setSizes([share * width for share in shares])
