"""A kernel call as plain data: the code of its functions, its arguments, and their memory."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from ..model.launch import Dim3, Schedule
from ..type_inference.question import DType, Function, Value

CALL_FILE = "call.json"


class CallError(Exception):
    """A call can't be transferred to another process; the message is one sentence that names the obstacle."""


class Memory(msgspec.Struct, frozen=True):
    """Memory that holds arguments: `size` elements of a type, in a separate file next to the call."""

    dtype: DType
    size: int


class ArrayArgument(msgspec.Struct, frozen=True, tag="array place"):
    """An array or record argument, located in one of the call's memories."""

    memory: int  # index of the memory
    offset: int  # bytes from its start to the first element
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    kind: Literal["host", "device", "record"] = "host"  # a NumPy array, a device array, or a record
    transfer: Literal["", "In", "Out", "InOut"] = ""  # class of numba.cuda around the argument
    readonly: bool = False


class ArgumentTuple(msgspec.Struct, frozen=True, tag="argument tuple"):
    """A tuple argument; a named tuple if it has fields."""

    items: tuple[Argument, ...]
    name: str = ""
    fields: tuple[str, ...] = ()


Argument = ArrayArgument | ArgumentTuple | Value


class Call(msgspec.Struct, frozen=True):
    """A kernel, which is the first of these functions, its arguments and its launch configuration."""

    functions: tuple[Function, ...]
    arguments: tuple[Argument, ...]
    memories: tuple[Memory, ...]
    grid: Dim3  # blocks
    block: Dim3  # threads
    shared_bytes: int  # dynamic shared memory of a block
    signatures: tuple[tuple[Value, ...], ...]  # types that the kernel was declared for; empty for any
    debug: bool  # as given to cuda.jit
    sources: dict[str, str]  # text of each source file of the functions
    program: str = ""  # the file of the user's program
    module: str = ""  # its module name if it was run by python -m
    schedule: Schedule = Schedule()
    specialized: bool = False  # whether it was declared for exactly one list of types

    def kernel_key(self) -> bytes:
        """Return a key that is equal for calls of the same kernel with the same global names."""
        return msgspec.json.encode(
            [self.functions, self.signatures, self.specialized, self.debug, self.sources]
        )


_CALL = msgspec.json.Decoder(Call)


def memory_file(folder: Path, number: int) -> Path:
    """Return the path of one of a call's memories."""
    return folder / f"{number}.bin"


def save_call(call: Call, folder: Path) -> None:
    """Write a call to a folder; raises OSError."""
    (folder / CALL_FILE).write_bytes(msgspec.json.encode(call))


def load_call(folder: Path) -> Call:
    """Read the call in a folder; raises OSError or msgspec.MsgspecError."""
    return _CALL.decode((folder / CALL_FILE).read_bytes())
