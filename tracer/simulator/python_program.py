"""Traces plain Python programs that emulate a launch (kernels/emulation.py).

A program without threads has one thread per block, and its accesses keep their order. Each sweep over the threads of a
block is a phase. If the program starts Python threads, these are the block's threads, and a Barrier separates phases.
They run in turns, from barrier to barrier, in the order of the schedule, because their natural order varies.
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
from ..recording.kernel_loader import create_arguments, load_function
from ..recording.recorder import Recorder, TooManyAccessesError
from ..recording.run_record import RunRecord
from .cuda_threads import Index3, ThreadRaisedError
from .execution import Execution
from .scheduler import Scheduler


def run_program(launch: Launch, report: Callable[[int, int], None]) -> tuple[RunRecord, str]:
    """Run a program on recording arrays and return its recorded run and its file; raises LoadError."""
    module, program = load_function(launch)
    arguments, names = create_arguments(launch, SimpleNamespace(py_func=program))
    execution = Execution(RunRecord(launch, names, report))
    scheduler = EmulationScheduler(execution.recorder, launch.schedule)
    execution.scheduler = scheduler
    module_blocks, module_threads = module.blocks, module.threads
    emulated = {
        "blocks": lambda grid: scheduler.sweep_blocks(module_blocks(grid)),
        "threads": lambda block: scheduler.sweep_threads(module_threads(block)),
        "shared_array": partial(_shared, execution, scheduler),  # the caller must be the next frame
        "Thread": scheduler.thread,
        "Barrier": scheduler.barrier_for,
    }
    module.__dict__.update(emulated)
    execution.execute(program, launch.grid, launch.block, tuple(arguments), debug=False)
    return execution.record, str(module.__file__)


def _shared(execution: Execution, scheduler: EmulationScheduler, shape: Any, dtype: Any) -> Any:
    """Return zero-filled shared memory for the current block."""
    array = execution.declared("shared", shape, dtype, scheduler.shared)
    array._memory.cells[:] = 0
    return array


class EmulationScheduler(Scheduler):
    """Runs an emulating program without interruptions; `current` is the emulated thread."""

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
        """Run the program; raises ThreadRaisedError when it raises."""
        self._grid, self._chosen, self._report = grid, blocks, report
        try:
            kernel(*arguments)
        except TooManyAccessesError:
            raise
        except Exception as error:  # the program's exception is shown to its author
            raise ThreadRaisedError(self.current, error) from error

    def sweep_blocks(self, coordinates: Iterator[Any]) -> Iterator[Any]:
        """Yield the coordinates of the chosen blocks, and note when each begins and ends."""
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
        """Yield the coordinates of a block's threads in the next phase of the block."""
        if self._phase >= 0:
            frame = sys._getframe(1)  # the loop over the threads, which is the barrier here
            self.recorder.arrive(self.current.context, frame.f_code, frame.f_lasti)
        self._phase += 1
        self.team = []
        self.begin_turn(0, self._phase)
        yield from coordinates

    def begin_turn(self, thread: int, phase: int) -> None:
        """Make a thread of the block current in a phase."""
        block = SimpleNamespace(index=Index3(*unravel(self._block, self._grid)))
        context = self.recorder.context(self._block, thread, phase)
        self.current = SimpleNamespace(context=context, number=thread, block=block)

    def thread(self, target: Callable[..., Any], args: tuple[Any, ...] = ()) -> EmulatedThread:
        """Return the emulation of a Python thread, the next of the block's team."""
        self.team.append(EmulatedThread(self, len(self.team), target, args))
        return self.team[-1]

    def barrier_for(self, parties: int) -> EmulatedBarrier:
        """Return the emulation of a Barrier."""
        return EmulatedBarrier(self, parties)

    def run_team(self) -> None:
        """Run the team from barrier to barrier until all have ended."""
        while alive := [thread for thread in self.team if not thread.body.dead]:
            if self._dice:
                self._dice.shuffle(alive)
            for thread in alive:
                self.begin_turn(thread.number, thread.phase)
                thread.body.switch()


class EmulatedThread:
    """An emulated Python thread, with the methods that the programs use."""

    def __init__(
        self, scheduler: EmulationScheduler, number: int, target: Callable[..., Any], args: tuple[Any, ...]
    ) -> None:
        self.scheduler, self.number, self.phase = scheduler, number, 0
        self.body = greenlet.greenlet(lambda: target(*args))

    def start(self) -> None:
        """Do nothing yet: the first join runs all threads."""

    def join(self) -> None:
        """Run the team until the thread has ended."""
        if not self.body.dead:
            self.scheduler.run_team()


class EmulatedBarrier:
    """An emulated Barrier; it raises BrokenBarrierError if a thread can't reach it."""

    def __init__(self, scheduler: EmulationScheduler, parties: int) -> None:
        self._scheduler, self._parties, self._arrived = scheduler, parties, 0

    def wait(self) -> None:
        """Let the other threads of the team run until all have arrived."""
        scheduler, frame = self._scheduler, sys._getframe(1)
        caller = scheduler.team[scheduler.current.number]
        scheduler.recorder.arrive(scheduler.current.context, frame.f_code, frame.f_lasti)
        caller.phase += 1
        self._arrived += 1
        caller.body.parent.switch()
        while self._arrived < caller.phase * self._parties:
            if all(thread.body.dead or thread.phase >= caller.phase for thread in scheduler.team):
                raise BrokenBarrierError("a thread ended without coming to the barrier")
            caller.body.parent.switch()
