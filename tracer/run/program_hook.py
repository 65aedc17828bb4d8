"""Records every launch of an unmodified program by hooking the simulator's kernels."""

from __future__ import annotations

import functools
import gc
import inspect
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace as replace_launch

from ..model.launch import OBJECT_DTYPE, Array, EngineName, Launch, Limits, Scalar, Schedule, is_utf8
from ..model.notebook_cells import cell_of, with_definitions
from ..processes.garbage import without_collections
from ..recording.successor_names import install_successor_names
from ..simulator.host.after_import import after_import
from ..simulator.host.unsupported import print_once
from ..simulator.quick_imports import without_driver
from ..stand_ins.imports import install as install_stand_ins
from .launch_size import (
    LaunchRefusedError,
    check_size,
    choose_sample_blocks,
    existing_blocks,
    is_too_large,
    sampling_notice,
)
from .long_launch import InterruptedLaunch, LaunchTimeoutError, LongLaunches
from .original_builtins import original_builtins

if TYPE_CHECKING:  # NumPy and numba are imported when the program needs them, not before it starts
    from ..cuda_cpp.session import ProgramFault
    from ..model.trace import Dim3, KernelError, Trace
    from ..type_inference.question import Refusal


class RecordingOptions(NamedTuple):
    """Options for recording a program: the schedule of its launches, the blocks that run, and the limits.

    Without an engine, kernels with many accesses are compiled, and the simulator runs those that end before their
    compilation would. As on a GPU, a program goes on after an access outside an array, unless `stop_at_errors` is set.
    """

    schedule: Schedule = Schedule()  # order of the threads' turns
    resident: int | None = None  # simultaneous blocks; None means as many as fit 8,192 threads
    blocks: tuple[int, ...] | None = None  # numbers of the blocks that run; None means all
    limits: Limits = Limits()  # accesses and bytes that are kept
    engine: EngineName | None = None  # None chooses by the number of accesses
    every_block: bool = False  # whether all blocks run even if they are too many (see `launch_size`)
    before_launch: Callable[[Launch], None] = lambda launch: None  # gets each launch before it runs
    notify: Callable[[str], None] = lambda sentence: None  # gets notices about a launch immediately
    patience: float | None = None  # seconds of CPU time that a block may take, None for no limit
    stop_at_errors: bool = False  # whether an access outside an array raises after its launch
    refuse_too_large: bool = True  # whether a launch that exceeds a GPU's limits raises; otherwise it runs
    # Gets the trace of a last block that the launch's trace lacks, before the trace of the launch.
    on_last_block: Callable[[Trace], None] | None = None
    # Gets each kernel and its arguments before the launch.
    launched: Callable[[Any, tuple[Any, ...]], None] | None = None
    # Gets each kernel that Numba does not compile, before its launch raises the error.
    refused: Callable[[Any, Refusal], None] | None = None
    # Gets each kernel that receives an array of another type than declared, and the sentence about it.
    on_mismatch: Callable[[Any, str], None] = lambda kernel, sentence: print_once(f"{sentence}.")
    # Gets what is wrong with a launch of a kernel in CUDA C++, and what no trace shows.
    on_fault: Callable[[ProgramFault], None] = lambda fault: None


MAX_CACHED_KERNELS = 64  # kernels whose source texts are cached
NUMBER_TYPES = re.compile(r"u?int(8|16|32|64)|float(16|32|64)|complex(64|128)")
Recorded = Callable[["Trace", float], None]


_is_recording = False


def is_recording() -> bool:
    """Return True if this process records its launches."""
    return _is_recording


def record_launches(options: RecordingOptions, recorded: Recorded) -> None:
    """Run this process's kernels under the tracer, as soon as the program imports numba.cuda.

    `recorded(trace, seconds)` is called after each launch with its wall time, before the kernel's exception reaches the
    program. Call this before numba is imported.
    """
    global _is_recording
    _is_recording = True
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    after_import("numba", lambda: None, without_collections)
    after_import("numba.cuda", lambda: _wrap_launches(options, recorded), without_driver)
    install_successor_names()
    install_stand_ins(lambda: _trace_cuda_cpp(options, recorded))


def _trace_cuda_cpp(options: RecordingOptions, recorded: Recorded) -> None:
    """Trace the launches of kernels that the program has as texts in CUDA C++."""
    from ..cuda_cpp.session import SessionOptions
    from ..stand_ins.driver import settings

    notified: set[str] = set()

    def sample(kernel: str, grid: Dim3, block: Dim3) -> int:
        if options.every_block or not is_too_large(grid, block):
            return 0
        count = len(choose_sample_blocks(grid, block))
        if kernel not in notified:
            notified.add(kernel)
            options.notify(sampling_notice(kernel, grid, count))
        return count

    settings.options = SessionOptions(
        options.schedule, options.resident, options.patience, options.limits, sample, options.blocks
    )
    settings.take, settings.note = recorded, options.on_fault


def _watch_streams(report: Callable[[ProgramFault], None]) -> None:
    """Report work in two streams that nothing orders as a fault at the line of the second."""
    from ..cuda_cpp.session import ProgramFault
    from ..recording.stream_order import conflict_text, stream_order
    from ..stand_ins.source_place import calling_line

    stream_order.watch(
        calling_line,
        lambda conflict: report(ProgramFault("streams", conflict_text(conflict), *conflict.place)),
    )


def _wrap_launches(options: RecordingOptions, recorded: Recorded) -> None:
    """Replace the simulator's launch call by one that records."""
    from ..simulator import numba_patch
    from ..simulator.host.launch_checks import check_limits
    from .program_launch import ProgramLaunch

    numba_patch.install()
    _watch_streams(options.on_fault)
    gc.freeze()  # the modules that were loaded after Numba
    kernel_class = numba_patch.kernel_class()
    launch_call = kernel_class.__call__
    launches = LongLaunches(options.notify)
    one_at_a_time = threading.Lock()  # the simulator runs one launch at a time, for all threads

    @functools.wraps(launch_call)
    def call(kernel: Any, *arguments: Any, **names: Any) -> Any:
        if numba_patch.is_running() or kernel._device or kernel.grid_dim is None or names:
            return launch_call(kernel, *arguments, **names)
        with one_at_a_time, original_builtins():
            try:
                return launch(kernel, arguments)
            except KeyboardInterrupt as error:
                if type(error) is KeyboardInterrupt:  # it came before or after the kernel ran
                    raise InterruptedLaunch(f"Ctrl+C ended the launch of {kernel.fn.__name__}.") from None
                raise

    def launch(kernel: Any, arguments: tuple[Any, ...]) -> Any:
        if options.refuse_too_large:
            check_limits(kernel.fn.__name__, kernel.grid_dim, kernel.block_dim, kernel.dynshared_size)
        launch_data = sample(describe_launch(kernel, arguments, options))
        options.before_launch(launch_data)
        if options.launched:
            options.launched(kernel, arguments)
        refusal = numba_patch.refusal_of_launch(kernel, arguments)
        if refusal is not None:
            if options.refused:
                options.refused(kernel, refusal)
            raise numba_patch.refusal_error(kernel.fn.__name__, refusal)
        for sentence in kernel.mismatches:
            options.on_mismatch(kernel, sentence)
        start = time.perf_counter()
        names = _names(kernel.fn)
        attempt = ProgramLaunch()
        engines = {"simulator": attempt.simulate, "compiled": attempt.compile, None: attempt.choose}
        engine = engines[options.engine]
        perform = attempt.with_last_block(engine) if options.on_last_block else engine
        with (
            attempt.bounded(launch_data, perform, options.patience, leave) as bounded,
            launches.watch(kernel.fn.__name__, bounded.look, _nbytes(arguments)) as long,
            numba_patch.record_launch(
                launch_data, names, call_both(long.report, bounded.ended), bounded.perform
            ),
        ):
            result = launch_call(kernel, *arguments)
        if options.on_last_block and attempt.last_block_trace is not None:
            options.on_last_block(attempt.last_block_trace)
        attempt.note_stores()
        if attempt.trace is not None:
            recorded(attempt.trace, time.perf_counter() - start)
            attempt.note_stream(kernel.fn.__name__, kernel.stream, arguments)
            if "coverage" in sys.modules:
                from .line_coverage import note_lines

                note_lines(attempt.trace)
            _raise_in_program(attempt.trace, attempt.raised, options)
        return result

    def leave(sentence: str) -> None:
        """End the process after Ctrl+C while the main thread can't be interrupted."""
        options.notify(sentence)
        os._exit(128 + signal.SIGINT)

    notified: set[str] = set()  # kernels whose sampling was reported

    def sample(described: Launch) -> Launch:
        """Restrict a launch to the chosen blocks, or a too large one to a sample; raises LaunchRefusedError."""
        if not is_utf8(described.kernel):
            raise LaunchRefusedError(
                f"the file of the kernel, {described.kernel!r}, has a name that is not UTF-8; rename it"
            )
        check_size(described.grid, described.block)
        name = described.kernel.rpartition(":")[2]
        if described.blocks is not None:
            return replace_launch(described, blocks=existing_blocks(name, described.blocks, described.grid))
        if options.every_block or not is_too_large(described.grid, described.block):
            return described
        blocks = choose_sample_blocks(described.grid, described.block)
        if described.kernel not in notified:
            notified.add(described.kernel)
            options.notify(sampling_notice(name, described.grid, len(blocks)))
        return replace_launch(described, blocks=blocks)

    kernel_class.__call__ = call


def call_both(
    first: Callable[[int, int], None], second: Callable[[int, int], None]
) -> Callable[[int, int], None]:
    """Combine two callbacks."""

    def report(done: int, total: int) -> None:
        first(done, total)
        second(done, total)

    return report


def _raise_in_program(trace: Trace, raised: BaseException | None, options: RecordingOptions) -> None:
    """Raise the kernel's exception, or an error for its access outside an array, in the program."""
    if isinstance(raised, LaunchTimeoutError):
        raise raised
    if raised is not None and trace.error is not None:
        raise _simulator_style_error(raised, trace.error)
    if options.stop_at_errors and len(trace.outside.block):
        raise IndexError(_first_outside(trace))


class DivisionByZero(ZeroDivisionError, FloatingPointError):
    """A division by zero in a kernel: a GPU raises ZeroDivisionError, Numba's simulator FloatingPointError."""


DivisionByZero.__name__ = DivisionByZero.__qualname__ = ZeroDivisionError.__name__
DivisionByZero.__module__ = ZeroDivisionError.__module__


def _simulator_style_error(raised: BaseException, error: KernelError) -> BaseException:
    """Convert a kernel's exception to the form of Numba's simulator: thread and block precede the message."""
    from ..recording.out_of_bounds import IllegalAddressError

    location = f"tid={list(error.thread)} ctaid={list(error.block)}"
    text = f"{location}: {error.message}" if error.message else location
    kind = DivisionByZero if type(raised) is ZeroDivisionError else type(raised)
    if isinstance(raised, IllegalAddressError):  # Numba's driver raises it for an illegal address
        kind = sys.modules["numba.cuda"].cudadrv.driver.CudaAPIError
    try:
        if isinstance(raised, IllegalAddressError):  # raised by our code: name the kernel's line
            return kind(f"{text} ({error.file}, line {error.line})")
        return kind(text).with_traceback(raised.__traceback__)
    except TypeError:  # an exception class of the program with other parameters
        return raised


def _first_outside(trace: Trace) -> str:
    from ..model.trace import unravel

    outside = trace.outside
    block, thread = (
        unravel(int(outside.block[0]), trace.grid),
        unravel(int(outside.thread[0]), trace.block_dim),
    )
    return f"tid={list(thread)} ctaid={list(block)}: {outside.text[0]} is outside its array"


def describe_launch(kernel: Any, arguments: tuple[Any, ...], options: RecordingOptions) -> Launch:
    """Describe a call as a launch; without its array contents, it can't be run again."""
    return Launch(
        kernel=f"{_file(kernel.fn)}:{kernel.fn.__name__}",
        source=_source(kernel.fn),
        arguments=tuple(_mark_if_uninitialised(_argument(value), value) for value in arguments),
        grid=_dim3(kernel.grid_dim),
        block=_dim3(kernel.block_dim),
        constants=_constants(kernel.fn),
        shared_bytes=int(kernel.dynshared_size),
        schedule=options.schedule,
        resident=options.resident,
        blocks=options.blocks,
        limits=options.limits,
        engine=options.engine or "compiled",
    )


def _dim3(lengths: Iterable[Any]) -> Dim3:
    """Convert lengths, which may be NumPy numbers, to Python's."""
    x, y, z = map(int, lengths)
    return x, y, z


def _nbytes(arguments: Iterable[object]) -> int:
    """Count the bytes of the arrays among a launch's arguments."""
    return sum(getattr(argument, "nbytes", 0) for argument in arguments)


@functools.lru_cache(MAX_CACHED_KERNELS)
def _names(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


@functools.lru_cache(MAX_CACHED_KERNELS)
def _file(function: Any) -> str:
    return inspect.getsourcefile(function) or "?"


@functools.lru_cache(MAX_CACHED_KERNELS)
def _source(function: Any) -> str:
    try:
        text = "".join(inspect.findsource(function)[0])
    except OSError:  # typed at a prompt
        return ""
    file = _file(function)
    return with_definitions(file, text, function.__name__) if cell_of(file) else text


def _argument(value: Any) -> Array | Scalar:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None and len(shape):
        return Array(tuple(map(int, shape)), str(dtype))
    try:
        number = value.item() if hasattr(value, "item") else value
    except (TypeError, ValueError):
        return Scalar(0, OBJECT_DTYPE)
    if not isinstance(number, bool | int | float):
        return Scalar(0, OBJECT_DTYPE)
    return Scalar(number, str(dtype) if dtype is not None else "")


def _mark_if_uninitialised(described: Array | Scalar, value: Any) -> Array | Scalar:
    """Mark an array as uninitialised if the program allocated it and part of it was never written."""
    from ..recording.fresh_memory import fresh_memory
    from ..simulator.numba_patch import array_in

    ary = array_in(value)
    if isinstance(described, Array) and ary is not None and fresh_memory.is_fresh(ary):
        return replace_launch(described, fill="empty")
    return described


def _constants(function: Any) -> dict[str, int | float | str]:
    """Collect the numbers and number types from outer scopes that a kernel and its functions use."""
    constants: dict[str, int | float | str] = {}
    waiting, seen = [function], set()
    while waiting:
        function = waiting.pop()
        seen.add(function)
        scopes = inspect.getclosurevars(function)
        for name, value in (*scopes.globals.items(), *scopes.nonlocals.items()):
            called = getattr(value, "fn", None)
            if inspect.isfunction(called) and called not in seen:
                waiting.append(called)
            number = value if isinstance(value, int | float) else _type_name(value)
            if number != "" and not hasattr(value, "dtype"):  # the type of a NumPy number matters
                constants[name] = number
    return constants


def _type_name(value: Any) -> str:
    """Return numba's name of a numba or NumPy number type; "" for anything else."""
    name = getattr(value, "__name__", "") if isinstance(value, type) else getattr(value, "name", "")
    return name if isinstance(name, str) and NUMBER_TYPES.fullmatch(name) else ""
