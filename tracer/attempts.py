"""A launch of a user's program: compiled where that pays and shows what a GPU would do, else by the simulator."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from types import CodeType

from msgspec.structs import replace as replace_launch

from .engine import in_order, is_left, order_matters
from .execution import Enough, Run, Watch
from .simulator import Call, Perform, begin, finished
from .trace import Op, Trace

# The simulator makes so many accesses, or runs so many seconds, in about the time that it takes to compile a kernel.
ENOUGH = 65_536
LONG = 1.0
_made: dict[CodeType, int] = {}  # accesses of each kernel that the simulator has made in this process


class Attempts:
    """Runs a call of a kernel, and again where another engine takes over, on the arguments as they were.

    raised, trace: what the kernel raised, and what the attempt that counts recorded; None before there is one. last:
    a trace of the last block, where that of the launch does without it and somebody wants it.
    """

    def __init__(self) -> None:
        self.raised: BaseException | None = None
        self.trace: Trace | None = None
        self.last: Trace | None = None
        self._run: Run | None = None
        self._why, self._settled = "", False

    def simulate(self, call: Call) -> None:
        """Run a call by the simulator."""
        run = begin()
        run.execute(*call)
        self._finish(run, finished(run, _file(run)))

    def compile(self, call: Call) -> None:
        """Run a call compiled, or else by the simulator."""
        run = begin()
        self._why = self._compiled(run, call)
        if self._why:
            run.undo()
            self.simulate(call)

    def choose(self, call: Call) -> None:
        """Run a call by the simulator, unless it makes many accesses and can be compiled."""
        code = call.kernel.__code__
        run = begin(self._watch(call, _made.get(code, 0)))
        try:
            run.execute(*call)
        except Enough:
            run.undo()
            self.compile(call)
        else:
            self._settled = True
            self._why = self._why or f"not compiled: fewer than {ENOUGH:,} accesses"
            self._finish(run, finished(run, _file(run)))
        _made[code] = _made.get(code, 0) + run.recorder.accesses

    def and_the_last(self, perform: Perform) -> Perform:
        """Return what runs a call, and then its last block by itself, if that was not kept.

        Blocks run in any order, so what it does on the arguments as they were, it might have done in the launch.
        """

        def both(call: Call) -> None:
            perform(call)
            blocks = math.prod(call.grid)
            if self._run and self.trace and self.trace.totals and blocks - 1 not in self.trace.recorded:
                self.last = self._alone(self._run, perform, call, blocks - 1)

        return both

    def _alone(self, run: Run, perform: Perform, call: Call, block: int) -> Trace | None:
        """Return a trace of one block of a call that was run, None where it does not end by itself."""
        kept, left = (self.raised, self.trace), [(m.cells, m.cells.copy()) for m in run.memories]
        run.undo()
        begin().launch = replace_launch(run.launch, blocks=(block,))
        perform(call)
        trace = self.trace
        for cells, content in left:
            cells[...] = content
        self.raised, self.trace = kept
        return trace if trace is not None and trace.error is None else None

    def _watch(self, call: Call, before: int) -> Watch:
        """Return what ends a run by the simulator once compiling is worth it, if that can be done."""
        start = time.perf_counter()

        def watch(run: Run) -> None:
            if self._settled or (
                before + run.recorder.accesses < ENOUGH and time.perf_counter() - start < LONG
            ):
                return
            self._settled = True
            self._why = refusal(run, call)
            if not self._why:
                raise Enough

        return watch

    def _finish(self, run: Run, trace: Trace) -> None:
        self.raised, self._run = run.raised, run
        self.trace = replace(trace, made_by=f"{trace.made_by}; {self._why}") if self._why else trace

    def _compiled(self, run: Run, call: Call) -> str:
        """Run a call compiled; return why the simulator is to run it after all, or nothing."""
        from .compiled import run as engine
        from .compiled.not_compilable import NotCompilable

        run.grid, run.dim, run.executed = call.grid, call.block, True
        try:
            engine.execute(run, call.kernel, call.arguments, debug=call.debug)
        except NotCompilable as why:
            return f"not compiled: {why}"
        trace = engine.finished(run, _file(run))
        reason = order_matters(trace)
        if is_left(trace, reason):
            trace, reason = in_order(trace), ""
        if not reason:
            self._finish(run, trace)
        return reason


def _file(run: Run) -> str:
    return run.launch.kernel.rpartition(":")[0]


def refusal(run: Run, call: Call) -> str:
    """Return why it is no use to run a call compiled, or nothing."""
    from .compiled.not_compilable import NotCompilable
    from .compiled.run import prepared

    try:
        program, _, _ = prepared(run, call.kernel, call.arguments, debug=call.debug)
    except NotCompilable as why:
        return f"not compiled: {why}"
    atomics = any(Op.ATOMIC <= kind <= Op.REDUCTION for kind in program.site_kinds)
    if atomics and run.launch.schedule.kind == "lockstep":
        return "not compiled: the values of its atomics depend on the order"
    return ""
