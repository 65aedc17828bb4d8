"""What is drawn in place of the panes: a chart of measured times, or what a GPU did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QBoxLayout, QWidget

from ...control.recorded_timelines import RecordedTimelines
from ...control.stage import Stage
from ...gpu.place import GPU, is_gpu
from ...model.bookmark import LayoutChoice
from ...widgets.theme import Theme

if TYPE_CHECKING:
    from .chart_panel import ChartPanel
    from .gpu_panel import GpuPanel


class Charts(QObject):
    """The charts of a window, made when they are first wanted, and which of them is shown.

    changed: another one is, or none. refused: one sentence why one can't be shown.
    """

    changed = Signal()
    refused = Signal(str)

    def __init__(
        self, stage: Stage, theme: Theme, column: QBoxLayout, panes: QWidget, parent: QObject | None = None
    ) -> None:
        """column: where charts are put; panes: what they take the place of."""
        super().__init__(parent)
        self._stage, self._theme, self._column, self._panes = stage, theme, column, panes
        self.text = ""  # of the chart, in the words of `parse_choice` or `parse_gpu_place`; "" shows none
        self.times_panel: ChartPanel | None = None
        self.gpu_panel: GpuPanel | None = None
        self.recorded = RecordedTimelines(self)
        self.recorded.found.connect(self.show_launches)

    def show(self, text: str) -> None:
        """Draw a chart in place of panes and timelines, "" for these; say why where it can't be.

        text: of measured times in the words of `parse_choice`, of what a GPU did in those of `parse_gpu_place`.
        """
        if text == self.text:
            return
        self.text, shown = "", self._panel_for(text)
        if shown is not None:
            try:
                shown.show_text(text)
                self.text = text
            except ValueError as error:
                self.refused.emit(str(error))
        self._panes.setVisible(not self.text)  # first, so that the keys are no chart's once it goes
        for panel in self._panels():
            panel.setVisible(panel is shown and bool(self.text))
        self.show_launches()
        self.changed.emit()

    def _panels(self) -> list[ChartPanel | GpuPanel]:
        return [panel for panel in (self.times_panel, self.gpu_panel) if panel is not None]

    def _panel_for(self, text: str) -> ChartPanel | GpuPanel | None:
        """Return what draws a chart of these words, None for no words."""
        if not text:
            return None
        if is_gpu(text):
            self.gpu_panel = self.gpu_panel or self._make_gpu_panel()
            return self.gpu_panel
        self.times_panel = self.times_panel or self._make_times_panel()
        return self.times_panel

    def _make_times_panel(self) -> ChartPanel:
        from .chart_panel import ChartPanel  # what it needs is not loaded before

        made = ChartPanel(self._theme)
        made.closed.connect(lambda: self.show(""))
        self._column.addWidget(made, 1)
        return made

    def _make_gpu_panel(self) -> GpuPanel:
        from .gpu_panel import GpuPanel  # what it needs is not loaded before

        made = GpuPanel(self._theme)
        made.closed.connect(lambda: self.show(""))
        made.moved.connect(self._follow_gpu)
        self._column.addWidget(made, 1)
        return made

    def _follow_gpu(self) -> None:
        """Take note of where the user went in the chart of the GPU."""
        if self.gpu_panel and is_gpu(self.text):
            self.text = self.gpu_panel.text

    def show_launches(self) -> None:
        """Show what was recorded of the panes' launches, where it is to be seen; read it first."""
        if self.gpu_panel and is_gpu(self.text):
            from ...gpu.recorded import launch_of_pane  # what it needs is not loaded before

            self.recorded.want()
            sessions = [*self._stage.sessions, *[None] * len(self._stage.setups)]
            launches = [launch_of_pane(*pair) for pair in zip(self._stage.setups, sessions, strict=False)]
            self.gpu_panel.show_launches(launches, self.recorded.timelines)

    def toggle_gpu(self) -> None:
        """Show what a GPU did in place of the panes, or the panes again."""
        self.show("" if is_gpu(self.text) else GPU)
        if self.gpu_panel and self.text:
            self.gpu_panel.setFocus()

    def leave(self) -> None:
        """Go a level up in the chart of the GPU; from its top, and from other charts, back to the panes."""
        if not (self.gpu_panel and is_gpu(self.text) and self.gpu_panel.up()):
            self.show("")

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self._theme = theme
        for panel in self._panels():
            panel.set_theme(theme)

    def fit(self, layout: LayoutChoice, height: int) -> None:
        """Suit the layout of a window so high, in pixels."""
        for panel in self._panels():
            panel.show_layout(layout, height)
