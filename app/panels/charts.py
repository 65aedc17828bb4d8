"""The charts that replace the panes: measured times, or a GPU's timelines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QBoxLayout, QWidget

from ..control.stage import Stage
from ..gpu_timelines.model.place import GPU, is_gpu
from ..gpu_timelines.recorded_timelines import RecordedTimelines
from ..model.bookmark import LayoutChoice
from ..state.actions import ShowChart
from ..widgets.theme import Theme

if TYPE_CHECKING:
    from ..gpu_timelines.gpu_panel import GpuPanel
    from ..timings.chart_panel import ChartPanel
    from ..timings.model.figure import Datum


class Charts(QObject):
    """The charts of a window, created on first use, and the current one."""

    def __init__(
        self,
        stage: Stage,
        theme: Theme,
        column: QBoxLayout,
        panes: QWidget,
        refuse: Callable[[str], object],
        parent: QObject | None = None,
        open_measured: Callable[[Datum], object] = lambda datum: None,
    ) -> None:
        """column: the layout that contains charts; panes: hidden while a chart is shown; refuse: reports an error;
        open_measured: shows the kernel of a value.
        """
        super().__init__(parent)
        self._refuse, self._open_measured = refuse, open_measured
        self._fitted: tuple[LayoutChoice, int] = ("ordinary", 0)  # layout and height of the window
        self._stage, self._theme, self._column, self._panes = stage, theme, column, panes
        self.is_covered: Callable[[], bool] = lambda: False  # whether a page is shown instead of the panes
        self.times_panel: ChartPanel | None = None
        self.gpu_panel: GpuPanel | None = None
        self.recorded = RecordedTimelines(self, self.show_launches)

    @property
    def text(self) -> str:
        """A description of the chart, see `parse_choice` and `parse_gpu_place`; "" for none."""
        return self._stage.store.state.chart

    def show(self, text: str) -> None:
        """Show measured times (see `parse_choice`), a GPU's timelines (see `parse_gpu_place`), or the panes."""
        self._stage.store.dispatch(ShowChart(text))

    def render_view(self, text: str) -> None:
        """Show a chart instead of panes and timelines, "" for these; refuse an invalid one."""
        shown = self._panel_for(text)
        if shown is not None:
            try:
                shown.show_text(text)
            except ValueError as error:
                self._refuse(str(error))
                self.show("")
        self.show_panes()  # first, so that a hidden chart does not keep the focus
        for panel in self._panels():
            panel.setVisible(panel is shown and bool(self.text))
            panel.show_layout(*self._fitted)

    def show_panes(self) -> None:
        """Show the panes unless a chart or a page covers them."""
        self._panes.setVisible(not self.text and not self.is_covered())

    def _panels(self) -> list[ChartPanel | GpuPanel]:
        return [panel for panel in (self.times_panel, self.gpu_panel) if panel is not None]

    def _panel_for(self, text: str) -> ChartPanel | GpuPanel | None:
        """Return the panel for a chart's text, None for no text."""
        if not text:
            return None
        if is_gpu(text):
            self.gpu_panel = self.gpu_panel or self._make_gpu_panel()
            return self.gpu_panel
        self.times_panel = self.times_panel or self._make_times_panel()
        return self.times_panel

    def _make_times_panel(self) -> ChartPanel:
        from ..timings.chart_panel import ChartPanel  # loaded on first use

        panel = ChartPanel(self._theme, self.show, self._open_measured)
        self._column.addWidget(panel, 1)
        return panel

    def _make_gpu_panel(self) -> GpuPanel:
        from ..gpu_timelines.gpu_panel import GpuPanel  # loaded on first use

        panel = GpuPanel(self._theme, self.show)
        self._column.addWidget(panel, 1)
        return panel

    def show_launches(self) -> None:
        """Show the recordings of the panes' launches in a visible GPU chart; read them first."""
        if self.gpu_panel and is_gpu(self.text):
            from ..gpu_timelines.model.recorded import launch_of_pane  # loaded on first use

            self.recorded.want()
            sessions = [*self._stage.sessions, *[None] * len(self._stage.setups)]
            launches = [launch_of_pane(*pair) for pair in zip(self._stage.setups, sessions, strict=False)]
            self.gpu_panel.show_launches(launches, self.recorded.timelines)

    def toggle_gpu(self) -> None:
        """Switch between the GPU chart and the panes."""
        self.show("" if is_gpu(self.text) else GPU)
        self._stage.store.render()
        if self.gpu_panel and self.text:
            self.gpu_panel.setFocus()

    def leave(self) -> None:
        """Go up a level in the GPU chart; from its top level and from other charts, return to the panes."""
        if not (self.gpu_panel and is_gpu(self.text) and self.gpu_panel.up()):
            self.show("")

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self._theme = theme
        for panel in self._panels():
            panel.set_theme(theme)

    def fit(self, layout: LayoutChoice, height: int) -> None:
        """Adapt the charts to the layout and height in pixels of the window."""
        self._fitted = layout, height
        for panel in self._panels():
            panel.show_layout(layout, height)
