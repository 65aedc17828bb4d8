"""The chart "On the GPU" that replaces the panes: one chart for each pane's launch, on a common axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from msgspec.structs import replace
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from ...tracer.hardware.timeline import Timeline
from ..model.bookmark import LayoutChoice
from ..widgets.controls import button, paint_icon
from ..widgets.theme import Theme, style_sheet
from .gpu_pane import GpuPane
from .layout import TimeRange
from .legend import GpuLegend, legend_of
from .model.data import GpuData, gpu_data
from .model.place import LEVELS, GpuPlace, Level, PanePlace, gpu_place_text, parse_gpu_place
from .model.recorded import PaneLaunch, RecordedTimeline, own_recording, recorded_of
from .shown import ChartView, chart_view_at
from .view import GpuRequests, clamp_range, common_range

ORIGINS = {
    True: "µs from the start of the launch's first block · measured",
    False: "µs from the block's start · measured",
}

LINES, LETTER = 45, 13  # a lecture window's height divided by the font size; pixels of the normal font size


class GpuPanel(QFrame):
    """Shows the recorded timelines of the panes' launches.

    show_chart: called with the description of another position, and with "" when the user returns to the panes.
    """

    def __init__(
        self, theme: Theme, show_chart: Callable[[str], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.show_chart = show_chart
        self.setObjectName("panel")
        self.theme, self.place, self._scale = theme, GpuPlace(), theme.scale
        self.launches: tuple[PaneLaunch, ...] = ()
        self.timelines: Sequence[Timeline] | None = None
        self.shown: list[ChartView | None] = []  # for each pane, None without a recording
        self._ranges: dict[Level, tuple[float, float] | None] = {}  # of the levels above, to restore
        self.panes: list[GpuPane] = []
        self.legend = GpuLegend(theme)
        self.close_button = button(
            "Back to the panes", "Back to the panes (Esc)", "close", run=lambda: self.show_chart("")
        )
        self.close_button.setObjectName("flat")
        self.close_button.setParent(self)
        self.charts = QVBoxLayout()
        self.column = QVBoxLayout(self)
        self.column.addLayout(self.charts, 1)
        self.column.addWidget(self.legend)
        self.set_theme(theme)

    @property
    def text(self) -> str:
        """The text that describes the position."""
        return gpu_place_text(self.place)

    def show_text(self, text: str) -> None:
        """Show the position that a text describes; raises ValueError with one sentence."""
        place = parse_gpu_place(text)
        if place != self.place:
            self.place = place
            self._ranges.clear()
            self._show()

    def show_launches(self, launches: Sequence[PaneLaunch], timelines: Sequence[Timeline] | None) -> None:
        """Show the recordings of these launches; timelines: None until they are read."""
        if (tuple(launches), timelines) != (self.launches, self.timelines):
            self.launches, self.timelines = tuple(launches), timelines
            self._make_panes(len(self.launches))
            self._show()

    def up(self) -> bool:
        """Show the level above; return False at the top."""
        if self.place.level == LEVELS[0]:
            return False
        self._climb(LEVELS[LEVELS.index(self.place.level) - 1])
        return True

    def _make_panes(self, count: int) -> None:
        while len(self.panes) > count:
            pane = self.panes.pop()
            pane.hide()
            pane.deleteLater()
        while len(self.panes) < count:
            self._add_pane(len(self.panes))
        if self.panes:
            self.setFocusProxy(self.panes[0].view)

    def _add_pane(self, i: int) -> None:
        theme = replace(self.theme, scale=self._scale)
        requests = GpuRequests(partial(self._enter, i), self.up, self._show_range)
        pane = GpuPane(theme, requests, partial(self._pick_size, i), self._climb)
        pane.set_theme(theme)
        self.panes.append(pane)
        self.charts.addWidget(pane, 1)
        pane.show()  # at once, for pictures made before Qt handles events

    # Content.

    def _show(self) -> None:
        """Show the position in all panes."""
        self.shown = [self._shown_in(i, launch) for i, launch in enumerate(self.launches)]
        self._show_span()

    def _show_span(self) -> None:
        """Show the time range in all panes, whose positions are up to date."""
        present = [shown for shown in self.shown if shown is not None]
        full_range = common_range([shown.duration for shown in present])
        span = self._span(full_range)
        for pane, shown in zip(self.panes, self.shown, strict=True):
            if shown is not None:
                pane.show_place(shown, span, full_range)
        self.legend.setVisible(bool(present))
        origin = self.theme.translate(ORIGINS[not present or present[0].shows_blocks])
        self.legend.show_texts(origin, legend_of(present))

    def _shown_in(self, i: int, launch: PaneLaunch) -> ChartView | None:
        """Update a pane's recordings and return its content."""
        if self.timelines is None:
            self.panes[i].show_reading(launch)
            return None
        recorded = recorded_of(launch, self.timelines)
        wanted = self.place.pane(i).size
        recording = next(
            (candidate for candidate in recorded if candidate.word == wanted), None
        ) or own_recording(launch, recorded)
        self.panes[i].show_launch(launch, recorded, recording.word if recording else "")
        return chart_view_at(_data(recording), self.place.level, self.place.pane(i)) if recording else None

    def _span(self, full_range: TimeRange) -> TimeRange:
        if self.place.range is None:
            return full_range
        return clamp_range((1000 * self.place.range[0], 1000 * self.place.range[1]), full_range)

    def _show_place(self, place: GpuPlace) -> None:
        if place == self.place:
            return
        stays = replace(place, range=None) == replace(self.place, range=None)
        self.place = place
        if stays:
            self._show_span()
        else:
            self._show()
            self.place = self._resolved_place()  # includes the chart's own choices
        self.show_chart(self.text)

    # Requests of the user.

    def _enter(self, i: int, level: Level, number: int) -> None:
        """Enter a multiprocessor, a block or a warp of a pane; the other panes go to the same level."""
        shown = self.shown[i]
        if shown is None:
            return
        before = self.place.pane(i)
        inside = {
            "multiprocessor": replace(before, multiprocessor=number, block=None, warp=None),
            "block": replace(before, block=number, warp=None),
            "warp": replace(before, block=shown.block, warp=number),
        }[level]
        self._ranges[self.place.level] = self.place.range
        keeps = level != "block"  # a block has another axis
        place = self._resolved_place().with_pane(i, inside)
        self._show_place(replace(place, level=level, range=self.place.range if keeps else None))

    def _resolved_place(self) -> GpuPlace:
        """Return the position with all defaults replaced by the shown values, down to the current level."""
        place, here = self.place, LEVELS.index(self.place.level)
        for i, shown in enumerate(self.shown):
            if shown is not None:
                pane = PanePlace(self.place.pane(i).size)
                pane = replace(pane, multiprocessor=shown.machine) if here >= 1 else pane
                pane = replace(pane, block=shown.block) if here >= LEVELS.index("block") else pane
                pane = replace(pane, warp=shown.warp) if here >= LEVELS.index("warp") else pane
                place = place.with_pane(i, pane)
        return place

    def _climb(self, level: Level) -> None:
        """Return to a level above."""
        place = replace(self._resolved_place(), level=level, range=self._ranges.get(level))
        self._show_place(replace(place, panes=tuple(_truncated(pane, level) for pane in place.panes)))

    def _pick_size(self, i: int, word: str) -> None:
        """Show another recorded size in every pane that has it, and reset the positions."""
        panes = []
        for n, launch in enumerate(self.launches):
            recorded = recorded_of(launch, self.timelines or ())
            own = own_recording(launch, recorded)
            has = n == i or any(candidate.word == word for candidate in recorded)
            chosen = word if has else self.place.pane(n).size
            panes.append(PanePlace("" if own is not None and own.word == chosen else chosen))
        self._ranges.clear()
        self._show_place(GpuPlace(panes=tuple(panes) if any(pane.size for pane in panes) else ()))

    def _show_range(self, span: TimeRange | None) -> None:
        self._show_place(
            replace(self.place, range=None if span is None else (span[0] / 1000, span[1] / 1000))
        )

    # Looks.

    def set_theme(self, theme: Theme) -> None:
        """Apply colours, text size and vocabulary."""
        self.theme, self._scale = theme, theme.scale
        paint_icon(self.close_button, theme)
        self._apply_theme()
        self.column.setContentsMargins(1, 1, 1, theme.px(4))
        self.column.setSpacing(0)
        if self.launches:
            self._show()
        self._place_button()

    def _apply_theme(self) -> None:
        """Apply the theme with the layout's text size to the charts."""
        theme = replace(self.theme, scale=self._scale)
        # The application's style sheet has the normal text size for titles, fields and links.
        self.setStyleSheet("" if theme == self.theme else style_sheet(theme))
        for pane in self.panes:
            pane.set_theme(theme)
        self.legend.set_theme(theme)

    def show_layout(self, layout: LayoutChoice, height: int) -> None:
        """Use a 45th of the height as font size in a lecture, and the theme's otherwise."""
        scale = max(self.theme.scale, height / LINES / LETTER) if layout == "lecture" else self.theme.scale
        if scale != self._scale:
            self._scale = scale
            self._apply_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button in its corner."""
        super().resizeEvent(event)
        self._place_button()

    def _place_button(self) -> None:
        gap = self.theme.px(8)
        self.close_button.adjustSize()
        self.close_button.move(self.width() - self.close_button.width() - gap, gap)
        self.close_button.raise_()


def _truncated(pane: PanePlace, level: Level) -> PanePlace:
    """Return a pane's position without the levels below this one."""
    depth = LEVELS.index(level)
    return PanePlace(
        pane.size,
        pane.multiprocessor if depth >= 1 else None,
        pane.block if depth >= LEVELS.index("block") else None,
        pane.warp if depth >= LEVELS.index("warp") else None,
    )


@lru_cache(maxsize=6)
def _data_of(timeline: Timeline, size: str) -> GpuData:
    return gpu_data(timeline, size)


def _data(recorded: RecordedTimeline) -> GpuData:
    """Return the cached data of a timeline."""
    return _data_of(recorded.timeline, recorded.size)
