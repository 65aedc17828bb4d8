"""Renders a widget to a picture, and writes it atomically as PNG. Qt is imported on first use."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...tracer.storage.atomic_write import write_atomically

if TYPE_CHECKING:
    from PySide6.QtGui import QImage
    from PySide6.QtWidgets import QWidget


class PictureError(Exception):
    """A picture could not be made or written; the text is one sentence for the user."""


def use_offscreen_platform() -> None:
    """Choose Qt's offscreen platform on Linux without a display; call this before Qt starts."""
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform.startswith("linux") and not screen:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def prepare_qt(scale: float) -> None:
    """Set the pixel density before Qt starts, and the offscreen platform if there is no display."""
    from PySide6.QtCore import QCoreApplication

    if QCoreApplication.instance() is not None:
        return
    use_offscreen_platform()
    os.environ["QT_SCALE_FACTOR"] = str(scale)


MOST_PIXELS = 300_000_000  # of a picture: 1.2 GB, and twice as much while it is drawn


def check_pixels(size: tuple[int, int], scale: float) -> None:
    """Raise PictureError if a picture of `size` points with `scale` pixels each needs too much memory."""
    width, height = (round(side * scale) for side in size)
    if width * height > MOST_PIXELS:
        raise PictureError(f"A picture of {width} x {height} pixels is too large to be drawn.")


def picture_of(widget: QWidget, scale: float) -> QImage:
    """Draw a widget with `scale` pixels per point; raises PictureError if the picture is too large."""
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QImage

    check_pixels((widget.width(), widget.height()), scale)
    size = widget.size() * scale
    image = QImage(size, QImage.Format.Format_RGB32)
    if image.isNull():
        raise PictureError(f"A picture of {size.width()} x {size.height()} pixels is too large to be drawn.")
    image.setDevicePixelRatio(scale)
    widget.render(image, QPoint())
    return image


def write_png(image: QImage, path: Path) -> None:
    """Write a PNG file atomically; raises PictureError."""
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice
    from PySide6.QtGui import QImageWriter

    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not QImageWriter(buffer, QByteArray(b"png")).write(image):
        raise PictureError(f"{path} could not be made: the picture cannot be encoded.")
    try:
        write_atomically(path, bytes(buffer.data().data()))
    except OSError as error:
        raise PictureError(f"{path} could not be written: {error.strerror or error}.") from error
