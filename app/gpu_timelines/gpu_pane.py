"""A pane of the chart "On the GPU": breadcrumbs, chart, selection, facts; or the reason for no recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from ..model.visible_text import escape_controls
from ..widgets.controls import Combo, button
from ..widgets.plain_text import PlainLabel, plain_tip
from ..widgets.theme import Theme
from .facts_view import FactsView
from .layout import TimeRange
from .model.data import GpuData
from .model.facts import facts_of
from .model.place import LEVELS, Level
from .model.recorded import PaneLaunch, RecordedTimeline, command_for, missing_text, nearest_recording
from .shown import ChartView
from .text import block_name
from .view import KEYS, GpuRequests, GpuView

READING = "Reading recordings…"
RECORD = "Record it on a machine with a GPU:"
# Minimum heights of a pane, in pixels at the normal text size, for the facts and for the selection.
LOW, LOWER = 300, 160


class GpuPane(QWidget):
    """Shows one launch.

    ask: the requests of its chart. pick_size: shows a recorded size, by its word. climb: goes to a level above.
    """

    def __init__(
        self,
        theme: Theme,
        ask: GpuRequests,
        pick_size: Callable[[str], object],
        climb: Callable[[Level], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._pick_size, self._climb = pick_size, climb
        self.theme = theme
        self.shown: ChartView | None = None
        self.view, self.facts = GpuView(theme, ask, self._show_status), FactsView(theme)
        self.title, self.status, self.missing = PlainLabel(), PlainLabel(), PlainLabel()
        self.title.setObjectName("title")
        self.status.setObjectName("muted")
        self.status.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.status.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sizes = Combo("Recorded size")
        self.sizes.picked = pick_size
        self.breadcrumbs = [self._step(level) for level in LEVELS]
        self.nearest = button("Show the nearest recorded size", "", text="Show", run=self._pick_nearest)
        self.command = PlainLabel()
        self.command.setObjectName("muted")
        for label in (self.missing, self.command):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._nearest_word, self._status = "", ""
        self._build()

    def _step(self, level: Level) -> QPushButton:
        step = button(f"Back to the {level}", "", text="", run=lambda: self._climb(level))
        step.setObjectName("link")
        return step

    def _build(self) -> None:
        self.head = QHBoxLayout()
        self.head.addWidget(self.title)
        self.head.addWidget(self.sizes)
        for step in self.breadcrumbs:
            self.head.addWidget(step)
        self.head.addStretch(1)
        self.foot = QVBoxLayout()
        self.foot.addWidget(self.status)
        self.foot.addWidget(self.facts)
        self.column = QVBoxLayout(self)
        self.column.addLayout(self.head)
        self.column.addWidget(self.view, 1)
        self.column.addLayout(self.foot)
        self.offer = QHBoxLayout()
        self.offer.addWidget(self.nearest)
        self.offer.addStretch(1)
        self.column.addWidget(self.missing)
        self.column.addLayout(self.offer)
        self.column.addWidget(self.command)
        self.column.addStretch(0)

    def show_launch(self, asked: PaneLaunch, recorded: Sequence[RecordedTimeline], word: str) -> None:
        """Show the recordings of a pane's launch; word: the shown size, "" for none."""
        self.title.setText(self.theme.translate(asked.title))
        self.sizes.offer([(recording.size, recording.word) for recording in recorded], word)
        self.sizes.setVisible(bool(word))
        near = nearest_recording(asked, recorded)
        self._nearest_word = near.word if near else ""
        self.missing.setText(self.theme.translate(missing_text(asked, recorded)))
        command = command_for(asked)
        self.command.setText(f"{RECORD} {command}" if command else "")
        self.nearest.setText(f"Show {near.size}" if near else "")
        self._show_parts(has_chart=bool(word), is_read=True)

    def show_reading(self, asked: PaneLaunch) -> None:
        """Show that the recordings are being read."""
        self.title.setText(self.theme.translate(asked.title))
        self.missing.setText(READING)
        self._show_parts(has_chart=False, is_read=False)

    def _show_parts(self, *, has_chart: bool, is_read: bool) -> None:
        self.view.setVisible(has_chart)
        self._hide_details()
        self.sizes.setVisible(has_chart)
        self.missing.setVisible(not has_chart)
        self.command.setVisible(not has_chart and is_read and bool(self.command.text()))
        self.nearest.setVisible(not has_chart and is_read and bool(self._nearest_word))
        self.column.setStretch(self.column.count() - 1, 0 if has_chart else 1)
        if not has_chart:
            self.shown = None
            self.title.setToolTip("")
            for step in self.breadcrumbs:
                step.hide()

    def show_place(self, shown: ChartView, span: TimeRange, full_range: TimeRange) -> None:
        """Show a position in the timeline."""
        if self.shown is None or shown.data is not self.shown.data:
            facts = facts_of(shown.data)
            self.facts.show_facts(facts)
            details = "\n".join(f"{fact.text} · {fact.mark}" for fact in facts)
            self.title.setToolTip(plain_tip(self.theme.translate(details)))
        if shown != self.shown:
            self.shown = shown
            self._show_way(shown)
        self.view.show_place(shown, span, full_range)

    def _show_way(self, shown: ChartView) -> None:
        """Show the breadcrumbs down to the current level; the levels above it are buttons."""
        here = LEVELS.index(shown.level)
        for number, (step, name) in enumerate(zip(self.breadcrumbs, _names(shown.data, shown), strict=True)):
            step.setVisible(number <= here)
            step.setText(self.theme.translate(f"{'› ' * (number > 0)}{name}").replace("&", "&&"))
            step.setEnabled(number < here)
            step.setToolTip(plain_tip(f"Back to {name} (Backspace)" if number < here else KEYS))

    def name_text(self) -> str:
        """Name the launch and size for a picture: Tiled, shared memory, 1,024."""
        return self.title.text() + (f", {self.shown.data.size}" if self.shown else "")

    def place_text(self) -> str:
        """Describe the position for a picture, or the reason for no chart."""
        if self.shown is None:
            return self.missing.text()
        names = _names(self.shown.data, self.shown)[: LEVELS.index(self.shown.level) + 1]
        return self.theme.translate(" › ".join(names))

    def _pick_nearest(self) -> None:
        self._pick_size(self._nearest_word)

    def _show_status(self, text: str) -> None:
        self._status = self.theme.translate(text)
        self._fit()

    def _fit(self) -> None:
        """Show the selection, elided to the width, with the full text as tooltip."""
        metrics = QFontMetrics(self.theme.font(12))
        room = max(self.width() - 2 * self.theme.px(14), 50)
        self.status.setText(metrics.elidedText(self._status, Qt.TextElideMode.ElideRight, room))
        self.status.setToolTip(plain_tip(self._status))
        self.status.setAccessibleName(self._status)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours, text size and vocabulary."""
        self.theme = theme
        self.view.set_theme(theme)
        self.facts.set_theme(theme)
        self.status.setFont(theme.font(12))
        self.sizes.setFont(theme.font())
        self.sizes.updateGeometry()
        self.status.setFixedHeight(theme.px(19))
        side = theme.px(14)
        self.column.setContentsMargins(0, theme.px(8), 0, theme.px(2))
        self.column.setSpacing(theme.px(3))
        self.head.setContentsMargins(side, 0, side, 0)
        self.head.setSpacing(theme.px(8))
        self.foot.setContentsMargins(side, 0, side, 0)
        self.foot.setSpacing(0)
        self.offer.setContentsMargins(side, theme.px(4), side, theme.px(4))
        for label in (self.missing, self.command):
            label.setContentsMargins(side, theme.px(4), side, theme.px(4))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the texts."""
        super().resizeEvent(event)
        self._hide_details()
        self._fit()

    def _hide_details(self) -> None:
        """Hide the facts, then the selection, if the chart has little room."""
        height, has_chart = self.height() / self.theme.scale, not self.view.isHidden()
        self.facts.setVisible(has_chart and height >= LOW)
        self.status.setVisible(has_chart and height >= LOWER)


def _names(data: GpuData, shown: ChartView) -> tuple[str, str, str, str]:
    device = escape_controls(data.timeline.head.device.name).removeprefix("NVIDIA ")
    return device, f"multiprocessor {shown.machine}", block_name(data, shown.block), f"warp {shown.warp}"
