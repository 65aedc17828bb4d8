"""Calls a function of a torch extension, whose C++ launches kernels, on the tensors of a Python program.

`call_function` runs the extension in a child process, with a `main` of ours (`include/tilescope/tensor_call.h`). The
child maps a file with the call and its arguments, and describes the results in it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ..model.trace import Trace
from .build import BuildOptions, BuiltProgram, build
from .device_memory import BASE, DeviceMemory
from .device_memory import VARIABLE as MEMORY_VARIABLE
from .session import ProgramFault, Session, SessionOptions
from .single_launch import VARIABLE, include_without

MOST_AXES, MOST_VALUES = 8, 32
SCALAR_TYPES: dict[int, np.dtype[np.generic]] = {
    0: np.dtype("u1"), 1: np.dtype("i1"), 2: np.dtype("i2"), 3: np.dtype("i4"), 4: np.dtype("i8"), 5: np.dtype("f2"),
    6: np.dtype("f4"), 7: np.dtype("f8"), 11: np.dtype("?"),
}  # fmt: skip
_NUMBERS = {dtype: number for number, dtype in SCALAR_TYPES.items()}
_VALUE = np.dtype(
    [
        ("kind", "<i8"), ("integer", "<i8"), ("real", "<f8"), ("type", "<i8"), ("is_cuda", "<i8"), ("address", "<u8"),
        ("dim", "<i8"), ("sizes", "<i8", MOST_AXES), ("strides", "<i8", MOST_AXES),
    ]
)  # fmt: skip
_CALL = np.dtype(
    [
        ("parent", "<i8"), ("adopted", "<u8"), ("table", "<u8"), ("count", "<i8"), ("status", "<i8"),
        ("results", "<i8"), ("is_list", "<i8"), ("function", "S128"), ("text", "S512"), ("values", _VALUE, MOST_VALUES),
        ("returned", _VALUE, MOST_VALUES),
    ]
)  # fmt: skip
_NONE, _TENSOR, _INTEGER, _REAL, _BOOL = range(5)
_RETURNED, _RAISED, _REFUSED = 1, 2, 3
_FROM_TORCH = "#include <torch/extension.h>\n"


class TensorCallError(Exception):
    """A call that returned nothing. kind: "raised" by the function, "refused" for its arguments, or "ended"."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class GivenTensor(Struct, frozen=True):
    """A tensor of the Python program."""

    values: NDArray[np.generic]
    address: int | None  # of its first element on the device; None on the host


class ReturnedTensor(Struct, frozen=True):
    """A tensor that a function returned."""

    address: int  # on the device, also of a tensor on the host
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    is_cuda: bool
    content: bytes  # if it is contiguous


Given = GivenTensor | bool | int | float | None
Returned = ReturnedTensor | bool | int | float | None


class TensorCall(Struct, frozen=True):
    """A call of an extension's function."""

    function: str
    arguments: Sequence[Given]
    device: DeviceMemory


class Extension(Struct, frozen=True):
    """The C++ of an extension."""

    file: Path
    text: str  # with the kernels
    declarations: str  # C++ that follows it
    functions: tuple[str, ...]
    build: BuildOptions


class CallEnd(Struct):
    """What a call left, even if it failed."""

    traces: list[tuple[Trace, float]] = []
    faults: list[ProgramFault] = []
    returned: list[Returned] = []
    is_list: bool = False  # whether the function returned several values
    error: TensorCallError | None = None


def build_extension(extension: Extension) -> BuiltProgram:
    """Compile an extension; raises CompilerError and BuildError."""
    header = include_without("tensor_call.h", extension.text, extension.declarations)
    calls = "".join(f'  if (call.calls("{name}")) return call.run({name});\n' for name in extension.functions)
    after = (
        f'\n#line 1 "tilescope"\n{extension.declarations}\n{header}'
        f"TILESCOPE_HELPER int main() {{\n  TilescopeTensorCall call;\n{calls}  return 1;\n}}\n"
    )
    options = replace(extension.build, before=_FROM_TORCH, after=after)
    return build(extension.file, options, extension.text)


def call_function(built: BuiltProgram, call: TensorCall, options: SessionOptions) -> CallEnd:
    """Call a function in a child process. Tensors of the host and of the device keep what it wrote to them."""
    content, positions = _encode(call)
    end = CallEnd()
    with tempfile.TemporaryDirectory(prefix="tilescope-call-") as folder:
        path = Path(folder, "call")
        path.write_bytes(content)
        session = Session(
            options,
            lambda trace, seconds: end.traces.append((trace, seconds)),
            lambda program: (built.sources.texts, built.compiler.version),
        )
        try:
            settings = {VARIABLE: str(path), MEMORY_VARIABLE: str(call.device.file)}
            session.run([str(built.path)], os.environ | settings, files=(call.device.file,))
        finally:
            session.close()
        written = path.read_bytes()
    end.faults = session.faults
    header = np.frombuffer(written, _CALL, 1)[0]
    text = bytes(header["text"]).decode("utf-8", "replace")
    for number, position in positions.items():
        argument = call.arguments[number]
        if isinstance(argument, GivenTensor) and argument.values.flags.writeable:
            kept = np.frombuffer(written, argument.values.dtype, argument.values.size, position)
            argument.values[...] = kept.reshape(argument.values.shape)
    if header["status"] == _RETURNED:
        rows = header["returned"][: int(header["results"])]
        end.returned, end.is_list = [_decoded(row, call.device) for row in rows], bool(header["is_list"])
    elif header["status"] in (_RAISED, _REFUSED):
        end.error = TensorCallError("raised" if header["status"] == _RAISED else "refused", text)
    else:
        fault = next((fault for fault in end.faults if fault.kind != "leak"), None)
        end.error = TensorCallError("ended", fault.text if fault else f"{call.function} ended its process.")
    call.device.drop_own_memory_of_launch()
    call.device.note_launch()
    return end


def _encode(call: TensorCall) -> tuple[bytes, dict[int, int]]:
    """Return the file of a call, and the position of each host tensor in it; raises TensorCallError."""
    if len(call.arguments) > MOST_VALUES:
        raise TensorCallError("refused", f"it takes at most {MOST_VALUES} arguments")
    header, table = np.zeros(1, _CALL), call.device.table().tobytes()
    positions: dict[int, int] = {}
    pieces, position = [table], _CALL.itemsize + len(table)
    header["parent"], header["adopted"], header["table"] = os.getpid(), len(table) // 24, _CALL.itemsize
    header["count"], header["function"] = len(call.arguments), call.function.encode()
    values = header[0]["values"]
    for number, argument in enumerate(call.arguments):
        value = values[number]
        if isinstance(argument, GivenTensor):
            array = argument.values
            if array.dtype not in _NUMBERS or array.ndim > MOST_AXES:
                text = f"argument {number + 1} is a tensor of {array.dtype} with {array.ndim} axes"
                raise TensorCallError("refused", text)
            strides = array.strides
            if argument.address is None:
                positions[number], strides = position, np.empty(array.shape, array.dtype).strides
                pieces.append(array.tobytes() + bytes(-array.nbytes % 16))
                value["address"] = position
                position += len(pieces[-1])
            else:
                value["address"] = argument.address
            value["kind"], value["type"], value["dim"] = _TENSOR, _NUMBERS[array.dtype], array.ndim
            value["is_cuda"] = argument.address is not None
            value["sizes"][: array.ndim] = array.shape
            value["strides"][: array.ndim] = [stride // array.itemsize for stride in strides]
        elif argument is None:
            value["kind"] = _NONE
        elif isinstance(argument, float):
            value["kind"], value["real"] = _REAL, argument
        else:
            value["kind"] = _BOOL if isinstance(argument, bool) else _INTEGER
            value["integer"] = argument
    return b"".join([header.tobytes(), *pieces]), positions


def _decoded(row: np.void, device: DeviceMemory) -> Returned:
    kind = int(row["kind"])
    if kind == _TENSOR:
        dtype, dim = SCALAR_TYPES[int(row["type"])], int(row["dim"])
        shape = tuple(row["sizes"][:dim].tolist())
        strides = tuple(stride * dtype.itemsize for stride in row["strides"][:dim].tolist())
        address = int(row["address"])
        content = os.pread(device.file, int(np.prod(shape)) * dtype.itemsize, address - BASE)
        return ReturnedTensor(address, dtype, shape, strides, bool(row["is_cuda"]), content)
    if kind == _NONE:
        return None
    if kind == _REAL:
        return float(row["real"])
    return bool(row["integer"]) if kind == _BOOL else int(row["integer"])
