"""A read-only page of source with a gutter: line numbers, a count per line, one marked line, one pointed at.

A line that is too long goes on below, further in than where it begins, so that nothing of it is out of sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QToolTip, QWidget

from ...model.visible_text import visible_in_place
from ...widgets.patterns import mixed
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme, sheet
from ..common.dimming import FAINT, dimmed, draw_frame
from ..common.wording import count_text
from .highlight import LONGEST_LINE, Highlighter

MOST_LINES = 50_000  # of a text that are shown: each takes the window some microseconds
FEW = 26  # columns of text, beside which there is no room for counts
CONTEXT = 2  # lines kept in sight above and below the marked one
HANG = 2  # columns by which what a line goes on with stands further in: between two steps of indentation


class Editor(QTextEdit):
    """Shows one file; where it stands depends on the marked line alone, until the user scrolls or points at another."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.file = ""
        self.counts: dict[int, int] = {}
        self.line, self.look, self.pointed = 0, "", 0
        self.noun, self.tinted = "requests by all warps", False
        self.theme = theme
        self.lit: frozenset[int] = frozenset()
        self._first, self._most = 1, 0
        self._by_hand = False
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        by_mouse, by_keys = (
            Qt.TextInteractionFlag.TextSelectableByMouse,
            Qt.TextInteractionFlag.TextSelectableByKeyboard,
        )
        self.setTextInteractionFlags(by_mouse | by_keys)
        self.setAccessibleName("Source text")
        self._highlighter = Highlighter(self.document(), theme)
        self._gutter = Gutter(self)
        self.verticalScrollBar().actionTriggered.connect(self._note_scrolling)
        self.verticalScrollBar().valueChanged.connect(lambda _: self._gutter.update())
        self.set_theme(theme)

    def show_text(self, file: str, text: str, first: int) -> None:
        """Show a file from line `first` (from 1) on; `measure` says what is counted beside it."""
        self.file, self._first, self._by_hand = file, first, False
        self.counts, self.line, self.look, self.pointed, self.lit = {}, 0, "", 0, frozenset()
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n", MOST_LINES)  # as Python ends lines
        if len(lines) > MOST_LINES:
            lines[MOST_LINES] = f"… only the first {MOST_LINES:,} lines are shown"
        shown = (line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines)
        self.setPlainText(visible_in_place("\n".join(shown)))
        self.set_theme(self.theme)

    def measure(self, noun: str, most: int, tinted: bool) -> None:
        """Say what is counted, its largest count, and whether the gutter is tinted by it."""
        if (noun, most, tinted) != (self.noun, self._most, self.tinted):
            self.noun, self._most, self.tinted = noun, most, tinted
            self._place_gutter()
            self._break_lines()
            self._gutter.update()

    def tint(self, line: int) -> QColor:
        """Return the ground of a line in the gutter: the redder, the larger its share of the largest count."""
        share = self.counts.get(line, 0) / max(1, self._most) if self.tinted else 0.0
        ground = self.theme.colour("panel")
        return mixed(ground, self.theme.palette.bad, 0.12 + 0.45 * share) if share else ground

    def mark(self, counts: dict[int, int], line: int, look: str) -> None:
        """Show counts by line, and mark a line (0 for none) in the colour of a kind or of waiting."""
        if counts != self.counts:
            self.counts = counts
            self._gutter.update()
        if (line, look) != (self.line, self.look):
            self.line, self.look = line, look
            self._paint_line()
            self._keep_in_sight()

    def point_at(self, line: int) -> None:
        """Point at a line, 0 for none, beside the marked one, and bring it in sight until the marked one is."""
        self.pointed, self._by_hand = line, bool(line)
        self._paint_line()
        self._gutter.update()
        if line:
            self._scroll_to(self._target(line))

    def light(self, lines: frozenset[int]) -> None:
        """Let these lines stand out while the others dim, and bring the first in sight; none dim without any."""
        if lines != self.lit:
            self.lit, self._by_hand = lines, False
            self._dim_lines()
            self._paint_line()
            self._keep_in_sight()

    def _dim_lines(self) -> None:
        """Write all lines but those that stand out in one dimmed colour: a selection of each row of such lines."""
        last = self.document().blockCount()
        edges = [0, *sorted(line for line in self.lit if line <= last), last + 1]
        faint = QTextCharFormat()
        faint.setForeground(dimmed(self.theme).colour("text"))
        found = []
        for before, after in pairwise(edges) if self.lit else ():
            if after - before > 1:
                dim, cursor = QTextEdit.ExtraSelection(), QTextCursor(self.document())
                cursor.setPosition(self.document().findBlockByNumber(before).position())
                end = self.document().findBlockByNumber(after - 2)
                cursor.setPosition(end.position() + end.length() - 1, QTextCursor.MoveMode.KeepAnchor)
                dim.cursor, dim.format = cursor, faint
                found.append(dim)
        self.setExtraSelections(found)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        self.theme = theme
        self._dim_lines()
        self.setFont(theme.font(12, mono=True))
        self.setStyleSheet(sheet("QTextEdit", theme))
        self._highlighter.show_colours(self.toPlainText(), theme, c=self.file.endswith(".cu"))
        self._paint_line()
        self._place_gutter()
        self._break_lines()
        self._keep_in_sight()

    def line_colour(self) -> QColor:
        """Return the background of the marked line: a little of its kind's colour."""
        return mixed(self.theme.colour("panel"), self.theme.colour(self.look or "muted").name(), 0.2)

    def dimmed(self, ground: QColor) -> QColor:
        """Return the ground of a line that does not stand out."""
        return mixed(self.theme.colour("panel"), ground.name(), FAINT)

    def _paint_line(self) -> None:
        self.viewport().update()
        self._gutter.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Lay a ground under the line that is pointed at and under the marked one, and draw the text over it."""
        accent = mixed(self.theme.colour("panel"), self.theme.palette.accent, 0.14)
        grounds = dict.fromkeys((self.pointed, *self.lit), accent) | {self.line: self.line_colour()}
        painter, lines = QPainter(self.viewport()), self.lines_in_sight()
        painter.setClipRect(self.viewport().rect())  # on paper nothing else does
        for line, top, height in lines:
            if line in grounds:
                ground = grounds[line] if line in self.lit or not self.lit else self.dimmed(grounds[line])
                painter.fillRect(QRectF(0, top, self.viewport().width(), height), ground)
        for top, height in frames(lines, self.lit):
            draw_frame(painter, QRectF(0, top - 2, self.viewport().width() - 1, height + 4), self.theme)
        painter.end()
        super().paintEvent(event)

    # Lines: how far they go in, and where they stand.

    def _break_lines(self) -> None:
        """Let each line go on further in than where it begins, and leave room for the last one to stand at the top."""
        column, document = QFontMetricsF(self.font()).horizontalAdvance(" "), self.document()
        columns = self.viewport().width() / column
        cursor, block = QTextCursor(document), document.begin()
        cursor.beginEditBlock()
        while block.isValid():
            hang, form = hanging(block.text(), columns) * column, block.blockFormat()
            if form.leftMargin() != hang:
                cursor.setPosition(block.position())
                form.setLeftMargin(hang)
                form.setTextIndent(-hang)
                cursor.setBlockFormat(form)
            block = block.next()
        frame = document.rootFrame().frameFormat()
        frame.setRightMargin(column / 2)
        frame.setBottomMargin(max(0, self.viewport().height() - self.fontMetrics().lineSpacing()))
        if frame != document.rootFrame().frameFormat():
            document.rootFrame().setFrameFormat(frame)
        cursor.endEditBlock()
        document.size()  # else the scroll bar is made for the lines that were laid out so far

    def source_location(self, line: int) -> QRectF:
        """Return where a line (from 1) stands on the whole page."""
        block = self.document().findBlockByNumber(line - 1)
        return self.document().documentLayout().blockBoundingRect(block)

    def _target(self, line: int) -> int:
        """Return the line at the top that brings a line in sight, 0 for none."""
        return top_line(self._first, line, self._end, self.viewport().height())

    def _end(self, line: int) -> float:
        """Return where a line ends on the whole page; the last one's end for lines that are not there."""
        return (
            self.source_location(min(max(line, 1), self.document().blockCount())).bottom()
            if line > 0
            else 0.0
        )

    def _scroll_to(self, line: int) -> None:
        self.verticalScrollBar().setValue(round(self._end(line - 1)))

    # Scrolling: the kernel from its decorator on, moved as little as shows the marked line.

    def _keep_in_sight(self) -> None:
        line = min(self.lit, default=self.line)
        seen, target = [line for line, *_ in self.lines_in_sight()], self._target(line)
        if self._by_hand and line not in seen:
            return
        foot = self._end(target - 1) + self.viewport().height()
        if (
            self._by_hand
            and self.pointed
            and not (target <= self.pointed and self._end(self.pointed) <= foot)
        ):
            return  # both are in sight now
        self._by_hand = False
        self._scroll_to(target)

    def _note_scrolling(self) -> None:
        self._by_hand = True

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll, and leave the page there until the marked line is in sight again."""
        self._by_hand = True
        super().wheelEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the gutter at the side and the marked line in sight."""
        super().resizeEvent(event)
        self._place_gutter()
        self._break_lines()
        self._keep_in_sight()

    # Gutter.

    def gutter_font(self) -> QFont:
        """Return the gutter's font, smaller than the text's."""
        return self.theme.font(10.5, mono=True)

    def columns(self) -> tuple[int, int, int]:
        """Return the right edges of the gutter's line numbers, of its counts, and its width.

        Where the text is left with few columns, it takes the place of the counts: the tip of a line says them too.
        """
        metrics, gap = QFontMetrics(self.gutter_font()), self.theme.px(6)
        numbers = gap + metrics.horizontalAdvance("9" * max(2, len(str(self.document().blockCount()))))
        wide = 2 * gap + metrics.horizontalAdvance(count_text(max(self._most, 99))) if self._most else 0
        text = FEW * QFontMetricsF(self.font()).horizontalAdvance(" ")
        wide = wide if self.width() - numbers - wide - gap >= text else 0
        return numbers, numbers + wide, numbers + wide + gap

    def _place_gutter(self) -> None:
        width = self.columns()[2]
        self.setViewportMargins(width, 0, 0, 0)
        inside = self.contentsRect()
        self._gutter.setGeometry(QRect(inside.left(), inside.top(), width, self.viewport().height()))

    def lines_in_sight(self) -> list[tuple[int, float, float]]:
        """Return number (from 1), top and height of every line that is at least partly seen."""
        layout, scrolled = self.document().documentLayout(), self.verticalScrollBar().value()
        found = layout.hitTest(QPointF(0, scrolled), Qt.HitTestAccuracy.FuzzyHit)
        out, block = [], self.document().findBlock(max(0, found))
        while block.isValid():
            place = layout.blockBoundingRect(block)
            if place.top() - scrolled >= self.viewport().height():
                break
            if place.bottom() > scrolled:
                out.append((block.blockNumber() + 1, place.top() - scrolled, place.height()))
            block = block.next()
        return out


class Gutter(QWidget):
    """The gutter of an editor: line numbers, requests so far, and a bar at the marked line."""

    def __init__(self, editor: Editor) -> None:
        super().__init__(editor)
        self._editor = editor
        self.setAccessibleName("Line numbers and requests so far")

    def sizeHint(self) -> QSize:
        """Return the width that the editor reserves."""
        return QSize(self._editor.columns()[2], 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines in sight."""
        editor, theme = self._editor, self._editor.theme
        painter = QPainter(self)
        painter.setClipRect(self.rect())  # on paper nothing else does
        painter.fillRect(event.rect(), theme.colour("panel"))
        painter.setFont(editor.gutter_font())
        numbers, counts, _ = editor.columns()
        for line, top, height in editor.lines_in_sight():
            marked, bright = line == editor.line, not editor.lit or line in editor.lit
            ink = theme if bright else dimmed(theme)
            ground = editor.line_colour() if marked else editor.tint(line)
            painter.fillRect(
                QRectF(0, top, self.width(), height), ground if bright else editor.dimmed(ground)
            )
            if marked:
                if editor.tinted:
                    painter.fillRect(QRectF(numbers, top, self.width() - numbers, height), editor.tint(line))
                painter.fillRect(QRectF(0, top, theme.px(3), height), ink.colour(editor.look))
            if line == editor.pointed:
                edge = theme.px(3)
                painter.fillRect(QRectF(self.width() - edge, top, edge, height), theme.colour("accent"))
            painter.setPen(ink.colour("text" if marked or editor.lit else "muted"))
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            first = min(height, editor.fontMetrics().lineSpacing())  # of the rows that a long line takes
            painter.drawText(QRectF(0, top, numbers, first), right, str(line))
            if editor.counts.get(line) and counts > numbers:
                painter.setPen(ink.colour("text"))
                painter.drawText(QRectF(0, top, counts, first), right, count_text(editor.counts[line]))

    def event(self, event: QEvent) -> bool:
        """Say what the numbers are, where the pointer rests; everything else as usual."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            lines = self._editor.lines_in_sight()
            line = next((n for n, top, height in lines if top <= event.pos().y() < top + height), 0)
            count = count_text(self._editor.counts.get(line, 0))
            told = f"line {line}: {count} {self._editor.noun} so far (exact)"
            chosen = "\nthe line of the chosen finding" if line and line == self._editor.pointed else ""
            QToolTip.showText(event.globalPos(), plain_tip(told + chosen), self)
            return True
        return super().event(event)


def frames(lines: Iterable[tuple[int, float, float]], lit: frozenset[int]) -> list[tuple[float, float]]:
    """Return (top, height) of lines that stand out, as one where they follow one another.

    lines: number, top and height of each.
    """
    found: list[tuple[float, float]] = []
    before = 0
    for line, top, height in lines:
        if line in lit:
            begin = found.pop()[0] if before == line - 1 and before in lit else top
            found.append((begin, top + height - begin))
            before = line
    return found


def top_line(first: int, line: int, end: Callable[[int], float], room: float) -> int:
    """Return the line at the top of a page: `first`, or what brings `line` in sight with the lines around it.

    end: where a line ends, from the top of the first; room: the height of the page, in the same unit.
    """
    if not line:
        return first
    top = max(1, min(first, line - CONTEXT))
    context = next((c for c in range(CONTEXT, 0, -1) if end(line + c) - end(line - 1 - c) <= room), 0)
    while top < line - context and end(line + context) - end(top - 1) > room:
        top += 1
    return top


def hanging(text: str, columns: float) -> int:
    """Return the column at which a line goes on below: further in than it begins, where that leaves room."""
    indent = len(text) - len(text.lstrip())
    return int(max(0, min(indent + HANG, columns / 2)))
