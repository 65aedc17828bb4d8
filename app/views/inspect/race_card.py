"""The card of a data race: both threads, lines and values, the element, and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QVBoxLayout, QWidget

from ....tracer.model.finding import Finding
from ....tracer.model.trace import WARP
from ...model.nothing import nothing
from ...model.session import Selection, Session
from ...widgets.patterns import swatch
from ...widgets.plain_text import PlainLabel, RichLabel, markup, plain_tip
from ...widgets.theme import Theme, text_palette
from ..common.descriptions import source_line
from ..common.wording import access_kind, access_text, block_text, coordinates_text, count_text, element_text


class RacingAccess(NamedTuple):
    """One of the two accesses of a race."""

    thread: str  # thread and block
    text: str  # the access as text
    line: int  # of the source, from 1
    code: str  # the text of that line
    kind: str  # of its request, as in KINDS
    moment: int
    selection: Selection  # its thread


class RaceCard(QWidget):
    """Shows a race. `access_asked` gets the moment and the thread of the followed link."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.access_asked: Callable[[int, Selection], object] = nothing
        self.setAccessibleName("Race")
        self.theme = theme
        self.title, self.order = RichLabel(), RichLabel()
        self.signs = [PlainLabel() for _ in range(2)]
        self.texts = [RichLabel() for _ in range(2)]
        self.find_order = QPushButton("Find an order that changes the result")
        self._shown: tuple[Session, Finding] | None = None
        self._build()

    def _build(self) -> None:
        for label in (self.title, self.order, *self.texts):
            label.setWordWrap(True)
            label.setMinimumWidth(1)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid = QGridLayout()
        for row, (sign, text) in enumerate(zip(self.signs, self.texts, strict=True)):
            grid.addWidget(sign, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(text, row, 1)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
            text.linkActivated.connect(lambda _, row=row: self._ask(row))
        grid.setColumnStretch(1, 1)
        self._grid, self._column = grid, QVBoxLayout(self)
        self._column.addWidget(self.title)
        self._column.addLayout(grid)
        self._column.addWidget(self.order)
        self._column.addWidget(self.find_order, 0, Qt.AlignmentFlag.AlignLeft)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme = theme
        self._column.setContentsMargins(*[theme.px(12)] * 4)
        self._column.setSpacing(theme.px(8))
        self._grid.setHorizontalSpacing(theme.px(8))
        self._grid.setVerticalSpacing(theme.px(8))
        for label in (self.title, self.order, *self.texts):
            label.setFont(theme.font(13))
            label.setPalette(text_palette(theme, "text"))
        self.find_order.setFont(theme.font(12.5))
        self._fill()

    def show_race(self, session: Session | None, finding: Finding | None) -> None:
        """Show a race; hide the card for other findings."""
        fits = session and finding and finding.kind == "race" and len(finding.example) == 2
        self._shown = (session, finding) if session and finding and fits else None
        self._fill()
        self.setVisible(self._shown is not None)

    def accesses(self) -> list[RacingAccess]:
        """List the two accesses in the order of this launch."""
        return [racing_access(self._shown[0], row) for row in self._shown[1].example] if self._shown else []

    def _fill(self) -> None:
        if self._shown is None:
            return
        session, finding = self._shown
        relation_text = self.theme.translate(relation(session, finding))
        self.title.setText(f"<b>{markup(raced_element(session, finding))}</b>, {markup(relation_text)}")
        for access, sign, text in zip(self.accesses(), self.signs, self.texts, strict=True):
            sign.setPixmap(swatch(access.kind, self.theme.px(13), self.theme, self.devicePixelRatioF()))
            sign.setToolTip(plain_tip(self.theme.translate(access.kind)))
            text.setText(self._rich(access))
        self.order.setVisible(bool(finding.remedy))
        self.order.setText(
            f"<b>{markup(verdict(finding))}</b> {markup(self.theme.translate(capital(finding.remedy)))}."
        )
        say = self.theme.translate
        texts = [
            f"{say(access.thread)} {access.text}, line {access.line}: {access.code}"
            for access in self.accesses()
        ]
        remedy = [say(capital(finding.remedy))] if finding.remedy else []
        self.setAccessibleDescription(". ".join([*texts, *remedy]))

    def _rich(self, access: RacingAccess) -> str:
        colours, mono = self.theme.palette, self.theme.font(11.5, mono=True)
        code = f"color:{colours.muted}; font-family:{mono.families()[0]}; font-size:{mono.pixelSize()}px"
        link = f"<a href='go' style='color:{colours.accent}'>moment {count_text(access.moment)}</a>"
        return (
            f"<b>{markup(self.theme.translate(access.thread))}</b>, {link}<br>{markup(access.text)}<br>"
            f"<span style='{code}'>{access.line}&nbsp;&nbsp;{markup(access.code)}</span>"
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a line above the card."""
        QPainter(self).fillRect(0, 0, self.width(), 1, self.theme.colour("border"))

    def _ask(self, row: int) -> None:
        access = self.accesses()[row]
        self.access_asked(access.moment, access.selection)


def racing_access(session: Session, row: int) -> RacingAccess:
    """Describe one access of a race."""
    trace, requests = session.trace, session.requests
    block, thread, site = int(trace.block[row]), int(trace.thread[row]), trace.sites[int(trace.site[row])]
    thread_name = f"Thread {coordinates_text(thread, trace.block_dim)} of {block_text(trace, block)}"
    moment = int(requests.moment[requests.request[row]])
    code, kind = source_line(session, site.file, site.line), access_kind(session, row)
    return RacingAccess(
        thread_name, access_text(session, row), site.line, code, kind, moment, Selection(block, thread)
    )


def raced_element(session: Session, finding: Finding) -> str:
    """Return the element that both threads access."""
    row = finding.example[0]
    buffer = session.trace.buffers[int(session.trace.buffer[row])]
    return element_text(buffer, int(session.trace.index[row]))


def relation(session: Session, finding: Finding) -> str:
    """Explain why the two accesses of a race are unordered."""
    trace, (first, second) = session.trace, finding.example
    if trace.block[first] != trace.block[second]:
        return "by two blocks, which run in any order"
    if trace.phase[first] != trace.phase[second]:
        return "by two threads of one block"
    phase, same = int(trace.phase[first]), trace.thread[first] // WARP == trace.thread[second] // WARP
    threads = "by two lanes of one warp" if same else "by two warps of one block"
    return f"{threads}, both in phase {phase}: no barrier orders them{_apart(session, finding)}"


def _apart(session: Session, finding: Finding) -> str:
    """Explain an access that ran before the other although its moment is later; "" if there is none."""
    requests = session.requests
    first, second = requests.moment[requests.request[np.sort(np.array(finding.example))]].tolist()
    if first <= second:
        return ""
    moments = f"moment {count_text(first)} ran before that of moment {count_text(second)}"
    return f". The access of {moments}, since lanes of a warp run apart in this order"


def verdict(finding: Finding) -> str:
    """Return the heading of the remedy, by severity."""
    return "How to order them:" if finding.severity == "error" else "Both write the same value:"


def capital(text: str) -> str:
    """Capitalise a text unless it begins with a name of code."""
    return text if text.startswith("cuda.") else text[:1].upper() + text[1:]


def shown_access(session: Session, finding: Finding) -> tuple[int, Selection] | None:
    """Return the moment and the thread to show for a finding; None without accesses."""
    requests, trace = session.requests, session.trace
    rows = np.array(finding.example, np.int64)
    moments = requests.moment[requests.request[rows]]
    current_rows = rows[moments == finding.moment]
    if len(current_rows):
        return finding.moment, Selection(
            int(trace.block[current_rows[0]]), int(trace.thread[current_rows[0]])
        )
    if finding.threads:
        return finding.moment, Selection(*finding.threads[0])
    return (finding.moment, Selection()) if len(finding.rows) else None
