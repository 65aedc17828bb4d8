"""What is drawn as SVG or PDF, with its text as text. Qt is imported when it is used."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from ..model.visible_text import visible

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

DOTS = 96  # pixels an inch in SVG and PDF: what a length in CSS means
Draw = Callable[["QPainter"], None]
PictureParts = Literal["all", "memory", "timeline", "warp"]  # all: memory pictures with the timelines below
VIEWS: tuple[PictureParts, ...] = get_args(PictureParts)
SUFFIXES = (".svg", ".pdf")

# What fills the shape of a clip where it begins, and where it ends: red, green, blue and opacity, as nothing else has.
ClipMark = tuple[int, int, int, int]
CLIP_BEGIN: ClipMark = (1, 254, 2, 3)
CLIP_END: ClipMark = (2, 254, 1, 3)


def is_vector_file(name: str | Path) -> bool:
    """Return whether a file of this name holds a vector picture."""
    return Path(name).suffix.lower() in SUFFIXES


def svg_of(size: tuple[int, int], draw: Draw, title: str, description: str) -> bytes:
    """Return what is drawn on so many pixels as SVG: texts are texts, and what `clipped` clips is clipped."""
    from PySide6.QtCore import QBuffer, QIODevice, QRect, QSize
    from PySide6.QtGui import QPainter
    from PySide6.QtSvg import QSvgGenerator

    buffer, generator = QBuffer(), QSvgGenerator()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator.setOutputDevice(buffer)
    generator.setResolution(DOTS)
    generator.setSize(QSize(*size))
    generator.setViewBox(QRect(0, 0, *size))
    generator.setTitle(visible(title))
    generator.setDescription(visible(description))
    painter = QPainter(generator)
    draw(painter)
    painter.end()
    svg = bytes(buffer.data().data()).decode()
    pixels = f'width="{size[0]}" height="{size[1]}"'
    svg = re.sub('width="[^"]*mm" height="[^"]*mm"', pixels, svg, count=1)
    return _with_widths(_with_clips(_briefer(svg))).encode()


def _briefer(svg: str) -> str:
    """Return an SVG without groups that hold nothing, and without fonts on groups: each text has its own."""
    svg = re.sub(
        r'\nfont-family="[^"]*" font-size="[^"]*" font-weight="[^"]*" font-style="[^"]*"\s*>', ">", svg
    )
    return re.sub(r"<g [^>]*>\s*</g>\s*", "", svg)


def _with_clips(svg: str) -> str:
    """Return an SVG with clips where shapes were drawn in their place; it is SVG 1.1 then, Tiny has none."""
    clips = count(1)

    def begin(found: re.Match[str]) -> str:
        transform = re.search(r'transform="[^"]*"', found[1])
        path = f'<path d="{found[2]}" clip-rule="evenodd" {transform[0] if transform else ""}/>'
        name = f"clip{next(clips)}"
        return f'<clipPath id="{name}">{path}</clipPath>\n<g clip-path="url(#{name})">'

    svg, made = re.subn(_shape_of(CLIP_BEGIN), begin, svg)
    svg = re.sub(_shape_of(CLIP_END), "</g>", svg)
    return svg.replace('version="1.2" baseProfile="tiny"', 'version="1.1"', 1) if made else svg


def _shape_of(mark: ClipMark) -> str:
    """Return what finds the group of a shape of this colour: its attributes, and its path."""
    colour = "".join(f"{part:02x}" for part in mark[:3])
    opacity = rf"0\.0*{round(1e5 * mark[3] / 255)}\d*"
    return rf'(<g fill="#{colour}" fill-opacity="{opacity}"[^>]*>)\s*<path [^>]*\bd="([^"]*)"[^>]*/>\s*</g>'


def _with_widths(svg: str) -> str:
    """Return an SVG whose texts are as wide as they were drawn, in whatever font a reader has.

    Qt writes where each text begins; in another font, texts at the right of a column would not end together.
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
    """Return what is drawn on so many pixels as a PDF of one page."""
    from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QSizeF
    from PySide6.QtGui import QPageSize, QPainter, QPdfWriter

    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    points = QSizeF(*(side * 72 / DOTS for side in size))
    writer.setPageSize(QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF())
    writer.setResolution(DOTS)
    writer.setTitle(visible(title))
    writer.setCreator("Tilescope")
    painter = QPainter(writer)
    painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)
    draw(painter)
    painter.end()
    return bytes(buffer.data().data())
