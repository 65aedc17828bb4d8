"""Figures as PNG, SVG, PDF, CSV, JSON or a matplotlib script, written atomically, and on the clipboard."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ...tracer.storage.atomic_write import write_atomically
from ..widgets.vector_files import pdf_of, svg_of
from ..widgets.widget_picture import PictureError, write_png
from .model.choice import Sight
from .model.figure import Figure
from .model.script import script_text
from .model.table import csv_text, json_text

if TYPE_CHECKING:
    from PySide6.QtGui import QImage, QPainter

    from ..widgets.theme import Theme

SUFFIXES = (".png", ".svg", ".pdf", ".csv", ".json", ".py")
DPI = 300  # of a PNG file
MINIMUM_SCALE = 0.7  # the smallest text, as a share of the normal one
NORMAL_SIZE = (960, 540)  # the size at which a figure has the window's own text size


class Page(Struct, frozen=True):
    """The size in pixels, the theme and the text size of an exported figure."""

    size: tuple[int, int] = (1600, 900)
    theme: str = "light"
    text_size: float = 1.0
    sight: Sight = Sight()  # the visible part of the figure

    def theme_for(self, figure: Figure) -> Theme:
        """Return the theme; the text grows with the page to be legible on a slide, as long as everything fits."""
        from ..widgets.theme import Theme
        from .drawing.view import fitting_theme

        shares = self.size[0] / NORMAL_SIZE[0], self.size[1] / NORMAL_SIZE[1]
        scale = self.text_size * sqrt(shares[0] * shares[1])
        minimum = MINIMUM_SCALE * min(self.text_size, 1.0) * min(shares)
        return fitting_theme(figure, self.size, Theme.named(self.theme, scale), minimum)


def write_figure(figure: Figure, path: Path, page: Page) -> None:
    """Write a figure in the format of the file name's ending.

    Raises PictureError for an unknown ending, for an empty figure, and if the file can't be written.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise PictureError(f"{path.name} must end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.")
    if figure.is_empty:
        raise PictureError(f"There is nothing to draw. {' '.join(figure.notes)}".strip())
    if suffix == ".png":
        write_png(image_of(figure, page), path)
        return
    contents = {".csv": _csv, ".json": _json, ".py": _script, ".svg": _svg, ".pdf": _pdf}
    try:
        write_atomically(path, contents[suffix](figure, page))
    except OSError as error:
        raise PictureError(f"{path} could not be written: {error.strerror or error}.") from error


def image_of(figure: Figure, page: Page) -> QImage:
    """Draw a figure as a picture of 300 pixels per inch; raises PictureError if it is too large."""
    from PySide6.QtGui import QImage, QPainter

    image = QImage(*page.size, QImage.Format.Format_RGB32)
    if image.isNull():
        raise PictureError(
            f"A picture of {page.size[0]} x {page.size[1]} pixels is too large; choose a smaller size."
        )
    painter = QPainter(image)
    _draw(painter, figure, page)
    painter.end()
    image.setDotsPerMeterX(round(DPI / 0.0254))
    image.setDotsPerMeterY(round(DPI / 0.0254))
    return image


def copy_figure(figure: Figure, page: Page) -> None:
    """Copy a figure to the clipboard as a picture.

    The numbers are left out: a QMimeData created in Python crashes PySide 6.11 at exit.
    """
    from PySide6.QtGui import QGuiApplication

    QGuiApplication.clipboard().setImage(image_of(figure, page))


def _csv(figure: Figure, page: Page) -> bytes:
    return csv_text(figure).encode()


def _json(figure: Figure, page: Page) -> bytes:
    return json_text(figure).encode()


def _script(figure: Figure, page: Page) -> bytes:
    return script_text(figure).encode()


def _svg(figure: Figure, page: Page) -> bytes:
    """Return a figure as SVG with real text."""
    description = " ".join((figure.subtitle, *figure.origins, figure.method))
    return svg_of(page.size, lambda painter: _draw(painter, figure, page), figure.title, description)


def _pdf(figure: Figure, page: Page) -> bytes:
    """Return a figure as a PDF of one page."""
    return pdf_of(page.size, lambda painter: _draw(painter, figure, page), figure.title)


def _draw(painter: QPainter, figure: Figure, page: Page) -> None:
    from .drawing.view import draw_figure

    draw_figure(painter, figure, page.size, page.theme_for(figure), page.sight)
