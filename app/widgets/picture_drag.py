"""Pictures dragged out of the window, into a slide or a folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QSize, Qt, QUrl
from PySide6.QtGui import QDrag, QImage, QMouseEvent, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from ...tracer.storage.temp_folders import new_process_folder
from .widget_picture import PictureError, picture_of, write_png

DENSITY = 2  # pixels per point of the dropped picture
THUMBNAIL = QSize(240, 160)  # the largest size in points below the pointer
NAME = "tilescope.png"  # of the file, for programs that accept only files


class PictureDrag(QObject):
    """Makes a widget draggable as a picture: as pixels, and as a temporary file deleted with the window.

    handle: the widget that starts the drag. failed: called with one sentence if the picture could not be made.
    """

    def __init__(self, handle: QWidget, widget: QWidget, failed: Callable[[str], None]) -> None:
        super().__init__(handle)
        self._handle, self._widget, self._failed = handle, widget, failed
        self._pressed_at: QPoint | None = None  # where the button was pressed
        self._folder: Path | None = None
        handle.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Start a drag once the pointer has moved by the system's drag distance."""
        if isinstance(event, QMouseEvent):
            position = event.globalPosition().toPoint()
            if event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
                self._pressed_at = position
            elif event.type() == QEvent.Type.MouseButtonRelease:
                self._pressed_at = None
            elif event.type() == QEvent.Type.MouseMove and self._is_drag(position, event.buttons()):
                self._pressed_at = None
                self._drag()
        return False

    def _is_drag(self, position: QPoint, buttons: Qt.MouseButton) -> bool:
        """Return True if the pointer has moved far enough with the button down."""
        if self._pressed_at is None or not buttons & Qt.MouseButton.LeftButton:
            return False
        return (position - self._pressed_at).manhattanLength() >= QApplication.startDragDistance()

    def _drag(self) -> None:
        try:
            drag = self.drag()
        except PictureError as error:
            self._failed(str(error))
            return
        drag.exec(Qt.DropAction.CopyAction)

    def drag(self) -> QDrag:
        """Create the drag with its picture; raises PictureError."""
        image = picture_of(self._widget, DENSITY)
        path = Path(self._new_folder()) / NAME
        write_png(image, path)
        data = QMimeData()
        data.setImageData(image)
        data.setUrls([QUrl.fromLocalFile(str(path))])
        drag = QDrag(self._handle)
        drag.setMimeData(data)
        drag.setPixmap(_small(image))
        return drag

    def _new_folder(self) -> str:
        """Create a folder for one picture, since another program may still read an earlier one."""
        try:
            if self._folder is None:
                folder = self._folder = new_process_folder()
                self._handle.destroyed.connect(lambda: shutil.rmtree(folder, ignore_errors=True))
            return tempfile.mkdtemp(dir=self._folder)
        except OSError as error:
            raise PictureError(f"The picture could not be written: {error.strerror or error}.") from error


def _small(image: QImage) -> QPixmap:
    ratio = image.devicePixelRatio()
    modes = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    small = QPixmap.fromImage(image.scaled(THUMBNAIL * ratio, *modes))
    small.setDevicePixelRatio(ratio)
    return small
