"""The window of the timings: charts of measured times, what they show, exports, and measuring here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QWidget

from ..kernels.catalogue import CatalogueError
from . import chart_files
from .charts.asks import asks_for
from .charts.build import build
from .charts.choose import CHARTS, ChartKind, Choice, title_of, turned_to
from .charts.sources import sources
from .charts.words import in_words, words_of
from .measuring_job import MeasuringJob
from .pictures import PictureError
from .theme import Theme
from .timings_frame import TimingsFrame

if TYPE_CHECKING:
    from .main_window import MainWindow

FILES = "Pictures and numbers (*.png *.svg *.pdf *.csv *.json)"


class Timings(TimingsFrame):
    """Draws the recorded measurements at once, and measures the same rows here."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.choice = self._before = Choice()
        self.job = MeasuringJob(self)
        self.copy_button.clicked.connect(lambda: self.copy())
        self.save_button.clicked.connect(lambda: self.ask_save())
        self.measure_button.clicked.connect(lambda: self.measure())
        self._connect()
        self.kernels.check([subject.key for subject in self.choice.subjects])
        self.load()
        self.set_theme(theme)

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(lambda i: self._turn(CHARTS[i]))
        self.kernels.changed.connect(self._take_kernels)
        self.sources.changed.connect(self.redraw)
        self.options.changed.connect(lambda: self.show_choice(self.options.choice))
        self.job.progress.connect(self.show_progress)
        self.job.saved.connect(self._take_measurement)
        self.job.failed.connect(self._miss_measurement)
        application = QGuiApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.job.cancel)
        for keys, run in (("Ctrl+S", self.ask_save), ("Ctrl+Shift+C", self.copy), ("Escape", self.escape)):
            QShortcut(QKeySequence(keys), self).activated.connect(run)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Close), self).activated.connect(self.close)

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        super().set_theme(theme)
        self.redraw()

    # What is shown.

    def load(self, also: str = "") -> None:
        """Read the measurements; check those that were checked and `also`, at first the recorded and the latest."""
        before = [str(source.path) for source in self.sources.chosen()]
        found, complaints = sources()
        own = [source for source in found if not source.recorded]
        usual = [str(source.path) for source in found if source.recorded or source in own[:1]]
        self.sources.offer(found, [*(before or usual), also])
        if complaints:
            more = f"; {len(complaints) - 1} more can't be opened either." if len(complaints) > 1 else "."
            self.notice.error(complaints[0].removesuffix(".") + more)
        self.redraw()

    def _take_kernels(self) -> None:
        self.show_choice(replace(self.choice, subjects=self.kernels.subjects()))

    def _turn(self, chart: ChartKind) -> None:
        """Draw another chart; one who only looked at the ladder finds the kernels of before."""
        turned = turned_to(self.choice, chart)
        if chart == "ladder":
            self._before = self.choice
        elif self.choice == turned_to(self._before, "ladder"):
            turned = replace(self._before, chart=chart)
        self.show_choice(turned)

    def show_choice(self, choice: Choice) -> None:
        """Draw another chart."""
        self.choice = choice
        self.tabs.blockSignals(True)
        self.tabs.setCurrentIndex(CHARTS.index(choice.chart))
        self.tabs.blockSignals(False)
        self.tabs.updateGeometry()  # the chosen tab's text is bold
        self.kernels.check([subject.key for subject in choice.subjects])
        self.redraw()

    def redraw(self) -> None:
        """Draw the choice from the checked measurements."""
        chosen = self.sources.chosen()
        titles = {subject.key: title_of(subject) for subject in self.choice.subjects}
        words = words_of(self.theme.words, self.choice.subjects)
        self.speak(words)
        self.options.show_choice(self.choice, chosen, titles)
        self.kernels.show_signs()
        self.figure = in_words(build(chosen, self.choice), words)
        self.chart.show_figure(self.figure)

    # Exports.

    def ask_save(self) -> None:
        """Ask for a name and save the chart, or its numbers."""
        suggestion = str(Path.home() / f"{self.choice.chart}.png")
        path, _ = QFileDialog.getSaveFileName(self, "Save chart", suggestion, FILES)
        if path:
            self.save(Path(path) if Path(path).suffix else Path(path).with_suffix(".png"))

    def save(self, path: Path) -> None:
        """Save the chart in the format that the name ends with."""
        try:
            chart_files.write_figure(self.figure, path, self._page())
        except PictureError as error:
            self.notice.error(str(error))
            return
        self.notice.tell(f"The chart is saved as {path}.")

    def copy(self) -> None:
        """Put the chart on the clipboard."""
        if self.figure.is_empty:
            self.notice.error("There is nothing to copy: choose a kernel that was measured like this.")
            return
        chart_files.copy_figure(self.figure, self._page())
        self.notice.tell(
            "The chart is on the clipboard as a picture; Save writes its numbers as CSV or JSON."
        )

    def _page(self) -> chart_files.Page:
        return chart_files.Page(theme=self.theme.name)

    # Measuring.

    def measure(self) -> None:
        """Measure here what the chart shows, or end that."""
        if self.job.is_running:
            self.job.cancel()
            return
        try:
            asks = asks_for(self.sources.chosen(), self.choice)
        except CatalogueError as error:
            self.notice.error(str(error))
            return
        if not asks:
            self.notice.error("There is nothing to measure: choose a kernel.")
            return
        self.notice.clear()
        self.job.start(asks)
        self.show_progress("starting", 0, len(asks))
        self.show_running(self.job.is_running)

    def _take_measurement(self, path: str) -> None:
        self.show_running(self.job.is_running)
        self.load(also=path)
        self.notice.tell(f"Measured; all samples are saved as {path}.")

    def _miss_measurement(self, sentence: str) -> None:
        self.show_running(self.job.is_running)
        if sentence:
            self.notice.error(sentence)
        else:
            self.notice.tell("The measurement was cancelled; nothing is saved.")

    def escape(self) -> None:
        """Cancel the measurement, else close the message, else the window."""
        if self.job.is_running:
            self.job.cancel()
        elif self.notice.isVisible():
            self.notice.clear()
        else:
            self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """End what runs."""
        self.job.close()
        event.accept()


def show_timings(window: MainWindow) -> Timings:
    """Show the timings beside a window, whose look they follow; return them."""
    timings = window.findChild(Timings)
    if timings is None:
        timings = Timings(window.theme, window)
        window.look.changed.connect(timings.set_theme)
        room = window.screen().availableSize() * 0.95
        timings.resize(timings.sizeHint().expandedTo(window.size() * 0.9).boundedTo(room))
    timings.show()
    timings.raise_()
    timings.activateWindow()
    return timings
