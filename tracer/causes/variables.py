"""Local variables of threads at a moment, and an expression of them over all threads of a block.

They come from a replay: the source text with the recorded loads. No code of the kernel runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct

from ..dataflow.cpp_replay import CppProgram
from ..dataflow.replay_program import Expression, Names, Pack, Program, run_kernel
from ..dataflow.replay_state import (
    MOST_WORK,
    Pair,
    ReplayEndError,
    ReplayError,
    ReplayState,
    ThreadEvents,
    ThreadFlow,
)
from ..dataflow.replay_values import UNKNOWN
from ..model.trace import Trace
from .thread_flows import ThreadFlows

MOST_EVENTS = 20_000  # accesses of a thread up to the moment
MOST_WATCHED = 300_000  # accesses of a block whose threads are watched
DIGITS = 6  # of numbers with a point: a replay computes in double precision
Number = bool | int | float


class WatchError(ValueError):
    """An expression that can't be watched; the message is one sentence."""


class Variables(Struct, frozen=True):
    """The local variables of a thread before its next access."""

    values: tuple[tuple[str, object], ...] = ()  # by name in the order of the text; a number or a tuple
    reason: str = ""  # why they are not known, as a clause; "" if they are


class Watched(Struct, frozen=True, eq=False):
    """An expression's values in the threads of a block."""

    text: str
    series: list[list[Number | None]]  # by thread: after 0, 1, 2, ... of its accesses; None for no number
    reason: str = ""  # why some values are missing, as a clause

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest finite value; zeros without any."""
        finite = [v for own in self.series for v in own if v is not None and math.isfinite(v)]
        return (min(finite, default=0), max(finite, default=0))

    def value(self, thread: int, accesses: int) -> Number | None:
        """Return a thread's value after a number of its accesses; None if it has none."""
        own = self.series[thread]
        return own[accesses] if accesses < len(own) else None


class _NotingState(ReplayState):
    """A replay that reports the state before each access, and at the end of the launch."""

    def __init__(
        self, events: ThreadEvents, position: dict[str, int], work: int, note: Callable[[ReplayState], None]
    ) -> None:
        super().__init__(events, ThreadFlow(), position, work)
        self._note_state = note

    def _take(self, place: tuple[int, int], ops: tuple[int, ...]) -> tuple[int, int]:
        self._note_state(self)
        return super()._take(place, ops)


def variables_of(flows: ThreadFlows, block: int, thread: int, accesses: int) -> Variables:
    """Return a thread's variables after a number of its recorded events."""
    if flows.problem(block):
        return Variables(reason=flows.problem(block))
    if accesses > MOST_EVENTS:
        return Variables(reason=f"the thread has made more than {MOST_EVENTS:,} accesses")
    program, events = flows.program, flows.events(block, thread)
    assert program is not None
    if accesses < len(events.op):
        events = events.first(accesses)
    names: Names = {}
    state = ReplayState(events, ThreadFlow(), flows.position(block, thread), MOST_WORK)
    try:
        run_kernel(program, state, flows.arguments, names)
    except ReplayError as error:
        if state.event < accesses:
            return Variables(reason=str(error))
    except (ReplayEndError, RecursionError):
        pass
    shown = ((name, _shown(names[name])) for name in program.variables if name in names)
    return Variables(tuple((name, value) for name, value in shown if value is not None))


def _shown(pair: Pair) -> object:
    """Return a number or a tuple of numbers; None for arrays, types and unknown values."""
    value = pair[0]
    if isinstance(value, Pack):
        parts = tuple(_shown(part) for part in value)
        return None if None in parts else parts
    return value if isinstance(value, bool | int | float | complex) else None


def number_text(value: object) -> str:
    """Format a variable's value."""
    if isinstance(value, tuple):
        return f"({', '.join(map(number_text, value))}{',' if len(value) == 1 else ''})"
    return f"{value:.{DIGITS}g}" if isinstance(value, float | complex) else str(value)


def watch(flows: ThreadFlows, trace: Trace, block: int, text: str) -> Watched:
    """Evaluate an expression of local variables in each thread of a block; raises WatchError."""
    if flows.problem(block):
        raise WatchError(f"Variables are not known: {flows.problem(block)}.")
    program = flows.program
    assert program is not None
    if int((trace.block == block).sum()) > MOST_WATCHED:
        raise WatchError(f"The block makes more than {MOST_WATCHED:,} accesses; choose a smaller size.")
    try:
        expression = program.expression(text)
    except ReplayError as error:
        raise WatchError(f"{str(error)[:1].upper()}{str(error)[1:]}".rstrip(".") + ".") from None
    series, reason, work = [], "", MOST_WORK
    for thread in range(trace.threads):
        values, failed, work = _series(flows, program, block, thread, expression, work)
        series.append(values)
        reason = reason or failed
    return Watched(text, series, reason)


def _series(
    flows: ThreadFlows,
    program: Program | CppProgram,
    block: int,
    thread: int,
    expression: Expression,
    work: int,
) -> tuple[list[Number | None], str, int]:
    """Return an expression's values in a thread, the reason of missing ones, and the work that is left."""
    values: list[Number | None] = []
    names: Names = {}

    def note(state: ReplayState) -> None:
        try:
            value = expression(state, names)[0]
        except ReplayError:
            value = UNKNOWN
        values.append(value if isinstance(value, bool | int | float) else None)

    state = _NotingState(flows.events(block, thread), flows.position(block, thread), work, note)
    reason = ""
    try:
        run_kernel(program, state, flows.arguments, names)
        note(state)
    except ReplayError as error:
        reason = str(error)
    except (ReplayEndError, RecursionError):
        pass
    return values, reason, state.work
