"""A launch as plain data: the kernel, its arguments, and how to run it. Equal launches give equal traces."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Literal

import msgspec

from .embedded_cpp import is_embedded

Dim3 = tuple[int, int, int]
EngineName = Literal["compiled", "simulator"]
ScheduleKind = Literal["lockstep", "sequential", "random", "measured", "order"]
OBJECT_DTYPE = "object"  # of a scalar that is not a number
Fill = Literal["random", "normal", "zeros", "ones", "twos", "threes", "fours", "arange", "empty", "file"]

CUDA_CPP_SUFFIXES = (
    ".cu",
    ".cuh",
    ".cpp",
    ".cc",
    ".cxx",
    ".h",
    ".hpp",
    ".hh",
    ".inl",
)  # of files with C++ kernels
PYTHON_PROGRAMS = "tilescope.kernels.emulation"  # the module of the plain Python programs


def _is_special(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


class Array(msgspec.Struct, frozen=True, tag="array"):
    """An array argument.

    `fill`: seeded random numbers, uniform or normal, one constant, 0 1 2 ..., the poison of uninitialised
    memory (`empty`), or a `.npy` file.
    """

    shape: tuple[int, ...]  # elements along each dimension
    dtype: str = "float32"  # of an element, as NumPy names it
    fill: Fill = "zeros"  # source of the elements
    seed: int = 0  # of random numbers
    path: str = ""  # of the `.npy` file
    digest: str = ""  # SHA-256 of the file, which makes its content part of the launch


Special = Literal["nan", "inf", "-inf"]  # numbers that JSON lacks: it has null instead
if TYPE_CHECKING:
    Number = bool | int | float
else:
    Number = bool | int | float | None


class Scalar(msgspec.Struct, frozen=True, tag="scalar", omit_defaults=True):
    """A scalar argument, passed as a Python number.

    dtype: its type in the program that launched the kernel: a NumPy type, "" for a Python number, OBJECT_DTYPE
    for other objects, whose value is not kept. special: the value in JSON, where it is infinite or NaN.
    """

    value: Number
    dtype: str = ""
    special: Special | None = None

    def __post_init__(self) -> None:
        """Restore a value that JSON lacks, or name it for JSON."""
        if self.value is None:
            msgspec.structs.force_setattr(self, "value", float(self.special or "nan"))
        elif _is_special(self.value):
            msgspec.structs.force_setattr(self, "special", str(self.value))


class Schedule(msgspec.Struct, frozen=True):
    """The order in which threads run: `lockstep`, `sequential`, `random` with its seed, or as `measured` on a GPU.

    A measured order can't be requested: it belongs to a recording (`tracer/hardware/accesses`), whose random inputs
    have the seed. The kind `order` runs threads as the text `order` states; see `model/order.py`.
    """

    kind: ScheduleKind = "lockstep"
    seed: int = 0
    # Unset, it is not part of the JSON, so that the keys of launches without it stay the same.
    order: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def order_text(self) -> str:
        """The text of an explicit order; "" for other kinds."""
        return self.order if isinstance(self.order, str) else ""


class Limits(msgspec.Struct, frozen=True):
    """The limits of recording.

    accesses: the number kept; beyond it, or if it is 0, only counters continue. memory: bytes of the recording;
    compiled launches spill the rest to files.
    """

    accesses: int = 12_000_000
    memory: int = 2_000_000_000


class Launch(msgspec.Struct, frozen=True):
    """A kernel, its arguments, and how to run it."""

    # `module:function`, `path/to/file.py:function`, `path/to/notebook.ipynb [3]:function`, `path/to/file.cu:function`,
    # `module.cu:function`, or `path/to/file.py [C++]:function` for a kernel in a string of a Python program
    kernel: str
    # The text of that file; for a cell, with the definitions it uses of others (see `notebook_cells`). This text runs,
    # so an edited kernel is another launch.
    source: str
    arguments: tuple[Array | Scalar, ...]  # in the kernel's order
    grid: Dim3  # blocks
    block: Dim3  # threads
    # globals that the kernel freezes; a str names a numba type. In CUDA C++ template parameters and macros
    constants: dict[str, Number | str] = {}
    shared_bytes: int = 0  # of dynamic shared memory per block
    scenario: str = ""  # its name in the catalogue, whose NumPy reference checks the result; "" for none
    schedule: Schedule = Schedule()
    resident: int | None = None  # blocks that run at once; None means as many as fit 8,192 threads
    blocks: tuple[int, ...] | None = None  # linear block numbers (x fastest) to run; None means all
    limits: Limits = Limits()
    engine: EngineName = "simulator"  # "compiled": kernels that can't be compiled run in the simulator
    # digest of the modules that the file imports from its own folder
    imports_digest: str = msgspec.field(name="beside", default="")
    special: dict[str, Special] | msgspec.UnsetType = msgspec.UNSET  # constants that JSON lacks

    def __post_init__(self) -> None:
        """Restore constants that JSON lacks, or name them for JSON."""
        missing = {} if self.special is msgspec.UNSET else self.special
        restored = {name: float(missing.get(name, "nan")) for name, v in self.constants.items() if v is None}
        constants = self.constants | restored
        special = {name: str(value) for name, value in constants.items() if _is_special(value)}
        if special:
            msgspec.structs.force_setattr(self, "constants", constants)
        msgspec.structs.force_setattr(self, "special", special or msgspec.UNSET)

    def key(self) -> str:
        """Return a digest of this launch: equal launches have equal keys (64 hexadecimal digits)."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()


def encode(launch: Launch) -> str:
    """Encode the launch as JSON."""
    return msgspec.json.encode(launch, order="sorted").decode()


# Created at import: msgspec can crash if two threads are the first to use a type.
_LAUNCH = msgspec.json.Decoder(Launch)


def decode(text: str) -> Launch:
    """Decode the launch that `encode` wrote; raises msgspec.ValidationError for anything else."""
    return _LAUNCH.decode(text)


def is_utf8(path: str) -> bool:
    """Return True if a path can be stored in a launch: file names may contain bytes that are no text."""
    try:
        return bool(path.encode())
    except UnicodeEncodeError:
        return False


def is_python_program(launch: Launch) -> bool:
    """Return True for a launch of a plain Python program, run by `simulator/python_program.py`."""
    return launch.kernel.partition(":")[0] == PYTHON_PROGRAMS


def is_cuda_cpp_launch(launch: Launch) -> bool:
    """Return True for a launch of a kernel in CUDA C++, run by `tracer/cuda_cpp`."""
    return is_cuda_cpp(launch.kernel.rpartition(":")[0])


def is_cuda_cpp(file: str) -> bool:
    """Return True for the name of a file in CUDA C++, and for that of a launch from a string of a Python program."""
    return is_embedded(file) or file.lower().endswith(CUDA_CPP_SUFFIXES)
