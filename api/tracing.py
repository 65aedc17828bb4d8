"""Trace launches instead of running them on a GPU: a single one, or all that are made within a context."""

from __future__ import annotations

import math
import numbers
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal, cast, get_args

from ..tracer.calls.call import CallError
from ..tracer.calls.configured_kernel import intercept, launching_classes, read_configured_kernel, wait_for
from ..tracer.calls.describe_call import describe_call
from ..tracer.findings.launch_limits import TIMEOUT
from ..tracer.model.launch import Schedule
from ..tracer.model.trace import KernelError
from ..tracer.run.long_launch import RUN_PATIENCE
from ..tracer.simulator.host.after_import import after_import
from .errors import PartialLaunchWarning, TilescopeError, require_choice
from .launches import KernelRaised, LaunchTimeoutError, TracedLaunch
from .replays import start_in_notebook
from .shared_worker import shared_worker, trace_call

Order = Literal["lockstep", "sequential", "random"]
Before = Callable[[Any, tuple[Any, ...]], None]
NO_GPU = (
    "numba.cuda's own functions (to_device, device_array, stream, ...) need a GPU, and only launches are traced: "
    "pass NumPy arrays to the kernel, or run the program with `tilescope run`."
)


def trace(
    kernel: Any,
    *arguments: Any,
    schedule: Order = "lockstep",
    seed: int = 0,
    patience: float = RUN_PATIENCE,
) -> TracedLaunch:
    """Trace `kernel[blocks, threads]` on these arguments, which then hold the results; no GPU is needed.

    kernel: with its launch configuration, as for a call: `kernel[grid, block]`, also with a stream and bytes of shared
    memory, or `kernel.forall(tasks)` (in blocks of 1,024 threads by default). arguments: NumPy arrays of any strides,
    numbers, records, tuples of these, and device arrays, which are copied. schedule, seed: the order in which threads
    take turns. patience: seconds of CPU time after which a block counts as endless, as for `tilescope run`.

    The function runs in Tilescope's process, with its current closures and globals: numbers, strings, arrays, tuples,
    enumerations, types, modules and other functions, of this or other modules, a notebook's cell or a prompt. No module
    is imported again, and the program is not run again. Objects of other classes can't be transferred.

    Raises TilescopeError for a launch that can't be traced, KernelRaised for a kernel that raises, and
    LaunchTimeoutError for an endless one. Warns of a launch that is too large to run completely (PartialLaunchWarning).
    """
    recordings = _recordings()
    return _trace_and_add(kernel, arguments, _schedule(schedule, seed), _seconds(patience), recordings)


@contextmanager
def trace_launches(
    *, schedule: Order = "lockstep", seed: int = 0, patience: float = RUN_PATIENCE
) -> Iterator[list[TracedLaunch]]:
    """Trace every launch of this process within the context instead of running it; the list gets each as it ends.

    `kernel[blocks, threads](...)` returns when the results are in its arguments. The context traces the launches of all
    threads, one at a time, and accepts what `trace` accepts. Nested contexts all get the launches made within them; the
    innermost sets the schedule and the patience. Forked processes trace their own launches and add nothing here.
    numba.cuda may be imported inside. Exceptions propagate, and afterwards launches use the GPU again. A launch raises
    what `trace` raises. Without a GPU, numba.cuda's own functions (to_device, stream) are not available: pass NumPy
    arrays.
    """
    with _recorded(_Recording([], _schedule(schedule, seed), _seconds(patience))) as launches:
        yield launches


def observed_launches(before: Before) -> AbstractContextManager[list[TracedLaunch]]:
    """Trace launches as `trace_launches` does; `before` gets each kernel and its arguments before it is traced."""
    return _recorded(_Recording([], Schedule(), RUN_PATIENCE, before))


@contextmanager
def _recorded(recording: _Recording) -> Iterator[list[TracedLaunch]]:
    _enter(recording)
    try:
        yield recording.launches
    except Exception as error:
        if type(error).__name__ == "CudaSupportError":  # an exception of Numba, which is not imported here
            error.add_note(NO_GPU)
        raise
    finally:
        _leave(recording)


def record(*, schedule: Order = "lockstep", seed: int = 0) -> AbstractContextManager[list[TracedLaunch]]:
    """Trace launches as `trace_launches` does, under the deprecated name."""
    message = "tilescope.record is now tilescope.trace_launches; the next release drops the old name."
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return trace_launches(schedule=schedule, seed=seed)


def _schedule(order: str, seed: object) -> Schedule:
    """Build the schedule of the threads' turns; raises TilescopeError for an unknown one."""
    require_choice("schedule", order, get_args(Order))
    if not isinstance(seed, numbers.Integral) or seed < 0:
        raise TilescopeError(f"seed must be a whole number from 0 on, not {seed!r}.")
    return Schedule(cast(Order, order), int(seed))


def _seconds(patience: object) -> float:
    """Return the patience as a number; raises TilescopeError for anything but a number above 0."""
    seconds = float(patience) if isinstance(patience, numbers.Real) else math.nan
    if not 0 < seconds < math.inf:
        raise TilescopeError(f"patience must be a number of seconds above 0, not {patience!r}.")
    return seconds


class _Recording:
    """An active context: its traced launches, the order in which threads take turns, and the patience in seconds."""

    def __init__(
        self, launches: list[TracedLaunch], schedule: Schedule, patience: float, before: Before | None = None
    ) -> None:
        self.launches, self.schedule, self.patience, self.before = launches, schedule, patience, before


_lock = threading.RLock()
_active: list[_Recording] = []  # the innermost last
_undo_intercept: list[Callable[[], None]] = []  # callbacks that undo the interception
_waits_for_import = False


def _enter(recording: _Recording) -> None:
    global _waits_for_import
    shared_worker().start()
    with _lock:
        _active.append(recording)
        if "numba.cuda" not in sys.modules and not _waits_for_import:
            _waits_for_import = True
            after_import("numba.cuda", _intercept)
        _intercept()


def _leave(recording: _Recording) -> None:
    with _lock:
        _active.remove(recording)
        while _undo_intercept and not _active:
            _undo_intercept.pop()()


def _intercept() -> None:
    """Redirect launches to `_trace_launch`, unless that is done already or no context is active."""
    with _lock:
        if _active and not _undo_intercept:
            _undo_intercept.extend(intercept(kind, _trace_launch) for kind in launching_classes())


def _trace_launch(configured: Any, *arguments: Any) -> None:
    """Trace a launch instead of running it on a GPU."""
    recordings = _recordings()
    for recording in recordings:
        if recording.before is not None:
            recording.before(configured, arguments)
    innermost = recordings[-1] if recordings else _Recording([], Schedule(), RUN_PATIENCE)
    _trace_and_add(configured, arguments, innermost.schedule, innermost.patience, recordings, 4)


def _recordings() -> list[_Recording]:
    with _lock:
        return list(_active)


def _trace_and_add(
    kernel: Any,
    arguments: tuple[Any, ...],
    schedule: Schedule,
    patience: float,
    recordings: Sequence[_Recording],
    level: int = 3,
) -> TracedLaunch:
    """Trace a launch, add it to these recordings, and return it; raises TilescopeError.

    level: the number of calls between the user's code, which gets the warning, and here.
    """
    try:
        configured = read_configured_kernel(kernel)
        wait_for(configured.stream)
        call = describe_call(configured, arguments, schedule)
    except CallError as error:
        raise TilescopeError(str(error)) from error
    start_in_notebook()
    kept = trace_call(call, patience)
    launch, trace_data = TracedLaunch(kept.load, call.question), kept.load()
    for recording in recordings:
        recording.launches.append(launch)
    if trace_data.error is not None and trace_data.error.type == TIMEOUT:
        raise LaunchTimeoutError(_timeout_text(trace_data.error), launch)
    if trace_data.error is not None:
        raise KernelRaised(_raised_text(trace_data.error), launch)
    if trace_data.is_part and len(trace_data.blocks) < _blocks(launch):
        text = f"{launch.kernel} is too large to be traced completely: {launch.notice}"
        warnings.warn(
            f"{text} Its arrays lack the results of the other blocks.", PartialLaunchWarning, stacklevel=level
        )
    return launch


def _raised_text(error: KernelError) -> str:
    text = f"{error.type}: {error.message}".removesuffix(": ").removesuffix(".")
    return f"{error.file}:{error.line}: thread {error.thread} of block {error.block} raised {text}."


def _timeout_text(error: KernelError) -> str:
    return f"{error.file}:{error.line}: {error.message} A larger `patience` lets it take longer."


def _blocks(launch: TracedLaunch) -> int:
    x, y, z = launch.grid
    return x * y * z
