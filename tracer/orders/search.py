"""Search for an order of threads that changes the result of a launch, and prove for small launches that none does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..model.launch import Launch, Schedule
from ..model.order import Order, Segment, kernel_version, order_of_turns
from ..model.trace import STOPPED, Op, Trace
from ..races.conflicting_accesses import Race
from ..races.detect import races_of
from ..races.missed_barriers import missed_barriers_of
from ..run.worker_client import LaunchTooSlowError, WorkerError
from .elements import element_of
from .explore import Exploration, can_explore, most_orders
from .guided import likely_orders
from .linearise import with_few_switches
from .order_text import Reversal, reversal_of
from .outcome import Cell, Outcome, differing_cells, number_text, outcome_of, outcomes_differ
from .run_events import Execution
from .shrink import shrink

Run = Callable[[Launch], Trace]
LOCKSTEP_ORDER = Order((Segment(-1, 0, 0, barrier=0),))  # no thread leaves the order of lockstep
MOST_LIKELY_ORDERS = 60
SHRINKING_ORDERS, SHRINKING_SECONDS = 300, 10.0  # beyond the limits of a search
ENDLESS = "LivelockError"  # the error of a launch that never ends
MOST_CELLS = 8  # named in a result
RANDOM_SEEDS = range(1, 13)
MOST_OUTCOMES = 256  # different outcomes that are kept for the values of an element
MOST_BYTES = 512 << 20  # of orders that an exploration remembers
MOST_SWITCHED_ACCESSES = 20_000  # of a random run that becomes an order


class OrderSearchError(Exception):
    """A launch whose orders can't be searched; one sentence."""


class SearchLimits(Struct, frozen=True):
    """The limits of a search."""

    orders: int = 2000
    seconds: float = 30.0


DEFAULT_LIMITS = SearchLimits()


class ChangedCell(Struct, frozen=True):
    """An element whose final value differs."""

    name: str
    before: str  # final value in the launch's own order
    after: str  # final value in this order


class ChangingOrder(Struct, frozen=True):
    """An order that changes the result."""

    order: str  # its text
    switches: int  # number of times that a thread goes before its turn
    sentence: str  # which two accesses it reverses, "" if no value shows it
    cells: tuple[ChangedCell, ...]  # the first differing elements
    differing: int  # number of differing elements
    error: str = ""  # the exception that ends the launch in one of the orders
    was_correct: bool | None = None  # whether the launch's own order gave NumPy's result; None if unknown
    is_correct: bool | None = None  # the same for this order
    reversal: Reversal | None = None


class FinalValue(Struct, frozen=True):
    """A possible final value of an element."""

    value: str
    orders: int  # number of orders that give it
    order: str  # one of them; "" for the launch's own


class SearchResult(Struct, frozen=True):
    """The result of a search."""

    kernel: str
    changing_order: ChangingOrder | None
    tried: int  # launches that were run
    orders: int  # different orders of the accesses that several threads share, as far as they were told apart
    is_complete: bool  # whether these are all orders
    is_race_free: bool  # whether no two accesses race, so that every order gives the same result
    at_most: float  # estimate of the number of orders from above
    why_incomplete: str  # "" or the limit that ended the search
    seconds: float
    memory: int  # bytes that the search held, at most
    element: str = ""
    values: tuple[FinalValue, ...] = ()

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        if self.changing_order is not None:
            return changed_text(self.changing_order)
        if self.is_race_free:
            return "No accesses of two threads race: every order gives the same result, which is a proof."
        if self.is_complete:
            return (
                f"All {self.orders:,} orders of the accesses that threads share were tried: none changes the result, "
                "which is a proof for this launch."
            )
        count = "1 order" if self.tried == 1 else f"{self.tried:,} orders"
        return f"None in {count}: {self.why_incomplete}, so this is no proof."


def changed_text(changing_order: ChangingOrder) -> str:
    """Describe the effect of an order in a sentence."""
    switches = "1 switch" if changing_order.switches == 1 else f"{changing_order.switches} switches"
    if changing_order.error:
        return f"An order with {switches} changes how the launch ends: {changing_order.error}."
    if not changing_order.cells:
        return f"An order with {switches} changes which elements are written."
    cell = changing_order.cells[0]
    more = (
        f", and {changing_order.differing - 1:,} more elements differ" if changing_order.differing > 1 else ""
    )
    return f"An order with {switches} changes the result: {cell.name} is {cell.after} instead of {cell.before}{more}."


def search_orders(
    launch: Launch,
    run: Run,
    limits: SearchLimits = DEFAULT_LIMITS,
    *,
    element: str = "",
    stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[int, float], None] = lambda tried, at_most: None,
) -> SearchResult:
    """Search the orders of a launch's threads for one that changes its result.

    run: traces a launch, and raises WorkerError for an order that is impossible. element: an element such as "out[0]"
    whose possible final values are counted. stopped: asked before each run. progress: called with the number of runs
    and the estimate of orders. Raises OrderSearchError and RunCancelledError.
    """
    return _Search(launch, run, limits, stopped, progress).search(element)


class _Search:
    def __init__(
        self, launch: Launch, run: Run, limits: SearchLimits, stopped: Callable[[], bool],
        progress: Callable[[int, float], None],
    ) -> None:  # fmt: skip
        self._launch, self._run_launch, self._limits = launch, run, limits
        self._stopped, self._progress = stopped, progress
        self._begin = time.monotonic()
        self._tried = 0
        self._at_most = 1.0
        self._why = ""

    def search(self, element: str) -> SearchResult:
        """Search likely orders first, then all orders or random ones."""
        own = self._first_run()
        reference = outcome_of(own)
        cell = element_of(reference, own, element) if element else None
        lockstep = own
        changing_order: Order | None = None
        if self._launch.schedule.kind != "lockstep":
            trace = self._run(LOCKSTEP_ORDER)
            if trace is None:
                raise OrderSearchError("The launch doesn't end in lockstep, so its orders can't be compared.")
            lockstep = trace
            changing_order = LOCKSTEP_ORDER if outcomes_differ(reference, outcome_of(lockstep)) else None
        if can_explore(lockstep):
            self._at_most = most_orders(Execution(lockstep))
        races = races_of(lockstep, missed_barriers_of(lockstep))
        race_free = changing_order is None and not races and is_order_free(lockstep)
        if not can_explore(lockstep):
            self._at_most = 1.0 if race_free else math.inf
        if changing_order is None and not race_free:
            changing_order = self._likely_in_block(lockstep, reference, races)
            if changing_order is None:
                changing_order = self._likely(lockstep, reference, races)
        exploration: Exploration | None = None
        values: dict[bytes, tuple[Outcome, int, str]] = {}
        if (changing_order is None or cell is not None) and not (race_free and cell is None):
            if can_explore(lockstep):
                exploration = Exploration(self._run, lockstep, self._limits.orders)
                changing_order = self._explore(
                    exploration, reference, changing_order, values, count_all=cell is not None
                )
            elif changing_order is None:
                changing_order = self._random(reference)
                self._why = self._why or "the launch is too large to try all orders"
        shown = self._shown(changing_order, own, reference) if changing_order is not None else None
        return SearchResult(
            kernel=own.kernel,
            changing_order=shown,
            tried=self._tried,
            orders=exploration.classes if exploration else self._tried,
            is_complete=race_free or (exploration is not None and exploration.is_complete),
            is_race_free=race_free,
            at_most=self._at_most,
            why_incomplete=self._why,
            seconds=time.monotonic() - self._begin,
            memory=(exploration.nbytes if exploration else 0) + own.nbytes,
            element=cell.name if cell else "",
            values=_final_values(values, cell) if cell else (),
        )

    def _first_run(self) -> Trace:
        schedule = self._launch.schedule
        # An explicit order runs in turns even where the threads don't interact.
        launch = self._with_order(LOCKSTEP_ORDER) if schedule.kind == "lockstep" else self._launch
        try:
            trace = self._run_launch(launch)
        except WorkerError as error:
            raise OrderSearchError(str(error)) from error
        self._tried += 1
        if trace.accesses > len(trace) or trace.notice.startswith(STOPPED):
            raise OrderSearchError(
                f"The launch makes {trace.accesses:,} accesses, too many to keep; choose a smaller size."
            )
        return trace

    def _with_order(self, order: Order) -> Launch:
        return replace(self._launch, schedule=Schedule("order", self._launch.schedule.seed, str(order)))

    def _is_over(self) -> bool:
        """Check if the search has to end; note why."""
        if self._stopped():
            self._why = "the search was stopped"
        elif time.monotonic() - self._begin > self._limits.seconds:
            self._why = f"the search ended after {self._limits.seconds:g} s"
        elif self._tried >= self._limits.orders:
            self._why = f"the search ended after {self._limits.orders:,} orders"
        else:
            return False
        return True

    def _run(self, order: Order) -> Trace | None:
        """Run the launch in an order; return None if the order is impossible, or the search is over."""
        if self._is_over():
            return None
        self._tried += 1
        self._progress(self._tried, self._at_most)
        try:
            trace = self._run_launch(self._with_order(order))
        except (LaunchTooSlowError, WorkerError):
            return None
        # A thread that polls while no other thread runs is no fault of the kernel: a GPU runs the others too.
        is_endless = trace.error is not None and trace.error.type == ENDLESS
        return trace if trace.accesses == len(trace) and not is_endless else None

    def _changes(self, order: Order, reference: Outcome) -> bool:
        trace = self._run(order)
        return trace is not None and outcomes_differ(reference, outcome_of(trace))

    def _likely_in_block(self, lockstep: Trace, reference: Outcome, races: list[Race]) -> Order | None:
        """Try orders of one block that races in shared memory; the order must change the complete launch as well."""
        complete = self._launch
        race = next((r for r in races if r.harmful), None)
        if race is None or len(lockstep.blocks) == 1 or lockstep.buffers[race.buffer].space != "shared":
            return None
        block = int(lockstep.block[race.first])
        self._launch = replace(complete, blocks=(block,))
        try:
            trace = self._run(LOCKSTEP_ORDER)
            if trace is None:
                return None
            own = outcome_of(trace)
            order = self._likely(trace, own, races_of(trace, missed_barriers_of(trace)))
            if order is None:
                return None
            order = shrink(order, lambda smaller: self._changes(smaller, own))
        finally:
            self._launch = complete
        return order if self._changes(order, reference) else None

    def _likely(self, lockstep: Trace, reference: Outcome, races: list[Race]) -> Order | None:
        """Try orders that reverse the races of the run."""
        for number, order in enumerate(likely_orders(lockstep, races)):
            if number == MOST_LIKELY_ORDERS or self._is_over():
                break
            if self._changes(order, reference):
                return order
        return None

    def _explore(
        self,
        exploration: Exploration,
        reference: Outcome,
        changing_order: Order | None,
        values: dict[bytes, tuple[Outcome, int, str]],
        *,
        count_all: bool,
    ) -> Order | None:
        """Run one order of each class; return the first that changes the result."""
        for visit in exploration.visits():
            outcome = outcome_of(visit.trace)
            if visit.order is not None and changing_order is None and outcomes_differ(reference, outcome):
                changing_order = visit.order
                if not count_all:
                    return changing_order
            key = outcome.digest
            if key in values or len(values) < MOST_OUTCOMES:
                kept, count, text = values.get(key, (outcome, 0, str(visit.order) if visit.order else ""))
                values[key] = kept, count + 1, text
            if exploration.nbytes > MOST_BYTES:
                self._why = f"the search ended at {MOST_BYTES >> 20:,} MiB of memory"
                break
            if self._is_over():
                break
        if not exploration.is_complete and not self._why:
            self._why = (
                f"the search ended after {self._limits.orders:,} orders"
                if exploration.waiting
                else "some of the orders did not end, or could not be followed"
            )
        return changing_order

    def _random(self, reference: Outcome) -> Order | None:
        """Try random orders; return the first that changes the result, as an explicit order."""
        for seed in RANDOM_SEEDS:
            if self._is_over():
                break
            self._tried += 1
            try:
                trace = self._run_launch(replace(self._launch, schedule=Schedule("random", seed)))
            except WorkerError:
                continue
            complete = trace.accesses == len(trace) <= MOST_SWITCHED_ACCESSES
            if complete and outcomes_differ(reference, outcome_of(trace)):
                turns = zip(trace.block.tolist(), trace.thread.tolist(), strict=True)
                order = order_of_turns(turns)
                if self._changes(order, reference):
                    return order
        return None

    def _shown(self, order: Order, own: Trace, reference: Outcome) -> ChangingOrder:
        """Shrink an order, and describe its effect."""
        self._extend_limits()
        trace = self._final_run(order)
        if order != LOCKSTEP_ORDER and order.switches > 1:
            if can_explore(trace):
                shorter = with_few_switches(trace)
                order = shorter if self._changes(shorter, reference) else order
            order = shrink(order, lambda smaller: self._changes(smaller, reference))
            trace = self._final_run(order)
        if order != LOCKSTEP_ORDER:
            stated = stated_order(order, trace, self._launch)
            try:
                trace = self._final_run(stated)
                order = stated
            except WorkerError:  # a turn made several accesses
                pass
        outcome = outcome_of(trace)
        cells = differing_cells(reference, outcome)
        reversal = reversal_of(own, trace)
        errors = [f"{t.error.type}: {t.error.message}" for t in (trace, own) if t.error]
        return ChangingOrder(
            order=str(order),
            switches=order.switches,
            sentence=reversal.sentence if reversal else "",
            cells=tuple(
                ChangedCell(c.name, reference.value_text(c), outcome.value_text(c))
                for c in cells[:MOST_CELLS]
            ),
            differing=len(cells),
            error=errors[0] if errors and outcome.error != reference.error else "",
            was_correct=own.check.equal if own.check else None,
            is_correct=trace.check.equal if trace.check else None,
            reversal=reversal,
        )

    def _extend_limits(self) -> None:
        """Allow some more orders and time, to shrink an order at the limit."""
        elapsed = time.monotonic() - self._begin
        self._limits = SearchLimits(self._tried + SHRINKING_ORDERS, elapsed + SHRINKING_SECONDS)

    def _final_run(self, order: Order) -> Trace:
        return self._run_launch(self._with_order(order))


def stated_order(order: Order, trace: Trace, launch: Launch) -> Order:
    """State the version of the kernel, and the line of the last access of segments with a number of turns.

    trace: of the launch in this order.
    """
    segments = []
    counts: dict[tuple[int, int], int] = {}
    passed: dict[int, int] = {}
    for segment in order.segments:
        if segment.barrier >= 0 and not segment.count:
            passed[segment.block] = segment.barrier
        if segment.is_thread and segment.turns:
            thread = segment.block, segment.first
            rows = (trace.block == segment.block) & (trace.thread == segment.first)
            if thread not in counts:
                phase = passed.get(segment.block, 0)
                counts[thread] = int((rows & (trace.phase < phase)).sum())
            counts[thread] += segment.turns
            accesses = rows.nonzero()[0]
            if counts[thread] <= len(accesses):
                line = trace.sites[int(trace.site[accesses[counts[thread] - 1]])].line
                segment = replace(segment, line=line)
        segments.append(segment)
    kernel = launch.kernel.rpartition(":")[2]
    return Order(tuple(segments), kernel_version(launch.source, kernel))


def is_order_free(trace: Trace) -> bool:
    """Check if a launch without races gives the same result in every order of its threads.

    Barriers order the same accesses in every run. So only atomics whose results are used, different reductions of one
    buffer, and warp operations that leave lanes out may depend on the order.
    """
    if trace.access_counts[:, Op.ATOMIC].any() or trace.missing or len(trace.outside.step) or trace.error:
        return False
    if missed_barriers_of(trace).ran_on.any():
        return False
    reductions = trace.op == Op.REDUCTION
    sites = {
        (int(buffer), int(site))
        for buffer, site in zip(trace.buffer[reductions], trace.site[reductions], strict=True)
    }
    return len(sites) == len({buffer for buffer, _ in sites})


def _final_values(values: dict[bytes, tuple[Outcome, int, str]], cell: Cell) -> tuple[FinalValue, ...]:
    """Count the orders for each final value of an element, ascending by value."""
    counts: dict[Any, tuple[int, str]] = {}
    for outcome, count, order in values.values():
        value = number_text(outcome.value(cell)) if cell.buffer in outcome.values else "not written"
        before, example = counts.get(value, (0, order))
        counts[value] = before + count, example
    ordered = sorted(counts.items(), key=lambda item: _number(item[0]))
    return tuple(FinalValue(value, count, order) for value, (count, order) in ordered)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("inf")
