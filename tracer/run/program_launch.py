"""A launch of a user's program: compiled where that pays and shows what a GPU would do, else by the simulator."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from msgspec.structs import replace as replace_launch

from ..compiled.not_compilable import NotCompilable
from ..model.launch import Launch
from ..model.trace import KernelError, Trace
from ..recording.fresh_memory import fresh_memory
from ..recording.run_record import RunRecord
from ..simulator.execution import Enough, Watch
from ..simulator.numba_patch import (
    KernelCall,
    Perform,
    new_record,
    restart,
    trace_of_simulated_run,
)
from .compiled_kernels import note_compiled, ready_call, was_compiled
from .endless import Bounds, LaunchWatch, NotEnded, Report, looking
from .engine import in_order
from .long_launch import LaunchTimeoutError

if TYPE_CHECKING:  # numba is imported where compiling pays
    from ..compiled.driver.engine import Prepared

# The simulator makes so many accesses, or runs so many seconds, in about the time that it takes to compile a kernel.
ENOUGH = 65_536
LONG = 1.0
FIRST = 1 << 14  # accesses that are kept of a launch that was ended
AGAIN = 1.0  # seconds of CPU time that they may take
_made: dict[CodeType, int] = {}  # accesses of each kernel that the simulator has made in this process


class BoundedLaunch(NamedTuple):
    """A launch that is ended where a block of it takes too long."""

    perform: Perform  # runs a call
    ended: Report  # gets how many blocks have ended, and of how many
    look: (
        Callable[[], None] | None
    )  # to be called by another thread now and then; None where nothing is ended


class ProgramLaunch:
    """Runs a call of a kernel, and again where another engine takes over, on the arguments as they were.

    raised, trace: what the kernel raised, and what the attempt that counts recorded; None before there is one. last:
    a trace of the last block, where that of the launch does without it and somebody wants it.
    """

    def __init__(self) -> None:
        self.raised: BaseException | None = None
        self.trace: Trace | None = None
        self.last: Trace | None = None
        self._record: RunRecord | None = None
        self._why, self._settled = "", False
        self._ready: Prepared | None = None
        self._attempted: RunRecord | None = None  # what was run compiled last

    def simulate(self, call: KernelCall) -> None:
        """Run a call by the simulator."""
        execution = restart()
        execution.execute(*call)
        self._finish(execution.record, trace_of_simulated_run(execution.record, _file(execution.record)))

    def compile(self, call: KernelCall) -> None:
        """Run a call compiled, or else by the simulator."""
        self._compile(call, None)

    def _compile(self, call: KernelCall, ready: Prepared | None) -> None:
        try:
            self._compiled(call, ready)
        except NotCompilable as why:
            self._why = f"not compiled: {why}"
            if self._attempted is not None:
                self._attempted.undo()
            self.simulate(call)

    def choose(self, call: KernelCall) -> None:
        """Run a call by the simulator, unless it makes many accesses and can be compiled."""
        code = call.kernel.__code__
        if call.untyped or was_compiled(code, call.arguments):
            self.compile(call)
            return
        execution = restart(self._watch(call, _made.get(code, 0)))
        record = execution.record
        try:
            execution.execute(*call)
        except Enough:
            record.undo()
            self._compile(call, self._ready)
        else:
            self._settled = True
            self._why = self._why or f"not compiled: fewer than {ENOUGH:,} accesses"
            self._finish(record, trace_of_simulated_run(record, _file(record)))
        _made[code] = _made.get(code, 0) + record.recorder.accesses

    def with_last_block(self, perform: Perform) -> Perform:
        """Return what runs a call, and then its last block by itself, if that was not kept.

        Blocks run in any order, so what it does on the arguments as they were, it might have done in the launch.
        """

        def both(call: KernelCall) -> None:
            perform(call)
            blocks = math.prod(call.grid)
            if self._record and self.trace and self.trace.totals and blocks - 1 not in self.trace.recorded:
                self.last = self._alone(self._record, perform, call, blocks - 1)

        return both

    @contextmanager
    def bounded(
        self, launch: Launch, perform: Perform, patience: float | None, leave: Callable[[str], None]
    ) -> Iterator[BoundedLaunch]:
        """Lend what runs a call and ends it where a block takes longer than `patience`.

        Of what was ended, `trace` holds the first accesses, and `raised` is a LaunchTimeoutError. Ctrl+C raises
        InterruptedLaunch, or calls `leave` where that takes long. Outside the main thread nothing is ended.
        """
        bounds = Bounds() if patience is None else Bounds.of_patience(patience)
        watch = LaunchWatch(launch.kernel.rpartition(":")[0], launch.source, bounds, leave)

        def run(call: KernelCall) -> None:
            try:
                perform(call)
            except NotEnded as end:
                self._give_up(call, end, watch)

        if threading.current_thread() is not threading.main_thread():
            yield BoundedLaunch(perform, watch.report, None)
            return
        with looking(watch, interrupts=True):
            yield BoundedLaunch(run, watch.report, None if patience is None else watch.ask_if_due)

    def _give_up(self, call: KernelCall, end: NotEnded, watch: LaunchWatch) -> None:
        """Take what a launch that was ended does first for its trace, or nothing where it makes no access in time."""
        if self._attempted is not None:
            self._attempted.undo()
        record = self._begun(call, restart(self._until_first_accesses).record.launch, watch)
        record.error = KernelError(
            LaunchTimeoutError.__name__, str(end), (0, 0, 0), (0, 0, 0), end.file, end.line
        )
        self.last = None
        self._why = "ended before it had ended by itself"
        self._finish(record, trace_of_simulated_run(record, _file(record)))
        self.raised = LaunchTimeoutError(str(end))

    def _begun(self, call: KernelCall, launch: Launch, watch: LaunchWatch) -> RunRecord:
        """Return the record of the first accesses of a call, or of no block where there are none in time."""
        for blocks in (launch.blocks, ()):
            execution = restart(self._until_first_accesses)
            execution.record.launch = replace_launch(launch, blocks=blocks)
            watch.begin(Bounds.of_patience(AGAIN))
            with suppress(Enough, NotEnded):
                execution.execute(*call)
            if execution.record.recorder.accesses:
                break
            execution.record.undo()
        execution.record.launch = launch
        return execution.record

    @staticmethod
    def _until_first_accesses(record: RunRecord) -> None:
        if record.recorder.accesses >= FIRST:
            raise Enough

    def note_stores(self) -> None:
        """Note which of the memory that the program allocated the launch has written."""
        if self._record is not None and self.trace is not None:
            fresh_memory.note_stores(self._record, self.trace)

    def _alone(self, record: RunRecord, perform: Perform, call: KernelCall, block: int) -> Trace | None:
        """Return a trace of one block of a call that was run, None where it does not end by itself."""
        kept, left = (self.raised, self.trace), [(m.cells, m.cells.copy()) for m in record.memories]
        record.undo()
        restart().record.launch = replace_launch(record.launch, blocks=(block,))
        perform(call)
        trace = self.trace
        for cells, content in left:
            cells[...] = content
        self.raised, self.trace = kept
        return trace if trace is not None and trace.error is None else None

    def _watch(self, call: KernelCall, before: int) -> Watch:
        """Return what ends a run by the simulator once compiling is worth it, if that can be done."""
        start = time.perf_counter()

        def watch(record: RunRecord) -> None:
            if self._settled or (
                before + record.recorder.accesses < ENOUGH and time.perf_counter() - start < LONG
            ):
                return
            self._settled = True
            try:
                self._ready = ready_call(record.launch, record.names, call)
                if self._ready.program.prints:
                    raise NotCompilable("it has begun to print, and would print all of it again")
            except NotCompilable as why:
                self._why = f"not compiled: {why}"
            else:
                raise Enough

        return watch

    def _finish(self, record: RunRecord, trace: Trace) -> None:
        self.raised, self._record = record.raised, record
        self.trace = replace(trace, made_by=f"{trace.made_by}; {self._why}") if self._why else trace

    def _compiled(self, call: KernelCall, ready: Prepared | None) -> None:
        """Run a call compiled, in the order of its schedule; raises NotCompilable."""
        launch, names = (record := new_record()).launch, record.names
        self._attempted = None
        prepared = ready or ready_call(launch, names, call)
        trace = in_order(
            lambda turns: self._attempt(call, prepared, turns),
            launch.schedule.kind,
            meets=prepared.program.meets,
        )
        assert self._attempted is not None
        self._finish(self._attempted, trace)
        note_compiled(call.kernel.__code__, call.arguments)

    def _attempt(self, call: KernelCall, ready: Prepared, turns: bool) -> Trace:
        """Run a call compiled on the arguments as they were; return the trace."""
        from ..compiled.driver import engine

        if self._attempted is not None:
            self._attempted.undo()
        record = self._attempted = new_record()
        record.grid, record.dim = call.grid, call.block
        engine.execute(
            record, call.kernel, call.arguments, debug=call.debug, prepared_call=ready, turns=turns
        )
        return engine.trace_of_compiled_run(record, _file(record))


def _file(record: RunRecord) -> str:
    return record.launch.kernel.rpartition(":")[0]
