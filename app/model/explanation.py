"""Explanations of values as plain data, and the values that users ask about; what computes them is `value_causes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ...tracer.model.array_types import Ints
from .bookmark import TracedValue
from .session import Selection, Session, buffer_text

if TYPE_CHECKING:
    from ...tracer.causes.sentences import Sentence
    from ...tracer.causes.value_path import Element, Reach, ValuePath


class Explanation(Struct, frozen=True, eq=False):
    """The answer to "Why this value?"."""

    title: str  # the element, as in C[3, 5]
    element: Element | None  # None if the launch has no such element
    sentences: tuple[Sentence, ...]
    rows: Ints  # accesses of the path, ascending
    path: ValuePath | None = None
    reach: Reach | None = None

    def edges(self) -> list[tuple[int, int]]:
        """List the pairs of a read and a write that it fed."""
        if self.path:
            writes = self.path.writes.items()
            return [(read, write) for write, feeds in writes for read in feeds.reads if read != write]
        fed = self.reach.reads.items() if self.reach else ()
        return [(read, write) for read, written in fed for write in written if read != write]


def reference_of(sessions: Sequence[Session | None], pane: int) -> Session | None:
    """Return the session of another pane that runs the same launch with another text or order of threads."""
    own = sessions[pane]
    for other in sessions:
        if other is None or own is None or other is own:
            continue
        first, second = own.launch, other.launch
        same = (first.kernel, first.grid, first.block, first.arguments) == (
            second.kernel, second.grid, second.block, second.arguments,
        )  # fmt: skip
        if same:
            return other
    return None


def traced_element(session: Session, buffer: int, number: int, selection: Selection) -> TracedValue:
    """Return the traced value of an element: a buffer and a number in its shape, in C order."""
    described = session.trace.buffers[buffer]
    coordinates = ", ".join(str(int(index)) for index in np.unravel_index(number, described.shape or (1,)))
    text = f"{buffer_text(described)}[{coordinates}]" if described.shape else buffer_text(described)
    is_own = described.space in ("shared", "local")
    thread = selection.thread if described.space == "local" else None
    return TracedValue(text, selection.block if is_own else None, thread)


def traced_at_moment(traced: TracedValue, moment: float, session: Session | None) -> TracedValue:
    """Return a traced value at a moment; at the end it has no moment."""
    is_end = session is None or moment >= session.end
    return traced if is_end else replace(traced, moment=int(moment))
