"""Pictures that are dragged out of the window, into a slide or a folder."""

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

SHARP = 2  # pixels a point of the picture that is dropped
HANDED = QSize(240, 160)  # the most points of what is seen below the pointer
NAME = "tilescope.png"  # of the file, for programs that take files alone


class PictureDrag(QObject):
    """Lets a widget be dragged by a handle, as a picture: as pixels, and as a file that lasts as long as the window.

    handle: where the pointer takes hold. failed: is told, in one sentence, where no picture could be made.
    """

    def __init__(self, handle: QWidget, widget: QWidget, failed: Callable[[str], None]) -> None:
        super().__init__(handle)
        self._handle, self._widget, self._failed = handle, widget, failed
        self._from: QPoint | None = None  # where the button went down
        self._folder: Path | None = None
        handle.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begin once the pointer has gone as far as the desktop asks for."""
        if isinstance(event, QMouseEvent):
            place = event.globalPosition().toPoint()
            if event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
                self._from = place
            elif event.type() == QEvent.Type.MouseButtonRelease:
                self._from = None
            elif event.type() == QEvent.Type.MouseMove and self._is_far(place, event.buttons()):
                self._from = None
                self._drag()
        return False

    def _is_far(self, place: QPoint, buttons: Qt.MouseButton) -> bool:
        """Return whether the pointer has gone so far, with the button down, that this is a drag."""
        if self._from is None or not buttons & Qt.MouseButton.LeftButton:
            return False
        return (place - self._from).manhattanLength() >= QApplication.startDragDistance()

    def _drag(self) -> None:
        try:
            drag = self.drag()
        except PictureError as error:
            self._failed(str(error))
            return
        drag.exec(Qt.DropAction.CopyAction)

    def drag(self) -> QDrag:
        """Return what is dragged; raises PictureError."""
        image = picture_of(self._widget, SHARP)
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
        """Return a folder for one picture, since what took an earlier one may read it late."""
        try:
            if self._folder is None:
                folder = self._folder = new_process_folder()
                self._handle.destroyed.connect(lambda: shutil.rmtree(folder, ignore_errors=True))
            return tempfile.mkdtemp(dir=self._folder)
        except OSError as error:
            raise PictureError(f"The picture could not be written: {error.strerror or error}.") from error


def _small(image: QImage) -> QPixmap:
    ratio = image.devicePixelRatio()
    how = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    small = QPixmap.fromImage(image.scaled(HANDED * ratio, *how))
    small.setDevicePixelRatio(ratio)
    return small
