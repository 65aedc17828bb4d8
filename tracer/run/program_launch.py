"""Launches of a user's program: compiled if that is faster and behaves as on a GPU, otherwise in the simulator."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec.structs import replace
from msgspec.structs import replace as replace_launch
from numpy.typing import NDArray

from ..compiled.not_compilable import NotCompilableError
from ..compiled.rewrite.round_bits import has_rounds_to_record
from ..model.launch import Launch
from ..model.trace import KernelError, Trace
from ..recording.fresh_memory import fresh_memory
from ..recording.run_record import RunRecord
from ..recording.stream_order import stream_order, uses_of_launch
from ..simulator.execution import StopRecording, Watch
from ..simulator.numba_patch import (
    KernelCall,
    Perform,
    new_record,
    restart,
    trace_of_simulated_run,
)
from .compiled_kernels import note_compiled, prepare_call, was_compiled
from .endless import Bounds, EndlessLaunchError, LaunchWatch, Report, check_on_signal
from .engine import trace_in_order
from .long_launch import LaunchTimeoutError

if TYPE_CHECKING:  # numba is imported only when a kernel is compiled
    from ..compiled.driver.engine import PreparedCall

# After this many accesses or seconds of CPU time in the simulator, compiling the kernel is worth its time.
COMPILE_AFTER_ACCESSES = 65_536
COMPILE_AFTER = 1.0
FIRST_ACCESSES = 1 << 14  # accesses that are kept of a stopped launch
RETRY_SECONDS = 1.0  # seconds of CPU time that they may take
_simulated_accesses: dict[CodeType, int] = {}  # by kernel, in this process


class BoundedLaunch(NamedTuple):
    """A launch that is stopped if a block takes too long."""

    perform: Perform  # runs a call
    ended: Report  # gets the number of ended blocks and of all blocks
    look: (
        Callable[[], None] | None
    )  # checks the launch, called periodically by another thread; None for no checks


class ProgramLaunch:
    """Runs a call of a kernel, and runs it again with restored arguments if another engine takes over.

    raised: the kernel's exception. trace: the trace of the final attempt. last: a trace of the last block, if it was
    requested and `trace` lacks that block. Each is None until it exists.
    """

    def __init__(self) -> None:
        self.raised: BaseException | None = None
        self.trace: Trace | None = None
        self.last_block_trace: Trace | None = None
        self._record: RunRecord | None = None
        self._reason, self._has_engine = "", False
        self._ready: PreparedCall | None = None
        self._attempted: RunRecord | None = None  # record of the last compiled attempt

    def simulate(self, call: KernelCall) -> None:
        """Run a call in the simulator."""
        execution = restart()
        execution.execute(*call)
        self._finish(execution.record, trace_of_simulated_run(execution.record, _file(execution.record)))

    def compile(self, call: KernelCall) -> None:
        """Run a call compiled, or in the simulator if it can't be compiled."""
        self._compile_or_simulate(call, None)

    def _compile_or_simulate(self, call: KernelCall, ready: PreparedCall | None) -> None:
        try:
            self._run_compiled(call, ready)
        except NotCompilableError as error:
            self._reason = f"not compiled: {error}"
            if self._attempted is not None:
                self._attempted.undo()
            self.simulate(call)

    def choose(self, call: KernelCall) -> None:
        """Run a call in the simulator, unless it makes many accesses and can be compiled."""
        code = call.kernel.__code__
        if call.untyped or was_compiled(code, call.arguments) or has_rounds_to_record(call.kernel):
            self.compile(call)
            return
        execution = restart(self._make_watch(call, _simulated_accesses.get(code, 0)))
        record = execution.record
        try:
            execution.execute(*call)
        except StopRecording:
            record.undo()
            self._compile_or_simulate(call, self._ready)
        else:
            self._has_engine = True
            self._reason = self._reason or f"not compiled: fewer than {COMPILE_AFTER_ACCESSES:,} accesses"
            self._finish(record, trace_of_simulated_run(record, _file(record)))
        _simulated_accesses[code] = _simulated_accesses.get(code, 0) + record.recorder.accesses

    def with_last_block(self, perform: Perform) -> Perform:
        """Return a function that runs a call, and then only its last block if the trace lacks it.

        Blocks run in any order, so the block may run on the original arguments.
        """

        def run_both(call: KernelCall) -> None:
            perform(call)
            blocks = math.prod(call.grid)
            if self._record and self.trace and self.trace.totals and blocks - 1 not in self.trace.recorded:
                self.last_block_trace = self._trace_block(self._record, perform, call, blocks - 1)

        return run_both

    @contextmanager
    def bounded(
        self,
        launch: Launch,
        perform: Perform,
        patience: float | None,
        leave: Callable[[str], None] | None = None,
    ) -> Iterator[BoundedLaunch]:
        """Context manager for a launch that is stopped if a block takes longer than `patience`.

        After a stop, `trace` holds the first accesses, and `raised` is a LaunchTimeoutError. Ctrl+C raises
        InterruptedLaunch, or calls `leave` if that takes too long and `leave` is given. Outside the main thread nothing
        is stopped.
        """
        bounds = Bounds() if patience is None else Bounds.of_patience(patience)
        file = launch.kernel.rpartition(":")[0]
        watch = LaunchWatch(file, launch.source, bounds, leave, only_blocks=True)

        def run(call: KernelCall) -> None:
            try:
                perform(call)
            except EndlessLaunchError as stopped:
                self._keep_first_accesses(call, stopped, watch)

        if threading.current_thread() is not threading.main_thread():
            yield BoundedLaunch(perform, watch.report, None)
            return
        with check_on_signal(watch, interrupts=True):
            yield BoundedLaunch(run, watch.report, None if patience is None else watch.request_check_if_due)

    def _keep_first_accesses(self, call: KernelCall, stopped: EndlessLaunchError, watch: LaunchWatch) -> None:
        """Trace the first accesses of a stopped launch, or none if it makes none in time."""
        if self._attempted is not None:
            self._attempted.undo()
        record = self._record_first_accesses(
            call, restart(self._stop_after_first_accesses).record.launch, watch
        )
        record.error = KernelError(
            LaunchTimeoutError.__name__, str(stopped), (0, 0, 0), (0, 0, 0), stopped.file, stopped.line
        )
        self.last_block_trace = None
        self._reason = "stopped before its end"
        self._finish(record, trace_of_simulated_run(record, _file(record)))
        self.raised = LaunchTimeoutError(str(stopped))

    def _record_first_accesses(self, call: KernelCall, launch: Launch, watch: LaunchWatch) -> RunRecord:
        """Record the first accesses of a call; record no block if there are none in time."""
        for blocks in (launch.blocks, ()):
            execution = restart(self._stop_after_first_accesses)
            execution.record.launch = replace_launch(launch, blocks=blocks)
            watch.begin(Bounds.of_patience(RETRY_SECONDS))
            with suppress(StopRecording, EndlessLaunchError):
                execution.execute(*call)
            if execution.record.recorder.accesses:
                break
            execution.record.undo()
        execution.record.launch = launch
        return execution.record

    @staticmethod
    def _stop_after_first_accesses(record: RunRecord) -> None:
        if record.recorder.accesses >= FIRST_ACCESSES:
            raise StopRecording

    def note_stores(self) -> None:
        """Note the memory of the program's arrays that the launch has written."""
        if self._record is not None and self.trace is not None:
            fresh_memory.note_stores(self._record, self.trace)

    def note_stream(self, name: str, stream: object, arguments: Iterable[Any]) -> None:
        """Note what the launch used in its stream, for which the host waits if it copies arguments back."""
        record, trace, hosts = self._record, self.trace, _host_arrays(arguments)
        if record is not None and trace is not None:
            stream_order.add(name, stream, lambda: list(uses_of_launch(record, trace, hosts)))
            if hosts:
                stream_order.synchronize(stream)

    def _trace_block(self, record: RunRecord, perform: Perform, call: KernelCall, block: int) -> Trace | None:
        """Trace one block of a call that has run, None if the block fails."""
        previous, contents = (self.raised, self.trace), [(m.cells, m.cells.copy()) for m in record.memories]
        record.undo()
        restart().record.launch = replace_launch(record.launch, blocks=(block,))
        perform(call)
        trace = self.trace
        for cells, content in contents:
            cells[...] = content
        self.raised, self.trace = previous
        return trace if trace is not None and trace.error is None else None

    def _make_watch(self, call: KernelCall, earlier_accesses: int) -> Watch:
        """Return a watch that stops the simulator once compiling is worth its time and possible."""
        start = math.inf

        def watch(record: RunRecord) -> None:
            nonlocal start
            start = min(
                start, time.thread_time()
            )  # from the first accesses: copies of arguments do not count
            if self._has_engine or (
                earlier_accesses + record.recorder.accesses < COMPILE_AFTER_ACCESSES
                and time.thread_time() - start < COMPILE_AFTER
            ):
                return
            self._has_engine = True
            try:
                self._ready = prepare_call(record.launch, record.names, call)
                if self._ready.program.prints:
                    raise NotCompilableError("it has begun to print, and would print everything again")
            except NotCompilableError as error:
                self._reason = f"not compiled: {error}"
            else:
                raise StopRecording

        return watch

    def _finish(self, record: RunRecord, trace: Trace) -> None:
        self.raised, self._record = record.raised, record
        self.trace = replace(trace, made_by=f"{trace.made_by}; {self._reason}") if self._reason else trace

    def _run_compiled(self, call: KernelCall, ready: PreparedCall | None) -> None:
        """Run a call compiled, in the order of its schedule; raises NotCompilableError."""
        launch, names = (record := new_record()).launch, record.names
        self._attempted = None
        prepared = ready or prepare_call(launch, names, call)
        trace = trace_in_order(
            lambda turns: self._attempt(call, prepared, turns),
            launch.schedule.kind,
            meets=prepared.program.threads_interact,
        )
        assert self._attempted is not None
        self._finish(self._attempted, trace)
        note_compiled(call.kernel.__code__, call.arguments)

    def _attempt(self, call: KernelCall, ready: PreparedCall, turns: bool) -> Trace:
        """Run a call compiled on the original arguments; return the trace."""
        from ..compiled.driver import engine

        if self._attempted is not None:
            self._attempted.undo()
        record = self._attempted = new_record()
        record.grid, record.dim = call.grid, call.block
        engine.execute(
            record, call.kernel, call.arguments, debug=call.debug, prepared_call=ready, turns=turns
        )
        return engine.trace_of_compiled_run(record, _file(record))


def _host_arrays(arguments: Iterable[Any]) -> list[NDArray[Any]]:
    """List the arrays of the host among arguments, also in tuples."""
    arrays: list[NDArray[Any]] = []
    for argument in arguments:
        if isinstance(argument, tuple):
            arrays += _host_arrays(argument)
        elif isinstance(argument, np.ndarray) and not getattr(argument, "__cuda_ndarray__", False):
            arrays.append(argument)
    return arrays


def _file(record: RunRecord) -> str:
    return record.launch.kernel.rpartition(":")[0]
