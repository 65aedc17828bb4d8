"""The code view: the kernel's lines above, PTX or SASS below; a chosen line is highlighted in both."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QSplitter, QTextEdit, QVBoxLayout, QWidget

from ....tracer.model.trace import WARP
from ...compiled.model.listing_lines import (
    LANGUAGES,
    Language,
    Row,
    code_of,
    code_rows,
    listing_heading,
    source_rows,
)
from ...model.nothing import nothing
from ...model.session import Selection, Session
from ...widgets.patterns import mixed
from ...widgets.plain_text import PlainLabel
from ...widgets.switch import Switch
from ...widgets.theme import Theme, flat_sheet
from ..common.activity import BlockActivity, WarpActivity, block_activity, warp_activity, warp_status
from ..common.view import View

COMPILING = "The kernel is being compiled…"
CUDA_CPP = "PTX and SASS are shown for Numba kernels. For CUDA C++, use nvcc and cuobjdump."
PYTHON = "A plain Python program is not compiled for a GPU."
ACCESS = re.compile(r"\b(ld|st|atom|red)\.|\b(LD|ST|ATOM|RED)[GS]?\b")  # an instruction that accesses memory
CONTEXT = 4  # rows above the one that is scrolled to
COLUMNS = "line · instructions · registers in use"
PTX_COLUMNS = "line · instructions"


class CodeLines(QPlainTextEdit):
    """Read-only lines, some of them highlighted. chosen: the source line of the clicked row."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.chosen: Callable[[int], object] = nothing
        self.rows: list[Row] = []
        self.highlighted_line = 0
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._is_filling = False
        self.cursorPositionChanged.connect(self._choose)
        self.set_theme(theme)

    def fill(self, rows: Sequence[Row]) -> None:
        """Show other lines."""
        self.rows = list(rows)
        self._is_filling = True
        self.setPlainText("\n".join(row.text for row in rows))
        self._is_filling = False
        self.highlight_line(self.highlighted_line)

    def highlight_line(self, line: int) -> None:
        """Highlight the rows of a source line, and scroll to the first memory access."""
        self.highlighted_line = line
        numbers = [number for number, row in enumerate(self.rows) if row.line == line and line]
        highlight = QTextCharFormat()
        highlight.setBackground(self.ground)
        highlight.setProperty(QTextFormat.Property.FullWidthSelection, True)
        marks = []
        for number in numbers:
            mark = QTextEdit.ExtraSelection()
            mark.cursor, mark.format = QTextCursor(self.document().findBlockByNumber(number)), highlight
            marks.append(mark)
        self.setExtraSelections(marks)
        if numbers and not self.hasFocus():
            target = next((number for number in numbers if ACCESS.search(self.rows[number].text)), numbers[0])
            bar = self.verticalScrollBar()
            if target not in range(bar.value(), bar.value() + bar.pageStep()):
                bar.setValue(max(0, target - CONTEXT))

    def highlighted_rows(self) -> list[str]:
        """Return the texts of the highlighted rows."""
        return [row.text for row in self.rows if row.line == self.highlighted_line and self.highlighted_line]

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        self.setFont(theme.font(11.5, mono=True))
        self.setStyleSheet(flat_sheet("QPlainTextEdit", theme))
        self.ground: QColor = mixed(theme.colour("panel"), theme.palette.accent, 0.2)
        self.highlight_line(self.highlighted_line)

    def _choose(self) -> None:
        number = self.textCursor().blockNumber()
        if not self._is_filling and number < len(self.rows) and self.rows[number].line:
            self.chosen(self.rows[number].line)


class ListingView(View):
    """Source and code of a kernel; the chosen warp's line is highlighted until another one is chosen."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("PTX and SASS")
        self.language: Language = "SASS"
        self.line = 0
        self.switch = Switch({name: name for name in LANGUAGES}, "Which code is shown", self)
        self.switch.chosen = self._turn
        self.heading, self.columns, self.sentence = (PlainLabel(parent=self) for _ in range(3))
        self.sentence.setWordWrap(True)
        self.heading.setWordWrap(True)
        self.source, self.code = (
            CodeLines(theme, "Lines of the kernel"),
            CodeLines(theme, "Code of the kernel"),
        )
        for lines in (self.source, self.code):
            lines.chosen = self.choose
        self.parts = QSplitter(Qt.Orientation.Vertical)
        self.parts.setChildrenCollapsible(False)
        self.parts.addWidget(self.source)
        self.parts.addWidget(self.code)
        self.parts.setStretchFactor(0, 2)
        self.parts.setStretchFactor(1, 3)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for widget in (self.switch, self.heading, self.sentence, self.columns):
            column.addWidget(widget)
        column.addWidget(self.parts, 1)
        column.addStretch()
        for label in (self.heading, self.sentence, self.columns):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._activity: tuple[Selection, BlockActivity, WarpActivity] | None = None
        self.set_theme(theme)

    def load(self, session: Session | None) -> None:
        """Load a session, and request its listing."""
        super().load(session)
        self._activity, self.line = None, 0
        self.show_listing()
        compiles = session is not None and not session.is_python_program and not session.is_cuda_cpp
        if session is not None and session.listing is None and compiles:
            self.ask.list_code(session)

    def show_listing(self) -> None:
        """Show the session's code, as far as known."""
        session, listing = self.session, self.session.listing if self.session else None
        sentence = ""
        if session is not None and session.is_python_program:
            sentence = PYTHON
        elif session is not None and session.is_cuda_cpp:
            sentence = CUDA_CPP
        elif session is None or listing is None:
            sentence = COMPILING
        elif listing.reason:
            sentence = listing.reason
        elif self.language == "SASS":
            sentence = listing.missing
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))
        code = code_of(listing, self.language) if listing else ()
        self.parts.setVisible(bool(code))
        self.columns.setVisible(bool(code))
        self.columns.setText(COLUMNS if self.language == "SASS" else PTX_COLUMNS)
        self.heading.setText(listing_heading(listing, self.language) if listing and code else "")
        self.heading.setVisible(bool(self.heading.text()))
        self.switch.show_choice(self.language)
        if session is not None and code:
            self.source.fill(source_rows(session, code))
            self.code.fill(code_rows(session, code))
            self.choose(self.line)

    def choose(self, line: int) -> None:
        """Highlight a line of the source and its code; 0 for none."""
        self.line = line
        self.source.highlight_line(line)
        self.code.highlight_line(line)

    def _turn(self, name: str) -> None:
        self.language = "PTX" if name == "PTX" else "SASS"
        self.show_listing()

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Highlight the chosen warp's line if the time or the selection changed."""
        changed = (moment, selection) != (self.moment, self.selection) or self._activity is None
        super().render_moment(moment, selection)
        if self.session is None or self.session.is_python_program or not changed:
            return
        if self._activity is None or self._activity[0] != selection:
            block, warp = selection.block, selection.thread // WARP
            activity = block_activity(self.session, block), warp_activity(self.session.requests, block, warp)
            self._activity = selection, *activity
        _, own_block, own_warp = self._activity
        now = warp_status(own_block, own_warp, self.session.requests, moment)
        if now.state == "request":
            self.choose(self.session.trace.sites[now.site].line)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        super().set_theme(theme)
        for label, size in ((self.heading, 12), (self.sentence, 13), (self.columns, 10.5)):
            label.setFont(theme.font(size))
            label.setContentsMargins(theme.px(8), theme.px(2), theme.px(8), theme.px(2))
        self.columns.setObjectName("muted")
        self.source.set_theme(theme)
        self.code.set_theme(theme)
