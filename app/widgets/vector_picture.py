"""Drawings as SVG or PDF with real text. Qt is imported on first use."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from ..model.visible_text import escape_controls

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

DOTS = 96  # pixels per inch in SVG and PDF, as in CSS
Draw = Callable[["QPainter"], None]
PictureParts = Literal["all", "memory", "timeline", "warp"]  # all: memory pictures with the timelines below
VIEWS: tuple[PictureParts, ...] = get_args(PictureParts)
SUFFIXES = (".svg", ".pdf")

# Unique fills (red, green, blue, opacity) of the shapes that mark the begin and the end of a clip.
ClipMark = tuple[int, int, int, int]
CLIP_BEGIN: ClipMark = (1, 254, 2, 3)
CLIP_END: ClipMark = (2, 254, 1, 3)


def is_vector_file(name: str | Path) -> bool:
    """Return True if a file name has the suffix of a vector picture."""
    return Path(name).suffix.lower() in SUFFIXES


def svg_of(size: tuple[int, int], draw: Draw, title: str, description: str) -> bytes:
    """Draw a picture of this size in pixels as SVG, with real text and the clips of `clipped`."""
    from PySide6.QtCore import QBuffer, QIODevice, QRect, QSize
    from PySide6.QtGui import QPainter
    from PySide6.QtSvg import QSvgGenerator

    buffer, generator = QBuffer(), QSvgGenerator()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator.setOutputDevice(buffer)
    generator.setResolution(DOTS)
    generator.setSize(QSize(*size))
    generator.setViewBox(QRect(0, 0, *size))
    generator.setTitle(escape_controls(title))
    generator.setDescription(escape_controls(description))
    painter = QPainter(generator)
    draw(painter)
    painter.end()
    svg = bytes(buffer.data().data()).decode()
    pixels = f'width="{size[0]}" height="{size[1]}"'
    svg = re.sub('width="[^"]*mm" height="[^"]*mm"', pixels, svg, count=1)
    return _with_widths(_with_clips(_without_empty_groups(svg))).encode()


def _without_empty_groups(svg: str) -> str:
    """Remove empty groups and the fonts of groups from an SVG, since each text has its own font."""
    svg = re.sub(
        r'\nfont-family="[^"]*" font-size="[^"]*" font-weight="[^"]*" font-style="[^"]*"\s*>', ">", svg
    )
    return re.sub(r"<g [^>]*>\s*</g>\s*", "", svg)


def _with_clips(svg: str) -> str:
    """Replace the shapes that mark clips by clip paths; the result is SVG 1.1, since Tiny has no clips."""
    clips = count(1)

    def begin(match: re.Match[str]) -> str:
        transform = re.search(r'transform="[^"]*"', match[1])
        path = f'<path d="{match[2]}" clip-rule="evenodd" {transform[0] if transform else ""}/>'
        name = f"clip{next(clips)}"
        return f'<clipPath id="{name}">{path}</clipPath>\n<g clip-path="url(#{name})">'

    svg, replaced = re.subn(_shape_pattern(CLIP_BEGIN), begin, svg)
    svg = re.sub(_shape_pattern(CLIP_END), "</g>", svg)
    return svg.replace('version="1.2" baseProfile="tiny"', 'version="1.1"', 1) if replaced else svg


def _shape_pattern(mark: ClipMark) -> str:
    """Build a pattern for the group of a marker shape, with groups for its attributes and its path."""
    colour = "".join(f"{part:02x}" for part in mark[:3])
    opacity = rf"0\.0*{round(1e5 * mark[3] / 255)}\d*"
    return rf'(<g fill="#{colour}" fill-opacity="{opacity}"[^>]*>)\s*<path [^>]*\bd="([^"]*)"[^>]*/>\s*</g>'


def _with_widths(svg: str) -> str:
    """Set the drawn width of every text in an SVG, so that it keeps in another font.

    Qt writes only the start of each text; in another font, right-aligned texts would not align.
    """
    from PySide6.QtGui import QFont, QFontInfo, QFontMetricsF

    font = QFont()

    def widen(match: re.Match[str]) -> str:
        start, wanted, size, weight, text = match.group(1, 2, 3, 4, 5)
        families = unescape(wanted).split(",")
        font.setFamilies(families)
        font.setPixelSize(max(1, round(float(size))))
        font.setBold(int(weight) >= QFont.Weight.Bold)
        width = QFontMetricsF(font).horizontalAdvance(unescape(text.strip("\n")))
        generic = "monospace" if "Mono" in wanted else "sans-serif"
        named = ", ".join(dict.fromkeys([QFontInfo(font).family(), *families, generic]))
        start = start.replace(f'font-family="{wanted}"', f'font-family="{named}"')
        return f'{start} textLength="{width:.2f}" lengthAdjust="spacingAndGlyphs">{text}</text>'

    looks = r'(<text [^>]*?font-family="([^"]*)" font-size="([\d.]+)" font-weight="(\d+)"[^>]*?)\s*>([^<]*)</text>'
    return re.sub(looks, widen, svg)


def pdf_of(size: tuple[int, int], draw: Draw, title: str) -> bytes:
    """Draw a picture of this size in pixels as a PDF with one page."""
    from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QSizeF
    from PySide6.QtGui import QPageSize, QPainter, QPdfWriter

    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    points = QSizeF(*(side * 72 / DOTS for side in size))
    writer.setPageSize(QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF())
    writer.setResolution(DOTS)
    writer.setTitle(escape_controls(title))
    writer.setCreator("Tilescope")
    painter = QPainter(writer)
    painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)
    draw(painter)
    painter.end()
    return bytes(buffer.data().data())
