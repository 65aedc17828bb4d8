"""Plain Python programs that play a launch (kernels/emulation.py), traced as what they are.

A program without threads is one thread a block, its accesses in their order; each sweep over the threads of a
block is a phase. Where it starts Python threads these are the block's threads and a Barrier parts the phases.
They are played in turns, from barrier to barrier, in the order of the schedule: their own order is another
each time.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import BrokenBarrierError
from types import SimpleNamespace
from typing import Any

import greenlet

from ..model.launch import Launch, Schedule
from ..model.trace import Dim3, unravel
from ..recording.kernel_loader import arrays_of, load_function
from ..recording.recorder import Recorder, TooLarge
from ..recording.run_record import RunRecord
from .cuda_threads import Index3, ThreadRaised
from .execution import Execution
from .scheduler import Scheduler


def run_program(launch: Launch, report: Callable[[int, int], None]) -> tuple[RunRecord, str]:
    """Run a program on recording arrays and return its recorded run and its file; raises LoadError."""
    module, program = load_function(launch)
    arguments, names = arrays_of(launch, SimpleNamespace(py_func=program))
    execution = Execution(RunRecord(launch, names, report))
    scheduler = EmulationScheduler(execution.recorder, launch.schedule)
    execution.scheduler = scheduler
    module_blocks, module_threads = module.blocks, module.threads
    emulated = {
        "blocks": lambda grid: scheduler.sweep_blocks(module_blocks(grid)),
        "threads": lambda block: scheduler.sweep_threads(module_threads(block)),
        "shared_array": partial(_shared, execution, scheduler),  # its caller must be the next frame
        "Thread": scheduler.thread,
        "Barrier": scheduler.barrier_for,
    }
    module.__dict__.update(emulated)
    execution.execute(program, launch.grid, launch.block, tuple(arguments), debug=False)
    return execution.record, str(module.__file__)


def _shared(execution: Execution, scheduler: EmulationScheduler, shape: Any, dtype: Any) -> Any:
    """Return shared memory for the block under way, filled with zeros as the program's is."""
    array = execution.declared("shared", shape, dtype, scheduler.shared)
    array._memory.cells[:] = 0
    return array


class EmulationScheduler(Scheduler):
    """Runs a program in the place of the scheduler: `current` is who acts, and nobody is interrupted."""

    def __init__(self, recorder: Recorder, schedule: Schedule) -> None:
        super().__init__(recorder, Schedule("sequential"), 1)
        self.shared: dict[Any, Any] = {}
        self.team: list[EmulatedThread] = []
        self._dice = random.Random(schedule.seed) if schedule.kind == "random" else None
        self._block = self._phase = -1

    def run(
        self, kernel: Callable[..., Any], arguments: tuple[Any, ...], grid: Dim3, dim: Dim3,
        blocks: Sequence[int], report: Callable[[int, int], None],
    ) -> None:  # fmt: skip
        """Run the program; raises ThreadRaised when it raises."""
        self._grid, self._chosen, self._report = grid, blocks, report
        try:
            kernel(*arguments)
        except TooLarge:
            raise
        except Exception as error:  # whatever the program raises is shown to its author
            raise ThreadRaised(self.current, error) from error

    def sweep_blocks(self, coordinates: Iterator[Any]) -> Iterator[Any]:
        """Yield the coordinates of the blocks that are to be run, and note when each begins and ends."""
        done = 0
        for number, block in enumerate(coordinates):
            if number not in self._chosen:
                continue
            self._block, self._phase, self.shared = number, -1, {}
            yield block
            self.recorder.finish_block(number)
            done += 1
            self._report(done, len(self._chosen))

    def sweep_threads(self, coordinates: Iterator[Any]) -> Iterator[Any]:
        """Yield the coordinates of a block's threads in another phase of the block: the one before has ended."""
        if self._phase >= 0:
            frame = sys._getframe(1)  # the loop over the threads, which is the barrier here
            self.recorder.arrive(self.current.context, frame.f_code, frame.f_lasti)
        self._phase += 1
        self.team = []
        self.begin_turn(0, self._phase)
        yield from coordinates

    def begin_turn(self, thread: int, phase: int) -> None:
        """Let a thread of the block act in a phase."""
        block = SimpleNamespace(index=Index3(*unravel(self._block, self._grid)))
        context = self.recorder.context(self._block, thread, phase)
        self.current = SimpleNamespace(context=context, number=thread, block=block)

    def thread(self, target: Callable[..., Any], args: tuple[Any, ...] = ()) -> EmulatedThread:
        """Return what stands for a Python thread, the next of the block's team."""
        self.team.append(EmulatedThread(self, len(self.team), target, args))
        return self.team[-1]

    def barrier_for(self, parties: int) -> EmulatedBarrier:
        """Return what stands for a Barrier."""
        return EmulatedBarrier(self, parties)

    def run_team(self) -> None:
        """Run the team from barrier to barrier until all have ended."""
        while left := [thread for thread in self.team if not thread.body.dead]:
            if self._dice:
                self._dice.shuffle(left)
            for thread in left:
                self.begin_turn(thread.number, thread.phase)
                thread.body.switch()


class EmulatedThread:
    """A Python thread as far as the programs use one."""

    def __init__(
        self, scheduler: EmulationScheduler, number: int, target: Callable[..., Any], args: tuple[Any, ...]
    ) -> None:
        self.scheduler, self.number, self.phase = scheduler, number, 0
        self.body = greenlet.greenlet(lambda: target(*args))

    def start(self) -> None:
        """Do nothing yet: all are played once one is waited for."""

    def join(self) -> None:
        """Return when the thread has ended."""
        if not self.body.dead:
            self.scheduler.run_team()


class EmulatedBarrier:
    """A Barrier as far as the programs use one; one that not all can reach raises BrokenBarrierError."""

    def __init__(self, scheduler: EmulationScheduler, parties: int) -> None:
        self._stage, self._parties, self._here = scheduler, parties, 0

    def wait(self) -> None:
        """Let the others of the team act until all are here."""
        scheduler, frame = self._stage, sys._getframe(1)
        me = scheduler.team[scheduler.current.number]
        scheduler.recorder.arrive(scheduler.current.context, frame.f_code, frame.f_lasti)
        me.phase += 1
        self._here += 1
        me.body.parent.switch()
        while self._here < me.phase * self._parties:
            if all(thread.body.dead or thread.phase >= me.phase for thread in scheduler.team):
                raise BrokenBarrierError("a thread ended without coming to the barrier")
            me.body.parent.switch()
