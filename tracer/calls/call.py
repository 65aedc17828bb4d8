"""A call of a kernel as plain data: the code of its functions, its arguments, and the memory that these lie in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from ..model.launch import Dim3, Schedule
from ..type_inference.question import DType, Function, Value

CALL_FILE = "call.json"


class CallError(Exception):
    """A call that can't be taken to another process; the text is one sentence that names what can't."""


class Memory(msgspec.Struct, frozen=True):
    """Some memory in which arguments lie: `size` elements of a type, in a file of its own beside the call."""

    dtype: DType
    size: int


class ArrayPlace(msgspec.Struct, frozen=True, tag="array place"):
    """An argument that is an array, or a record, in one of the call's memories."""

    memory: int  # its number
    offset: int  # bytes from there to its first element
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    kind: Literal["host", "device", "record"] = "host"  # an array of NumPy's, one on the device, a record
    transfer: Literal["", "In", "Out", "InOut"] = ""  # how numba.cuda was told to pass it
    readonly: bool = False


class ArgumentTuple(msgspec.Struct, frozen=True, tag="argument tuple"):
    """An argument that is a tuple, with fields a named one."""

    items: tuple[Argument, ...]
    name: str = ""
    fields: tuple[str, ...] = ()


Argument = ArrayPlace | ArgumentTuple | Value


class Call(msgspec.Struct, frozen=True):
    """A kernel, the first of these functions, what it is called with, and how it is launched."""

    functions: tuple[Function, ...]
    arguments: tuple[Argument, ...]
    memories: tuple[Memory, ...]
    grid: Dim3  # blocks
    block: Dim3  # threads
    shared_bytes: int  # of dynamic shared memory, a block
    signatures: tuple[tuple[Value, ...], ...]  # for which the kernel was declared; none where it was for any
    debug: bool  # as given to cuda.jit
    sources: dict[str, str]  # the text of each file that functions are written in
    program: str = ""  # the file of the user's program
    module: str = ""  # its name where it was run as one (python -m)
    schedule: Schedule = Schedule()
    specialized: bool = (
        False  # whether it was declared for one list of types, and not for several that are chosen from
    )

    def kernel_key(self) -> bytes:
        """Return what is equal for calls of one kernel, as its names are now."""
        return msgspec.json.encode(
            [self.functions, self.signatures, self.specialized, self.debug, self.sources]
        )


_CALL = msgspec.json.Decoder(Call)


def memory_file(folder: Path, number: int) -> Path:
    """Return the file of one of a call's memories."""
    return folder / f"{number}.bin"


def save_call(call: Call, folder: Path) -> None:
    """Write a call to a folder; raises OSError."""
    (folder / CALL_FILE).write_bytes(msgspec.json.encode(call))


def load_call(folder: Path) -> Call:
    """Return the call in a folder; raises OSError or msgspec.MsgspecError."""
    return _CALL.decode((folder / CALL_FILE).read_bytes())
