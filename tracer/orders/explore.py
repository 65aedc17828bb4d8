"""All orders of a small launch, one of each class: by reversing the races of the runs seen so far.

Each run's races are reversed: a further run begins with the events that lead to the second access of the race before
the first, and goes on in any order. A run that begins with events in an order that was seen is left out. When no
reversal is left, every class of orders has been run: otherwise take a class and the seen run with the longest common
beginning; its first race against the class was reversed, which gives a longer beginning.

This is the race reversal of dynamic partial-order reduction (Flanagan and Godefroid, "Dynamic Partial-Order Reduction
for Model Checking Software", POPL 2005; Abdulla, Aronis, Jonsson and Sagonas, "Optimal Dynamic Partial Order
Reduction", POPL 2014), with the set of seen classes instead of sleep sets, which need control of every step.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..model.order import Order, order_of_turns
from ..model.trace import Trace
from .run_events import Execution, Signature, Turn

MOST_EVENTS = 4_000  # accesses of a launch whose orders are explored
MOST_WORK = 400_000  # accesses times threads
RunOrder = Callable[[Order], Trace | None]  # returns None for an order that is impossible or does not end
_BYTES_OF_EVENT = 40  # of memory, in a signature or a list of turns


class Visit(NamedTuple):
    """A run of a class that was not seen before."""

    order: Order | None  # None for the launch's first run
    trace: Trace
    turns: list[Turn]


class Exploration:
    """The orders seen so far.

    runs: number of launches that were run. is_complete: whether all classes have been visited, each of them once.
    """

    def __init__(self, run: RunOrder, first: Trace, most_classes: int) -> None:
        self._run, self._first, self._most = run, first, most_classes
        self._classes: set[Signature] = set()
        self._seen: list[Signature] = []
        self._begun: set[Signature] = set()
        self._waiting: deque[tuple[list[Turn], Signature]] = deque()
        self.runs = 0
        self.is_complete = False
        self.is_exact = (
            True  # whether the runs followed their orders, so that a complete exploration is a proof
        )

    @property
    def classes(self) -> int:
        """Number of classes of orders seen."""
        return len(self._classes)

    @property
    def waiting(self) -> int:
        """Number of beginnings that are not run yet."""
        return len(self._waiting)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the exploration holds, at most."""
        length = max((sum(map(len, signature)) for signature in self._seen[:1]), default=0)
        held = 2 * len(self._classes) + len(self._begun) + 2 * len(self._waiting)
        return held * length * _BYTES_OF_EVENT

    def visits(self) -> Iterator[Visit]:
        """Run one order of each class; ends when all were run, or at the maximum of classes."""
        if (visit := self._visit(None, self._first)) is not None:
            yield visit
        while self._waiting and len(self._classes) < self._most:
            turns, signature = self._waiting.popleft()
            if self._is_seen(signature):
                continue
            order = order_of_turns(turns)
            trace = self._run(order)
            self.runs += 1
            if trace is None:
                self.is_exact = False
                continue
            if not _follows(trace, turns):
                self.is_exact = False
            if (visit := self._visit(order, trace)) is not None:
                yield visit
        self.is_complete = self.is_exact and not self._waiting

    def _visit(self, order: Order | None, trace: Trace) -> Visit | None:
        if len(trace) > MOST_EVENTS or trace.accesses > len(trace):
            self.is_exact = False
            return None
        execution = Execution(trace)
        self.is_exact &= execution.is_regular
        signature = execution.signature()
        if signature in self._classes:
            return None
        self._classes.add(signature)
        self._seen.append(signature)
        for race in execution.races:
            events = execution.reversed_prefix(race)
            beginning = execution.signature(events)
            if beginning not in self._begun:
                self._begun.add(beginning)
                self._waiting.append(([execution.turns[number] for number in events], beginning))
        return Visit(order, trace, execution.turns)

    def _is_seen(self, beginning: Signature) -> bool:
        """Check if a run of a seen class begins with these events in an equivalent order."""
        lengths = list(map(len, beginning))
        return any(
            all(seen[:length] == own for seen, own, length in zip(signature, beginning, lengths, strict=True))
            for signature in reversed(self._seen)
        )


def _follows(trace: Trace, turns: list[Turn]) -> bool:
    count = len(turns)
    begun = list(zip(trace.block[:count].tolist(), trace.thread[:count].tolist(), strict=True))
    return begun == turns


def can_explore(trace: Trace) -> bool:
    """Check if a launch is small enough for its orders to be explored."""
    threads = len(trace.blocks) * trace.threads
    return len(trace) <= MOST_EVENTS and len(trace) * threads <= MOST_WORK and trace.accesses == len(trace)


def most_orders(execution: Execution) -> float:
    """Estimate the orders of a run's contended accesses from above: the interleavings of each thread's accesses.

    Returns infinity beyond the range of floats. In a launch of one block, barriers separate the accesses.
    """
    counts: Counter[int] = Counter()
    of_thread: Counter[tuple[int, int]] = Counter()
    is_one_block = len({block for block, _ in execution.turns}) == 1
    for number in execution.contended():
        event = execution.events[number]
        phase = event.groups[0][-1] if is_one_block else 0
        counts[phase] += 1
        of_thread[phase, event.thread] += 1
    logarithm = sum(math.lgamma(count + 1) for count in counts.values())
    logarithm -= sum(math.lgamma(count + 1) for count in of_thread.values())
    return math.exp(logarithm) if logarithm < 700 else math.inf


def estimate_text(at_most: float) -> str:
    """State the estimate of a launch's orders: "at most 2,520 orders"."""
    if at_most < 1e12:
        count = round(at_most)
        return "one order" if count <= 1 else f"at most {count:,} orders"
    return "more than 10^12 orders" if at_most == float("inf") else f"at most {at_most:.1e} orders"
