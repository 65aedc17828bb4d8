"""What compiled kernels of the catalogue take of a multiprocessor, as it was recorded; data of the package."""

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
from ...model.plan import kernel_source
from ..occupancy import Capability, Occupancy, occupancy

FILE: Final = "kernels.json"  # of the resources
LARGEST: Final = 16_000_000  # bytes of the file

Constants = dict[str, bool | int | float | str]


class KernelForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the code of a kernel follows from, so that one record holds for launches of every size."""

    kernel: str  # `module:function`, or `file.cu:function`
    digest: str  # of its text, 16 hexadecimal digits
    constants: Constants  # globals that it freezes
    types: tuple[str, ...]  # of its arguments: float32[2] is an array of two dimensions


class CompiledKernel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the code of a kernel takes."""

    scenario: str  # the catalogue's name of one that has it
    form: KernelForm  # what was compiled
    registers: int  # a thread
    shared_bytes: int  # of static shared memory, a block
    local_bytes: int  # of local memory a thread, spilled registers among them


class CompiledKernels(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The kernels that were compiled for one device, and how."""

    device: str  # NVIDIA H200, or what it was compiled for where there was none
    capability: Capability  # that it was compiled for
    how: str  # one sentence
    date: str  # ISO 8601, UTC
    revision: str  # of git, + where files differ from it, "" if unknown
    kernels: tuple[CompiledKernel, ...]


class LaunchOccupancy(msgspec.Struct, frozen=True):
    """What a launch takes of a multiprocessor, and how many of its blocks fit there (modelled)."""

    compiled: CompiledKernel  # its code, as it was recorded
    device: str  # that it was compiled for
    capability: Capability  # of that
    how: str  # it was compiled
    date: str  # ISO 8601, UTC, of the record
    shared_bytes: int  # static and dynamic, a block
    threads: int  # a block
    occupancy: Occupancy  # modelled


def form_of(launch: Launch) -> KernelForm | None:
    """Return what the code that runs for a launch of the catalogue follows from, None for others."""
    try:
        scenario = find(launch.scenario)
        own = kernel_source(scenario.kernel)[1] if scenario.kernel == launch.kernel else ""
    except CatalogueError:
        return None
    types = tuple(
        f"{a.dtype}[{len(a.shape)}]" if isinstance(a, Array) else _scalar(a.value) for a in launch.arguments
    )
    if scenario.cuda_c:
        return _cuda_c_form(scenario, launch, types) if launch.source == own else None
    digest = function_digest(launch.source, launch.kernel.rpartition(":")[2])
    return KernelForm(launch.kernel, digest, launch.constants, types) if digest else None


def _scalar(value: bool | int | float) -> str:
    return type(value).__name__


def _cuda_c_form(scenario: Scenario, launch: Launch, types: tuple[str, ...]) -> KernelForm:
    kernel = scenario.cuda_c
    assert kernel is not None
    text = (ROOT / "kernels" / "cuda_c" / kernel.file).read_text(encoding="utf-8")
    tile = launch.block[0]  # the macro that these kernels are compiled with, or the width at run time
    return KernelForm(f"{kernel.file}:{kernel.function}", _digest(text), {"TILE": tile}, types)


@lru_cache(maxsize=64)
def function_digest(source: str, name: str) -> str:
    """Return a name for the text of a file's function, decorators included; "" where there is none."""
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
    """Return the record that a file's content is, None for anything else."""
    if len(content) > LARGEST:
        return None
    try:
        found = _DECODER.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    numbers = [(k.registers, k.shared_bytes, k.local_bytes) for k in found.kernels]
    return found if all(0 <= n < 1 << 31 for of_one in numbers for n in of_one) else None


# Made when it is imported: threads that are the first to use a type at once can crash msgspec.
_DECODER = msgspec.json.Decoder(CompiledKernels)


@cache
def recorded_kernels() -> CompiledKernels | None:
    """Return the record that comes with the package, None where there is none that can be read."""
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
    """Return the occupancy of a launch, None where nobody recorded what its code takes: one that was edited, say."""
    record, form = recorded_kernels(), form_of(launch)
    compiled = _by_form().get(_key(form)) if form else None
    if record is None or compiled is None:
        return None
    return occupancy_with(record, compiled, launch)


def occupancy_with(
    record: CompiledKernels, compiled: CompiledKernel, launch: Launch
) -> LaunchOccupancy | None:
    """Return the occupancy of a launch whose code takes this; None for a device that is not in the tables."""
    shared, threads = (
        compiled.shared_bytes + dynamic_bytes(launch),
        launch.block[0] * launch.block[1] * launch.block[2],
    )
    found = occupancy(record.capability, compiled.registers, shared, threads)
    if found is None:
        return None
    origin = record.device, record.capability, record.how, record.date
    return LaunchOccupancy(compiled, *origin, shared, threads, found)


def dynamic_bytes(launch: Launch) -> int:
    """Return the dynamic shared memory of a launch: a CUDA C kernel may declare in its code what Numba's twin gets."""
    kernel = find(launch.scenario).cuda_c if launch.scenario else None
    return launch.shared_bytes if kernel is None or kernel.dynamic else 0
