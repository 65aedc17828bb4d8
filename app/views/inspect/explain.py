"""The explanation: the lesson, the current phase, and its cost, counted from the trace."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from ....tracer.analysis.requests import REQUEST_KINDS
from ....tracer.model.array_types import Ints
from ...model.session import Selection, Session
from ...widgets.plain_text import RichLabel, markup
from ...widgets.theme import Theme
from ..common.activity import BlockActivity, accesses_of, block_activity
from ..common.view import View
from ..common.wording import (
    EXACT,
    MEASURED,
    PART,
    block_text,
    buffer_text,
    count_text,
    join_with_and,
    mark_of,
    outside_text,
    part_text,
    phase_text,
    pitfall_text,
    plural,
)

# The verb of a fact, in the order of facts.
VERBS = {
    "global load": "load", "constant load": "load", "local load": "load", "shared store": "store",
    "shared load": "load", "local store": "store", "global store": "store", "atomic": "update",
}  # fmt: skip


class Fact(Struct, frozen=True):
    """The requests of one kind of a block in a phase, counted from the trace."""

    kind: str  # of the requests, as in KINDS
    buffers: tuple[str, ...]  # names of the accessed buffers
    accesses: int  # of all threads
    elements: int  # distinct ones
    each: int  # accesses of every element, 0 if they differ
    requests: int  # of all warps
    sectors: int  # of 32 bytes, 0 outside global memory


class HardwareFact(Struct, frozen=True):
    """A fact about a launch on a GPU."""

    text: str  # a sentence or two
    mark: str  # of its numbers
    basis: str  # a sentence about the origin of the numbers


class ExplainView(View):
    """A few large sentences about the current phase, with counted numbers."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Explanation")
        self.label = RichLabel(parent=self)
        self.label.setWordWrap(True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.label.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(self.label)
        for widget in (self._area.viewport(), self.label):
            widget.setAutoFillBackground(False)  # the view itself paints the panel
        self.label.setMinimumWidth(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._area)
        self._block: BlockActivity | None = None
        self._shown: tuple[int, int] | None = None
        self._on_a_gpu: list[HardwareFact] | None = None  # computed on first use
        self.set_theme(theme)

    def load(self, session: Session | None) -> None:
        """Load a session."""
        super().load(session)
        self._block = self._shown = None
        self._on_a_gpu = None
        self._show_page("")
        self.render_moment(self.moment, self.selection)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Explain the current phase of the chosen block."""
        super().render_moment(moment, selection)
        if not self.session:
            return
        if not self._block or self._block.block != selection.block:
            self._block = block_activity(self.session, selection.block)
        phase = self._block.phase_at(moment)
        if self._shown != (selection.block, phase):
            self._shown = selection.block, phase
            self._show_page(self._page(self._block, phase))

    def _show_page(self, page: str) -> None:
        self.label.setText(page)
        # Scrolling depends on the new text immediately, not on the previous one.
        QCoreApplication.sendEvent(self._area, QEvent(QEvent.Type.LayoutRequest))

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        super().set_theme(theme)
        self.label.setFont(theme.font(15))
        self.label.setMargin(theme.px(12))
        self._shown = None
        self.render_moment(self.moment, self.selection)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the panel behind the text."""
        QPainter(self).fillRect(event.rect(), self.theme.colour("panel"))

    def _page(self, block: BlockActivity, phase: int) -> str:
        """Compose the explanation as rich text."""
        assert self.session
        session, colours, px = self.session, self.theme.palette, self.theme.px
        text = phase_text(session.scenario, phase, block.phases)
        is_complete = not session.trace.is_part or _is_recorded(session, block.block)
        mark = (
            mark_of(session.trace) if session.trace.schedule == MEASURED else EXACT if is_complete else PART
        )
        ink = f"color:{colours.text}"
        look = f"background:{colours.badge}; color:{colours.muted}; font-size:{px(11)}px"

        def badge(mark: str) -> str:
            return f"<span style='{look}'>&nbsp;{mark}&nbsp;</span>"

        if self._on_a_gpu is None:
            self._on_a_gpu = hardware_facts(session)
        missed, pitfall = outside_accesses_text(session, block, phase), pitfall_text(session.scenario)
        lesson = session.scenario.lesson if session.scenario else f"Kernel {session.trace.kernel}."

        # Texts of a scenario with its own terminology use that already.
        in_own_words = str if session.scenario and session.scenario.words else self.reword

        def in_words(words: str) -> str:
            return markup(self.reword(words))

        parts = [
            f"<p style='color:{colours.muted}'>{markup(in_own_words(lesson))}</p>",
            f"<p style='color:{colours.bad}'><b>Pitfall.</b> {markup(in_own_words(pitfall))}</p>"
            if pitfall
            else "",
            f"<p style='{ink}; font-size:{px(18)}px'><b>{in_words(capital(text.label))}</b></p>",
            f"<p style='{ink}'>{in_words(text.sentence)}</p>" if text.sentence else "",
            f"<p style='{ink}'>{in_words(facts_text(session, block, phase))} {badge(mark)}</p>",
            f"<p style='color:{colours.bad}'>{in_words(missed)}</p>" if missed else "",
            f"<p style='{ink}; font-size:{px(18)}px'><b>On a GPU</b></p>" if self._on_a_gpu else "",
            *(
                f"<p style='{ink}'>{in_words(fact.text).replace(' %', '&nbsp;%')} {badge(fact.mark)}</p>"
                f"<p style='color:{colours.muted}; font-size:{px(12)}px'>{in_words(fact.basis)}</p>"
                for fact in self._on_a_gpu
            ),
        ]
        return "".join(parts)


def hardware_facts(session: Session) -> list[HardwareFact]:
    """List the modelled occupancy of a launch and the counters of a profiler, if there are any."""
    # Imported late: the window starts without them.
    from ....tracer.hardware.profiling import profile_text
    from ....tracer.hardware.profiling.profiles import profile_of_launch, recorded_profiles
    from ....tracer.hardware.profiling.recorded_kernels import occupancy_of

    room, record, facts = occupancy_of(session.launch), recorded_profiles(), []
    if room:
        text = profile_text.occupancy_text(room, session.launch)
        facts.append(HardwareFact(text, profile_text.MODELLED, profile_text.basis_text(room)))
    if record and (profile := profile_of_launch(session.launch, "warm")):
        text = profile_text.profile_text(profile)
        facts.append(HardwareFact(text, profile_text.MEASURED, profile_text.origin_text(profile, record)))
    return facts


def capital(text: str) -> str:
    """Capitalise the first letter of a text."""
    return text[:1].upper() + text[1:]


def _is_recorded(session: Session, block: int) -> bool:
    return bool(np.isin(block, session.trace.recorded))


def facts_text(session: Session, block: BlockActivity, phase: int) -> str:
    """Describe the block's memory accesses in a phase, with their costs."""
    if not block.present:
        return "The trace holds no accesses of this block. " + part_text(session.trace)
    name = block_text(session.trace, block.block)
    phase_facts = facts(session, block.block, phase)
    if not phase_facts:
        return f"In this phase {name} makes no access."
    threads = plural(len(np.unique(session.trace.thread[_accesses(session, block.block, phase)])), "thread")
    return f"In this phase {threads} of {name} {join_with_and([fact_text(f) for f in phase_facts])}."


def outside_accesses_text(session: Session, block: BlockActivity, phase: int) -> str:
    """Describe the block's out-of-bounds accesses in a phase; "" without any."""
    outside = session.trace.outside
    return outside_text(session.trace, (outside.block == block.block) & (outside.phase == phase))


def fact_text(fact: Fact) -> str:
    """Return a fact as text: load 512 elements of A and B (64 sectors)."""
    names, cost = join_with_and(list(fact.buffers)), plural(fact.requests, "request")
    if fact.sectors:
        cost = plural(fact.sectors, "sector")
    if not fact.each:
        cost = f"{count_text(fact.accesses)} times, {cost}"
    often = {0: "", 1: "", 2: " twice each"}.get(fact.each, f" {count_text(fact.each)} times each")
    space = (
        f" {'from' if fact.kind.endswith('load') else 'in'} shared memory" if "shared" in fact.kind else ""
    )
    return f"{VERBS[fact.kind]} {plural(fact.elements, 'element')} of {names}{space}{often} ({cost})"


def facts(session: Session, block: int, phase: int) -> list[Fact]:
    """List the requests of a block in a phase, one fact per kind."""
    requests = session.requests
    own_requests = np.flatnonzero((requests.block == block) & (requests.phase == phase))
    kinds = [(k, own_requests[requests.kind[own_requests] == REQUEST_KINDS.index(k)]) for k in VERBS]
    return [_fact(session, kind, chosen) for kind, chosen in kinds if len(chosen)]


def _fact(session: Session, kind: str, chosen: Ints) -> Fact:
    trace, requests = session.trace, session.requests
    rows = accesses_of(requests, chosen)
    cells = trace.buffer[rows].astype(np.int64) << 40 | trace.index[rows].astype(np.int64)
    times = np.unique(cells, return_counts=True)[1]
    each = int(times[0]) if (times == times[0]).all() else 0
    names = tuple(buffer_text(trace.buffers[b]) for b in np.unique(requests.buffer[chosen]))
    sectors = int(requests.sectors[chosen].sum())
    return Fact(kind, names, len(rows), len(times), each, len(chosen), sectors)


def _accesses(session: Session, block: int, phase: int) -> Ints:
    requests = session.requests
    return accesses_of(requests, np.flatnonzero((requests.block == block) & (requests.phase == phase)))
