"""The GPUs of this computer: a job that asks the driver, and a dialog with its answer."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtWidgets import QDialog, QWidget

from ...tracer.hardware.times.devices import DeviceList, DeviceListing, ListedDevice, facts
from ...tracer.hardware.times.measurement import MeasurementError
from ...tracer.processes.process_client import RunCancelledError
from ..control.task import Task, TaskQueue
from ..widgets.plain_text import RichLabel, markup
from ..widgets.reading_dialog import show_text_dialog
from ..widgets.theme import Theme

TITLE = "GPUs of this computer"
ASKING = "Asking the driver…"
SIZE = QSize(520, 360)


class DevicesJob(QObject):
    """Lists the devices, one query at a time. listed: gets a DeviceList; an empty one contains the reason."""

    def __init__(
        self,
        parent: QObject,
        listed: Callable[[DeviceList], object],
        make: Callable[[], DeviceListing] = DeviceListing,
    ) -> None:
        super().__init__(parent)
        self._make, self._listed = make, listed
        self._listing = make()
        self._tasks = TaskQueue(self, interrupt=lambda: self._listing.cancel())
        self.close = self._tasks.close

    @property
    def is_running(self) -> bool:
        """True while a query is running."""
        return not self._tasks.is_idle()

    def start(self) -> None:
        """Start a query, unless one is running."""
        if not self.is_running:
            self._listing = self._make()
            expected = MeasurementError, RunCancelledError
            self._tasks.start(Task(self._listing.run, self._listed, self._fail, expected=expected))

    def _fail(self, error: BaseException) -> None:
        reason = (
            "The search for devices was cancelled." if isinstance(error, RunCancelledError) else str(error)
        )
        self._listed(DeviceList((), reason=reason))


class DevicesDialog:
    """Shows a list of GPUs; the user may close it before the list arrives."""

    def __init__(self, parent: QWidget, theme: Theme) -> None:
        self.theme, self.text = theme, RichLabel()
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.text.setText(markup(ASKING))
        self.dialog: QDialog | None = show_text_dialog(parent, theme, TITLE, self.text, SIZE)
        self.dialog.finished.connect(self._forget)

    def _forget(self) -> None:
        self.dialog = None

    def show_list(self, device_list: DeviceList) -> None:
        """Show the driver's answer."""
        if self.dialog is not None:
            self.text.setText(page(device_list, self.theme))


def page(device_list: DeviceList, theme: Theme) -> str:
    """Return a list of GPUs as rich text."""
    colours = theme.palette
    colour = colours.text if device_list.supported else colours.bad
    summary = f"<p style='color:{colour}'>{markup(device_list.summary)}</p>"
    return "".join([*(_device(device, theme) for device in device_list.devices), summary])


def _device(device: ListedDevice, theme: Theme) -> str:
    colours = theme.palette
    head = f"<p style='font-size:{theme.px(16)}px'><b>{markup(device.name)}</b></p>"
    rows = [
        f"<tr><td style='color:{colours.muted}; padding-right:{theme.px(14)}px'>{markup(name)}</td>"
        f"<td>{_value(name, text, device, theme)}</td></tr>"
        for name, text in facts(device)
    ]
    return f"{head}<table cellspacing='2'>{''.join(rows)}</table>"


def _value(name: str, text: str, device: ListedDevice, theme: Theme) -> str:
    if name != "supported":
        return markup(text)
    colour = theme.palette.bad if device.problem else theme.palette.good
    return f"<span style='color:{colour}'><b>{markup(text)}</b></span>"
