"""Count a launch as compiled: from a job to its counters, in the process that has Numba's CUDA target."""

from __future__ import annotations

import linecache
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import binding
from numpy.typing import NDArray

from ...calls.call import ArgumentTuple, ArrayArgument, memory_file
from ...model.launch import Array, Launch
from ...recording import nvidia_files
from ...recording.kernel_loader import LoadError, create_array
from ...type_inference.client import source_question
from ...type_inference.question import Question, SourceQuestion, Value
from ...type_inference.rebuild_kernel import KernelBuilder, NotRebuiltError, dtype_from
from ..compiler.generated import numbered_accesses
from ..compiler.numba_ir import KernelIR, kernel_ir
from ..compiler.numbered import number_accesses
from ..compiler.nvidia import NvidiaCode, has_compilers, nvidia_code
from ..compiler.optimise import compiler_name, optimise, target_machine
from ..job import NO_TARGET, CompiledCounters, Job, LiveJob
from ..not_countable import NotCountableError
from .arguments import Pointer, pack_arguments
from .device_memory import DeviceMemory
from .execute import LaunchSize, Machine, run
from .instrument import host_code
from .stand_ins import Table
from .totals import at_least, counters_of, sites_of

KEPT = 32  # kernels whose code is cached
CONTENDED = (
    "Several warps update the same elements by atomics that are loops of a load and a compare-and-swap. A GPU repeats "
    "them if another warp interferes: only a GPU shows how often."
)
TABLES = (
    "Its math functions are not available here: loads of their tables on a GPU (sine of a float64) are not counted. "
    "Install tilescope[nvidia] for them."
)


def count(job: Job) -> CompiledCounters:
    """Return the counters of a launch as compiled, or the reason for their absence."""
    try:
        return _counted(job)
    except ImportError:
        return CompiledCounters(reason=NO_TARGET)
    except (NotCountableError, NotRebuiltError, LoadError) as error:
        return CompiledCounters(reason=f"{str(error).removesuffix('.')}.")
    except Exception as error:  # noqa: BLE001  # Numba, LLVM and a kernel's text can fail in many ways
        text = str(error).strip().splitlines()
        return CompiledCounters(
            reason=f"It can't be compiled ({type(error).__name__}: {text[0][:120] if text else ''})."
        )


def _counted(job: Job) -> CompiledCounters:
    if isinstance(job, LiveJob):
        size = LaunchSize(job.grid, job.block, job.shared_bytes, job.blocks)
        kernel = _kernel(job.question, size.dynamic, job.generates)
        memory, table = _live_arguments(job, kernel.ir)
    else:
        launch = job.launch
        file = launch.kernel.rpartition(":")[0]
        linecache.cache[file] = (len(launch.source), None, launch.source.splitlines(keepends=True), file)
        size = LaunchSize(launch.grid, launch.block, launch.shared_bytes, launch.blocks)
        kernel = _kernel(job.question or source_question(launch), size.dynamic, job.generates)
        memory, table = _launch_arguments(launch, kernel.ir)
    return count_launch(kernel, memory, table, size, job.seconds)


class CompiledKernel:
    """A compiled kernel; dynamic: bytes of dynamic shared memory. Raises NotCountableError."""

    def __init__(self, ir: KernelIR, dynamic: int, generates: bool = True) -> None:
        self.ir = ir
        libdevice = nvidia_files.libdevice()
        text = str(optimise(ir, libdevice))
        located = number_accesses(text)
        module = binding.parse_assembly(located.text)
        emitted = numbered_accesses(target_machine().emit_assembly(module)) if generates else {}
        # NVIDIA's programs run while the kernel does.
        self._native = _compiler_pool.submit(nvidia_code, ir) if generates and has_compilers() else None
        self.machine = Machine()
        self.code = host_code(located, ir.kernel, Table(self.machine.state.ctypes.data), dynamic, emitted)
        self.notes = (TABLES,) if libdevice is None and "@__nv_" in text else ()

    @property
    def may_be_joined(self) -> bool:
        """Whether NVIDIA's compilers decide which accesses are joined."""
        return self._native is not None

    def native(self) -> NvidiaCode | None:
        """Return the code by NVIDIA's compilers; blocks until it is there."""
        return self._native.result() if self._native else None


_compiler_pool = ThreadPoolExecutor(1, "NVIDIA's compilers")
_kernels: OrderedDict[str, CompiledKernel] = OrderedDict()


def _kernel(question: Question | SourceQuestion, dynamic: int, generates: bool) -> CompiledKernel:
    """Compile the kernel of a question, or return it from the cache."""
    key = f"{question.key()} {dynamic} {generates}"
    if key not in _kernels:
        _kernels[key] = CompiledKernel(kernel_ir(question), dynamic, generates)
        while len(_kernels) > KEPT:
            _kernels.popitem(last=False)
    _kernels.move_to_end(key)
    return _kernels[key]


def count_launch(
    kernel: CompiledKernel, memory: DeviceMemory, table: NDArray[np.uint8], size: LaunchSize, seconds: float
) -> CompiledCounters:
    """Count a launch of a kernel; table: see `arguments.packed`. Raises NotCountableError."""
    sums, contends = run(
        kernel.code, kernel.machine, table, memory.bounds, size, seconds, wide=kernel.may_be_joined
    )
    native = kernel.native()
    compiler = f"{compiler_name()} and {native.compiler}" if native else compiler_name()
    sites = sites_of(kernel.code.accesses, kernel.ir.sites, sums, native)
    return CompiledCounters(
        compiler, counters_of(sites), sites, (CONTENDED, *kernel.notes) if contends else kernel.notes, "",
        native.registers if native else None, native.spills if native else None,
        at_least(kernel.code.accesses, sums) if contends else (),
    )  # fmt: skip


def _launch_arguments(launch: Launch, ir: KernelIR) -> tuple[DeviceMemory, NDArray[np.uint8]]:
    """Return the filled memory of a launch's arrays, and the table of its arguments."""
    contents: list[Any] = [
        create_array(value) if isinstance(value, Array) else value.value for value in launch.arguments
    ]
    arrays = [value for value in contents if isinstance(value, np.ndarray)]
    memory = DeviceMemory([value.nbytes for value in arrays])
    for view, array in zip(memory.views, arrays, strict=True):
        view[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    addresses = iter(memory.addresses)
    entries = [
        Pointer(next(addresses), value.dtype, value.shape, value.strides)
        if isinstance(value, np.ndarray)
        else value
        for value in contents
    ]
    return memory, pack_arguments(entries, ir.types)


def _live_arguments(job: LiveJob, ir: KernelIR) -> tuple[DeviceMemory, NDArray[np.uint8]]:
    sizes = [dtype_from(memory.dtype).itemsize * memory.size for memory in job.memories]
    memory = DeviceMemory(sizes)
    for number, view in enumerate(memory.views):
        view[:] = np.fromfile(memory_file(Path(job.folder), number), np.uint8, len(view))
    maker = KernelBuilder((), lambda *_: None)

    def value(argument: ArrayArgument | ArgumentTuple | Value) -> Any:
        if isinstance(argument, ArrayArgument):
            address = memory.addresses[argument.memory] + argument.offset
            return Pointer(address, dtype_from(argument.dtype), argument.shape, argument.strides)
        if isinstance(argument, ArgumentTuple):
            return tuple(map(value, argument.items))
        return maker.value(argument)

    return memory, pack_arguments([value(item) for item in job.arguments], ir.types)
