"""A launch as plain data: what to run, on what, how. Equal launches give equal traces."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

Dim3 = tuple[int, int, int]
EngineName = Literal["compiled", "simulator"]
ScheduleKind = Literal["lockstep", "sequential", "random", "measured"]
OBJECT_DTYPE = "object"  # of a scalar that is no number
Fill = Literal["random", "normal", "zeros", "ones", "twos", "threes", "fours", "arange", "empty", "file"]

PYTHON_PROGRAMS = "tilescope.kernels.emulation"  # the module of the plain Python programs


class Array(msgspec.Struct, frozen=True, tag="array"):
    """An array argument.

    `fill`: seeded random numbers, uniform or normal, all the same number, 0 1 2 ..., the poison of uninitialised
    memory (`empty`), or a `.npy` file.
    """

    shape: tuple[int, ...]  # elements along each dimension
    dtype: str = "float32"  # of an element, as NumPy names it
    fill: Fill = "zeros"  # where the elements come from
    seed: int = 0  # of random numbers
    path: str = ""  # of the `.npy` file
    digest: str = ""  # SHA-256 of the file, which makes its content part of the launch


class Scalar(msgspec.Struct, frozen=True, tag="scalar", omit_defaults=True):
    """A scalar argument, passed as Python's own number.

    dtype: what it was in the program that launched the kernel: a NumPy type, "" for Python's own number, OBJECT_DTYPE
    for what is no number, whose value is not kept.
    """

    value: bool | int | float
    dtype: str = ""


class Schedule(msgspec.Struct, frozen=True):
    """The order in which threads run: `lockstep`, `sequential`, `random` with its seed, or as `measured` on a GPU.

    A measured order is never made: it is the one of a recording (`tracer/hardware/accesses`), whose random inputs have
    the seed.
    """

    kind: ScheduleKind = "lockstep"
    seed: int = 0


class Limits(msgspec.Struct, frozen=True):
    """Where recording stops.

    accesses: how many are kept; of 0, and past that many, only the counters go on. memory: bytes that the recording
    may take; compiled launches take more to files.
    """

    accesses: int = 12_000_000
    memory: int = 2_000_000_000


class Launch(msgspec.Struct, frozen=True):
    """One kernel, what it is given, and how to run it."""

    kernel: str  # `module:function`, `path/to/file.py:function`, or `path/to/notebook.ipynb [3]:function`
    # The text of that file, for a cell with what it uses of others (see `notebook_cells`). It is what runs, so an
    # edited kernel is another launch.
    source: str
    arguments: tuple[Array | Scalar, ...]  # in the kernel's order
    grid: Dim3  # blocks
    block: Dim3  # threads
    constants: dict[
        str, bool | int | float | str
    ] = {}  # globals that the kernel freezes; a str names a numba type
    shared_bytes: int = 0  # of dynamic shared memory, a block
    scenario: str = ""  # the catalogue's name of it, whose NumPy reference checks the result; "" for none
    schedule: Schedule = Schedule()
    resident: int | None = None  # blocks that run at once; None is as many as fit 8,192 threads
    blocks: tuple[int, ...] | None = None  # linear block numbers (x fastest) to run; None is all of them
    limits: Limits = Limits()
    engine: EngineName = "simulator"  # "compiled": the simulator runs what can't be compiled
    beside: str = ""  # a name for the texts of the modules that the file imports from its own folder

    def key(self) -> str:
        """Return a name for this launch: equal launches have equal keys (64 hexadecimal digits)."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()


def encode(launch: Launch) -> str:
    """Return the launch as JSON."""
    return msgspec.json.encode(launch, order="sorted").decode()


# Made when it is imported: threads that are the first to use a type at once can crash msgspec.
_LAUNCH = msgspec.json.Decoder(Launch)


def decode(text: str) -> Launch:
    """Return the launch that `encode` wrote; raises msgspec.ValidationError for anything else."""
    return _LAUNCH.decode(text)


def is_utf8(path: str) -> bool:
    """Return whether a path can stand in a launch: names of files may hold bytes that are no text."""
    try:
        return bool(path.encode())
    except UnicodeEncodeError:
        return False


def is_python_program(launch: Launch) -> bool:
    """Return whether a launch is one of a plain Python program, run by `simulator/python_program.py`."""
    return launch.kernel.partition(":")[0] == PYTHON_PROGRAMS
