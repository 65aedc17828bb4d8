"""A track: the moments of a pane in a replay, with the drawings and texts of each."""

from __future__ import annotations

from typing import Any

from ...tracer.analysis.requests import REQUEST_KINDS
from ...tracer.model.trace import WARP
from ..model.phase_steps import follow_running_block
from ..model.session import Selection, Session
from ..views.common.activity import BlockActivity, WarpActivity, block_activity, warp_activity, warp_status
from ..views.common.wording import block_text, mark_of, phase_text
from ..views.inspect.explain import capital, facts_text
from ..widgets.patterns import EXCHANGE, LOOKS, WAITING
from .drawings import Drawings
from .frames import Form, PaneLook, Slots, WarpFrames, frames_of, themes_of
from .session_data import files_of
from .step_functions import Changes


class Track:
    """A session in one look, with a selected block and thread while these run."""

    def __init__(
        self, session: Session, look: PaneLook, selection: Selection, form: Form, drawings: Drawings
    ) -> None:
        self.session, self.look, self.selection, self.form = session, look, selection, form
        self.translate = themes_of(look, form, session)[0].translate
        self._frames = frames_of(session, look, form, drawings)
        self._slots = Slots()
        self._warp = WarpFrames(session, look, form, drawings) if look.warp else None
        self._warp_slots, self._warp_descriptions = Slots(), Changes()
        self._blocks, self._descriptions, self._phases = Changes(), Changes(), Changes()
        self._positions, self._sites = Changes(), Changes()
        self._warps: dict[int, WarpActivity] = {}
        self._phase_texts: dict[tuple[int, int], list[str]] = {}
        self.moments: set[int] = set()

    @property
    def blocks(self) -> set[int]:
        """The selected blocks."""
        return set(self._blocks.values)

    def record(self, moment: int) -> None:
        """Record a moment; moments must increase."""
        selection = follow_running_block(self.session, self.selection, float(moment))
        self.moments.add(moment)
        self._slots.note(moment, list(self._frames.drawings_at(moment, selection)))
        self._descriptions.note(moment, self._frames.words(moment, selection))
        if self._warp is not None:
            self._warp_slots.note(moment, list(self._warp.drawings_at(moment, selection)))
            self._warp_descriptions.note(moment, self._warp.words(moment, selection))
        block = block_activity(self.session, selection.block)
        phase = block.phase_at(moment)
        self._blocks.note(moment, selection.block)
        self._phases.note(moment, self._phase(block, phase))
        position = f"{block_text(self.session.trace, block.block)} · phase {phase}"
        self._positions.note(moment, self.translate(position))
        self._sites.note(moment, self._site(block, selection, moment))

    def _phase(self, block: BlockActivity, phase: int) -> list[str]:
        """Return label, description and cost of a block's phase, and the mark of the cost."""
        key = block.block, phase
        if key not in self._phase_texts:
            text = phase_text(self.session.scenario, phase, block.phases)
            facts = facts_text(self.session, block, phase)
            texts = [self.translate(part) for part in (capital(text.label), text.sentence, facts)]
            self._phase_texts[key] = [*texts, mark_of(self.session.trace)]
        return self._phase_texts[key]

    def _site(self, block: BlockActivity, selection: Selection, moment: int) -> list[int]:
        """Return the current site of the selected warp, -1 for none, and its look."""
        requests, warp = self.session.requests, selection.thread // WARP
        if block.block not in self._warps:
            self._warps[block.block] = warp_activity(requests, block.block, warp)
        status = warp_status(block, self._warps[block.block], requests, moment)
        if status.state == "request":
            return [status.site, LOOKS.index(REQUEST_KINDS[requests.kind[status.request]])]
        look = {"waiting": WAITING, "exchange": EXCHANGE}.get(status.state, "")
        return [status.site, LOOKS.index(look)] if look else [-1, 0]

    def written(self, session: int) -> dict[str, Any]:
        """Serialise the track for JSON; session: the number of its session."""
        highlight, files = self.look.highlight, files_of(self.session)
        warp = self._warp and {
            "size": list(self._warp.size),
            "slots": self._warp_slots.written(),
            "says": self._warp_descriptions.written(),
        }
        return {
            "warp": warp,
            "session": session,
            "size": [self.form.width, self.form.height],
            "moments": [min(self.moments), max(self.moments)],
            "slots": self._slots.written(),
            "thread": self.selection.thread,
            "block": self._blocks.written(),
            "place": self._positions.written(),
            "says": self._descriptions.written(),
            "saysInPicture": self.look.histogram,
            "phase": self._phases.written(),
            "site": self._sites.written(),
            "lines": [[files.index(f), line] for f, line in sorted(highlight.lines) if f in files]
            if highlight
            else [],
            "counters": sorted(self.translate(label) for label in highlight.counters) if highlight else [],
        }
