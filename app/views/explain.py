"""The explain view: the lesson, what the present phase does, and what it costs, counted from the trace."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from ...tracer.requests import KINDS
from ..session import Selection, Session
from ..theme import Theme
from .tracks import BlockTrack, Ints, accesses_of, block_track
from .view import View
from .wording import EXACT, PART, buffer_text, count_text, listed, part_text, phase_text, place_text, plural

# How a fact begins, in the order in which facts are told.
DOES = {
    "global load": "load", "constant load": "load", "local load": "load", "shared store": "store",
    "shared load": "load", "local store": "store", "global store": "store", "atomic": "update",
}  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """What a block's requests of one kind do in a phase: all counted from the trace."""

    kind: str
    buffers: tuple[str, ...]
    accesses: int
    elements: int
    requests: int
    sectors: int


class ExplainView(View):
    """One or two large sentences about what is happening, with numbers that are counted."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Explanation")
        self.label = QLabel(self)
        self.label.setWordWrap(True)
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.label.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidget(self.label)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._area)
        self._block: BlockTrack | None = None
        self._shown: tuple[int, int] | None = None
        self.set_theme(theme)

    def load(self, session: Session | None) -> None:
        """Take a session."""
        super().load(session)
        self._block = self._shown = None
        self.label.clear()
        self.render_moment(self.moment, self.selection)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Explain the phase that the chosen block is in."""
        super().render_moment(moment, selection)
        if not self.session:
            return
        if not self._block or self._block.block != selection.block:
            self._block = block_track(self.session, selection.block)
        phase = self._block.phase_at(moment)
        if self._shown != (selection.block, phase):
            self._shown = selection.block, phase
            self.label.setText(self._page(self._block, phase))

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        super().set_theme(theme)
        for widget in (self.label, self._area):
            colours = widget.palette()
            colours.setColor(colours.ColorRole.Window, theme.colour("panel"))
            colours.setColor(colours.ColorRole.WindowText, theme.colour("text"))
            widget.setPalette(colours)
        self.label.setFont(theme.font(15))
        self.label.setMargin(theme.px(12))
        self._shown = None
        self.render_moment(self.moment, self.selection)

    def _page(self, block: BlockTrack, phase: int) -> str:
        """Return the explanation as rich text."""
        assert self.session
        session, colours, px = self.session, self.theme.palette, self.theme.px
        text = phase_text(session.scenario, phase, block.phases)
        mark = PART if session.trace.is_part and not _whole(session, block.block) else EXACT
        look = f"background:{colours.badge}; color:{colours.muted}; font-size:{px(11)}px"
        badge = f"<span style='{look}'>&nbsp;{mark}&nbsp;</span>"
        lesson = session.scenario.lesson if session.scenario else f"Kernel {session.trace.kernel}."
        parts = [
            f"<p style='color:{colours.muted}'>{escape(lesson)}</p>",
            f"<p style='font-size:{px(18)}px'><b>{escape(capital(text.label))}</b></p>",
            f"<p>{escape(text.sentence)}</p>" if text.sentence else "",
            f"<p>{escape(facts_text(session, block, phase))} {badge}</p>",
        ]
        return "".join(parts)


def capital(text: str) -> str:
    """Return text with a capital at its start."""
    return text[:1].upper() + text[1:]


def _whole(session: Session, block: int) -> bool:
    return bool(np.isin(block, session.trace.recorded))


def facts_text(session: Session, block: BlockTrack, phase: int) -> str:
    """Return one sentence about what the block's threads do to memory in a phase, with its costs."""
    if not block.present:
        return "The trace holds no accesses of this block. " + part_text(session.trace)
    name = f"block {place_text(block.block, session.trace.grid)}"
    found = facts(session, block.block, phase)
    if not found:
        return f"In this phase {name} makes no access."
    threads = plural(len(np.unique(session.trace.thread[_accesses(session, block.block, phase)])), "thread")
    return f"In this phase {threads} of {name} {listed([fact_text(f) for f in found])}."


def fact_text(fact: Fact) -> str:
    """Return a fact in words: load 512 elements of A and B (64 sectors)."""
    noun, names = plural(fact.elements, "element"), listed(list(fact.buffers))
    repeats = fact.accesses / fact.elements
    times = "" if repeats == 1 else f" {repeats:,.4g} times each"
    if repeats != int(repeats):
        times = f", {count_text(fact.accesses)} times in all,"
    cost = plural(fact.sectors, "sector") if fact.sectors else plural(fact.requests, "request")
    where = " in shared memory" if fact.kind.startswith("shared") else ""
    return f"{DOES[fact.kind]} {noun} of {names}{where}{times} ({cost})"


def facts(session: Session, block: int, phase: int) -> list[Fact]:
    """Return what a block does in a phase, a fact per kind of request that it makes."""
    requests = session.requests
    mine = np.flatnonzero((requests.block == block) & (requests.phase == phase))
    kinds = [(k, mine[requests.kind[mine] == KINDS.index(k)]) for k in DOES]
    return [_fact(session, kind, chosen) for kind, chosen in kinds if len(chosen)]


def _fact(session: Session, kind: str, chosen: Ints) -> Fact:
    trace, requests = session.trace, session.requests
    rows = accesses_of(requests, chosen)
    cells = trace.buffer[rows].astype(np.int64) << 40 | trace.index[rows].astype(np.int64)
    names = tuple(buffer_text(trace.buffers[b]) for b in np.unique(requests.buffer[chosen]))
    return Fact(
        kind, names, len(rows), len(np.unique(cells)), len(chosen), int(requests.sectors[chosen].sum())
    )


def _accesses(session: Session, block: int, phase: int) -> Ints:
    requests = session.requests
    return accesses_of(requests, np.flatnonzero((requests.block == block) & (requests.phase == phase)))
