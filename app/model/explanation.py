"""Explanations of values as plain data, and the values that users ask about; what computes them is `value_causes`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ...tracer.model.array_types import Ints
from .bookmark import TracedValue
from .session import Selection, Session, buffer_text, have_same_inputs

LONGEST = 200  # characters of a traced value's text
_TRACED = re.compile(
    r"([^\[\]]+?(?:\[[^\[\]]*\])?)(?:\s+of block (\d{1,9}))?(?:\s+of thread (\d{1,9}))?(?:\s+at (\d{1,9}))?"
)

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


def parse_traced(text: str, *, forward: bool) -> TracedValue:
    """Parse the text of a traced value: C[3, 5], or tile[3] of block 2 of thread 0 at 20; raises ValueError."""
    match = _TRACED.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if match is None or ("[" not in text and " " in match[1]):
        raise ValueError(f"{text[:40]!r} is not an element; write for example C[2, 3], or tile[3] at 20.")
    block, thread, moment = (None if number is None else int(number) for number in match.group(2, 3, 4))
    return TracedValue(match[1].strip(), block, thread, moment, forward)


def traced_text(traced: TracedValue) -> str:
    """Format a traced value so that `parse_traced` reads it."""
    parts = [traced.element]
    parts += [f"of block {traced.block}"] if traced.block is not None else []
    parts += [f"of thread {traced.thread}"] if traced.thread is not None else []
    parts += [f"at {traced.moment}"] if traced.moment is not None else []
    return " ".join(parts)


def traced_lines(traced: TracedValue | None) -> dict[str, str]:
    """Return the line of a lecture's step that shows the path of a value, by its key."""
    if traced is None:
        return {}
    return {"trace forward" if traced.forward else "trace back": traced_text(traced)}


def reference_of(sessions: Sequence[Session | None], pane: int) -> Session | None:
    """Return the session of another pane that runs the same launch with another text or order of threads.

    Its arrays had the same contents.
    """
    own = sessions[pane]
    for other in sessions:
        if other is None or own is None or other is own:
            continue
        first, second = own.launch, other.launch
        same = (first.kernel, first.grid, first.block, first.arguments) == (
            second.kernel, second.grid, second.block, second.arguments,
        )  # fmt: skip
        if same and (first.scenario or have_same_inputs(own, other)):
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
