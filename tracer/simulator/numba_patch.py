"""Numba's CUDA simulator, with our threads and arrays: the one file that knows its internals.

Works with the simulator inside numba and with the one that numba-cuda puts in its place. In
`numba.cuda.simulator.kernel` it replaces BlockManager (which runs a block), FakeCUDAModule (what `cuda` is
inside a kernel) and swapped_cuda_module (which puts it there). What programs use of the host's side is in `host/`.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module, metadata
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..model.launch import Launch, is_python_program
from ..model.registered_functions import is_registered
from ..model.trace import Dim3, Trace
from ..model.vector_types import AXES, VECTOR_TYPES
from ..recording.finish import finish
from ..recording.kernel_loader import KernelRefusedError, arrays_of, load_kernel, set_constants
from ..recording.run_record import RunRecord
from ..type_inference.question import Answer, Refusal
from ..type_inference.shared import shared_inference, shared_kernels
from .arithmetic.conversions import caster
from .cuda_module import SimulatorInterface, module_class
from .cuda_threads import is_cuda_thread
from .execution import Execution, Watch, rebuilt
from .host import kernel_names
from .host.arrays import is_cuda_ndarray
from .host.install import Simulator
from .host.install import install as install_host
from .host.lacking import print_note
from .python_program import run_program
from .typed_ir.frozen_names import GlobalArray
from .typed_ir.programs import Described, KernelProgram, KernelPrograms, Refused, SimulatorNames

SUPPORTED = (
    "numba 0.61 to 0.68, alone or with numba-cuda 0.22 to 0.30, and others whose simulator has the same parts"
)
_REPLACED = {
    "numba.cuda.simulator.kernel": (
        "BlockManager",
        "FakeCUDAKernel",
        "FakeCUDAModule",
        "swapped_cuda_module",
    ),
    "numba.cuda.simulator.cudadrv.devicearray": ("device_array", "FakeCUDAArray"),
    "numba.cuda.simulator.vector_types": ("SimulatedVectorType",),
}


class UnsupportedSimulator(Exception):
    """The installed simulator is not one that this file knows; the text says which are."""


class KernelCall(NamedTuple):
    """A kernel about to run."""

    kernel: Any  # the function
    grid: Dim3  # blocks along x, y, z
    block: Dim3  # threads of a block along x, y, z
    arguments: tuple[Any, ...]  # out of Numba's wrappers
    debug: bool  # as given to @cuda.jit
    typed: Any  # the function with Numba's arithmetic, for the simulator
    untyped: str  # why that is the kernel with Python's arithmetic, "" where it is not


Perform = Callable[[KernelCall], None]
_execution: Execution | None = None
_thread = 0  # the thread of Python's that launched it
_program: KernelProgram | None = None  # the kernel that is being launched


def _simulate(call: KernelCall) -> None:
    current().execute(*call)


_perform: Perform = _simulate


def current() -> Execution:
    """Return the launch under way."""
    assert _execution is not None, "a kernel runs outside a launch"
    return _execution


class _BlockManager:
    """Stands where Numba's BlockManager stood; the first block runs the whole grid."""

    def __init__(self, f: FunctionType, grid_dim: Dim3, block_dim: Dim3, debug: bool) -> None:
        self.kernel, self.debug = f, debug
        self.grid, self.block = cast(Dim3, tuple(map(int, grid_dim))), cast(Dim3, tuple(map(int, block_dim)))

    def run(self, grid_point: tuple[int, ...], *args: Any) -> None:
        if any(grid_point):
            return
        arguments = tuple(map(_unwrapped, args))
        found = _program
        assert found is not None, "a kernel is launched by a call of it"
        _functions.module = current().module
        found.bind(current().module)
        for name, before in dict(found.changed_names()).items():
            _tell_of_change(name, before, self.kernel.__name__)
        kernel = found.frozen_function(lambda value, function: SimpleNamespace(py_func=function))
        _perform(KernelCall(kernel, self.grid, self.block, arguments, self.debug, found.run, found.untyped))


def _freeze(kernel: Any) -> None:
    """Freeze the names of a kernel with signatures, and ask about it, once it is decorated."""
    for described, question in shared_kernels().declared(kernel):
        _functions.names(kernel.fn, described)
        if not question.missing():
            shared_inference().ask(question)


def _described(kernel: Any, arguments: tuple[Any, ...]) -> Described:
    key, question, functions = shared_kernels().described(kernel, arguments)
    missing = question.missing()
    return Described(
        key, functions,
        lambda: Answer(unknown=missing) if missing else shared_inference().answer_to(question),
    )  # fmt: skip


def refusal_of_launch(kernel: Any, arguments: tuple[Any, ...]) -> Refusal | None:
    """Return why Numba does not compile a kernel for these arguments, None where it does or can't be asked."""
    return _described(kernel, arguments).answer().refusal


def _program_of(kernel: Any, arguments: tuple[Any, ...]) -> KernelProgram:
    """Return a kernel for these arguments, as Numba compiles it; raises what a GPU's launch raises."""
    try:
        found = _functions.of(kernel.fn, _described(kernel, arguments), debug=kernel._debug)
    except Refused as refused:
        raise refusal_error(kernel.fn.__name__, refused.refusal) from None
    if found.untyped and not found.noted:
        found.noted = True
        print_note(f"note: {kernel.fn.__name__} runs untyped, with Python's arithmetic: {found.untyped}.")
    return found


def refusal_error(kernel: str, refusal: Refusal) -> Exception:
    """Return the exception that Numba raises where it does not compile a kernel."""
    from numba.core import errors

    kind = getattr(errors, refusal.error, errors.LoweringError)
    found: Exception = kind(str(refused_kernel(kernel, refusal)))
    return found


def refused_kernel(kernel: str, refusal: Refusal) -> KernelRefusedError:
    """Return the error that says why Numba does not compile a kernel, with the line."""
    remedy = f"; {refusal.remedy}" if refusal.remedy else ""
    sentence = f"Numba can't compile {kernel} for a GPU: {refusal.reason}{remedy}."
    return KernelRefusedError(sentence, refusal.file, refusal.line)


def _tell_of_change(name: str, before: Any, kernel: str) -> None:
    """Tell of a global that a program has changed, to no effect."""
    value = repr(before) if not isinstance(before, np.ndarray) else "other numbers"
    was, stays = (
        f"{name} was {value}",
        "it stays so" if isinstance(before, np.ndarray) else f"it stays {value}",
    )
    print_note(f"note: {was} when {kernel} was first compiled; on a GPU {stays}.")


def _is_cuda(value: Any) -> bool:
    """Return whether a value is the module `cuda`, or what it is inside a kernel."""
    return value is sys.modules["numba.cuda"] or any(
        base.__name__ == "FakeCUDAModule" for base in type(value).__mro__
    )


def _function_in(value: Any) -> FunctionType | None:
    """Return the function that a device function runs, or one that Numba was told of; None for anything else."""
    if isinstance(value, FunctionType):
        return value if is_registered(value) else None
    return getattr(value, "py_func", None) if isinstance(value, function_classes()) else None


@functools.cache
def function_classes() -> tuple[type, ...]:
    """Return the classes of what `cuda.jit` and `numba.jit` make of functions, which kernels call."""
    from numba.core.dispatcher import Dispatcher

    return kernel_class(), Dispatcher


def _call_in_kernel(function: FunctionType, arguments: tuple[Any, ...], names: dict[str, Any]) -> Any:
    """Call a function of `numba.jit`'s as a device function."""
    return _functions.call(function, arguments, names)


def _path_of(value: Any) -> str | None:
    """Return the path under `cuda` that a value stands for, "" for `cuda` itself, None for anything else."""
    if isinstance(value, kernel_names.KernelName):
        return value.cuda_path
    return "" if _is_cuda(value) else None


_functions = KernelPrograms(SimulatorNames(lambda: sys.modules["numba.cuda"], _path_of, _function_in))


class _NumpyOfKernels:
    """Stands where the module of Numba's kernels finds NumPy: it would go through all blocks after the first."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def ndindex(self, *lengths: int) -> Iterator[tuple[int, ...]]:
        if min(lengths) < 0:
            raise ValueError("negative dimensions are not allowed")
        yield from [(0,) * len(lengths)] * all(lengths)  # NumPy's own would hold a number of each block


_swaps: list[tuple[dict[str, Any], str, Any]] = []


@contextmanager
def _swapped(fn: FunctionType, module: Any) -> Iterator[None]:
    """Put `module` where a function's globals say `cuda`, until the launch ends.

    Numba's own puts the real `cuda` back when the function returns, while other threads still need ours.
    """
    from numba import cuda

    names = fn.__globals__
    for name in [n for n, v in names.items() if v is cuda]:
        _swaps.append((names, name, cuda))
        names[name] = module
    yield


def _in_kernel(name: str) -> Any:
    """Answer for `cuda` where no global of that name could be swapped: in closures, and as `numba.cuda`."""
    if name.startswith("__"):
        raise AttributeError(f"module 'numba.cuda' has no attribute {name!r}")
    module = module_of_kernel()
    return kernel_names.outside(name, module_of_kernel) if module is None else getattr(module, name)


def module_of_kernel() -> Any:
    """Return what `cuda` is in the kernel that runs, None where none does."""
    return None if _execution is None else _execution.module


def _restore_globals() -> None:
    for names, name, value in _swaps:
        names[name] = value
    _swaps.clear()


def array_in(value: Any) -> NDArray[Any] | None:
    """Return the array inside Numba's wrappers, or None for anything else."""
    value = value.__dict__["_item"] if type(value).__name__ == "FakeWithinKernelCUDAArray" else value
    value = value._ary if is_cuda_ndarray(value) else value
    return np.asarray(value) if isinstance(value, np.ndarray | np.void) else None


def _unwrapped(value: Any) -> Any:
    """Return an argument with the arrays in it out of Numba's wrappers."""
    if isinstance(value, tuple):
        return rebuilt(value, map(_unwrapped, value))
    ary = array_in(value)
    return value if ary is None else ary


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of a numba type or of anything that NumPy takes for one."""
    from numba.cuda.simulator import kernelapi  # has the types and conversions of the package it belongs to

    is_numba = isinstance(dtype, kernelapi.types.Type)
    found: np.dtype[Any] = np.dtype(kernelapi.numpy_support.as_dtype(dtype) if is_numba else dtype)
    return found


def _positional(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the call of a kernel or device function; the latter takes its arguments by name too, as on the GPU."""

    @functools.wraps(call)
    def positional(kernel: Any, *arguments: Any, **names: Any) -> Any:
        global _program
        if _execution is not None and _functions.module is not None and is_running():
            return _functions.call(kernel.fn, arguments, names)
        if kernel._device:
            return call(kernel, *arguments, **names)
        _program = _program_of(kernel, arguments)
        try:
            return call(kernel, *arguments, **names)
        finally:
            _program = None

    return positional


def _begin_vector(vector: Any, *parts: Any) -> None:
    """Be a vector of CUDA's with components of its type, which are given as numbers and vectors."""
    lists = (part.as_list() if hasattr(part, "as_list") else [part] for part in parts)
    given = [value for values in lists for value in values]
    made = VECTOR_TYPES[type(vector).__name__]
    if len(given) != made.size:
        raise TypeError(f"{made.name} takes {made.size} numbers, not {len(given)}")
    vector._attrs = list(AXES[: made.size])
    for axis, value in zip(AXES, given, strict=False):
        setattr(vector, axis, caster(made.kind)(value))


_installed = False


def install() -> None:
    """Put our parts into Numba's simulator; raises UnsupportedSimulator where they don't fit."""
    global _installed
    if _installed:
        return
    kernel, devicearray, vectors = (_module(name) for name in _REPLACED)
    kernel.BlockManager, kernel.np = _BlockManager, _NumpyOfKernels()
    kernel.FakeCUDAModule = module_class(
        kernel.FakeCUDAModule, SimulatorInterface(current, as_dtype, array_in)
    )
    kernel.swapped_cuda_module = _swapped
    vectors.SimulatedVectorType.__init__ = _begin_vector
    GlobalArray.load_outside = staticmethod(
        lambda array, index, frame: current().load_outside(array._ary, array._name, index, frame)
    )
    kernel.FakeCUDAKernel.__call__ = _positional(kernel.FakeCUDAKernel.__call__)
    install_host(
        Simulator(kernel, devicearray, is_running, is_cuda_thread, _call_in_kernel, module_of_kernel, _freeze)
    )
    sys.modules["numba.cuda"].__getattr__ = _in_kernel  # type: ignore[method-assign]  # PEP 562
    _installed = True


def _module(name: str) -> Any:
    """Return one of the simulator's modules, which has what we replace in it."""
    try:
        module = import_module(name)
        missing = [n for n in _REPLACED[name] if not hasattr(module, n)]
        if missing:
            raise ImportError(f"{name} has no {', '.join(missing)}")
    except ImportError as error:
        raise UnsupportedSimulator(f"{_versions()}: {error}. Tilescope works with {SUPPORTED}.") from error
    return module


@functools.cache  # metadata is read from files
def _versions() -> str:
    found = []
    for name in ("numba", "numba-cuda"):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return " with ".join(found)


def run(launch: Launch, report: Callable[[int, int], None]) -> Trace:
    """Run a launch under the simulator and return its trace.

    `report(done, of)` is called as blocks end. The trace of a kernel that raised has `error` set.
    Needs NUMBA_ENABLE_CUDASIM=1 in the environment before numba is imported. Raises UnsupportedSimulator, and
    LoadError where the kernel's file or arguments don't make a launch.
    """
    if is_python_program(launch):
        return trace_of_simulated_run(*run_program(launch, report))
    install()
    module, kernel = load_kernel(launch)
    set_constants(module, launch)
    arguments, names = arrays_of(launch, kernel)
    return record(launch, module, kernel, arguments, names, report)


def record(
    launch: Launch, module: ModuleType, kernel: Any, arguments: Sequence[Any], names: tuple[str, ...],
    report: Callable[[int, int], None],
) -> Trace:  # fmt: skip
    """Run a kernel of the simulator on these arguments, and return the trace of it.

    Raises KernelRefusedError.
    """
    refusal = refusal_of_launch(kernel, tuple(arguments))
    if refusal is not None:
        raise refused_kernel(kernel.fn.__name__, refusal)
    with recording_of(launch, names, report) as made:
        kernel[launch.grid, launch.block, 0, launch.shared_bytes](*arguments)
    return trace_of_simulated_run(made, str(module.__file__))


@contextmanager
def recording_of(
    launch: Launch, names: tuple[str, ...], report: Callable[[int, int], None] = lambda done, of: None,
    perform: Perform = _simulate,
) -> Iterator[RunRecord]:  # fmt: skip
    """Record the kernel that is launched meanwhile; `names` are those of its parameters. `perform` runs it."""
    global _execution, _perform, _thread
    install()
    made = RunRecord(launch, names, report)
    _execution, _perform, _thread = Execution(made), perform, threading.get_ident()
    try:
        yield made
    finally:
        _restore_globals()
        _functions.release()
        _execution, _perform = None, _simulate


def new_record() -> RunRecord:
    """Return a record of nothing as yet for the launch under way."""
    old = current().record
    # To its end, else the program would go on with what an unfinished launch left.
    return RunRecord(old.launch, old.names, old.report, to_the_end=True)


def restart(watch: Watch | None = None) -> Execution:
    """Begin the launch under way anew, and return the execution that `cuda` serves from now on."""
    global _execution
    module = current().module
    _execution = Execution(new_record(), watch)
    module.serve(_execution)
    return _execution


def trace_of_simulated_run(made: RunRecord, file: str) -> Trace:
    """Return the trace of a run of a kernel in this file."""
    untyped = f"; untyped: {made.untyped}" if made.untyped else ""
    return finish(made, file, f"{_versions()}{untyped}")


def is_running() -> bool:
    """Return whether a launch is under way in this thread of Python's: what is called now is a device function."""
    return _execution is not None and _thread == threading.get_ident()


def kernel_class() -> Any:
    """Return the simulator's class of kernels, whose instances are called to launch them."""
    return _module("numba.cuda.simulator.kernel").FakeCUDAKernel
