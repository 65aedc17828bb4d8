"""The picture of a task: an SVG or PNG file, sharp at any scale, and safe to draw.

Only shapes, text and colours of an SVG are allowed: no external references, animations or reuse.
"""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QImageReader, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QSizePolicy, QWidget

from ..model.named_file import UnreadableFileError, read_small_file
from ..model.visible_text import escape_controls
from ..widgets.theme import Theme

LARGEST = 1_000_000  # bytes of a file
WIDEST = 4096  # pixels of a PNG, across and down
# The allowed elements of an SVG; those that refer to other elements (which may multiply) or files are not allowed.
ELEMENTS = {
    "svg", "g", "defs", "title", "desc", "rect", "circle", "ellipse", "line", "polyline", "polygon", "path", "text",
    "tspan", "linearGradient", "radialGradient", "stop", "clipPath",
}  # fmt: skip
ELEMENT = re.compile(r"<\s*([^\s/>!?][^\s/>]*)")
HEX_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}\b")
DECLARATION = re.compile(r"\s*<\?xml.*?\?>", re.DOTALL)  # it may name another encoding


class TaskPictureError(Exception):
    """A picture cannot be shown; the text is one sentence."""


class PictureView(QWidget):
    """A picture as wide as the panel, up to its natural width at the current text size."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self._drawing: QSvgRenderer | QImage | None = None
        self._svg_text, self._path = "", Path()
        self._natural_size, self._share = QSizeF(), 1.0
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hide()

    def show_file(self, path: Path | None, text: str) -> None:
        """Show the picture of a file, none for None; text: its description. Raises TaskPictureError."""
        self._drawing = None
        self.hide()
        if path is None:
            return
        content = _content(path)
        svg = path.suffix.lower() == ".svg"
        self._svg_text = _svg_text(path, content) if svg else ""
        self._drawing = _svg(path, self._svg_text, self.theme) if svg else _png(path, content)
        self._path = path
        self._natural_size = self._drawing.viewBoxF().size() if svg else QSizeF(self._drawing.size())  # type: ignore[union-attr]
        self.setAccessibleName(text or "Picture of the task")
        self.updateGeometry()
        self.show()

    def set_theme(self, theme: Theme) -> None:
        """Apply the text size, and the colours of an SVG."""
        repaints = self._svg_text and theme.name != self.theme.name
        self.theme = theme
        if repaints:
            self._drawing = _svg(self._path, self._svg_text, theme)
            self.update()
        self.updateGeometry()

    def shrink(self, share: float) -> None:
        """Scale the picture by this share of its size, 1 for the full size."""
        if share != self._share:
            self._share = share
            self.updateGeometry()
            self.update()

    def _size_in(self, width: float) -> QSizeF:
        """Compute the drawn size for a width, at most the natural size at the current text size."""
        if self._natural_size.isEmpty():
            return QSizeF(0, 0)
        drawn_width = min(width, self._natural_size.width() * self.theme.scale) * self._share
        return QSizeF(drawn_width, drawn_width * self._natural_size.height() / self._natural_size.width())

    def hasHeightForWidth(self) -> bool:
        """Return True: the height depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the picture for a width."""
        return round(self._size_in(width).height())

    def sizeHint(self) -> QSize:
        """Return the picture's natural size at the current text size."""
        return self._size_in(self._natural_size.width() * self.theme.scale).toSize()

    def minimumSizeHint(self) -> QSize:
        """Return a small size, since the picture shrinks with the panel."""
        return QSize(40, 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture at the left."""
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
        return read_small_file(path, LARGEST, "picture")
    except UnreadableFileError as error:
        raise TaskPictureError(f"The picture {escape_controls(path)} {error}.") from None


def _svg_text(path: Path, content: bytes) -> str:
    """Return the text of an SVG; raises TaskPictureError for elements that are not allowed."""
    text = DECLARATION.sub("", content.decode("utf-8", "replace").removeprefix("\ufeff"), count=1)
    if not text.lstrip().startswith("<"):  # checked first: other text may contain what looks like elements
        raise _no_svg(path)
    others = sorted({*ELEMENT.findall(text)} - ELEMENTS)
    if "<!DOCTYPE" in text or "<!ENTITY" in text or others:
        name = others[0] if others else "!DOCTYPE"
        raise TaskPictureError(
            f"The picture {escape_controls(path)} contains <{escape_controls(name)[:40]}>, which is not supported. "
            "Remove it."
        )
    return text


def _svg(path: Path, text: str, theme: Theme) -> QSvgRenderer:
    """Create the renderer of an SVG in the colours of a theme; raises TaskPictureError."""
    if theme.name == "dark":
        panel = theme.colour("panel")
        text = HEX_COLOUR.sub(lambda match: _inverted(QColor(match[0]), panel).name(), text)
    renderer = QSvgRenderer()
    renderer.setAnimationEnabled(False)
    renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    if not renderer.load(QByteArray(text.encode())) or renderer.viewBoxF().isEmpty():
        raise _no_svg(path)
    return renderer


def _inverted(colour: QColor, ground: QColor) -> QColor:
    """Invert the lightness of a colour but not its hue; white becomes the ground."""
    parts = colour.red(), colour.green(), colour.blue()
    grounds = ground.red(), ground.green(), ground.blue()
    change = 255 - max(parts) - min(parts)
    pairs = zip(parts, grounds, strict=True)
    return QColor(*(back + (part + change) * (255 - back) // 255 for part, back in pairs))


def _no_svg(path: Path) -> TaskPictureError:
    return TaskPictureError(f"The picture {escape_controls(path)} is not a valid SVG.")


def _png(path: Path, content: bytes) -> QImage:
    """Read the image of a PNG; raises TaskPictureError."""
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"png"))
    size = reader.size()
    if max(size.width(), size.height()) > WIDEST:
        raise TaskPictureError(
            f"The picture {escape_controls(path)} is larger than {WIDEST} pixels; make it smaller."
        )
    image = reader.read() if size.isValid() else QImage()
    if image.isNull():
        raise TaskPictureError(f"The picture {escape_controls(path)} is not a valid PNG.")
    return image
