"""The way from the panes to the timings window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from ..widgets.appearance import Look
from .measured_job import MeasuredTimes

if TYPE_CHECKING:
    from .model.choice import Choice
    from .model.figure import Datum


class TimingsLink:
    """Opens the timings window, for the panes or for one chart.

    window: its parent. measured: reads what the timings window saved. chart_of_panes: the chart of the panes' times
    and its measurement, None without times. open_kernel: shows the kernel of a measured value.
    """

    def __init__(
        self,
        window: QWidget,
        look: Look,
        measured: MeasuredTimes,
        chart_of_panes: Callable[[], tuple[Choice, str] | None],
        open_kernel: Callable[[Datum], object],
    ) -> None:
        self.window, self.look, self.measured = window, look, measured
        self._chart_of_panes, self._open_kernel = chart_of_panes, open_kernel
        self._shown: tuple[Choice, str] | None = None  # the chart shown last for the panes

    def show(self, choice: Choice | None = None, measurement: str = "") -> None:
        """Show the timings, with this chart of a measurement if one is given."""
        from .window import show_timings  # loaded on first use

        timings = show_timings(self.window, self.look, self._open_kernel, self.measured.renew)
        if choice is not None:
            timings.show_measured(choice, measurement)

    def show_panes(self) -> None:
        """Show the timings of the panes; if these were shown last, leave the window as it is."""
        chart = self._chart_of_panes()
        if chart is None or chart == self._shown:
            self.show()
        else:
            self._shown = chart
            self.show(*chart)
