"""Runs of a traced launch in other orders of its threads, until one changes the result."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ..analysis.kernel_structure import is_in_cuda_cpp
from ..analysis.launch_results import BufferResult, differing_elements, results_of
from ..model.definitions_only import definitions_only
from ..model.finding import count_noun, element_text
from ..model.launch import Launch, Schedule, decode
from ..model.order import Order, order_of_turns
from ..model.trace import Trace, poison
from ..processes.process_client import RunCancelledError
from ..races.detect import races_of
from ..races.missed_barriers import missed_barriers_of
from ..run.worker_client import Worker, WorkerError
from ..storage.launch_inputs import with_inputs
from .explore import can_explore
from .guided import likely_orders
from .linearise import with_few_switches
from .order_text import reversal_of
from .search import ENDLESS, LOCKSTEP_ORDER, MOST_LIKELY_ORDERS, MOST_SWITCHED_ACCESSES, stated_order
from .shrink import shrink

MOST_ACCESSES = 2_000_000  # of a launch that runs again
MOST_INPUT_BYTES = 1 << 26
PATIENCE = 3.0  # seconds that one run may take
TOTAL_SECONDS = 120.0  # for all launches of a program


class OrderCase(Struct, frozen=True, eq=False):
    """A launch that can run again, and the result to compare with."""

    launch: Launch
    trace: Trace
    results: dict[str, BufferResult]  # by the array's name


class ShrunkOrder(NamedTuple):
    """An explicit order with few switches that changes a result as a random one does."""

    order: str
    switches: int  # number of times that a thread goes before its turn
    reversal: str  # a sentence: which two accesses it reverses, "" if no value shows it


class ChangedResult(NamedTuple):
    """An element that another order leaves with another value."""

    schedule: Schedule  # the random order that changed the result first
    element: str  # with its array, "" if the launch fails in this order
    before: str
    after: str  # or why it fails
    shrunk: ShrunkOrder | None = None  # then `element`, `before` and `after` are its own
    file: str = ""  # the path of its witness, "" for none

    @property
    def sentence(self) -> str:
        """One or two sentences about the order and the element."""
        seed = self.schedule.seed
        order, reversal = f"Random order with seed {seed}", ""
        if self.shrunk is not None:
            order = f"An order with {count_noun(self.shrunk.switches, 'switch')}, shrunk from seed {seed},"
            reversal = f" {self.shrunk.reversal}" if self.shrunk.reversal else ""
        if not self.element:
            return f"{order} ends the launch: {self.after}.{reversal}"
        return f"{order} leaves {self.after} in {self.element} instead of {self.before}.{reversal}"


class Outcome(NamedTuple):
    """The outcome of the further orders of a launch."""

    orders: int  # that ran
    changed: ChangedResult | None
    is_repeatable: bool  # whether the launch gave its own result again in its own order


def order_case(trace: Trace, folder: Path) -> OrderCase | None:
    """Prepare a launch to run again; None if it can't: it is too large, a part, or in CUDA C++.

    folder: for the files of the launch's inputs.
    """
    size = sum(content.nbytes for content in trace.initial.values())
    unusable = trace.error is not None or trace.is_part or trace.value is None or not trace.launch
    if unusable or len(trace) > MOST_ACCESSES or size > MOST_INPUT_BYTES or is_in_cuda_cpp(trace):
        return None
    launch = decode(trace.launch)
    try:
        launch = with_inputs(launch, trace, folder)
        if not launch.scenario:
            launch = replace(launch, source=definitions_only(launch.source, launch.constants))
    except (OSError, SyntaxError, ValueError):
        return None
    return OrderCase(launch, trace, results_of(trace))


class OtherOrders:
    """Runs launches in other orders, in a worker process that is started for the first one."""

    def __init__(self, orders: int, seconds: float = TOTAL_SECONDS) -> None:
        self._orders, self._seconds = orders, seconds

    def outcomes(self, cases: Iterable[OrderCase]) -> list[Outcome]:
        """Run each launch until an order changes its result; launches after the time limit run in no order."""
        cases = list(cases)
        if not cases:
            return []
        worker = Worker()
        try:
            worker.start()
            end = time.monotonic() + self._seconds
            return [self._outcome(case, worker, end) for case in cases]
        finally:
            worker.close()

    def _outcome(self, case: OrderCase, worker: Worker, end: float) -> Outcome:
        if time.monotonic() > end:
            return Outcome(0, None, True)
        again = _run(case.launch, worker)
        if isinstance(again, str) or _change(case, again, case.launch.schedule) is not None:
            return Outcome(0, None, False)
        for count in range(self._orders):
            if time.monotonic() > end:
                return Outcome(count, None, True)
            schedule = Schedule("random", count)
            trace = _run(replace(case.launch, schedule=schedule), worker)
            if isinstance(trace, str):
                return Outcome(count + 1, ChangedResult(schedule, "", "", trace), True)
            if changed := _change(case, trace, schedule):
                return Outcome(count + 1, _Shrinking(case, changed, worker, end).shrunk(trace), True)
        return Outcome(self._orders, None, True)


class _Shrinking:
    """Shrinks the random order that changed a result to the fewest switches; equal inputs give equal orders."""

    def __init__(self, case: OrderCase, changed: ChangedResult, worker: Worker, end: float) -> None:
        self._case, self._changed, self._worker, self._end = case, changed, worker, end

    def shrunk(self, trace: Trace) -> ChangedResult:
        """Return the changed result in a small order; the random one if that can't be stated as an explicit order.

        trace: of the random order.
        """
        order = self._smallest(trace)
        result = None if order is None else self._run(order)
        if order is None or result is None:
            return self._changed
        stated = stated_order(order, result, self._case.launch)
        if self._has_effect(stated):
            order = stated
        changed = _change(self._case, result, self._changed.schedule) or self._changed
        own = self._run(LOCKSTEP_ORDER) if self._case.launch.schedule.kind == "lockstep" else self._case.trace
        reversal = None if own is None else reversal_of(own, result)
        return changed._replace(
            shrunk=ShrunkOrder(str(order), order.switches, reversal.sentence if reversal else "")
        )

    def _smallest(self, trace: Trace) -> Order | None:
        is_lockstep = self._case.launch.schedule.kind == "lockstep"
        if self._has_effect(LOCKSTEP_ORDER):
            return None if is_lockstep else LOCKSTEP_ORDER
        likely = islice(self._likely_orders(), MOST_LIKELY_ORDERS) if is_lockstep else ()
        order = next(filter(self._has_effect, likely), None) or self._explicit(trace)
        return shrink(order, self._has_effect) if order is not None and order.switches > 1 else order

    def _likely_orders(self) -> Iterator[Order]:
        """Yield orders with one or two switches that reverse a race of the launch."""
        own = self._case.trace
        yield from likely_orders(own, races_of(own, missed_barriers_of(own)))

    def _explicit(self, trace: Trace) -> Order | None:
        """Return the random order as an explicit one, None if it has no effect as such."""
        if not len(trace) <= MOST_SWITCHED_ACCESSES:
            return None
        order = order_of_turns(zip(trace.block.tolist(), trace.thread.tolist(), strict=True))
        shorter = with_few_switches(trace) if can_explore(trace) else order
        return next(filter(self._has_effect, (shorter, order)), None)

    def _has_effect(self, order: Order) -> bool:
        """Check if an order changes the result, or ends the launch, as the random one does."""
        trace = self._run(order)
        changed = None if trace is None else _change(self._case, trace, self._changed.schedule)
        return changed is not None and bool(changed.element) == bool(self._changed.element)

    def _run(self, order: Order) -> Trace | None:
        """Run the launch in an order; return None if it is impossible, never ends, or the time is over."""
        if time.monotonic() > self._end:
            return None
        schedule = Schedule("order", self._case.launch.schedule.seed, str(order))
        trace = _run(replace(self._case.launch, schedule=schedule), self._worker)
        # A thread that polls while no other thread runs is no fault of the kernel: a GPU runs the others too.
        is_endless = not isinstance(trace, str) and trace.error is not None and trace.error.type == ENDLESS
        return None if isinstance(trace, str) or is_endless else trace


def _run(launch: Launch, worker: Worker) -> Trace | str:
    """Trace a launch; return a text if that is not possible."""
    try:
        return worker.run(launch, patience=PATIENCE)
    except (WorkerError, RunCancelledError) as error:
        return str(error).removesuffix(".")


def _change(case: OrderCase, trace: Trace, schedule: Schedule) -> ChangedResult | None:
    """Describe how a run ends differently from the launch: with an error or with another value, None if it does not."""
    if trace.error is not None:
        text = f"{trace.error.type}: {trace.error.message}".removesuffix(": ")
        return ChangedResult(schedule, "", "", text.removesuffix("."))
    return _difference(case, trace, schedule)


def _difference(case: OrderCase, trace: Trace, schedule: Schedule) -> ChangedResult | None:
    """Return the first element whose last value differs by more than rounding; None if there is none."""
    if trace.value is None:
        return None
    for changed in differing_elements(case.trace, case.results, trace):
        buffer, first = changed.buffer, int(changed.elements[0])
        old, new = _text(changed.before[0], buffer.dtype), _text(changed.after[0], buffer.dtype)
        return ChangedResult(schedule, element_text(buffer, first), old, new)
    return None


def _text(value: Any, dtype: str) -> str:
    kind = np.dtype(dtype).kind
    if kind in "iu" and int(value.real) == int(poison(np.dtype(dtype))):
        return "a value of unwritten memory"
    if kind in "iub":
        return str(int(value.real))
    return f"{complex(value):.6g}" if kind == "c" else f"{float(value.real):.6g}"
