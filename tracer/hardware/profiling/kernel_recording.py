"""Recording of the resources of compiled kernels: from the driver, or only from the compilers without a GPU."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from ....kernels.scenarios import catalogue
from ....kernels.scenarios.catalogue import Scenario, Values
from ...model.launch import Launch, Scalar
from ...recording.kernel_loader import load_kernel, set_constants
from ..occupancy import Capability
from ..times.cases import Case, cases_of, launch_of_case
from ..times.cuda_c import CudaCKernel, function_of, source_of
from ..times.gpu import Gpu
from ..times.measurement import MeasurementError
from .recorded_kernels import CompiledKernel, dynamic_bytes, form_of

FEW = 16  # a parameter with at most so many values is compiled for each


class DriverAnswer(msgspec.Struct, frozen=True, array_like=True):
    """The number of blocks of a kernel that fit on a multiprocessor, according to the driver."""

    registers: int  # per thread
    static_bytes: int  # of shared memory, per block
    dynamic_bytes: int
    threads: int  # per block
    blocks: int  # the answer; 0 if the launch is impossible


class UnresolvedError(Exception):
    """A kernel that the assembler can't complete, since it calls functions that Numba links later (half precision)."""


class Loaded(Struct, frozen=True):
    """A kernel on the device with its resources."""

    registers: int  # per thread
    shared_bytes: int  # of static shared memory, per block
    local_bytes: int  # of local memory, per thread
    kernel: Any = None  # of cuda-core, None without a device
    owner: Any = None  # must live as long as the kernel


def cases_to_compile() -> list[Case]:
    """List a case for each different code of the catalogue's kernels.

    These are all measured cases, the lessons' own, and these with another value of one frequently used parameter.
    """
    cases = [case for case in cases_of([]) if case.needs_device and not case.baseline]
    cases += [
        Case(scenario.name, dict(values))
        for scenario in catalogue.scenarios()
        if scenario.engine == "cuda"
        for values in _usual_values(scenario)
    ]
    forms = {msgspec.json.encode(form): case for case in cases if (form := form_of(launch_of_case(case)))}
    return list(forms.values())


def _usual_values(scenario: Scenario) -> Iterator[Values]:
    own = catalogue.settle(scenario, {})
    yield own
    for parameter in scenario.parameters:
        few = parameter.maximum - parameter.minimum <= FEW
        values = parameter.choices or (range(parameter.minimum, parameter.maximum + 1) if few else ())
        if not parameter.file and not parameter.seldom:
            others = ({**own, parameter.name: value} for value in values)
            yield from (other for other in others if _is_valid(scenario, other))


def _is_valid(scenario: Scenario, values: Values) -> bool:
    """Return True if a kernel accepts these values; some exclude each other."""
    try:
        scenario.plan(values)
    except catalogue.CatalogueError:
        return False
    return True


def compiled_case(case: Case, loaded: Loaded) -> CompiledKernel:
    """Build the record of a case's kernel."""
    form = form_of(launch_of_case(case))
    assert form is not None, "cases are of the catalogue"
    return CompiledKernel(case.scenario, form, loaded.registers, loaded.shared_bytes, loaded.local_bytes)


def loaded_case(case: Case, gpu: Gpu) -> Loaded:
    """Compile a case's kernel for the device, and load it."""
    scenario, launch = catalogue.find(case.scenario), launch_of_case(case)
    if scenario.cuda_c:
        compiled = CudaCKernel(scenario.cuda_c, case.values, launch, int(gpu.stream))
        return loaded_kernel(compiled.kernel, compiled)
    return _loaded_function(_numba_kernel(launch).compile(argument_types(launch)))


def _loaded_function(compiled: Any) -> Loaded:
    """Return Numba's compiled code for one signature, with its resources."""
    kernel = compiled._codelibrary.get_cufunc().kernel  # there is no public way
    resources = compiled.regs_per_thread, compiled.shared_mem_per_block, compiled.local_mem_per_thread
    return Loaded(*resources, kernel, compiled)


def loaded_kernel(kernel: Any, owner: Any = None) -> Loaded:
    """Return a kernel of cuda-core; its attributes are methods in older versions."""
    names = ("num_regs", "shared_size_bytes", "local_size_bytes")
    attributes = [getattr(kernel.attributes, name) for name in names]
    registers, shared, local = (int(value() if callable(value) else value) for value in attributes)
    return Loaded(registers, shared, local, kernel, owner)


def _numba_kernel(launch: Launch) -> Any:
    module, kernel = load_kernel(launch)
    set_constants(module, launch)
    return kernel


def argument_types(launch: Launch) -> tuple[Any, ...]:
    """Return Numba's types of a launch's arguments."""
    import numba

    return tuple(
        numba.typeof(a.value)
        if isinstance(a, Scalar)
        else numba.types.Array(numba.from_dtype(np.dtype(a.dtype)), len(a.shape), "C")
        for a in launch.arguments
    )


# Without a GPU: resources from the compilers, for a compute capability.


def assembled_case(case: Case, ptxas: str, capability: Capability) -> Loaded:
    """Return a kernel's resources from NVIDIA's assembler; raises MeasurementError and UnresolvedError."""
    scenario, launch = catalogue.find(case.scenario), launch_of_case(case)
    most = None
    if scenario.cuda_c:
        text = _cuda_c_ptx(scenario, case, capability)
    else:
        from numba import cuda
        from numba.cuda import dispatcher

        # Numba compiles device functions for the current device, which does not exist here.
        dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
        kernel = _numba_kernel(launch)
        fast, most = bool(kernel.targetoptions.get("fastmath")), kernel.targetoptions.get("max_registers")
        text = cuda.compile_ptx(kernel.py_func, argument_types(launch), cc=capability, fastmath=fast)[0]
    return _assembled(text, ptxas, capability, most)


def _cuda_c_ptx(scenario: Scenario, case: Case, capability: Capability) -> str:
    """Compile a CUDA C kernel with NVRTC; cuda-core would need a driver."""
    from cuda.bindings import nvrtc

    def called(result: Any) -> Any:
        if result[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise MeasurementError(f"NVRTC could not compile {case.scenario} ({result[0].name}).")
        return result[1] if len(result) > 1 else None

    kernel = scenario.cuda_c
    assert kernel is not None
    function = function_of(kernel, case.values)
    tile, arch = case.values.get("tile", ""), f"--gpu-architecture=compute_{capability[0]}{capability[1]}"
    program = called(nvrtc.nvrtcCreateProgram(source_of(kernel)[1].encode(), b"", 0, [], []))
    if "<" in function:
        called(nvrtc.nvrtcAddNameExpression(program, function.encode()))
    options = [b"--std=c++17", f"-DTILE={tile}".encode(), arch.encode()]
    called(nvrtc.nvrtcCompileProgram(program, len(options), options))
    text = b" " * called(nvrtc.nvrtcGetPTXSize(program))
    called(nvrtc.nvrtcGetPTX(program, text))
    return str(text.decode().rstrip("\0"))


def _assembled(text: str, ptxas: str, capability: Capability, most: int | None) -> Loaded:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.ptx"
        path.write_text(text)
        limit = [f"--maxrregcount={most}"] if most else []
        arch = f"-arch=sm_{capability[0]}{capability[1]}"
        command = [ptxas, arch, "-v", *limit, str(path), "-o", f"{path}.cubin"]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            raise MeasurementError(f"{ptxas} can't be run: {error.strerror or error}.") from error
        if done.returncode:
            raise UnresolvedError(done.stderr.strip())
    output = done.stderr
    return Loaded(
        _number(r"Used (\d+) registers", output),
        _number(r"(\d+) bytes smem", output),
        _number(r"(\d+) bytes stack frame", output),
    )


def _number(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


# Answers of the driver.

SWEPT_REGISTERS = (
    16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 104, 112, 128, 144, 160, 168, 192, 216, 240, 255,
)  # fmt: skip
SWEPT_BYTES = (
    0, 1, 128, 129, 1000, 2048, 2176, 4096, 7000, 8192, 8448, 9216, 12_000, 16_384, 20_000, 24_576, 32_768, 40_000,
    49_152, 49_153, 60_000, 65_536, 75_776, 99_328, 101_377, 115_712, 150_000, 166_912, 200_000, 232_448,
)  # fmt: skip
SWEPT_THREADS = (
    1, 32, 33, 64, 96, 128, 160, 224, 256, 288, 320, 384, 448, 512, 544, 640, 768, 896, 1000, 1024,
)  # fmt: skip


def driver_answers(gpu: Gpu, loaded: Iterable[tuple[Case, Loaded]]) -> Iterator[DriverAnswer]:
    """Yield the driver's answers for kernels as launched, and for a sweep over resources."""
    for case, kernel in loaded:
        launch = launch_of_case(case)
        threads = launch.block[0] * launch.block[1] * launch.block[2]
        yield _answer(kernel, dynamic_bytes(launch), threads)
    for most in SWEPT_REGISTERS:
        kernel = register_heavy_kernel(most)
        _allow_all_shared(gpu, kernel)
        for dynamic in SWEPT_BYTES:
            yield from map(partial(_answer, kernel, dynamic), SWEPT_THREADS)


def _answer(loaded: Loaded, dynamic: int, threads: int) -> DriverAnswer:
    try:
        blocks = int(loaded.kernel.occupancy.max_active_blocks_per_multiprocessor(threads, dynamic))
    except Exception:  # noqa: BLE001  # the bindings report an impossible launch like this
        blocks = 0
    return DriverAnswer(loaded.registers, loaded.shared_bytes, dynamic, threads, blocks)


def _allow_all_shared(gpu: Gpu, loaded: Loaded) -> None:
    """Allow a kernel more than the default 48 KiB of dynamic shared memory."""
    from cuda.bindings import driver as binding
    from numba.cuda.cudadrv.driver import driver

    attribute = binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    most = int(gpu.device.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
    driver.cuKernelSetAttribute(attribute, most, loaded.kernel.handle, gpu.device.id)


def hungry_source(values: int = 300) -> str:
    """Return the source of a CUDA C kernel with many live values, which a barrier keeps in registers."""
    numbers = range(values)
    loads = [f"    float v{n} = a[i + {n} * stride];" for n in numbers]
    sums = [f"    total = total * v{n} + v{n};" for n in reversed(numbers)]
    head = ['extern "C" __global__ void hungry(float *a, int stride) {', "    int i = threadIdx.x;"]
    foot = ["    __syncthreads();", "    float total = 0;", *sums, "    a[i] = total;", "}", ""]
    return "\n".join([*head, *loads, *foot])


def register_heavy_kernel(most: int) -> Loaded:
    """Compile a kernel that takes as many registers as allowed, and load it."""
    import cuda.core as core

    program = core.Program(hungry_source(), "c++", core.ProgramOptions(max_register_count=most))
    code = program.compile("cubin")
    return loaded_kernel(code.get_kernel("hungry"), code)
