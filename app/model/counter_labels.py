"""The labels of the numbers under a pane, without drawing them. No Qt."""

from __future__ import annotations

import math

import numpy as np

from ...tracer.model.trace import Op
from .session import Session, buffer_text

REQUESTS = ("global sectors", "global requests", "global bytes")
SHARED = ("shared wavefronts", "shared requests")
COMPILED = "compiled"  # of the line below them: counters as compiled
PROGRAM = ("accesses", "reads", "writes")  # of a plain Python program


def counter_labels(session: Session) -> tuple[str, ...]:
    """Return the names of all numbers that may stand under a pane with this session."""
    if session.is_python_program:
        return (*PROGRAM, *_reads(session))
    spaces = np.array([buffer.space for buffer in session.trace.buffers])
    is_totals_only = bool(session.trace.totals) and session.trace.error is None
    shared = SHARED if (spaces == "shared").any() else ()
    if is_totals_only:  # the moments are not known
        return (*REQUESTS, *shared, COMPILED)
    updated = set(spaces[session.requests.buffer[session.requests.op >= Op.ATOMIC]].tolist())
    atomics = [f"{space} atomics" for space in ("global", "shared") if space in updated]
    return (*atomics, *REQUESTS, *shared, *_reads(session), COMPILED)


def _reads(session: Session) -> list[str]:
    shapes = [buffer.shape for buffer in session.trace.buffers]
    return [f"mean reads of {name}" for number, name in operands(session) if math.prod(shapes[number]) > 1]


def operands(session: Session) -> list[tuple[int, str]]:
    """Find number and name of the buffers whose reads matter for a lesson: left and above, or the inputs."""
    buffers, roles = session.trace.buffers, session.scenario.roles if session.scenario else {}
    chosen = [
        i for i, b in enumerate(buffers) if b.space == "global" and roles.get(b.name) in ("left", "above")
    ]
    chosen.sort(key=lambda i: roles[buffers[i].name] != "left")
    if not chosen:
        chosen = [i for i, b in enumerate(buffers) if b.space == "global"][:2]
    return [(i, buffer_text(buffers[i])) for i in chosen[:2]]
