"""A read-only page of source: hanging indents, marks of lines, and scrolling.

A long line wraps with a hanging indent, so that all of it is visible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from itertools import pairwise

from PySide6.QtCore import QElapsedTimer, QEvent, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
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

from ....tracer.model.finding import SEVERITIES
from ...compiled.model.fates import LineFate
from ...model.nothing import nothing
from ...model.visible_text import replace_controls
from ...widgets.patterns import mixed
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme, flat_sheet
from ..common.dimming import FAINT, dim_theme, draw_frame
from ..common.drawing import text_pixels, text_width
from ..common.wording import count_text
from .highlight import LONGEST_LINE, Highlighter
from .lines import CONTEXT, frame_spans, hanging_column, normalised, top_line
from .problems import SEVERITY_COLOURS, Problem
from .tags import draw_tags, tag_at, tag_height, tag_place

MOST_LINES = 50_000  # lines that are shown: Qt needs microseconds for each
FEW = 26  # columns of text; with fewer, the counts are hidden
HOLD = 2_000  # milliseconds that the page stays where the user types, while time passes


class Page(QTextEdit):
    """Shows one file. It follows the marked line until the user scrolls or a line is pointed at.

    Without a marked line, it shows the first skipped one.

    Lines count from 1 in the text as it is now.
    gutter: creates the widget to the left of the lines.
    line_toggled: the user asks to skip or restore a line, any line of its statement.
    may_strike: returns the reason why a line can't be skipped, or "".
    rows_of: lists the lines of the statement that begins on a line.
    """

    def __init__(
        self, theme: Theme, gutter: Callable[[Page], QWidget], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.line_toggled: Callable[[int], object] = nothing
        self.file = ""
        self.counts: dict[int, int] = {}
        self.line, self.look, self.pointed = 0, "", 0
        self.noun, self.tinted = "requests by all warps", False
        self.theme = theme
        self.highlighted_lines: frozenset[int] = frozenset()
        self.struck: frozenset[int] = frozenset()  # first lines of skipped statements
        self.struck_rows: frozenset[int] = frozenset()  # all lines of skipped statements
        self.barriers: frozenset[int] = frozenset()
        self.changed: frozenset[int] = frozenset()  # lines that differ from the trace
        self.problems: tuple[Problem, ...] = ()
        self.fates: dict[int, LineFate] = {}  # by line, the compiler's result for its accesses
        self.may_strike: Callable[[int], str] = lambda line: ""
        self.rows_of: Callable[[int], Iterable[int]] = lambda line: (line,)
        self.has_handles = False  # a click in the gutter skips a line
        self.shows_exact_text = True  # the page shows the file's exact text
        self._selections: dict[str, list[QTextEdit.ExtraSelection]] = {}
        self._first, self._most = 1, 0
        self._tags_below: set[int] = set()  # lines with room below for their tag
        self._scrolled_by_user = self._typing = False
        self._edited_line = 1  # the line that was edited last
        self._held = QElapsedTimer()  # since the last edit
        self.setUndoRedoEnabled(False)  # see `history.py`
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        mouse, keyboard = (
            Qt.TextInteractionFlag.TextSelectableByMouse,
            Qt.TextInteractionFlag.TextSelectableByKeyboard,
        )
        self.setTextInteractionFlags(mouse | keyboard)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # nothing is painted below it
        self.setAccessibleName("Source text")
        horizontal = self.horizontalScrollBar()  # Qt would scroll to blanks at the end of a line
        horizontal.valueChanged.connect(lambda value: horizontal.setValue(0) if value else None)
        self._in_sight: tuple[object, list[tuple[int, float, float]]] | None = None  # key and visible lines
        self.document().documentLayout().update.connect(self._forget_visible_lines)
        self.document().contentsChange.connect(self._note_change)  # before the highlighter asks for lines
        self._highlighter = Highlighter(self.document(), theme)
        self._gutter = gutter(self)
        self.verticalScrollBar().actionTriggered.connect(self._note_scrolling)
        self.verticalScrollBar().valueChanged.connect(lambda _: self._gutter.update())
        self.set_theme(theme)

    def show_text(self, file: str, text: str, first: int) -> None:
        """Show a file with line `first` (from 1) at the top; `measure` sets what is counted."""
        self.file, self._first, self._scrolled_by_user = file, first, False
        self._typing = False
        self.counts, self.line, self.look, self.pointed, self.highlighted_lines = {}, 0, "", 0, frozenset()
        self.struck = self.struck_rows = self.barriers = self.changed = frozenset()
        self.problems, self.fates, self._tags_below = (), {}, set()
        self._highlighter.struck, self._highlighter.problems = frozenset(), {}
        self._selections.clear()
        full_text = normalised(text)
        lines = full_text.split("\n", MOST_LINES)
        if len(lines) > MOST_LINES:
            lines[MOST_LINES] = f"… only the first {MOST_LINES:,} lines are shown"
        shown = (line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines)
        page = replace_controls("\n".join(shown))
        self.shows_exact_text = page == full_text
        self.setPlainText(page)
        self.set_theme(self.theme)

    def text(self) -> str:
        """Return the text with \
         line ends."""
        return self.document().toRawText().replace("\u2029", "\n")

    def measure(self, noun: str, most: int, tinted: bool) -> None:
        """Set the counted quantity, its maximum, and whether it tints the gutter."""
        if (noun, most, tinted) != (self.noun, self._most, self.tinted):
            self.noun, self._most, self.tinted = noun, most, tinted
            self._place_gutter()
            self._break_lines()
            self._gutter.update()

    def tint(self, line: int) -> QColor:
        """Return the gutter colour of a line: the larger its share of the maximum, the redder."""
        share = self.counts.get(line, 0) / max(1, self._most) if self.tinted else 0.0
        ground = self.theme.colour("panel")
        return mixed(ground, self.theme.palette.bad, 0.12 + 0.45 * share) if share else ground

    def mark(self, counts: dict[int, int], line: int, look: str) -> None:
        """Show counts by line, and mark a line (0 for none) in the colour of a request kind or of waiting."""
        if counts != self.counts:
            before, self.counts = self.counts, counts
            differing = {n for n in before.keys() | counts.keys() if before.get(n) != counts.get(n)}
            self._paint_lines(differing, self._gutter, 0 if self.tinted else self.columns()[0] + 1)
        if (line, look) != (self.line, self.look):
            both = {self.line, line}
            self.line, self.look = line, look
            self._paint_lines(both, self._gutter)
            self._paint_lines(both, self.viewport())
            self._keep_in_sight()

    def begin_at(self, line: int) -> None:
        """Set the line at the top of the page, if the marked line stays visible."""
        self._first = line
        self._keep_in_sight()

    def point_at(self, line: int) -> None:
        """Point at a line (0 for none) and scroll to it until the marked line changes."""
        self.pointed, self._scrolled_by_user = line, bool(line)
        self._paint_line()
        self._gutter.update()
        if line:
            self._scroll_to(self._target(line))

    def go_to(self, line: int) -> None:
        """Move the cursor to the first character of a line, and scroll there."""
        block, cursor = self.document().findBlockByNumber(line - 1), self.textCursor()
        cursor.setPosition(block.position() + len(block.text()) - len(block.text().lstrip()))
        self.setTextCursor(cursor)
        self._scrolled_by_user = True
        self._scroll_to(self._target(line))
        self.setFocus()

    def select_text(self, start: int, length: int) -> None:
        """Select `length` UTF-16 units from `start` on, and scroll there."""
        self._scrolled_by_user = True
        self.setTextCursor(self._cursor(start, length))
        self.ensureCursorVisible()

    def highlight_lines(self, lines: frozenset[int]) -> None:
        """Highlight lines, dim the others, and scroll to the first; no lines end the dimming."""
        if lines != self.highlighted_lines:
            self.highlighted_lines, self._scrolled_by_user = lines, False
            self._dim_lines()
            self._paint_line()
            self._keep_in_sight()

    def _note_change(self, position: int, removed: int, added: int) -> None:
        """React to a change of the text or of its formats; the editor overrides this."""

    # Marks of lines.

    def set_struck(self, lines: frozenset[int]) -> None:
        """Strike out the statements that begin on these lines."""
        self.struck = lines
        self.struck_rows = frozenset(row for line in lines for row in self.rows_of(line))
        self._mark_text()
        self._keep_in_sight()

    def set_barriers(self, lines: frozenset[int]) -> None:
        """Show the handles of these lines always; those of others appear below the pointer."""
        self.barriers = lines
        self._gutter.update()

    def set_changed(self, lines: frozenset[int]) -> None:
        """Mark lines that differ from the trace."""
        if lines != self.changed:
            self.changed = lines
            self._gutter.update()

    def set_problems(self, problems: Iterable[Problem]) -> None:
        """Mark lines with their problems."""
        self.problems = tuple(problems)
        self._mark_text()

    def set_fates(self, fates: dict[int, LineFate]) -> None:
        """Show at the ends of lines what the compiler did with their accesses."""
        if fates != self.fates:
            self.fates = fates
            self._make_room_for_tags()
            self.viewport().update()

    def problems_at(self, line: int) -> list[Problem]:
        """List the problems of a line, the worst first."""
        return sorted(
            (p for p in self.problems if p.line == line), key=lambda p: SEVERITIES.index(p.severity)
        )

    def _mark_text(self) -> None:
        self._highlighter.mark(self.struck_rows, self.problem_colours())
        self._gutter.update()

    def problem_colours(self) -> dict[int, str]:
        """Return the names of the colours that underline lines with problems."""
        return {p.line: SEVERITY_COLOURS[self.problems_at(p.line)[0].severity] for p in self.problems}

    def select(self, kind: str, selections: list[QTextEdit.ExtraSelection]) -> None:
        """Replace the extra selections of a kind."""
        if selections or self._selections.get(kind):
            self._selections[kind] = selections
            self.setExtraSelections([selection for kept in self._selections.values() for selection in kept])

    def selection(self, start: int, length: int, look: QTextCharFormat) -> QTextEdit.ExtraSelection:
        """Create an extra selection of `length` UTF-16 units."""
        selection = QTextEdit.ExtraSelection()
        selection.cursor, selection.format = self._cursor(start, length), look
        return selection

    def _cursor(self, start: int, length: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def toggle(self, line: int) -> str:
        """Ask to skip or restore a line; return the reason if that is impossible, else ""."""
        if not self.has_handles:
            return "this text can't be changed"
        reason = "" if line in self.struck_rows else self.may_strike(line)
        if not reason:
            self._hold(line)
            self.line_toggled(line)
        return reason

    def _dim_lines(self) -> None:
        """Dim all lines that are not highlighted, with one selection per run of lines."""
        last = self.document().blockCount()
        edges = [0, *sorted(line for line in self.highlighted_lines if line <= last), last + 1]
        faint = QTextCharFormat()
        if self.highlighted_lines:
            faint.setForeground(dim_theme(self.theme).colour("text"))
        selections = []
        for before, after in pairwise(edges) if self.highlighted_lines else ():
            if after - before > 1:
                start = self.document().findBlockByNumber(before).position()
                end = self.document().findBlockByNumber(after - 2)
                selections.append(self.selection(start, end.position() + end.length() - 1 - start, faint))
        self.select("dim", selections)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        self.theme = theme
        self._dim_lines()
        self.setFont(theme.font(12, mono=True))
        self.setStyleSheet(flat_sheet("QTextEdit", theme))
        self._highlighter.show_colours(self.text(), theme, c=self.file.endswith(".cu"))
        self._paint_line()
        self._place_gutter()
        self._break_lines()
        self._keep_in_sight()

    def line_colour(self) -> QColor:
        """Return the background of the marked line: a tint of its kind's colour."""
        return mixed(self.theme.colour("panel"), self.theme.colour(self.look or "muted").name(), 0.2)

    def dimmed(self, background: QColor) -> QColor:
        """Return the background of a line that is not highlighted."""
        return mixed(self.theme.colour("panel"), background.name(), FAINT)

    def _paint_line(self) -> None:
        self.viewport().update()
        self._gutter.update()

    def _paint_lines(self, lines: Collection[int], widget: QWidget, left: int = 0) -> None:
        """Repaint some lines of the text or of the gutter, from `left` pixels on."""
        for line, top, height in self.lines_in_sight():
            if line in lines:
                widget.update(left, math.floor(top) - 1, widget.width() - left, math.ceil(height) + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the backgrounds of marked lines, then the text, then the tags."""
        accent = mixed(self.theme.colour("panel"), self.theme.palette.accent, 0.14)
        wrong = mixed(self.theme.colour("panel"), self.theme.palette.bad, 0.12)
        backgrounds = dict.fromkeys((p.line for p in self.problems if p.severity == "error"), wrong)
        backgrounds |= dict.fromkeys((self.pointed, *self.highlighted_lines), accent) | {
            self.line: self.line_colour()
        }
        painter, lines = QPainter(self.viewport()), self.lines_in_sight()
        painter.setClipRect(self.viewport().rect())  # printing does not clip
        painter.fillRect(event.rect(), self.theme.colour("panel"))
        for line, top, height in lines:
            if line in backgrounds:
                background = (
                    backgrounds[line]
                    if line in self.highlighted_lines or not self.highlighted_lines
                    else self.dimmed(backgrounds[line])
                )
                painter.fillRect(QRectF(0, top, self.viewport().width(), height), background)
        for top, height in frame_spans(lines, self.highlighted_lines):
            draw_frame(painter, QRectF(0, top - 2, self.viewport().width() - 1, height + 4), self.theme)
        painter.end()
        super().paintEvent(event)
        if any(line in self.fates and self.fates[line].tag for line, *_ in lines):
            painter = QPainter(self.viewport())
            draw_tags(painter, self)
            painter.end()

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the compiler's results for a line in the tooltip of its tag."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            tip = tag_at(self, QPointF(event.pos()))
            if tip:
                QToolTip.showText(event.globalPos(), plain_tip(tip), self.viewport())
                return True
        return super().viewportEvent(event)

    # Layout of lines.

    def _break_lines(self) -> None:
        """Set all hanging indents, and leave room for the last line to scroll to the top."""
        document, cursor = self.document(), QTextCursor(self.document())
        if document.textWidth() != self.viewport().width():
            # Qt misses the new width if the gutter grew while it was hidden.
            document.setTextWidth(self.viewport().width())
        cursor.beginEditBlock()
        self._hang_lines(0, document.blockCount() - 1)
        frame = document.rootFrame().frameFormat()
        frame.setRightMargin(QFontMetricsF(self.font()).horizontalAdvance(" ") / 2)
        frame.setBottomMargin(max(0, self.viewport().height() - self.fontMetrics().lineSpacing()))
        if frame != document.rootFrame().frameFormat():
            document.rootFrame().setFrameFormat(frame)
        cursor.endEditBlock()
        document.size()  # lays out all lines, which the scroll bar needs
        self._make_room_for_tags()

    def _hang_lines(self, first: int, last: int) -> None:
        """Set the hanging indents of these lines (from 0)."""
        column, cursor = QFontMetricsF(self.font()).horizontalAdvance(" "), QTextCursor(self.document())
        columns, block = self.viewport().width() / column, self.document().findBlockByNumber(first)
        cursor.beginEditBlock()
        while block.isValid() and block.blockNumber() <= last:
            hang, form = hanging_column(block.text(), columns) * column, block.blockFormat()
            if form.leftMargin() != hang:
                cursor.setPosition(block.position())
                form.setLeftMargin(hang)
                form.setTextIndent(-hang)
                cursor.setBlockFormat(form)
            block = block.next()
        cursor.endEditBlock()

    def _make_room_for_tags(self) -> None:
        """Leave room below the lines whose text leaves none for their tag."""
        below = {line for line, fate in self.fates.items() if fate.tag and tag_place(self, line) is None}
        if below == self._tags_below:
            return
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for line in below ^ self._tags_below:
            block = self.document().findBlockByNumber(line - 1)
            if block.isValid():
                form = block.blockFormat()
                form.setBottomMargin(tag_height(self) if line in below else 0)
                cursor.setPosition(block.position())
                cursor.setBlockFormat(form)
        cursor.endEditBlock()
        self._tags_below = below

    def source_location(self, line: int) -> QRectF:
        """Return the rectangle of a line (from 1) in the document."""
        block = self.document().findBlockByNumber(line - 1)
        return self.document().documentLayout().blockBoundingRect(block)

    def _target(self, line: int) -> int:
        """Return the top line that makes a line visible: the first one if all lines fit."""
        height = self.viewport().height()
        fits = self._end(self.document().blockCount()) <= height
        return 1 if fits else top_line(self._first, line, self._end, height)

    def _end(self, line: int) -> float:
        """Return the bottom of a line in the document; missing lines end with the last one."""
        return (
            self.source_location(min(max(line, 1), self.document().blockCount())).bottom()
            if line > 0
            else 0.0
        )

    def _scroll_to(self, line: int) -> None:
        self.verticalScrollBar().setValue(round(self._end(line - 1)))

    # Scrolling: from the kernel's decorator on, as little as shows the marked line.

    def _keep_in_sight(self) -> None:
        line = min(self.highlighted_lines, default=self.line or min(self.struck, default=0))
        visible, target = [line for line, *_ in self.lines_in_sight()], self._target(line)
        if self._scrolled_by_user and line not in visible:
            return
        bottom = self._end(target - 1) + self.viewport().height()
        if (
            self._scrolled_by_user
            and self.pointed
            and not (target <= self.pointed and self._end(self.pointed) <= bottom)
        ):
            return  # both are visible now
        if self._typing:
            return  # the edited line stays where it is
        self._scrolled_by_user = False
        self._scroll_to(target)

    def _hold(self, line: int) -> None:
        """Stop scrolling, since the user edits a line."""
        self._typing, self._scrolled_by_user, self._edited_line = True, True, line
        self._held.start()

    def resume_following(self) -> None:
        """Follow the marked line again, unless the user edited a moment ago."""
        if self._typing and self._held.elapsed() > HOLD:
            self._typing = False

    def rebase(self, first: int) -> None:
        """Accept another trace of the same text, whose kernel begins at line `first` (from 1).

        This ends the pointing; an edited page does not scroll.
        """
        self.pointed, self._first = 0, first
        if self._typing:
            self._hold(self._edited_line)
        else:
            self._scrolled_by_user = False
            self._keep_in_sight()
        self._paint_line()

    def _note_scrolling(self) -> None:
        self._scrolled_by_user = True

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll, and stay there until the marked line is visible again."""
        self._scrolled_by_user = True
        super().wheelEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the marked line visible, or the edited line where it is."""
        top = self.source_location(self._edited_line).top() - self.verticalScrollBar().value()
        super().resizeEvent(event)
        self._place_gutter()
        self._break_lines()
        self._keep_in_sight()
        if self._typing:
            rectangle, spacing = self.source_location(self._edited_line), self.fontMetrics().lineSpacing()
            lowest = self.viewport().height() - rectangle.height() - CONTEXT * spacing
            self.verticalScrollBar().setValue(round(rectangle.top() - max(0.0, min(top, lowest))))

    # Gutter.

    def gutter_font(self) -> QFont:
        """Return the gutter's font, smaller than that of the text."""
        return self.theme.font(10.5, mono=True)

    def columns(self) -> tuple[int, int, int]:
        """Return the right edges of the line numbers and of the counts, and the gutter's width.

        Handles stand before the numbers. The counts are hidden where the text has few columns; tooltips have them too.
        """
        font, gap = self.gutter_font(), self.theme.px(6)
        digits = max(2, len(str(self.document().blockCount())))
        numbers = self.handle() + gap + text_pixels("9" * digits, font)
        count_width = 2 * gap + text_pixels(count_text(max(self._most, 99)), font) if self._most else 0
        text = FEW * text_width(" ", self.font())
        count_width = count_width if self.width() - numbers - count_width - gap >= text else 0
        return numbers, numbers + count_width, numbers + count_width + gap

    def handle(self) -> int:
        """Return the width of the handles, or 0."""
        return self.theme.px(16) if self.has_handles else 0

    def _place_gutter(self) -> None:
        width = self.columns()[2]
        self.setViewportMargins(width, 0, 0, 0)
        inside = self.contentsRect()
        self._gutter.setGeometry(QRect(inside.left(), inside.top(), width, self.viewport().height()))

    def lines_in_sight(self) -> list[tuple[int, float, float]]:
        """Return number (from 1), top and height of every line that is visible in part at least."""
        document, scrolled = self.document(), self.verticalScrollBar().value()
        key = (document.revision(), document.textWidth(), scrolled, self.viewport().height())
        if self._in_sight is None or self._in_sight[0] != key:
            self._in_sight = key, self._find_in_sight(scrolled)
        return self._in_sight[1]

    def _forget_visible_lines(self) -> None:
        self._in_sight = None

    def _find_in_sight(self, scrolled: int) -> list[tuple[int, float, float]]:
        layout = self.document().documentLayout()
        position = layout.hitTest(QPointF(0, scrolled), Qt.HitTestAccuracy.FuzzyHit)
        lines, block = [], self.document().findBlock(max(0, position))
        while block.isValid():
            rectangle = layout.blockBoundingRect(block)
            if rectangle.top() - scrolled >= self.viewport().height():
                break
            if rectangle.bottom() > scrolled:
                lines.append((block.blockNumber() + 1, rectangle.top() - scrolled, rectangle.height()))
            block = block.next()
        return lines
