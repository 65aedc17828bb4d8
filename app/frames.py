"""The telling moments of a comparison, for pictures of it: the start, each of the first phases, the end."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .session import Session
from .steps import block_span, phase_span
from .views.wording import phase_text

PHASES = 4  # of the first block that are shown one by one; the later ones repeat them


@dataclass(frozen=True)
class Frame:
    """A moment and a name for its picture, fit for a file: `compute-tile-0`."""

    moment: int
    name: str


def frames_of(session: Session) -> list[Frame]:
    """Return the telling moments of a session in their order, no moment twice."""
    block = int(session.trace.blocks[0]) if len(session.trace.blocks) else 0
    frames = [Frame(0, "start"), *_phases(session, block)]
    frames += [Frame(block_span(session, block)[1], "first-block-done"), Frame(session.end // 2, "half-way")]
    frames.append(Frame(session.end, "end"))
    first = {frame.moment: frame for frame in reversed(frames)}
    return [first[moment] for moment in sorted(first)]


def _phases(session: Session, block: int) -> list[Frame]:
    """Return the middle of each of the first phases of a block that do something."""
    phases = session.requests.span_start.shape[1] if session.requests.span_start.ndim == 2 else 0
    spans = [(phase, *phase_span(session, block, phase)) for phase in range(min(phases, PHASES))]
    return [
        Frame((start + end + 1) // 2, _file_name(phase_text(session.scenario, phase, phases).label))
        for phase, start, end in spans
        if start < end
    ]


def _file_name(label: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")
