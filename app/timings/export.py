"""A figure as a file: PNG, SVG, PDF, CSV or JSON, written whole or not at all; and on the clipboard."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ...tracer.storage.atomic_write import write_atomically
from ..charts.figure import Figure
from ..charts.table import csv_text, json_text
from ..widgets.vector_picture import pdf_of, svg_of
from ..widgets.widget_picture import PictureError, write_png

if TYPE_CHECKING:
    from PySide6.QtGui import QImage, QPainter

    from ..widgets.theme import Theme

SUFFIXES = (".png", ".svg", ".pdf", ".csv", ".json")
DPI = 300  # of a PNG file
MINIMUM_SCALE = 0.7  # the smallest text, as a share of the normal one
NORMAL_SIZE = (960, 540)  # the size at which a figure has the window's own text size


class Page(Struct, frozen=True):
    """What a figure is drawn on: its pixels, light or dark, and how much larger than normal its text may be."""

    size: tuple[int, int] = (1600, 900)
    theme: str = "light"
    text_size: float = 1.0

    def look(self, figure: Figure) -> Theme:
        """Return the theme: the text grows with the page, so that it is legible on a slide, as far as all fits."""
        from ..views.charts.paint import fitting_theme
        from ..widgets.theme import Theme

        shares = self.size[0] / NORMAL_SIZE[0], self.size[1] / NORMAL_SIZE[1]
        scale = self.text_size * sqrt(shares[0] * shares[1])
        minimum = MINIMUM_SCALE * min(self.text_size, 1.0) * min(shares)
        return fitting_theme(figure, self.size, Theme.named(self.theme, scale), minimum)


def write_figure(figure: Figure, path: Path, page: Page) -> None:
    """Write a figure in the format that the name ends with.

    Raises PictureError for another ending, for a figure that shows nothing, and where the file can't be written.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise PictureError(f"{path.name} must end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.")
    if figure.is_empty:
        raise PictureError(f"There is nothing to draw. {' '.join(figure.notes)}".strip())
    if suffix == ".png":
        write_png(image_of(figure, page), path)
        return
    contents = {".csv": _csv, ".json": _json, ".svg": _svg, ".pdf": _pdf}
    try:
        write_atomically(path, contents[suffix](figure, page))
    except OSError as error:
        raise PictureError(f"{path} could not be written: {error.strerror or error}.") from error


def image_of(figure: Figure, page: Page) -> QImage:
    """Return a figure as a picture of this many pixels, 300 to the inch; raises PictureError when too large."""
    from PySide6.QtGui import QImage, QPainter

    image = QImage(*page.size, QImage.Format.Format_RGB32)
    if image.isNull():
        raise PictureError(f"A picture of {page.size[0]} x {page.size[1]} pixels is too large to be drawn.")
    painter = QPainter(image)
    _draw(painter, figure, page)
    painter.end()
    image.setDotsPerMeterX(round(DPI / 0.0254))
    image.setDotsPerMeterY(round(DPI / 0.0254))
    return image


def copy_figure(figure: Figure, page: Page) -> None:
    """Put a figure on the clipboard, as a picture.

    The numbers are not there too: a QMimeData that Python made ends PySide 6.11 in a crash when the program ends.
    """
    from PySide6.QtGui import QGuiApplication

    QGuiApplication.clipboard().setImage(image_of(figure, page))


def _csv(figure: Figure, page: Page) -> bytes:
    return csv_text(figure).encode()


def _json(figure: Figure, page: Page) -> bytes:
    return json_text(figure).encode()


def _svg(figure: Figure, page: Page) -> bytes:
    """Return a figure as SVG, with its text as text."""
    said = " ".join((figure.subtitle, *figure.origins, figure.method))
    return svg_of(page.size, lambda painter: _draw(painter, figure, page), figure.title, said)


def _pdf(figure: Figure, page: Page) -> bytes:
    """Return a figure as a PDF of one page."""
    return pdf_of(page.size, lambda painter: _draw(painter, figure, page), figure.title)


def _draw(painter: QPainter, figure: Figure, page: Page) -> None:
    from PySide6.QtCore import QRectF

    from ..views.charts.paint import draw_figure

    draw_figure(painter, figure, QRectF(0, 0, *page.size), page.look(figure))
