"""The timings window: charts of measured times, exports, and measuring on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QScrollArea,
    QSplitter,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from ...kernels.scenarios.catalogue import CatalogueError
from ...tracer.hardware.times.devices import DeviceList
from ...tracer.hardware.times.measurement import Measurement
from ...tracer.storage.folders import home_folder
from ..model.nothing import nothing
from ..widgets.appearance import Look
from ..widgets.controls import button
from ..widgets.flow_layout import FlowLayout
from ..widgets.notice import Notice
from ..widgets.plain_text import PlainLabel
from ..widgets.theme import Theme
from ..widgets.widget_picture import PictureError
from . import export
from .chart_fields import ChartFields
from .devices import DevicesDialog, DevicesJob
from .drawing.view import ChartView
from .lists import KernelList, MeasurementList
from .measure_job import MeasureJob, MeasureReports
from .model.build import build
from .model.cases import cases_to_measure
from .model.choice import CHARTS, USUAL_SUBJECTS, ChartKind, Choice, Sight, title_of, with_chart
from .model.figure import Datum
from .model.script import script_text
from .model.sources import Source, default_sources, own_folder, sources
from .model.vocabulary import terminology_of, with_terminology

TABS = {
    "bars": "Time",
    "ladder": "Ladder",
    "cublas": "To cuBLAS",
    "speedup": "Speed-up",
    "scaling": "Scaling",
    "over": "Parameter",
    "roofline": "Roofline",
    "calls": "First call",
    "copies": "Copies",
}
FILES = "Pictures and numbers (*.png *.svg *.pdf *.csv *.json *.py)"


class TimingsWindow(QWidget):
    """Draws the recorded measurements immediately, and measures the same rows on this machine.

    open_kernel: shows the kernel of a bar or point. measured: called when a new measurement was saved.
    """

    def __init__(
        self,
        theme: Theme,
        parent: QWidget | None = None,
        open_kernel: Callable[[Datum], object] = nothing,
        measured: Callable[[], object] = nothing,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._open_kernel, self._measured = open_kernel, measured
        self.setWindowTitle("Timings - Tilescope")
        self.theme = theme
        self.notice, self.chart, self.fields = Notice(theme), ChartView(theme), ChartFields(theme)
        self.kernels, self.sources = KernelList(theme), MeasurementList(theme)
        self._build()
        self.show_running(False)
        self._growing: list[Source] = []  # the rows of a running measurement
        self.choice = self._before = Choice()
        self.job = MeasureJob(
            self,
            MeasureReports(self.show_progress, self._take_rows, self._take_measurement, self._report_failure),
        )
        self.devices_job = DevicesJob(self, self._take_devices)
        self.devices: DevicesDialog | None = None  # the dialog that was shown last
        self._connect()
        self.kernels.check([subject.key for subject in self.choice.subjects])
        self.load()
        self.set_theme(theme)

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(lambda i: self._turn(CHARTS[i]))
        self.chart.changed = self._take_sight
        self.chart.log_asked = self.toggle_log
        self.chart.mark_opened = self._open_kernel
        self.chart.extra_actions = [
            ("Copy\tCtrl+Shift+C", self.copy),
            ("Copy as matplotlib script", self.copy_script),
            ("Save…\tCtrl+S", self.ask_save),
        ]
        self.kernels.changed = self._take_kernels
        self.sources.changed = self.redraw
        self.fields.changed = lambda: self.show_choice(self.fields.choice)
        application = QGuiApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.job.cancel)
            application.aboutToQuit.connect(self.devices_job.close)
        for keys, callback in (
            ("Ctrl+S", self.ask_save),
            ("Ctrl+Shift+C", self.copy),
            ("Escape", self.escape),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(callback)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Close), self).activated.connect(self.close)

    # The layout.

    def _build(self) -> None:
        self.body = QVBoxLayout()
        self.across = QSplitter(Qt.Orientation.Horizontal)
        self.across.setChildrenCollapsible(False)
        bar = self._build_bar()
        for panel in (self._build_side(), self._build_main()):
            self.across.addWidget(panel)
        self.across.setStretchFactor(1, 1)
        self.body.addWidget(self.notice)
        self.body.addWidget(self.across, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(bar)
        column.addLayout(self.body, 1)

    def _build_bar(self) -> QFrame:
        self.bar, self.tabs = QFrame(), QTabBar()
        self.bar.setObjectName("bar")
        self.tabs.setAccessibleName("Charts")
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setUsesScrollButtons(False)
        for chart in CHARTS:
            self.tabs.addTab(TABS[chart])
        brand = PlainLabel("Timings")
        brand.setObjectName("brand")
        copy = "The chart as a picture (Ctrl+Shift+C)"
        self.copy_button = button("Copy chart", copy, text="Copy", run=lambda: self.copy())
        self.save_button = button(
            "Save chart",
            "PNG, SVG, PDF, CSV, JSON or a matplotlib script (Ctrl+S)",
            text="Save…",
            run=lambda: self.ask_save(),
        )
        self.flow = FlowLayout(self.bar)
        for widget in (brand, self.tabs):
            self.flow.add(widget)
        for right in (self.copy_button, self.save_button):
            self.flow.add(right, right=True)
        return self.bar

    def _build_side(self) -> QFrame:
        self.side = QFrame()
        self.side.setObjectName("panel")
        self.measure_button = button(
            "Measure here",
            "Time what the chart shows on this computer",
            text="Measure here",
            run=lambda: self.measure(),
        )
        self.measure_button.setObjectName("primary")
        gpus = "The GPUs of this computer, and whether Tilescope supports them"
        self.devices_button = button(
            "GPUs of this computer", gpus, text="GPUs…", run=lambda: self.show_devices()
        )
        self.progress, self.progress_text = QProgressBar(), PlainLabel()
        self.progress.setTextVisible(False)
        self.progress_text.setObjectName("muted")
        self.progress_text.setWordWrap(True)
        self.side_column = QVBoxLayout(self.side)
        self.side_column.addWidget(_heading("Kernels"))
        self.side_column.addWidget(self.kernels, 1)
        self.side_column.addWidget(_heading("Measurements"))
        for widget in (self.sources, self.progress_text, self.progress):
            self.side_column.addWidget(widget)
        below = QHBoxLayout()
        below.addWidget(self.devices_button)
        below.addWidget(self.measure_button, 1)
        self.side_column.addLayout(below)
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
        for layout in (inner, column):
            layout.setContentsMargins(1, 1, 1, 1)
            layout.setSpacing(0)
        inner.addWidget(self.fields)  # they scroll with the chart: a low window has no room for both
        inner.addWidget(self.chart, 1)
        column.addWidget(self.area)
        return main

    def sizeHint(self) -> QSize:
        """Return a size that shows everything."""
        return QSize(self.theme.px(1180), self.theme.px(720))

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme = theme
        gap = theme.px(10)
        self.flow.setContentsMargins(theme.px(12), theme.px(8), theme.px(12), theme.px(4))
        self.flow.setSpacing(theme.px(8))
        self.body.setContentsMargins(gap, gap, gap, gap)
        self.body.setSpacing(gap)
        self.across.setHandleWidth(gap)
        self.side_column.setContentsMargins(gap, gap, gap, gap)
        for part in (self.notice, self.chart, self.fields, self.kernels, self.sources):
            part.set_theme(theme)
        self.side.setMinimumWidth(min(theme.px(290), 420))
        self.redraw()

    def speak(self, words: str) -> None:
        """Use "cuda" or "work-item" terminology, except in titles of kernels."""
        theme = replace(self.theme, words=words)
        if self.fields.theme == theme:
            return
        for part in (self.notice, self.fields, self.kernels):
            part.set_theme(theme)

    # The choice.

    def load(self, also: str = "") -> None:
        """Read the measurements; check the previous selection, at first the default one, and `also`."""
        before = [str(source.path) for source in self.sources.chosen()]
        measurements, complaints = sources()
        self.sources.offer(
            measurements, [*(before or (str(source.path) for source in default_sources(measurements))), also]
        )
        if complaints:
            more = f"; {len(complaints) - 1} more can't be opened either." if len(complaints) > 1 else "."
            self.notice.error(complaints[0].removesuffix(".") + more)
        self.redraw()

    def _take_kernels(self) -> None:
        self.show_choice(replace(self.choice, subjects=self.kernels.subjects(), sight=Sight()))

    def _turn(self, chart: ChartKind) -> None:
        """Draw another chart; after a ladder that was only looked at, restore the kernels chosen before it."""
        only_looked = self.choice.chart in USUAL_SUBJECTS and self.choice == with_chart(
            self._before, self.choice.chart
        )
        before = self._before if only_looked else self.choice
        turned = with_chart(before, chart)
        if chart in USUAL_SUBJECTS:
            self._before = before
        self.show_choice(turned)

    def show_choice(self, choice: Choice) -> None:
        """Show a choice in tabs, list and fields, and draw it."""
        self.choice = choice
        with QSignalBlocker(self.tabs):
            self.tabs.setCurrentIndex(CHARTS.index(choice.chart))
        self.tabs.updateGeometry()  # the chosen tab's text is bold
        self.kernels.check([subject.key for subject in choice.subjects])
        self.redraw()

    def show_measured(self, choice: Choice, path: str) -> None:
        """Show a chart with this measurement and the checked ones."""
        checked = [str(source.path) for source in self.sources.chosen()]
        if path not in checked:
            self.sources.check([*checked, path])
        self.show_choice(choice)

    def redraw(self) -> None:
        """Draw the choice from the checked measurements."""
        chosen = [*self.sources.chosen(), *self._growing]
        titles = {subject.key: title_of(subject) for subject in self.choice.subjects}
        words = terminology_of(self.theme.words, self.choice.subjects)
        self.speak(words)
        self.fields.show_choice(self.choice, chosen, titles)
        self.kernels.show_signs()
        self.figure = with_terminology(build(chosen, self.choice), words)
        self.chart.show_figure(self.figure, self.choice.sight)

    def _take_sight(self, sight: Sight) -> None:
        """Remember how the user zoomed, hid and pointed."""
        self.choice = self.fields.choice = replace(self.choice, sight=sight)

    def toggle_log(self) -> None:
        """Switch between logarithmic and linear values."""
        sight = Sight(hidden=self.choice.sight.hidden)
        self.show_choice(replace(self.choice, log=not self.figure.is_log, sight=sight))

    # Exports.

    def ask_save(self) -> None:
        """Ask for a file name and save the chart or its numbers."""
        suggestion = str(home_folder() / f"{self.choice.chart}.png")
        path, _ = QFileDialog.getSaveFileName(self, "Save chart", suggestion, FILES)
        if path:
            self.save(Path(path) if Path(path).suffix else Path(path).with_suffix(".png"))

    def save(self, path: Path) -> None:
        """Save the chart in the format of the file name's ending."""
        try:
            export.write_figure(self.figure, path, self._page())
        except PictureError as error:
            self.notice.error(str(error))
            return
        self.notice.inform(f"The chart is saved as {path}.")

    def copy(self) -> None:
        """Copy the chart to the clipboard."""
        if self.figure.is_empty:
            self.notice.error("There is nothing to copy: choose a kernel that was measured like this.")
            return
        export.copy_figure(self.figure, self._page())
        self.notice.inform(
            "The chart is on the clipboard as a picture; Save writes its numbers as CSV or JSON."
        )

    def copy_script(self) -> None:
        """Copy a Python script that draws the chart with matplotlib."""
        if not self.figure.is_empty:
            QGuiApplication.clipboard().setText(script_text(self.figure))
            self.notice.inform("A Python script that draws the chart with matplotlib is on the clipboard.")

    def _page(self) -> export.Page:
        return export.Page(theme=self.theme.name, sight=self.choice.sight)

    # Measuring.

    def measure(self) -> None:
        """Measure what the chart shows, or cancel."""
        if self.job.is_running:
            self.job.cancel()
            return
        try:
            cases = cases_to_measure(self.sources.chosen(), self.choice)
        except CatalogueError as error:
            self.notice.error(str(error))
            return
        if not cases:
            self.notice.error("There is nothing to measure: choose a kernel.")
            return
        self.notice.clear()
        self.job.start(cases)
        self.show_progress("starting", 0, len(cases))
        self.show_running(self.job.is_running)

    def show_running(self, running: bool) -> None:
        """Show whether a measurement is running."""
        self.measure_button.setText("Cancel" if running else "Measure here")
        for widget in (self.progress, self.progress_text):
            widget.setVisible(running)

    def show_progress(self, text: str, done: int, total: int) -> None:
        """Show the progress of a measurement."""
        self.progress.setRange(0, total)
        self.progress.setValue(done)
        if text:
            self.progress_text.setText(
                # With spaces, so that lines break.
                f"{done} of {total} rows; {text}".replace(",", ", ")
            )

    def _take_rows(self, measurement: Measurement) -> None:
        """Draw the finished rows of the running measurement next to the others."""
        self._growing = [Source(own_folder() / "running", measurement)]
        self.redraw()

    def _take_measurement(self, path: str) -> None:
        self._growing = []
        self.show_running(self.job.is_running)
        self.load(also=path)
        self.notice.inform(f"Measured; all samples are saved as {path}.")
        self._measured()

    def _report_failure(self, sentence: str) -> None:
        if self._growing:
            self._growing = []
            self.redraw()
        self.show_running(self.job.is_running)
        if sentence:
            self.notice.error(sentence)
        else:
            self.notice.inform("The measurement was cancelled; nothing is saved.")

    # The GPUs of this computer.

    def show_devices(self) -> None:
        """Show the GPUs of this computer when the driver has answered."""
        self.devices = DevicesDialog(self, self.theme)
        self.devices_job.start()

    def _take_devices(self, device_list: DeviceList) -> None:
        if self.devices is not None:
            self.devices.show_list(device_list)

    def escape(self) -> None:
        """Cancel the measurement; without one, close the message, else the window."""
        if self.job.is_running:
            self.job.cancel()
        elif self.notice.isVisible():
            self.notice.clear()
        else:
            self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop everything that runs."""
        self.devices_job.close()
        self.job.close()
        event.accept()


def show_timings(
    window: QWidget, look: Look, open_kernel: Callable[[Datum], object], measured: Callable[[], object]
) -> TimingsWindow:
    """Show the timings window, with the appearance of the main window; return it."""
    timings = window.findChild(TimingsWindow)
    if timings is None:
        timings = TimingsWindow(look.theme, window, open_kernel, measured)
        look.changed.connect(lambda theme: timings.set_theme(theme) if timings.isVisible() else None)
        room = window.screen().availableSize() * 0.95
        timings.resize(timings.sizeHint().expandedTo(window.size() * 0.9).boundedTo(room))
    elif timings.theme != look.theme:  # the theme changed while it was closed
        timings.set_theme(look.theme)
    timings.show()
    timings.raise_()
    timings.activateWindow()
    return timings


def _heading(text: str) -> QLabel:
    label = PlainLabel(text)
    label.setObjectName("title")
    return label
