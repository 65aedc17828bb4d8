"""The dialog that renders the window as a film: a preview, an estimate of the file, and the progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QCloseEvent, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QProgressBar,
    QSizePolicy,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from ..control.delay import Delay
from ..model.nothing import nothing
from ..widgets.controls import button
from ..widgets.plain_text import PlainLabel
from ..widgets.theme import Theme
from .client import RenderingProcess
from .fields import NAMES, FieldDefaults, FilmFields
from .kinds import KINDS, PAGE
from .model.messages import Ask, Expected, Failed, Preview, Progress, Show, Write, Written
from .recording import length_text

PAUSE = 200  # milliseconds without a change before the preview is updated
PREVIEW = QSize(560, 350)  # pixels at the normal text size
PARTS = 1000  # steps of the slider below the preview
DRAWING, WRONG = "Drawing a frame…", "A number is invalid. Correct the field with the red border."
ASKED = "Press Render again to continue."


class RenderDialog(QDialog):
    """Renders a film, while the window stays usable. said: (sentence, whether it succeeded).

    show_at: returns the state to render, for a number of pixels per point.
    """

    def __init__(
        self,
        parent: QWidget,
        theme: Theme,
        offer: FieldDefaults,
        show_at: Callable[[float], Show],
        folder: str,
    ) -> None:
        super().__init__(parent)
        self.reported: Callable[[str, bool], object] = nothing
        self.setWindowTitle("Render film or page")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.theme, self._show_at, self._folder = theme, show_at, folder
        self.fields = FilmFields(offer)
        self.picture, self.outlook = PlainLabel(DRAWING), PlainLabel()
        self.place, self.progress = QSlider(Qt.Orientation.Horizontal), QProgressBar()
        self.record = button("Render", "Choose a file and render", text="Render…", run=self.ask_file)
        self.stop = button("Stop", "Stop without writing a file", text="Stop", run=self._stop)
        self.process: RenderingProcess | None = None
        self._scale, self._number, self._is_long, self._is_warned = 0.0, 0, False, False
        self.is_recording = False
        self._ask_timer = Delay(self, PAUSE, self._ask)
        self._build()
        self.fields.changed = self._ask_soon
        self.place.valueChanged.connect(lambda _: self._ask_timer.start())
        self._ask()

    def _build(self) -> None:
        most = QSize(self.theme.px(PREVIEW.width()), self.theme.px(PREVIEW.height()))
        room = self.screen().availableSize() / 2
        self.picture.setFixedSize(most.scaled(room.boundedTo(most), Qt.AspectRatioMode.KeepAspectRatio))
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setAccessibleName("A frame of the film")
        self.outlook.setWordWrap(True)
        self.outlook.setMinimumHeight(2 * self.outlook.fontMetrics().lineSpacing())
        self.outlook.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.place.setRange(0, PARTS)
        self.place.setValue(PARTS // 2)
        self.place.setAccessibleName("Position of the shown frame")
        self.progress.setTextVisible(False)
        self.record.setObjectName("primary")
        left, across, below, column = QVBoxLayout(), QHBoxLayout(), QHBoxLayout(), QVBoxLayout(self)
        left.addWidget(self.picture)
        left.addWidget(self.place)
        left.addStretch(1)
        across.addLayout(left)
        across.addWidget(self.fields, 1)
        close = button("Close", "Close this dialog", text="Close")
        close.clicked.connect(lambda _checked: self.close())
        below.addWidget(self.outlook, 1)
        for push_button in (self.stop, self.record, close):
            below.addWidget(push_button)
        column.addLayout(across)
        column.addWidget(self.progress)
        column.addLayout(below)
        self._show_state()

    def _show_state(self) -> None:
        """Update the controls."""
        self.fields.setEnabled(not self.is_recording)
        self.place.setEnabled(not self.is_recording)
        self.record.setVisible(not self.is_recording)
        self.stop.setVisible(self.is_recording)
        policy = self.progress.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # keeps the layout stable
        self.progress.setSizePolicy(policy)
        self.progress.setVisible(self.is_recording)

    def _ask_soon(self) -> None:
        """Update the preview after a pause."""
        self._is_warned = self._is_long = False
        self._ask_timer.start()

    def _ask(self) -> None:
        """Request an estimate, and the frame at the slider's position."""
        wanted = self.fields.wanted()
        if wanted is None or self.is_recording:
            self.outlook.setText(WRONG if wanted is None else self.outlook.text())
            return
        self._number += 1
        self.record.setEnabled(True)
        width = round(self.picture.width() * self.devicePixelRatioF())
        question = Ask(self._number, wanted, self._name(), self.place.value() / PARTS, width)
        self._process_at(wanted.scale).ask(question)

    def _process_at(self, scale: float) -> RenderingProcess:
        """Return the process for a number of pixels per point, which is fixed within a Qt process."""
        if self.process is None or scale != self._scale:
            if self.process is not None:
                self.process.close()
            self.process, self._scale = RenderingProcess(self._show_at(scale), self), scale
            self.process.answered = self._take
            if self.process.refusal:
                self._take(Failed(self.process.refusal))
        return self.process

    def _name(self) -> str:
        suffix = self.fields.chosen_kind().suffix
        return f"{_noun(suffix)}{suffix}"

    def _take(self, answer: object) -> None:
        """Handle an answer of the process."""
        match answer:
            case Preview() if answer.number == self._number:
                self._show_frame(answer)
            case Expected() if answer.number == self._number:
                self.record.setEnabled(True)
                self._is_long = answer.is_long
                self.outlook.setText(f"{answer.text}.{' That is long or large.' if answer.is_long else ''}")
            case Progress():
                self.progress.setRange(0, answer.total)
                self.progress.setValue(answer.done)
                self.outlook.setText(f"Rendering: frame {answer.done:,} of {answer.total:,}")
            case Written():
                self._end(f"The {_noun(answer.output)} was saved as {answer.output}.", well=True)
            case Failed() if answer.number in (0, self._number):
                self._fail(answer)

    def _show_frame(self, preview: Preview) -> None:
        pixmap = QPixmap()
        pixmap.loadFromData(preview.png)
        ratio = self.devicePixelRatioF()
        room = self.picture.size() * ratio
        aspect, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        pixmap = pixmap.scaled(room, aspect, smooth)
        pixmap.setDevicePixelRatio(ratio)
        self.picture.setPixmap(pixmap)
        self.picture.setAccessibleDescription(f"Moment {preview.moment:.1f}")
        self.outlook.setText(f"{length_text(preview.seconds)}, {preview.frames:,} frames…")

    def _fail(self, failed: Failed) -> None:
        if self.is_recording:
            self._end(
                failed.sentence or "Rendering was stopped; no file was written.", well=not failed.sentence
            )
        else:
            if self.picture.text():
                self.picture.setText("")  # no frame is being drawn
            self.outlook.setText(failed.sentence)
            self.record.setEnabled(False)

    def ask_file(self) -> None:
        """Ask for a file and render; ask twice for a long or large film."""
        if self._is_long and not self._is_warned:
            self._is_warned = True
            self.outlook.setText(f"{self.outlook.text()} {ASKED}")
            return
        kind = self.fields.chosen_kind()
        files = f"{NAMES[kind.suffix]} (*{kind.suffix or ''})"
        suggestion = str(Path(self._folder) / f"tilescope{kind.suffix}")
        path, _ = QFileDialog.getSaveFileName(self, "Render", suggestion, files)
        if path:
            self.record_to(Path(path))

    def record_to(self, path: Path) -> None:
        """Render into a file; add the chosen kind's suffix to a name without one."""
        wanted, kind = self.fields.wanted(), self.fields.chosen_kind()
        if wanted is None or self.is_recording:
            return
        self._ask_timer.stop()
        if path.suffix.lower() not in {k.suffix for k in (*KINDS, PAGE) if k.suffix}:
            path = path.with_name(path.name + kind.suffix)
        self._folder = str(path.parent)
        self.is_recording = True
        self.progress.setRange(0, 0)
        self.outlook.setText("Rendering…")
        self._show_state()
        self._process_at(wanted.scale).write(Write(wanted, f"{path}{'' if path.suffix else '/'}"))

    def _stop(self) -> None:
        if self.process is not None:
            self.process.stop()

    def _end(self, sentence: str, *, well: bool) -> None:
        self.is_recording = self._is_warned = False
        self._show_state()
        self.outlook.setText(sentence)
        self.reported(sentence, well)

    def reject(self) -> None:
        """Stop rendering, or else close."""
        if self.is_recording:
            self._stop()
        else:
            super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close, even while rendering."""
        self.is_recording = False
        super().closeEvent(event)

    def done(self, result: int) -> None:
        """End the process, which removes an unfinished file."""
        self._ask_timer.stop()
        if self.process is not None:
            self.process.close()
            self.process = None
        super().done(result)


def _noun(output: str) -> str:
    """Name what a file or a suffix is: a page, which a browser plays, or a film."""
    return "page" if output.endswith(PAGE.suffix) else "film"
