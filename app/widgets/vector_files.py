"""Drawings as SVG or PDF with real text. Qt is imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args
from xml.etree import ElementTree

from ..model.visible_text import escape_controls

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

DOTS = 96  # pixels per inch in SVG and PDF, as in CSS
Draw = Callable[["QPainter"], None]
PictureParts = Literal["all", "memory", "timeline", "warp"]  # all: memory pictures with the timelines below
VIEWS: tuple[PictureParts, ...] = get_args(PictureParts)
SUFFIXES = (".svg", ".pdf")
# Unique fills (red, green, blue, opacity) of the shapes that mark the begin and the end of a clip. Qt 6.11 writes
# clips in SVG 1.1, but with wrong coordinates in a rendered widget, and with the inner clip after a nested one.
ClipMark = tuple[int, int, int, int]
CLIP_BEGIN: ClipMark = (1, 254, 2, 3)
CLIP_END: ClipMark = (2, 254, 1, 3)

SVG = "http://www.w3.org/2000/svg"
GROUP, PATH, TEXT, CLIP_PATH = (f"{{{SVG}}}{tag}" for tag in ("g", "path", "text", "clipPath"))


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
    generator.setSize(QSize(*size))
    generator.setViewBox(QRect(0, 0, *size))
    generator.setResolution(DOTS)
    generator.setTitle(escape_controls(title))
    generator.setDescription(escape_controls(description))
    painter = QPainter(generator)
    draw(painter)
    painter.end()
    svg = ElementTree.fromstring(bytes(buffer.data().data()))
    svg.set("width", str(size[0]))  # Qt writes millimetres
    svg.set("height", str(size[1]))
    for layer in svg.findall(GROUP):
        _simplify_groups(layer)
        if _add_clips(layer):  # Tiny has no clips
            svg.set("version", "1.1")
            svg.attrib.pop("baseProfile", None)
    _set_text_widths(svg)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    return bytes(ElementTree.tostring(svg, encoding="utf-8", xml_declaration=True))


def _simplify_groups(layer: ElementTree.Element) -> None:
    """Remove empty groups and the fonts of groups, since each text has its own font."""
    for group in layer.findall(GROUP):
        if len(group):
            group.attrib = {name: text for name, text in group.items() if not name.startswith("font-")}
        else:
            layer.remove(group)


def _add_clips(layer: ElementTree.Element) -> int:
    """Replace the shapes that mark clips by clip paths, and count the clips."""
    clips, parents = 0, [layer]
    for group in layer.findall(GROUP):
        layer.remove(group)
        mark = group.get("fill")
        shape = group.find(PATH)
        if shape is None or not _is_faint(group) or mark not in (_colour(CLIP_BEGIN), _colour(CLIP_END)):
            parents[-1].append(group)
        elif mark == _colour(CLIP_END):
            parents.pop()
        else:
            clips += 1
            clip = ElementTree.SubElement(parents[-1], CLIP_PATH, id=f"clip{clips}")
            path = {"d": shape.get("d", ""), "clip-rule": "evenodd", "transform": group.get("transform", "")}
            ElementTree.SubElement(clip, PATH, path)
            parents.append(ElementTree.SubElement(parents[-1], GROUP, {"clip-path": f"url(#clip{clips})"}))
    return clips


def _colour(mark: ClipMark) -> str:
    return f"#{bytes(mark[:3]).hex()}"


def _is_faint(group: ElementTree.Element) -> bool:
    """Return True for the opacity of a mark, which no drawn shape has."""
    return round(float(group.get("fill-opacity", "1")) * 255) == CLIP_BEGIN[3]


def _set_text_widths(svg: ElementTree.Element) -> None:
    """Set the drawn width of every text in an SVG, so that it keeps in another font.

    Qt writes only the start of each text; in another font, right-aligned texts would not align.
    """
    from PySide6.QtGui import QFont, QFontInfo, QFontMetricsF

    font = QFont()
    for element in svg.iter(TEXT):
        wanted = element.get("font-family", "")
        families = wanted.split(",")
        font.setFamilies(families)
        font.setPixelSize(max(1, round(float(element.get("font-size", "1")))))
        font.setBold(int(element.get("font-weight", "400")) >= QFont.Weight.Bold)
        width = QFontMetricsF(font).horizontalAdvance((element.text or "").strip("\n"))
        generic = "monospace" if "Mono" in wanted else "sans-serif"
        element.set("font-family", ", ".join(dict.fromkeys([QFontInfo(font).family(), *families, generic])))
        element.set("textLength", f"{width:.2f}")
        element.set("lengthAdjust", "spacingAndGlyphs")


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
