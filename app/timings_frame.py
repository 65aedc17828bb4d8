"""The parts of the window of the timings in their places: bar, lists, fields, chart."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QProgressBar,
    QScrollArea,
    QSplitter,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from .charts.choose import CHARTS
from .controls import button
from .flow import FlowLayout
from .notice import Notice
from .theme import Theme
from .timings_lists import KernelList, SourceList
from .timings_options import Options
from .views.charts import ChartView

TABS = {
    "bars": "Time",
    "ladder": "Ladder",
    "speedup": "Speed-up",
    "scaling": "Scaling",
    "roofline": "Roofline",
    "calls": "First call",
    "copies": "Copies",
}


class TimingsFrame(QWidget):
    """Shows what it is told."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("Timings - Tilescope")
        self.theme = theme
        self.notice, self.chart, self.options = Notice(theme), ChartView(theme), Options(theme)
        self.kernels, self.sources = KernelList(theme), SourceList(theme)
        self._build()
        self.show_running(False)

    def _build(self) -> None:
        self.bar, self.tabs = QFrame(), QTabBar()
        self.bar.setObjectName("bar")
        self.tabs.setAccessibleName("Charts")
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setUsesScrollButtons(False)
        for chart in CHARTS:
            self.tabs.addTab(TABS[chart])
        brand = QLabel("Timings")
        brand.setObjectName("brand")
        copy = "The chart as a picture (Ctrl+Shift+C)"
        self.copy_button = button("Copy chart", copy, text="Copy")
        self.save_button = button("Save chart", "PNG, SVG, PDF, CSV or JSON (Ctrl+S)", text="Save…")
        self.flow = FlowLayout(self.bar)
        for widget in (brand, self.tabs):
            self.flow.add(widget)
        for right in (self.copy_button, self.save_button):
            self.flow.add(right, right=True)
        self.body = QVBoxLayout()
        self.across = QSplitter(Qt.Orientation.Horizontal)
        self.across.setChildrenCollapsible(False)
        for panel in (self._build_side(), self._build_main()):
            self.across.addWidget(panel)
        self.across.setStretchFactor(1, 1)
        self.body.addWidget(self.notice)
        self.body.addWidget(self.across, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addLayout(self.body, 1)

    def _build_side(self) -> QFrame:
        self.side = QFrame()
        self.side.setObjectName("panel")
        self.measure_button = button(
            "Measure here", "Time what the chart shows on this computer", text="Measure here"
        )
        self.measure_button.setObjectName("primary")
        self.progress, self.progress_text = QProgressBar(), QLabel()
        self.progress.setTextVisible(False)
        self.progress_text.setObjectName("muted")
        self.progress_text.setWordWrap(True)
        self.side_column = QVBoxLayout(self.side)
        self.side_column.addWidget(_heading("Kernels"))
        self.side_column.addWidget(self.kernels, 1)
        self.side_column.addWidget(_heading("Measurements"))
        for widget in (self.sources, self.progress_text, self.progress, self.measure_button):
            self.side_column.addWidget(widget)
        return self.side

    def _build_main(self) -> QFrame:
        main = QFrame()
        main.setObjectName("panel")
        self.area = QScrollArea()
        below = QWidget()
        self.area.setWidget(below)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner, column = QVBoxLayout(below), QVBoxLayout(main)
        for each in (inner, column):
            each.setContentsMargins(1, 1, 1, 1)
            each.setSpacing(0)
        inner.addWidget(self.options)  # they move away with the chart: a low window has no room for both
        inner.addWidget(self.chart, 1)
        column.addWidget(self.area)
        return main

    def sizeHint(self) -> QSize:
        """Return the size at which a newcomer sees everything."""
        return QSize(self.theme.px(1180), self.theme.px(720))

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        gap = theme.px(10)
        self.flow.setContentsMargins(theme.px(12), theme.px(8), theme.px(12), theme.px(4))
        self.flow.setSpacing(theme.px(8))
        self.body.setContentsMargins(gap, gap, gap, gap)
        self.body.setSpacing(gap)
        self.across.setHandleWidth(gap)
        self.side_column.setContentsMargins(gap, gap, gap, gap)
        for part in (self.notice, self.chart, self.options, self.kernels, self.sources):
            part.set_theme(theme)
        self.side.setMinimumWidth(min(theme.px(290), 420))

    def speak(self, words: str) -> None:
        """Say all but titles of kernels in "cuda" or "work-item" words."""
        theme = replace(self.theme, words=words)
        if self.options.theme == theme:
            return
        for part in (self.notice, self.options, self.kernels):
            part.set_theme(theme)

    def show_running(self, running: bool) -> None:
        """Show that a measurement is under way, or that none is."""
        self.measure_button.setText("Cancel" if running else "Measure here")
        for widget in (self.progress, self.progress_text):
            widget.setVisible(running)

    def show_progress(self, text: str, done: int, of: int) -> None:
        """Show how far a measurement is."""
        self.progress.setRange(0, of)
        self.progress.setValue(done)
        if text:
            self.progress_text.setText(
                f"{done} of {of} rows; {text}".replace(",", ", ")
            )  # so that lines break


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setObjectName("title")
    return label
