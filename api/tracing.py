"""Launches traced in place of being run on a GPU: one that is named, or all that are made in a while."""

from __future__ import annotations

import numbers
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal, cast, get_args

from ..tracer.calls.call import CallError
from ..tracer.calls.carried import carried_call
from ..tracer.calls.configured import configured_kernel, intercept, launching_classes, wait_for
from ..tracer.model.launch import Schedule
from ..tracer.model.trace import KernelError
from ..tracer.simulator.host.after_import import after_import
from .errors import PartialLaunchWarning, TilescopeError, refuse_unless
from .launches import KernelRaised, TracedLaunch
from .shared_worker import shared_worker, traced

Order = Literal["lockstep", "sequential", "random"]
NO_GPU = (
    "numba.cuda's own functions (to_device, device_array, stream, ...) need a GPU, and only launches are recorded: "
    "pass NumPy arrays to the kernel, or run the program by `tilescope run`."
)


def trace(kernel: Any, *arguments: Any, schedule: Order = "lockstep", seed: int = 0) -> TracedLaunch:
    """Trace `kernel[blocks, threads]` on these arguments, which afterwards hold the results; no GPU is asked.

    kernel: with its blocks and threads, as it would be called: `kernel[grid, block]`, with a stream and bytes of shared
    memory too, or `kernel.forall(tasks)` (in blocks of 1,024 threads where it says no other number). arguments: NumPy
    arrays of any strides, numbers, records, tuples of these, and device arrays, which are copied. schedule, seed: the
    order in which threads take turns.

    The function runs in a process of ours, with its closures and globals as they are now: numbers, texts, arrays,
    tuples, enumerations, types, modules and other functions, of this or other modules, a notebook's cell or a prompt.
    Nothing is imported anew, and the program is not run again. Objects of other classes can't be carried.

    Raises TilescopeError for what can't be traced, in one sentence, and KernelRaised for a kernel that raises. Warns of
    a launch too large to be run whole (PartialLaunchWarning).
    """
    return _traced(kernel, arguments, _schedule(schedule, seed), _recordings())


@contextmanager
def trace_launches(*, schedule: Order = "lockstep", seed: int = 0) -> Iterator[list[TracedLaunch]]:
    """Trace every launch of this process while the context lasts, in place of the GPU; the list gets each as it ends.

    `kernel[blocks, threads](...)` returns when the results are in its arguments. All threads' launches are meant, one
    at a time, and what `trace` traces; of contexts in each other, all get the launches made while they last, and the
    one begun last says the schedule. Processes that are forked meanwhile trace their own and add nothing here.
    numba.cuda may be imported inside. What raises goes on as it is, and afterwards launches are the GPU's again. A
    launch raises what `trace` does. Where there is no GPU, numba.cuda's own functions (to_device, stream) still need
    one: pass NumPy arrays.
    """
    mine = _Recording([], _schedule(schedule, seed))
    _begin(mine)
    try:
        yield mine.launches
    except Exception as error:
        if type(error).__name__ == "CudaSupportError":  # of numba's, which is not imported here
            error.add_note(NO_GPU)
        raise
    finally:
        _end(mine)


def record(*, schedule: Order = "lockstep", seed: int = 0) -> AbstractContextManager[list[TracedLaunch]]:
    """Trace launches as `trace_launches` does, under the name of earlier releases."""
    message = "tilescope.record is now tilescope.trace_launches; the next release drops the old name."
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return trace_launches(schedule=schedule, seed=seed)


def _schedule(order: str, seed: object) -> Schedule:
    """Return an order of threads' turns; raises TilescopeError for one that is not known."""
    refuse_unless("schedule", order, get_args(Order))
    if not isinstance(seed, numbers.Integral) or seed < 0:
        raise TilescopeError(f"seed must be a whole number from 0 on, not {seed!r}.")
    return Schedule(cast(Order, order), int(seed))


class _Recording:
    """A context under way: what it has recorded, and in which order threads take turns."""

    def __init__(self, launches: list[TracedLaunch], schedule: Schedule) -> None:
        self.launches, self.schedule = launches, schedule


_lock = threading.RLock()
_under_way: list[_Recording] = []  # the innermost last
_put_back: list[Callable[[], None]] = []  # what undoes the interception
_waits_for_import = False


def _begin(recording: _Recording) -> None:
    global _waits_for_import
    shared_worker().start()
    with _lock:
        _under_way.append(recording)
        if "numba.cuda" not in sys.modules and not _waits_for_import:
            _waits_for_import = True
            after_import("numba.cuda", _intercept)
        _intercept()


def _end(recording: _Recording) -> None:
    with _lock:
        _under_way.remove(recording)
        while _put_back and not _under_way:
            _put_back.pop()()


def _intercept() -> None:
    """Have launches come here, unless they do already or nobody records."""
    with _lock:
        if _under_way and not _put_back:
            _put_back.extend(intercept(kind, _launched) for kind in launching_classes())


def _launched(configured: Any, *arguments: Any) -> None:
    """Trace a launch in place of numba's making it."""
    recordings = _recordings()
    schedule = recordings[-1].schedule if recordings else Schedule()
    _traced(configured, arguments, schedule, recordings, 4)


def _recordings() -> list[_Recording]:
    with _lock:
        return list(_under_way)


def _traced(
    given: Any,
    arguments: tuple[Any, ...],
    schedule: Schedule,
    recordings: Sequence[_Recording],
    level: int = 3,
) -> TracedLaunch:
    """Trace a launch, add it to these recordings, and return it; raises TilescopeError.

    level: how many calls lead here from the user's, who is warned.
    """
    try:
        configured = configured_kernel(given)
        wait_for(configured.stream)
        call = carried_call(configured, arguments, schedule)
    except CallError as error:
        raise TilescopeError(str(error)) from error
    kept = traced(call)
    launch, made = TracedLaunch(kept.load, call.question), kept.load()
    for recording in recordings:
        recording.launches.append(launch)
    if made.error is not None:
        raise KernelRaised(_raised_text(made.error), launch)
    if made.is_part and len(made.blocks) < _blocks(launch):
        text = f"{launch.kernel} is too large to be traced whole: {launch.notice}"
        warnings.warn(
            f"{text} Its arrays lack what the others would write.", PartialLaunchWarning, stacklevel=level
        )
    return launch


def _raised_text(error: KernelError) -> str:
    text = f"{error.type}: {error.message}".removesuffix(": ").removesuffix(".")
    return f"{error.file}:{error.line}: thread {error.thread} of block {error.block} raised {text}."


def _blocks(launch: TracedLaunch) -> int:
    x, y, z = launch.grid
    return x * y * z
