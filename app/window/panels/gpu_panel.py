"""The chart "On the GPU" in place of the panes: a chart of each pane's launch above the other, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from ....tracer.hardware.timeline import Timeline
from ...gpu.data import GpuData, gpu_data
from ...gpu.place import LEVELS, GpuPlace, Level, PanePlace, gpu_place_text, parse_gpu_place
from ...gpu.recorded import PaneLaunch, Recorded, own_recording, recorded_of
from ...model.bookmark import LayoutChoice
from ...views.gpu.axis import GpuAxis
from ...views.gpu.layout import TimeRange
from ...views.gpu.legend import legend_of
from ...views.gpu.shown import Shown, shown_at
from ...views.gpu.view import KEYS, fitted, whole_range
from ...widgets.controls import button, paint_icon
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme, style_sheet
from .gpu_pane import GpuPane

ORIGINS = {
    True: "µs from the start of the launch's first block · measured",
    False: "µs from the block's start · measured",
}

LINES, LETTER = 45, 13  # of a lecture's window; pixels of a letter of the normal text size


class GpuPanel(QFrame):
    """Shows what was recorded of the panes' launches.

    closed: the user wants the panes again. moved: another place is shown, whose words are `text`.
    """

    closed = Signal()
    moved = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.theme, self.place, self._scale = theme, GpuPlace(), theme.scale
        self.launches: tuple[PaneLaunch, ...] = ()
        self.timelines: Sequence[Timeline] | None = None
        self.shown: list[Shown | None] = []  # of each pane, None where nothing was recorded
        self._ranges: dict[Level, tuple[float, float] | None] = {}  # of the levels above, to come back to
        self.panes: list[GpuPane] = []
        self.axis = GpuAxis(theme)
        self.axis.moved.connect(self._move)
        self.axis.zoomed.connect(self._zoom)
        self.axis.all_asked.connect(lambda: self._show_range(None))
        self.axis.setToolTip(plain_tip(KEYS))
        self.close_button = button(
            "Back to the panes", "Back to the panes (Esc)", "close", run=self.closed.emit
        )
        self.close_button.setObjectName("flat")
        self.close_button.setParent(self)
        self.charts = QVBoxLayout()
        self.column = QVBoxLayout(self)
        self.column.addLayout(self.charts, 1)
        self.column.addWidget(self.axis)
        self.set_theme(theme)

    @property
    def text(self) -> str:
        """The words of what is shown."""
        return gpu_place_text(self.place)

    def show_text(self, text: str) -> None:
        """Show the place that words mean; raises ValueError, whose text is one sentence."""
        place = parse_gpu_place(text)
        if place != self.place:
            self.place = place
            self._ranges.clear()
            self._show()

    def show_launches(self, launches: Sequence[PaneLaunch], timelines: Sequence[Timeline] | None) -> None:
        """Show what was recorded of these launches; None of timelines: nobody knows yet."""
        if (tuple(launches), timelines) != (self.launches, self.timelines):
            self.launches, self.timelines = tuple(launches), timelines
            self._make_panes(len(self.launches))
            self._show()

    def up(self) -> bool:
        """Show the level above; return whether there is one."""
        if self.place.level == LEVELS[0]:
            return False
        self._climb(LEVELS[LEVELS.index(self.place.level) - 1])
        return True

    def _make_panes(self, count: int) -> None:
        while len(self.panes) > count:
            gone = self.panes.pop()
            gone.hide()
            gone.deleteLater()
        while len(self.panes) < count:
            self._add_pane(len(self.panes))
        if self.panes:
            self.setFocusProxy(self.panes[0].view)

    def _add_pane(self, i: int) -> None:
        theme = replace(self.theme, scale=self._scale)
        pane = GpuPane(theme)
        pane.set_theme(theme)
        pane.size_picked.connect(lambda word: self._pick_size(i, word))
        pane.climbed.connect(self._climb)
        pane.view.entered.connect(lambda level, number: self._enter(i, level, number))
        pane.view.left.connect(self.up)
        pane.view.range_asked.connect(self._show_range)
        self.panes.append(pane)
        self.charts.addWidget(pane, 1)
        pane.show()  # also where a picture is made before Qt comes to it

    # What is shown.

    def _show(self) -> None:
        """Show the place in all panes."""
        self.shown = [self._shown_in(i, launch) for i, launch in enumerate(self.launches)]
        self._show_span()

    def _show_span(self) -> None:
        """Show the range of the place in all panes, whose places are shown already."""
        found = [shown for shown in self.shown if shown is not None]
        whole = whole_range([shown.whole for shown in found])
        span = self._span(whole)
        for pane, shown in zip(self.panes, self.shown, strict=True):
            if shown is not None:
                pane.show_place(shown, span, whole)
        self.axis.setVisible(bool(found))
        self.axis.show_range(span, self.theme.say(ORIGINS[not found or found[0].is_of_blocks]))
        self.axis.show_legend(legend_of(found))

    def _shown_in(self, i: int, launch: PaneLaunch) -> Shown | None:
        """Return what a pane shows, after it was told what there is."""
        if self.timelines is None:
            self.panes[i].show_reading(launch)
            return None
        recorded = recorded_of(launch.scenario, self.timelines)
        wanted = self.place.pane(i).size
        found = next((one for one in recorded if one.word == wanted), None) or own_recording(launch, recorded)
        self.panes[i].show_launch(launch, recorded, found.word if found else "")
        return shown_at(_data(found), self.place.level, self.place.pane(i)) if found else None

    def _span(self, whole: TimeRange) -> TimeRange:
        if self.place.range is None:
            return whole
        return fitted((1000 * self.place.range[0], 1000 * self.place.range[1]), whole)

    def _go(self, place: GpuPlace) -> None:
        if place == self.place:
            return
        stays = replace(place, range=None) == replace(self.place, range=None)
        self.place = place
        if stays:
            self._show_span()
        else:
            self._show()
            self.place = self._settled()  # so that what the chart chose is said, too
        self.moved.emit()

    # What the user asks for.

    def _enter(self, i: int, level: Level, number: int) -> None:
        """Go into a multiprocessor, a block or a warp of a pane; the other panes go as deep."""
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
        keeps = level != "block"  # whose axis is another
        place = self._settled().with_pane(i, inside)
        self._go(replace(place, level=level, range=self.place.range if keeps else None))

    def _settled(self) -> GpuPlace:
        """Return the place with all that was left open as it is shown, as far as it is of this level."""
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
        """Go back to a level above."""
        place = replace(self._settled(), level=level, range=self._ranges.get(level))
        self._go(replace(place, panes=tuple(_cut(pane, level) for pane in place.panes)))

    def _pick_size(self, i: int, word: str) -> None:
        """Show another recorded size, in every pane that has it; of a size each pane has places of its own."""
        panes = []
        for n, launch in enumerate(self.launches):
            recorded = recorded_of(launch.scenario, self.timelines or ())
            own = own_recording(launch, recorded)
            has = n == i or any(one.word == word for one in recorded)
            chosen = word if has else self.place.pane(n).size
            panes.append(PanePlace("" if own is not None and own.word == chosen else chosen))
        self._ranges.clear()
        self._go(GpuPlace(panes=tuple(panes) if any(pane.size for pane in panes) else ()))

    def _show_range(self, span: TimeRange | None) -> None:
        self._go(replace(self.place, range=None if span is None else (span[0] / 1000, span[1] / 1000)))

    def _now(self) -> tuple[TimeRange, TimeRange]:
        whole = whole_range([shown.whole for shown in self.shown if shown is not None])
        return self._span(whole), whole

    def _move(self, share: float) -> None:
        span, whole = self._now()
        by = share * (span[1] - span[0])
        self._show_range(fitted((span[0] + by, span[1] + by), whole))

    def _zoom(self, factor: float, around: float) -> None:
        (first, last), whole = self._now()
        self._show_range(
            fitted((around - (around - first) * factor, around + (last - around) * factor), whole)
        )

    # Looks.

    def set_theme(self, theme: Theme) -> None:
        """Take colours, text size and words."""
        self.theme, self._scale = theme, theme.scale
        paint_icon(self.close_button, theme)
        self._hand_theme()
        self.column.setContentsMargins(1, 1, 1, theme.px(4))
        self.column.setSpacing(0)
        if self.launches:
            self._show()
        self._place_button()

    def _hand_theme(self) -> None:
        """Give the charts the theme, with the size of its letters that the layout has."""
        theme = replace(self.theme, scale=self._scale)
        # The sheet of the whole application has letters of the usual size for titles, fields and links.
        self.setStyleSheet("" if theme == self.theme else style_sheet(theme))
        for pane in self.panes:
            pane.set_theme(theme)
        self.axis.set_theme(theme)

    def show_layout(self, layout: LayoutChoice, height: int) -> None:
        """Take letters of a 45th of a lecture's height, those of the theme otherwise."""
        scale = max(self.theme.scale, height / LINES / LETTER) if layout == "lecture" else self.theme.scale
        if scale != self._scale:
            self._scale = scale
            self._hand_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button in its corner."""
        super().resizeEvent(event)
        self._place_button()

    def _place_button(self) -> None:
        gap = self.theme.px(8)
        self.close_button.adjustSize()
        self.close_button.move(self.width() - self.close_button.width() - gap, gap)
        self.close_button.raise_()


def _cut(pane: PanePlace, level: Level) -> PanePlace:
    """Return a pane's place without what is below a level."""
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


def _data(recorded: Recorded) -> GpuData:
    """Return what is derived from a timeline, once."""
    return _data_of(recorded.timeline, recorded.size)
