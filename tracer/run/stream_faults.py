"""Reports launches and copies in different streams that nothing orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..model.trace import Op
from ..recording.stream_order import Conflict, stream_order

if TYPE_CHECKING:
    from ..cuda_cpp.session import ProgramFault

VERBS = {Op.LOAD: "reads", Op.STORE: "writes", Op.ATOMIC: "updates"}


def watch_streams(report: Callable[[ProgramFault], None]) -> None:
    """Report each conflict between streams of the program as a fault at the line of the second."""
    from ..stand_ins.source_place import calling_line

    def note(conflict: Conflict) -> None:
        from ..cuda_cpp.session import ProgramFault

        file, line = conflict.second.place
        report(ProgramFault("streams", fault_text(conflict), file, line))

    stream_order.watch(calling_line, note)


def fault_text(conflict: Conflict) -> str:
    """Describe a conflict: what both do to which array, and the remedy."""
    first, second = conflict.first, conflict.second
    first_verb, second_verb = (VERBS[Op(op)] for op in conflict.ops)
    file, line = first.place
    place = f"line {line}" if file == second.place[0] else f"line {line} of {file}"
    name, count = conflict.name or "an array", conflict.elements
    elements = "1 element" if count == 1 else f"{count:,} elements"
    return (
        f"{second.name} {second_verb} {elements} of {name} that {first.name} of {place} {first_verb} in another "
        "stream, and nothing orders the two; record an event after the first, and let the second stream wait for it."
    )
