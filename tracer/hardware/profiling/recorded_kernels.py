"""The recorded resources of the catalogue's compiled kernels; data of the package."""

from __future__ import annotations

import ast
import hashlib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

import msgspec

from .... import ROOT, resources
from ....kernels.scenarios.catalogue import CatalogueError, Scenario, find
from ...model.launch import Array, Launch
from ...model.plan import kernel_source, twin_of
from ..occupancy import Capability, Occupancy, occupancy

FILE: Final = "kernels.json"  # of the resources
LARGEST: Final = 16_000_000  # bytes of the file

Constants = dict[str, bool | int | float | str]


class KernelForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What determines a kernel's code, so that one record holds for launches of every size."""

    kernel: str  # `module:function`, or `file.cu:function`
    digest: str  # of its text, 16 hexadecimal digits
    constants: Constants  # globals that it freezes
    types: tuple[str, ...]  # of its arguments: float32[2] is a two-dimensional array


class CompiledKernel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The resources that a kernel's code needs."""

    scenario: str  # the catalogue's name of a scenario with this kernel
    form: KernelForm
    registers: int  # per thread
    shared_bytes: int  # of static shared memory, per block
    local_bytes: int  # of local memory per thread, including spilled registers


class CompiledKernels(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The kernels that were compiled for one device, and the method."""

    device: str  # NVIDIA H200, or the target if there was no device
    capability: Capability  # of the target
    how: str  # one sentence
    date: str  # ISO 8601, UTC
    revision: str  # of git, with + if files differ from it, "" if unknown
    kernels: tuple[CompiledKernel, ...]


class LaunchOccupancy(msgspec.Struct, frozen=True):
    """The resources of a launch, and the number of its blocks that fit on a multiprocessor (modelled)."""

    compiled: CompiledKernel
    device: str  # the target of the compilation
    capability: Capability  # of that device
    how: str  # the method of the compilation
    date: str  # ISO 8601, UTC, of the record
    shared_bytes: int  # static and dynamic, per block
    threads: int  # per block
    occupancy: Occupancy  # modelled


def form_of(launch: Launch) -> KernelForm | None:
    """Describe what determines the code of a launch; return None if it is not in the catalogue."""
    try:
        scenario = find(launch.scenario)
        subject = scenario.twin if scenario.twin and scenario.twin.kernel == launch.kernel else scenario
        own = kernel_source(subject.kernel)[1] if subject.kernel == launch.kernel else ""
    except CatalogueError:
        return None
    if scenario.cuda_c and launch.source != own:
        return None
    described = twin_of(launch) or launch  # kernels in CUDA C are recorded with the types of their twins
    types = tuple(
        f"{a.dtype}[{len(a.shape)}]" if isinstance(a, Array) else _scalar(a.value)
        for a in described.arguments
    )
    if scenario.cuda_c:
        return _cuda_c_form(scenario, launch, types)
    digest = function_digest(launch.source, launch.kernel.rpartition(":")[2])
    return KernelForm(launch.kernel, digest, launch.constants, types) if digest else None


def _scalar(value: bool | int | float) -> str:
    return type(value).__name__


def _cuda_c_form(scenario: Scenario, launch: Launch, types: tuple[str, ...]) -> KernelForm:
    kernel = scenario.cuda_c
    assert kernel is not None
    text = (ROOT / "kernels" / "cuda_c" / kernel.file).read_text(encoding="utf-8")
    tile = launch.block[0]  # the macro of these kernels, or their width at run time
    return KernelForm(f"{kernel.file}:{kernel.function}", _digest(text), {"TILE": tile}, types)


@lru_cache(maxsize=64)
def function_digest(source: str, name: str) -> str:
    """Return a digest of a function's text with its decorators; "" if the file lacks it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min(node.lineno, *(d.lineno for d in node.decorator_list), node.lineno)
            return _digest("\n".join(source.splitlines()[first - 1 : node.end_lineno]))
    return ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def decode(content: bytes) -> CompiledKernels | None:
    """Decode the content of a file; return None if it is invalid."""
    if len(content) > LARGEST:
        return None
    try:
        record = _DECODER.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    numbers = [(k.registers, k.shared_bytes, k.local_bytes) for k in record.kernels]
    return record if all(0 <= n < 1 << 31 for kernel in numbers for n in kernel) else None


# Created at import: threads that use a type for the first time at once can crash msgspec.
_DECODER = msgspec.json.Decoder(CompiledKernels)


@cache
def recorded_kernels() -> CompiledKernels | None:
    """Load the record of the package; return None if it is missing or invalid."""
    try:
        return decode(files(resources).joinpath(FILE).read_bytes())
    except OSError:
        return None


@cache
def _by_form() -> dict[bytes, CompiledKernel]:
    record = recorded_kernels()
    return {_key(kernel.form): kernel for kernel in record.kernels} if record else {}


def _key(form: KernelForm) -> bytes:
    return msgspec.json.encode(form, order="sorted")


def occupancy_of(launch: Launch) -> LaunchOccupancy | None:
    """Compute the occupancy of a launch; return None if its code was not recorded, e.g. after an edit."""
    record, form = recorded_kernels(), form_of(launch)
    compiled = _by_form().get(_key(form)) if form else None
    if record is None or compiled is None:
        return None
    return occupancy_with(record, compiled, launch)


def occupancy_with(
    record: CompiledKernels, compiled: CompiledKernel, launch: Launch
) -> LaunchOccupancy | None:
    """Compute the occupancy of a launch with these resources; return None for an unknown device."""
    shared, threads = (
        compiled.shared_bytes + dynamic_bytes(launch),
        launch.block[0] * launch.block[1] * launch.block[2],
    )
    modelled = occupancy(record.capability, compiled.registers, shared, threads)
    if modelled is None:
        return None
    origin = record.device, record.capability, record.how, record.date
    return LaunchOccupancy(compiled, *origin, shared, threads, modelled)


def dynamic_bytes(launch: Launch) -> int:
    """Return the dynamic shared memory of a launch; a CUDA C kernel may declare statically what its Numba twin gets."""
    kernel = find(launch.scenario).cuda_c if launch.scenario else None
    return launch.shared_bytes if kernel is None or kernel.dynamic else 0
