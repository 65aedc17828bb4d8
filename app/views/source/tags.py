"""Tags at the ends of lines: a short summary of the compiler's result for the line's accesses."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen, QTextDocument
from PySide6.QtWidgets import QWidget

from ...compiled.model.fates import LineFate
from ...widgets.theme import Theme
from ..common.dimming import dim_theme
from ..common.drawing import clipped, text_width

TEXT, SIDE, GAP = 10.5, 5, 8  # pixels at the normal text size


class Page(Protocol):
    """The part of a page of source that tags need."""

    fates: dict[int, LineFate]
    highlighted_lines: frozenset[int]
    theme: Theme

    def document(self) -> QTextDocument: ...
    def viewport(self) -> QWidget: ...
    def fontMetrics(self) -> QFontMetrics: ...  # Qt's name
    def lines_in_sight(self) -> list[tuple[int, float, float]]: ...


class TagPlace(NamedTuple):
    """The text and the rectangle of a line's tag."""

    text: str  # as long as fits
    box: QRectF  # relative to the top of the line


def tag_font(page: Page) -> QFont:
    """Return the font of tags."""
    return page.theme.font(TEXT)


def tag_height(page: Page) -> float:
    """Return the height of a row that holds only a tag."""
    return float(page.fontMetrics().lineSpacing())


def tag_place(page: Page, line: int) -> TagPlace | None:
    """Place the tag of a line after its text, at the right edge; return None if there is no room."""
    fate, block = page.fates[line], page.document().findBlockByNumber(line - 1)
    if not block.isValid():
        return None
    page.document().size()  # forces the layout
    layout, edge = block.layout(), page.viewport().width() - page.theme.px(GAP)
    for text in (fate.tag, fate.short):
        width = _width(page, text)
        for row in reversed(range(layout.lineCount())):
            text_line = layout.lineAt(row)
            end = layout.position().x() + text_line.x() + text_line.naturalTextWidth() + page.theme.px(GAP)
            if end + width <= edge:
                return TagPlace(text, QRectF(edge - width, text_line.y(), width, text_line.height()))
    return None


def draw_tags(painter: QPainter, page: Page) -> None:
    """Draw the tags of the visible lines."""
    with clipped(painter, QRectF(page.viewport().rect())):  # printing does not clip
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(tag_font(page))
        for line, place in _in_sight(page):
            _draw_tag(painter, page, line, place)


def tag_at(page: Page, point: QPointF) -> str:
    """Return the sentences of the line whose tag is at a point, or ""."""
    for line, place in _in_sight(page):
        if place.box.contains(point):
            return "\n".join(page.fates[line].sentences)
    return ""


def _in_sight(page: Page) -> list[tuple[int, TagPlace]]:
    """List the visible tags with their lines."""
    tags = []
    for line, top, height in page.lines_in_sight():
        if line in page.fates and page.fates[line].tag:
            place = tag_place(page, line) or _below(page, line, height)
            tags.append((line, place._replace(box=place.box.translated(0, top))))
    return tags


def _draw_tag(painter: QPainter, page: Page, line: int, place: TagPlace) -> None:
    theme = (
        page.theme if not page.highlighted_lines or line in page.highlighted_lines else dim_theme(page.theme)
    )
    box = place.box.adjusted(0, 1, 0, -1)
    painter.setPen(QPen(theme.colour("border"), 1))
    painter.setBrush(theme.colour("badge"))
    painter.drawRoundedRect(box, theme.px(3), theme.px(3))
    painter.setPen(theme.colour("muted"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, place.text)


def _below(page: Page, line: int, height: float) -> TagPlace:
    fate, row_height = page.fates[line], tag_height(page)
    room = page.viewport().width() - 2 * page.theme.px(GAP)
    text = fate.tag if _width(page, fate.tag) <= room else fate.short
    width = _width(page, text)
    return TagPlace(
        text, QRectF(page.viewport().width() - page.theme.px(GAP) - width, height, width, row_height)
    )


def _width(page: Page, text: str) -> float:
    return text_width(text, tag_font(page)) + 2 * page.theme.px(SIDE)
