"""A page of source: its lines with their hanging indents, what is marked of them, and which are in sight.

A line that is too long goes on below, further in than where it begins, so that nothing of it is out of sight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from itertools import pairwise

from PySide6.QtCore import QElapsedTimer, QEvent, QPointF, QRect, QRectF, Qt, Signal
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
from ...compiled.fates import LineFate
from ...model.visible_text import visible_in_place
from ...widgets.patterns import mixed
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme, sheet
from ..common.dimming import FAINT, dimmed, draw_frame
from ..common.drawing import pixels_of, width_of
from ..common.wording import count_text
from .highlight import LONGEST_LINE, Highlighter
from .lines import CONTEXT, frames, hanging, normalised, top_line
from .problems import SEVERITY_COLOURS, Problem
from .tags import draw_tags, tag_at, tag_height, tag_place

MOST_LINES = 50_000  # of a text that are shown: each takes the window some microseconds
FEW = 26  # columns of text, beside which there is no room for counts
HOLD = 2_000  # milliseconds that the page stays where somebody writes, whatever the time does


class Page(QTextEdit):
    """Shows one file; where it stands depends on the marked line alone, until the user scrolls or points at another.

    Lines are counted from 1, of the text as it stands here.
    gutter: makes what stands beside the lines.

    line_toggled: a line is to be taken out of what runs, or put back: any line of its statement.

    may_strike: why a line can't be taken out, "" where it can. rows_of: the lines of the statement that begins on one.
    """

    line_toggled = Signal(int)

    def __init__(
        self, theme: Theme, gutter: Callable[[Page], QWidget], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.file = ""
        self.counts: dict[int, int] = {}
        self.line, self.look, self.pointed = 0, "", 0
        self.noun, self.tinted = "requests by all warps", False
        self.theme = theme
        self.lit: frozenset[int] = frozenset()
        self.struck: frozenset[int] = frozenset()  # taken out of what runs: where statements begin
        self.struck_rows: frozenset[int] = frozenset()  # all lines of those statements
        self.barriers: frozenset[int] = frozenset()
        self.changed: frozenset[int] = frozenset()  # not as they were traced
        self.problems: tuple[Problem, ...] = ()
        self.fates: dict[int, LineFate] = {}  # what the compiler did with the accesses of lines
        self.may_strike: Callable[[int], str] = lambda line: ""
        self.rows_of: Callable[[int], Iterable[int]] = lambda line: (line,)
        self.has_handles = False  # whether a click beside a line takes it out
        self.is_whole = True  # whether what is shown is the file's text, to the letter
        self._selections: dict[str, list[QTextEdit.ExtraSelection]] = {}
        self._first, self._most = 1, 0
        self._tags_below: set[int] = set()  # lines with room below for their tag
        self._by_hand = self._typing = False
        self._at = 1  # the line where somebody wrote last
        self._held = QElapsedTimer()  # since the page began to stay for the sake of what is written
        self.setUndoRedoEnabled(False)  # see `history.py`
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
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # nothing is painted below it
        self.setAccessibleName("Source text")
        across = (
            self.horizontalScrollBar()
        )  # all is in sight at its beginning; Qt would follow blanks at a line's end
        across.valueChanged.connect(lambda value: across.setValue(0) if value else None)
        self._in_sight: tuple[object, list[tuple[int, float, float]]] | None = None  # lines, as last laid out
        self.document().documentLayout().update.connect(self._forget_places)
        self.document().contentsChange.connect(self._note_change)  # heard before the colours ask for lines
        self._highlighter = Highlighter(self.document(), theme)
        self._gutter = gutter(self)
        self.verticalScrollBar().actionTriggered.connect(self._note_scrolling)
        self.verticalScrollBar().valueChanged.connect(lambda _: self._gutter.update())
        self.set_theme(theme)

    def show_text(self, file: str, text: str, first: int) -> None:
        """Show a file from line `first` (from 1) on; `measure` says what is counted beside it."""
        self.file, self._first, self._by_hand = file, first, False
        self._typing = False
        self.counts, self.line, self.look, self.pointed, self.lit = {}, 0, "", 0, frozenset()
        self.struck = self.struck_rows = self.barriers = self.changed = frozenset()
        self.problems, self.fates, self._tags_below = (), {}, set()
        self._highlighter.struck, self._highlighter.problems = frozenset(), {}
        self._selections.clear()
        whole = normalised(text)
        lines = whole.split("\n", MOST_LINES)
        if len(lines) > MOST_LINES:
            lines[MOST_LINES] = f"… only the first {MOST_LINES:,} lines are shown"
        shown = (line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines)
        page = visible_in_place("\n".join(shown))
        self.is_whole = page == whole
        self.setPlainText(page)
        self.set_theme(self.theme)

    def text(self) -> str:
        """Return the text as it stands, its lines ended by \\n."""
        return self.document().toRawText().replace("\u2029", "\n")

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
            before, self.counts = self.counts, counts
            other = {n for n in before.keys() | counts.keys() if before.get(n) != counts.get(n)}
            self._paint_lines(other, self._gutter, 0 if self.tinted else self.columns()[0] + 1)
        if (line, look) != (self.line, self.look):
            both = {self.line, line}
            self.line, self.look = line, look
            self._paint_lines(both, self._gutter)
            self._paint_lines(both, self.viewport())
            self._keep_in_sight()

    def begin_at(self, line: int) -> None:
        """Let the page begin at another line than that of the kernel, where the marked one stays in sight."""
        self._first = line
        self._keep_in_sight()

    def point_at(self, line: int) -> None:
        """Point at a line, 0 for none, beside the marked one, and bring it in sight until the marked one is."""
        self.pointed, self._by_hand = line, bool(line)
        self._paint_line()
        self._gutter.update()
        if line:
            self._scroll_to(self._target(line))

    def go_to(self, line: int) -> None:
        """Put the cursor at the beginning of a line's text, and bring it in sight."""
        block, cursor = self.document().findBlockByNumber(line - 1), self.textCursor()
        cursor.setPosition(block.position() + len(block.text()) - len(block.text().lstrip()))
        self.setTextCursor(cursor)
        self._by_hand = True
        self._scroll_to(self._target(line))
        self.setFocus()

    def select_text(self, at: int, length: int) -> None:
        """Select some of Qt's characters, and bring them in sight."""
        self._by_hand = True
        self.setTextCursor(self._cursor(at, length))
        self.ensureCursorVisible()

    def light(self, lines: frozenset[int]) -> None:
        """Let these lines stand out while the others dim, and bring the first in sight; none dim without any."""
        if lines != self.lit:
            self.lit, self._by_hand = lines, False
            self._dim_lines()
            self._paint_line()
            self._keep_in_sight()

    def _note_change(self, at: int, removed: int, added: int) -> None:
        """Hear of a change of the text or its looks."""

    # What is marked of the lines.

    def set_struck(self, lines: frozenset[int]) -> None:
        """Show the statements that begin on these lines as taken out of what runs."""
        self.struck = lines
        self.struck_rows = frozenset(row for line in lines for row in self.rows_of(line))
        self._mark_text()

    def set_barriers(self, lines: frozenset[int]) -> None:
        """Show beside these lines that they can be taken out; beside others, only where the pointer is."""
        self.barriers = lines
        self._gutter.update()

    def set_changed(self, lines: frozenset[int]) -> None:
        """Show lines as others than those that were traced."""
        if lines != self.changed:
            self.changed = lines
            self._gutter.update()

    def set_problems(self, problems: Iterable[Problem]) -> None:
        """Mark lines with what is wrong there."""
        self.problems = tuple(problems)
        self._mark_text()

    def set_fates(self, fates: dict[int, LineFate]) -> None:
        """Show at the ends of lines what the compiler did with their accesses."""
        if fates != self.fates:
            self.fates = fates
            self._make_room_for_tags()
            self.viewport().update()

    def problems_at(self, line: int) -> list[Problem]:
        """Return the problems of a line, the worst first."""
        return sorted(
            (p for p in self.problems if p.line == line), key=lambda p: SEVERITIES.index(p.severity)
        )

    def _mark_text(self) -> None:
        self._highlighter.mark(self.struck_rows, self.problem_colours())
        self._gutter.update()

    def problem_colours(self) -> dict[int, str]:
        """Return the name of the colour in which lines with a problem are underlined."""
        return {p.line: SEVERITY_COLOURS[self.problems_at(p.line)[0].severity] for p in self.problems}

    def select(self, kind: str, selections: list[QTextEdit.ExtraSelection]) -> None:
        """Draw some text otherwise, in place of what was of this kind."""
        if selections or self._selections.get(kind):
            self._selections[kind] = selections
            self.setExtraSelections([one for some in self._selections.values() for one in some])

    def selection(self, at: int, length: int, look: QTextCharFormat) -> QTextEdit.ExtraSelection:
        """Return how to draw some of Qt's characters otherwise."""
        made = QTextEdit.ExtraSelection()
        made.cursor, made.format = self._cursor(at, length), look
        return made

    def _cursor(self, at: int, length: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(at)
        cursor.setPosition(at + length, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def toggle(self, line: int) -> str:
        """Ask for a line to be taken out or put back; returns why not, "" where it was asked for."""
        if not self.has_handles:
            return "this text can't be changed"
        reason = "" if line in self.struck_rows else self.may_strike(line)
        if not reason:
            self._hold(line)
            self.line_toggled.emit(line)
        return reason

    def _dim_lines(self) -> None:
        """Write all lines but those that stand out in one dimmed colour: a selection of each row of such lines."""
        last = self.document().blockCount()
        edges = [0, *sorted(line for line in self.lit if line <= last), last + 1]
        faint = QTextCharFormat()
        if self.lit:
            faint.setForeground(dimmed(self.theme).colour("text"))
        found = []
        for before, after in pairwise(edges) if self.lit else ():
            if after - before > 1:
                start = self.document().findBlockByNumber(before).position()
                end = self.document().findBlockByNumber(after - 2)
                found.append(self.selection(start, end.position() + end.length() - 1 - start, faint))
        self.select("dim", found)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        self.theme = theme
        self._dim_lines()
        self.setFont(theme.font(12, mono=True))
        self.setStyleSheet(sheet("QTextEdit", theme))
        self._highlighter.show_colours(self.text(), theme, c=self.file.endswith(".cu"))
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

    def _paint_lines(self, lines: Collection[int], where: QWidget, left: int = 0) -> None:
        """Draw some lines of the text or of the gutter anew, from so many pixels on."""
        for line, top, height in self.lines_in_sight():
            if line in lines:
                where.update(left, math.floor(top) - 1, where.width() - left, math.ceil(height) + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Lay a ground under the line that is pointed at and under the marked one, and draw the text over it."""
        accent = mixed(self.theme.colour("panel"), self.theme.palette.accent, 0.14)
        wrong = mixed(self.theme.colour("panel"), self.theme.palette.bad, 0.12)
        grounds = dict.fromkeys((p.line for p in self.problems if p.severity == "error"), wrong)
        grounds |= dict.fromkeys((self.pointed, *self.lit), accent) | {self.line: self.line_colour()}
        painter, lines = QPainter(self.viewport()), self.lines_in_sight()
        painter.setClipRect(self.viewport().rect())  # on paper nothing else does
        painter.fillRect(event.rect(), self.theme.colour("panel"))
        for line, top, height in lines:
            if line in grounds:
                ground = grounds[line] if line in self.lit or not self.lit else self.dimmed(grounds[line])
                painter.fillRect(QRectF(0, top, self.viewport().width(), height), ground)
        for top, height in frames(lines, self.lit):
            draw_frame(painter, QRectF(0, top - 2, self.viewport().width() - 1, height + 4), self.theme)
        painter.end()
        super().paintEvent(event)
        if any(line in self.fates and self.fates[line].tag for line, *_ in lines):
            painter = QPainter(self.viewport())
            draw_tags(painter, self)
            painter.end()

    def viewportEvent(self, event: QEvent) -> bool:
        """Say what the compiler did with each access of a line, where the pointer rests on its tag."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            told = tag_at(self, QPointF(event.pos()))
            if told:
                QToolTip.showText(event.globalPos(), plain_tip(told), self.viewport())
                return True
        return super().viewportEvent(event)

    # Lines: how far they go in, and where they stand.

    def _break_lines(self) -> None:
        """Let each line go on further in than where it begins, and leave room for the last one to stand at the top."""
        document, cursor = self.document(), QTextCursor(self.document())
        if document.textWidth() != self.viewport().width():
            document.setTextWidth(
                self.viewport().width()
            )  # Qt misses it where the gutter took its place unseen
        cursor.beginEditBlock()
        self._hang_lines(0, document.blockCount() - 1)
        frame = document.rootFrame().frameFormat()
        frame.setRightMargin(QFontMetricsF(self.font()).horizontalAdvance(" ") / 2)
        frame.setBottomMargin(max(0, self.viewport().height() - self.fontMetrics().lineSpacing()))
        if frame != document.rootFrame().frameFormat():
            document.rootFrame().setFrameFormat(frame)
        cursor.endEditBlock()
        document.size()  # else the scroll bar is made for the lines that were laid out so far
        self._make_room_for_tags()

    def _hang_lines(self, first: int, last: int) -> None:
        """Let these lines (from 0) go on further in than where they begin."""
        column, cursor = QFontMetricsF(self.font()).horizontalAdvance(" "), QTextCursor(self.document())
        columns, block = self.viewport().width() / column, self.document().findBlockByNumber(first)
        cursor.beginEditBlock()
        while block.isValid() and block.blockNumber() <= last:
            hang, form = hanging(block.text(), columns) * column, block.blockFormat()
            if form.leftMargin() != hang:
                cursor.setPosition(block.position())
                form.setLeftMargin(hang)
                form.setTextIndent(-hang)
                cursor.setBlockFormat(form)
            block = block.next()
        cursor.endEditBlock()

    def _make_room_for_tags(self) -> None:
        """Leave room below those lines whose text leaves none for their tag."""
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
        if self._typing:
            return  # what one types stays where it is
        self._by_hand = False
        self._scroll_to(target)

    def _hold(self, line: int) -> None:
        """Stay, since somebody writes at a line."""
        self._typing, self._by_hand, self._at = True, True, line
        self._held.start()

    def let_go(self) -> None:
        """Follow the marked line again, unless somebody wrote here just now."""
        if self._typing and self._held.elapsed() > HOLD:
            self._typing = False

    def go_on(self, first: int) -> None:
        """Take another trace of the text that is shown, whose kernel begins at line `first` (from 1).

        Nothing is pointed at, and the page stays if it was held.
        """
        self.pointed, self._first = 0, first
        if self._typing:
            self._hold(self._at)
        else:
            self._by_hand = False
            self._keep_in_sight()
        self._paint_line()

    def _note_scrolling(self) -> None:
        self._by_hand = True

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll, and leave the page there until the marked line is in sight again."""
        self._by_hand = True
        super().wheelEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the gutter at the side and the marked line in sight, or the one that is written where it is."""
        top = self.source_location(self._at).top() - self.verticalScrollBar().value()
        super().resizeEvent(event)
        self._place_gutter()
        self._break_lines()
        self._keep_in_sight()
        if self._typing:
            place, line = self.source_location(self._at), self.fontMetrics().lineSpacing()
            lowest = self.viewport().height() - place.height() - CONTEXT * line
            self.verticalScrollBar().setValue(round(place.top() - max(0.0, min(top, lowest))))

    # Gutter.

    def gutter_font(self) -> QFont:
        """Return the gutter's font, smaller than the text's."""
        return self.theme.font(10.5, mono=True)

    def columns(self) -> tuple[int, int, int]:
        """Return the right edges of the gutter's line numbers, of its counts, and its width.

        The handles stand before the numbers.

        Where the text is left with few columns, it takes the place of the counts: the tip of a line says them too.
        """
        font, gap = self.gutter_font(), self.theme.px(6)
        digits = max(2, len(str(self.document().blockCount())))
        numbers = self.handle() + gap + pixels_of("9" * digits, font)
        wide = 2 * gap + pixels_of(count_text(max(self._most, 99)), font) if self._most else 0
        text = FEW * width_of(" ", self.font())
        wide = wide if self.width() - numbers - wide - gap >= text else 0
        return numbers, numbers + wide, numbers + wide + gap

    def handle(self) -> int:
        """Return the width of the handles, 0 where there are none."""
        return self.theme.px(16) if self.has_handles else 0

    def _place_gutter(self) -> None:
        width = self.columns()[2]
        self.setViewportMargins(width, 0, 0, 0)
        inside = self.contentsRect()
        self._gutter.setGeometry(QRect(inside.left(), inside.top(), width, self.viewport().height()))

    def lines_in_sight(self) -> list[tuple[int, float, float]]:
        """Return number (from 1), top and height of every line that is at least partly seen."""
        document, scrolled = self.document(), self.verticalScrollBar().value()
        key = (document.revision(), document.textWidth(), scrolled, self.viewport().height())
        if self._in_sight is None or self._in_sight[0] != key:
            self._in_sight = key, self._find_in_sight(scrolled)
        return self._in_sight[1]

    def _forget_places(self) -> None:
        self._in_sight = None

    def _find_in_sight(self, scrolled: int) -> list[tuple[int, float, float]]:
        layout = self.document().documentLayout()
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
