"""The picture of a task: an SVG or a PNG of a file's, drawn as it is, sharp at any scale, and never a danger.

Of an SVG only shapes, text and colours are taken: nothing that names another file, moves or repeats itself.
"""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage, QImageReader, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...model.named_file import UnreadableFileError, small_content
from ...model.visible_text import visible
from ...widgets.theme import Theme

LARGEST = 1_000_000  # bytes of a file
WIDEST = 4096  # pixels of a PNG, across and down
# What an SVG may hold; elements that refer to others, which may multiply, and to files are not among them.
ELEMENTS = {
    "svg", "g", "defs", "title", "desc", "rect", "circle", "ellipse", "line", "polyline", "polygon", "path", "text",
    "tspan", "linearGradient", "radialGradient", "stop", "clipPath",
}  # fmt: skip
ELEMENT = re.compile(r"<\s*([^\s/>!?][^\s/>]*)")
DECLARATION = re.compile(r"\s*<\?xml.*?\?>", re.DOTALL)  # which may name an encoding that we do not read by


class PictureProblem(Exception):
    """A picture that is not shown; the text is one sentence."""


class PictureView(QWidget):
    """A picture as wide as there is room, up to a width of its own at the normal text size."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self._drawing: QSvgRenderer | QImage | None = None
        self._own, self._share = QSizeF(), 1.0
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hide()

    def show_file(self, path: Path | None, text: str) -> None:
        """Show the picture of a file, none for None; text: what it shows. Raises PictureProblem."""
        self._drawing = None
        self.hide()
        if path is None:
            return
        content = _content(path)
        self._drawing = _svg(path, content) if path.suffix.lower() == ".svg" else _png(path, content)
        svg = isinstance(self._drawing, QSvgRenderer)
        self._own = self._drawing.viewBoxF().size() if svg else QSizeF(self._drawing.size())  # type: ignore[union-attr]
        self.setAccessibleName(text or "Picture of the task")
        self.updateGeometry()
        self.show()

    def set_theme(self, theme: Theme) -> None:
        """Take the text size."""
        self.theme = theme
        self.updateGeometry()

    def shrink(self, share: float) -> None:
        """Draw it at this share of the size that it would have, 1 for all of it."""
        if share != self._share:
            self._share = share
            self.updateGeometry()
            self.update()

    def _size_in(self, width: float) -> QSizeF:
        """Return the size that is drawn in a width: never larger than letters of the text's size make it."""
        if self._own.isEmpty():
            return QSizeF(0, 0)
        wide = min(width, self._own.width() * self.theme.scale) * self._share
        return QSizeF(wide, wide * self._own.height() / self._own.width())

    def hasHeightForWidth(self) -> bool:
        """Return that the height follows the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the picture in a width."""
        return round(self._size_in(width).height())

    def sizeHint(self) -> QSize:
        """Return the picture's own size."""
        return self._size_in(self._own.width() * self.theme.scale).toSize()

    def minimumSizeHint(self) -> QSize:
        """Return next to nothing: it shrinks with the panel."""
        return QSize(40, 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it at the left."""
        painter = QPainter(self)
        size = self._size_in(self.width())
        box = QRectF(0, 0, size.width(), size.height())
        if isinstance(self._drawing, QSvgRenderer):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._drawing.render(painter, box)
        elif self._drawing is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(box, self._drawing)
        painter.end()


def _content(path: Path) -> bytes:
    try:
        return small_content(path, LARGEST, "picture")
    except UnreadableFileError as error:
        raise PictureProblem(f"The picture {visible(path)} {error}.") from None


def _svg(path: Path, content: bytes) -> QSvgRenderer:
    """Return what draws an SVG; raises PictureProblem."""
    text = DECLARATION.sub("", content.decode("utf-8", "replace").removeprefix("\ufeff"), count=1)
    if not text.lstrip().startswith("<"):  # first: what looks like elements in it are none
        raise _no_svg(path)
    others = sorted({*ELEMENT.findall(text)} - ELEMENTS)
    if "<!DOCTYPE" in text or "<!ENTITY" in text or others:
        which = others[0] if others else "!DOCTYPE"
        raise PictureProblem(
            f"The picture {visible(path)} has <{visible(which)[:40]}>, which is not drawn; take it out."
        )
    drawn = QSvgRenderer()
    drawn.setAnimationEnabled(False)
    drawn.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    if not drawn.load(QByteArray(text.encode())) or drawn.viewBoxF().isEmpty():
        raise _no_svg(path)
    return drawn


def _no_svg(path: Path) -> PictureProblem:
    return PictureProblem(f"The picture {visible(path)} is no SVG that can be drawn.")


def _png(path: Path, content: bytes) -> QImage:
    """Return the image of a PNG; raises PictureProblem."""
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"png"))
    size = reader.size()
    if max(size.width(), size.height()) > WIDEST:
        raise PictureProblem(f"The picture {visible(path)} is larger than {WIDEST} pixels; make it smaller.")
    image = reader.read() if size.isValid() else QImage()
    if image.isNull():
        raise PictureProblem(f"The picture {visible(path)} is no PNG that can be drawn.")
    return image
