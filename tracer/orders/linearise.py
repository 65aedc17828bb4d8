"""An equivalent order with few switches: each thread runs on as long as its next access depends on no other thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, permutations

from ..model.order import Order, Segment
from ..model.trace import Trace
from .run_events import Execution
from .shrink import joined_segments

MOST_PRIORITIES = 24  # sequences of threads that are tried


def with_few_switches(trace: Trace) -> Order:
    """Return an order of the same class as a run, with few segments.

    Each phase of a block begins with a segment that waits for the barrier, so that the segments before it can be left
    out.
    """
    execution = Execution(trace)
    threads = sorted({event.thread for event in execution.events})
    orders = [_linearised(trace, execution, priority) for priority in _priorities(threads)]
    return min(orders, key=lambda order: len(order.segments))


def _priorities(threads: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield sequences of threads: all if there are few, else rotations."""
    if len(threads) <= 4:
        yield from islice(permutations(threads), MOST_PRIORITIES)
        return
    for start in range(min(len(threads), MOST_PRIORITIES)):
        yield [*threads[start:], *threads[:start]]


def _linearised(trace: Trace, execution: Execution, priority: Sequence[int]) -> Order:
    """Run the first thread of a sequence that can go on, as long as it can."""
    of_thread: dict[int, list[int]] = {thread: [] for thread in priority}
    for number, event in enumerate(execution.events):
        of_thread[event.thread].append(number)
    counts = [0] * execution.threads
    phases: dict[int, int] = {}
    segments: list[Segment] = []
    left = len(execution.events)
    while left:
        for thread in priority:
            turns = 0
            while counts[thread] < len(of_thread[thread]):
                number = of_thread[thread][counts[thread]]
                block, index = execution.turns[number]
                phase = int(trace.phase[number])
                if not execution.follows(number, counts):
                    break
                if turns and phase > phases.get(block, 0):
                    break  # the phase begins with a new segment
                if phase > phases.get(block, 0):
                    phases[block] = phase
                    segments.append(Segment(block, 0, 0, barrier=phase))
                segments.append(Segment(block, index, 1, turns=1))
                counts[thread] += 1
                turns += 1
            left -= turns
            if turns:
                break
    return Order(joined_segments(segments))
