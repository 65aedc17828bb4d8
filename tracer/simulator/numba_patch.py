"""Patches Numba's CUDA simulator to use our threads and arrays; the only file that depends on its internals.

It supports the simulator of numba and that of numba-cuda. In `numba.cuda.simulator.kernel` it replaces BlockManager
(which runs a block), FakeCUDAModule (the `cuda` module inside a kernel) and swapped_cuda_module (which installs that
module). The host API is in `host/`.
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
from ..recording.kernel_loader import (
    OUTSIDE_LAUNCH,
    KernelRefusedError,
    create_arguments,
    load_kernel,
    set_constants,
)
from ..recording.run_record import RunRecord
from ..type_inference.question import Answer, Refusal
from ..type_inference.shared import shared_inference, shared_kernels
from .arithmetic.conversions import caster
from .cuda_module import SimulatorInterface, module_class
from .cuda_threads import is_cuda_thread
from .execution import Execution, Watch, rebuild_tuple
from .host import kernel_names
from .host.arrays import is_cuda_ndarray
from .host.install import Simulator
from .host.install import install as install_host
from .host.unsupported import print_note
from .python_program import run_program
from .typed_ir.frozen_names import GlobalArray
from .typed_ir.typed_programs import (
    DescribedKernel,
    KernelProgram,
    KernelPrograms,
    RefusedError,
    SimulatorNames,
)

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
    """The installed simulator is not supported; the message names the supported versions."""


class KernelCall(NamedTuple):
    """A call of a kernel that is about to run."""

    kernel: Any  # the function
    grid: Dim3  # blocks along x, y, z
    block: Dim3  # threads of a block along x, y, z
    arguments: tuple[Any, ...]  # without Numba's wrappers
    debug: bool  # as given to @cuda.jit
    typed: Any  # the function with Numba's arithmetic, for the simulator
    untyped: str  # why `typed` uses Python's arithmetic, "" if it does not


Perform = Callable[[KernelCall], None]
_execution: Execution | None = None
_thread = 0  # the Python thread that launched it
_program: KernelProgram | None = None  # the kernel that is being launched


def _simulate(call: KernelCall) -> None:
    current().execute(*call)


_perform: Perform = _simulate


def current() -> Execution:
    """Return the running launch."""
    assert _execution is not None, OUTSIDE_LAUNCH
    return _execution


class _BlockManager:
    """Replaces Numba's BlockManager; the call for the first block runs the complete grid."""

    def __init__(self, f: FunctionType, grid_dim: Dim3, block_dim: Dim3, debug: bool) -> None:
        self.kernel, self.debug = f, debug
        self.grid, self.block = cast(Dim3, tuple(map(int, grid_dim))), cast(Dim3, tuple(map(int, block_dim)))

    def run(self, grid_point: tuple[int, ...], *args: Any) -> None:
        if any(grid_point):
            return
        arguments = tuple(map(_unwrap, args))
        program = _program
        assert program is not None, "a kernel is launched by a call of it"
        _functions.module = current().module
        program.bind(current().module)
        for name, before in dict(program.changed_names()).items():
            _print_change(name, before, self.kernel.__name__)
        kernel = program.frozen_function(lambda value, function: SimpleNamespace(py_func=function))
        _perform(
            KernelCall(kernel, self.grid, self.block, arguments, self.debug, program.run, program.untyped)
        )


def _freeze(kernel: Any) -> None:
    """Freeze the names of a kernel with signatures, and ask Numba's compiler about it, after its decoration."""
    for described, question in shared_kernels().declared(kernel):
        _functions.names(kernel.fn, described)
        if not question.missing():
            shared_inference().ask(question)


def _describe(kernel: Any, arguments: tuple[Any, ...]) -> DescribedKernel:
    key, question, functions = shared_kernels().describe(kernel, arguments)
    missing = question.missing()
    return DescribedKernel(
        key, functions,
        lambda: Answer(unknown=missing) if missing else shared_inference().answer_to(question),
    )  # fmt: skip


def refusal_of_launch(kernel: Any, arguments: tuple[Any, ...]) -> Refusal | None:
    """Return the reason why Numba does not compile a kernel for these arguments, None if it does or is not asked."""
    return _describe(kernel, arguments).answer().refusal


def _program_of(kernel: Any, arguments: tuple[Any, ...]) -> KernelProgram:
    """Return the program of a kernel for these arguments; raises the same error as a launch on a GPU."""
    try:
        program = _functions.program_for(kernel.fn, _describe(kernel, arguments), debug=kernel._debug)
    except RefusedError as refused:
        raise refusal_error(kernel.fn.__name__, refused.refusal) from None
    if program.untyped and not program.noted:
        program.noted = True
        print_note(f"note: {kernel.fn.__name__} runs untyped, with Python's arithmetic: {program.untyped}.")
    return program


def refusal_error(kernel: str, refusal: Refusal) -> Exception:
    """Build the exception that Numba raises for a kernel that does not compile."""
    from numba.core import errors

    kind = getattr(errors, refusal.error, errors.LoweringError)
    text = str(refused_kernel(kernel, refusal))
    error: Exception = kind(text)
    error.args = (text,)  # without the colours that Numba adds if colorama is installed
    return error


def refused_kernel(kernel: str, refusal: Refusal) -> KernelRefusedError:
    """Build the error that explains, with the line, why Numba does not compile a kernel."""
    remedy = f"; {refusal.remedy}" if refusal.remedy else ""
    sentence = f"Numba can't compile {kernel} for a GPU: {refusal.reason}{remedy}."
    return KernelRefusedError(sentence, refusal.file, refusal.line)


def _print_change(name: str, frozen: Any, kernel: str) -> None:
    """Print a note about a global that the program has changed without effect."""
    value = repr(frozen) if not isinstance(frozen, np.ndarray) else "other numbers"
    past, consequence = (
        f"{name} was {value}",
        "it stays so" if isinstance(frozen, np.ndarray) else f"it stays {value}",
    )
    print_note(f"note: {past} when {kernel} was first compiled; on a GPU {consequence}.")


def _is_cuda(value: Any) -> bool:
    """Check whether a value is the module `cuda`, outside or inside a kernel."""
    return value is sys.modules["numba.cuda"] or any(
        base.__name__ == "FakeCUDAModule" for base in type(value).__mro__
    )


def _function_in(value: Any) -> FunctionType | None:
    """Return the Python function of a device function, or a registered function; None for anything else."""
    if isinstance(value, FunctionType):
        return value if is_registered(value) else None
    return getattr(value, "py_func", None) if isinstance(value, function_classes()) else None


@functools.cache
def function_classes() -> tuple[type, ...]:
    """Return the classes of functions decorated by `cuda.jit` and `numba.jit`, which kernels call."""
    from numba.core.dispatcher import Dispatcher

    return kernel_class(), Dispatcher


def _call_in_kernel(function: FunctionType, arguments: tuple[Any, ...], names: dict[str, Any]) -> Any:
    """Call a function of `numba.jit` as a device function."""
    return _functions.call(function, arguments, names)


def _path_of(value: Any) -> str | None:
    """Return the path of a value under `cuda`, "" for `cuda` itself, None for anything else."""
    if isinstance(value, kernel_names.KernelName):
        return value.cuda_path
    return "" if _is_cuda(value) else None


_functions = KernelPrograms(SimulatorNames(lambda: sys.modules["numba.cuda"], _path_of, _function_in))


class _NumpyOfKernels:
    """Replaces NumPy in Numba's kernel module, whose loop over all blocks would repeat the launch."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def ndindex(self, *lengths: int) -> Iterator[tuple[int, ...]]:
        if min(lengths) < 0:
            raise ValueError("negative dimensions are not allowed")
        yield from [(0,) * len(lengths)] * all(lengths)  # NumPy's version would store an index for each block


_swaps: list[tuple[dict[str, Any], str, Any]] = []


@contextmanager
def _swapped(fn: FunctionType, module: Any) -> Iterator[None]:
    """Replace `cuda` in a function's globals by `module` until the launch ends.

    Numba's version restores the real `cuda` when the function returns, while other threads still need ours.
    """
    from numba import cuda

    names = fn.__globals__
    for name in [key for key, value in names.items() if value is cuda]:
        _swaps.append((names, name, cuda))
        names[name] = module
    yield


def _in_kernel(name: str) -> Any:
    """Look up a name of `cuda` that could not be swapped: in closures, and as `numba.cuda`."""
    if name.startswith("__"):
        raise AttributeError(f"module 'numba.cuda' has no attribute {name!r}")
    module = module_of_kernel()
    return kernel_names.outside(name, module_of_kernel) if module is None else getattr(module, name)


def module_of_kernel() -> Any:
    """Return the `cuda` module of the running kernel, None outside kernels."""
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


def _unwrap(value: Any) -> Any:
    """Remove Numba's wrappers from the arrays of an argument."""
    if isinstance(value, tuple):
        return rebuild_tuple(value, map(_unwrap, value))
    ary = array_in(value)
    return value if ary is None else ary


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of a numba type or of anything that NumPy accepts."""
    from numba.cuda.simulator import kernelapi  # has the types and conversions of its package

    is_numba = isinstance(dtype, kernelapi.types.Type)
    result: np.dtype[Any] = np.dtype(kernelapi.numpy_support.as_dtype(dtype) if is_numba else dtype)
    return result


def _positional(call: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the call of a kernel or device function; a device function also takes keyword arguments, as on a GPU."""

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


def _init_vector(vector: Any, *parts: Any) -> None:
    """Initialise a CUDA vector from numbers and vectors, and convert the components to its type."""
    lists = (part.as_list() if hasattr(part, "as_list") else [part] for part in parts)
    components = [value for values in lists for value in values]
    vector_type = VECTOR_TYPES[type(vector).__name__]
    if len(components) != vector_type.size:
        raise TypeError(f"{vector_type.name} takes {vector_type.size} numbers, not {len(components)}")
    vector._attrs = list(AXES[: vector_type.size])
    for axis, value in zip(AXES, components, strict=False):
        setattr(vector, axis, caster(vector_type.kind)(value))


_installed = False


def install() -> None:
    """Install our parts in Numba's simulator; raises UnsupportedSimulator if they don't fit."""
    global _installed
    if _installed:
        return
    kernel, devicearray, vectors = (_module(name) for name in _REPLACED)
    kernel.BlockManager, kernel.np = _BlockManager, _NumpyOfKernels()
    kernel.FakeCUDAModule = module_class(
        kernel.FakeCUDAModule, SimulatorInterface(current, as_dtype, array_in)
    )
    kernel.swapped_cuda_module = _swapped
    vectors.SimulatedVectorType.__init__ = _init_vector
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
    """Import a module of the simulator, and check that it has the parts that we replace."""
    try:
        module = import_module(name)
        missing = [part for part in _REPLACED[name] if not hasattr(module, part)]
        if missing:
            raise ImportError(f"{name} has no {', '.join(missing)}")
    except ImportError as error:
        raise UnsupportedSimulator(f"{_versions()}: {error}. Tilescope works with {SUPPORTED}.") from error
    return module


@functools.cache  # reading metadata opens files
def _versions() -> str:
    versions = []
    for name in ("numba", "numba-cuda"):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return " with ".join(versions)


def run(launch: Launch, report: Callable[[int, int], None]) -> Trace:
    """Run a launch under the simulator and return its trace.

    `report(done, total)` is called as blocks end. The trace of a kernel that raised has `error` set.
    Needs NUMBA_ENABLE_CUDASIM=1 in the environment before numba is imported. Raises UnsupportedSimulator, and
    LoadError if the kernel's file or arguments are invalid.
    """
    if is_python_program(launch):
        return trace_of_simulated_run(*run_program(launch, report))
    install()
    module, kernel = load_kernel(launch)
    set_constants(module, launch)
    arguments, names = create_arguments(launch, kernel)
    return trace_kernel(launch, module, kernel, arguments, names, report)


def trace_kernel(
    launch: Launch, module: ModuleType, kernel: Any, arguments: Sequence[Any], names: tuple[str, ...],
    report: Callable[[int, int], None],
) -> Trace:  # fmt: skip
    """Run a kernel of the simulator on these arguments and return its trace; raises KernelRefusedError."""
    refusal = refusal_of_launch(kernel, tuple(arguments))
    if refusal is not None:
        raise refused_kernel(kernel.fn.__name__, refusal)
    with record_launch(launch, names, report) as run_record:
        kernel[launch.grid, launch.block, 0, launch.shared_bytes](*arguments)
    return trace_of_simulated_run(run_record, str(module.__file__))


@contextmanager
def record_launch(
    launch: Launch, names: tuple[str, ...], report: Callable[[int, int], None] = lambda done, total: None,
    perform: Perform = _simulate,
) -> Iterator[RunRecord]:  # fmt: skip
    """Context manager that records the kernel launched in it; names: of its parameters. `perform` runs it."""
    global _execution, _perform, _thread
    install()
    run_record = RunRecord(launch, names, report)
    _execution, _perform, _thread = Execution(run_record), perform, threading.get_ident()
    try:
        yield run_record
    finally:
        _restore_globals()
        _functions.release()
        _execution, _perform = None, _simulate


def new_record() -> RunRecord:
    """Return a new, empty record for the running launch."""
    old = current().record
    # Run to the end, because the program goes on with the results.
    return RunRecord(old.launch, old.names, old.report, count_past_limit=True)


def restart(watch: Watch | None = None) -> Execution:
    """Restart the running launch, and return the execution that `cuda` serves from now on."""
    global _execution
    module = current().module
    _execution = Execution(new_record(), watch)
    module.serve(_execution)
    return _execution


def trace_of_simulated_run(run_record: RunRecord, file: str) -> Trace:
    """Build the trace of a run of a kernel in this file."""
    untyped = f"; untyped: {run_record.untyped}" if run_record.untyped else ""
    return finish(run_record, file, f"{_versions()}{untyped}")


def is_running() -> bool:
    """Check whether a launch is running in this Python thread, so that calls are calls of device functions."""
    return _execution is not None and _thread == threading.get_ident()


def kernel_class() -> Any:
    """Return the simulator's class of kernels; calling an instance launches the kernel."""
    return _module("numba.cuda.simulator.kernel").FakeCUDAKernel
