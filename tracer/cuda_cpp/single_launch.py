"""Launches one kernel of a CUDA C++ text on NumPy arrays, without the text's `main`.

`launch_kernel` compiles the text with a `main` of ours behind it (`include/tilescope/single_launch.h`), runs it in a
child process, and returns the trace. The child maps a file with the launch and its arguments, and leaves the arrays'
contents in it.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from ..model import cpp_text
from ..model.trace import Buffer, Dim3, Trace
from .build import BuildOptions, BuiltProgram, build
from .device_memory import VARIABLE as MEMORY_VARIABLE
from .device_memory import DeviceMemory
from .session import ProgramFault, Session, SessionOptions

VARIABLE = "TILESCOPE_LAUNCH"  # names the file to the child
ALIGNMENT = 64  # bytes between the contents in the file
MOST_ARGUMENTS = 128
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_HEADER = np.dtype(
    [
        ("grid", "<u4", 3), ("block", "<u4", 3), ("shared", "<u8"), ("cooperative", "<i4"), ("line", "<i4"),
        ("count", "<i4"), ("variables", "<i4"), ("status", "<i4"), ("which", "<i4"), ("parent", "<i8"),
        ("adopted", "<u8"), ("table", "<u8"), ("is_driven", "<i8"), ("expected", "S64"),
    ]
)  # fmt: skip
_GIVEN = np.dtype(
    [
        ("kind", "<i8"), ("type", "S8"), ("offset", "<u8"), ("size", "<u8"), ("memory", "<i8"), ("integer", "<i8"),
        ("real", "<f8"),
    ]
)  # fmt: skip
_ARRAY, _INTEGER, _REAL, _BYTES = range(4)
_DONE, _STARTED, _COUNT_DIFFERS, _KIND_DIFFERS, _TYPE_DIFFERS, _SIZE_DIFFERS = range(6)

KernelArgument = NDArray[np.generic] | np.generic | bool | int | float | bytes


class KernelLaunchError(Exception):
    """A kernel can't be launched, or its launch left no trace: one sentence, and the user's file and line.

    kind: that of a `ProgramFault`, or "arguments".
    """

    def __init__(self, text: str, file: str = "", line: int = 0, kind: str = "arguments") -> None:
        super().__init__(text)
        self.file, self.line, self.kind = file, line, kind


class KernelCall(Struct, frozen=True):
    """A launch of one kernel of a CUDA C++ text."""

    file: Path  # of the text; `#include "..."` is relative to it
    text: str
    kernel: str  # its name, without namespace and template arguments
    # In the order of the parameters. Arrays are C-contiguous; the same array twice is one piece of memory. A pointer
    # takes an array, or 0 for null; a structure takes its bytes.
    arguments: Sequence[KernelArgument]
    grid: Dim3
    block: Dim3
    shared_bytes: int = 0  # of dynamic shared memory per block
    # Values by name: template parameters of the kernel, and other names as macros. A str is C++ text.
    constants: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    variables: Mapping[str, NDArray[np.generic]] = field(
        default_factory=dict
    )  # contents of variables, by name
    is_cooperative: bool = False
    checks_types: bool = True  # whether the elements of arrays must have the type of the parameter
    expression: str = (
        ""  # C++ that names the kernel, such as "ns::scale<float>"; "" for the kernel's own name
    )
    # Memory that the arguments point to. Then arguments are bits, as for CUDA's driver: bytes or NumPy's numbers.
    device: DeviceMemory | None = None
    shapes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # of arrays in it, by argument
    build: BuildOptions = BuildOptions()


class LaunchedKernel(Struct, frozen=True):
    """What a launch left."""

    trace: Trace
    arrays: dict[int, NDArray[np.generic]]  # contents afterwards, by the position of the argument
    names: tuple[str, ...]  # of the parameters
    variables: dict[str, NDArray[np.generic]]  # contents afterwards
    faults: tuple[ProgramFault, ...]  # that no trace shows


def launch_kernel(call: KernelCall, options: SessionOptions | None = None) -> LaunchedKernel:
    """Launch a kernel in a child process and return its trace; the caller's arrays stay as they are.

    The trace names the text's file and line, like that of a complete program. Raises CompilerError, BuildError,
    KernelLaunchError, and what `options.report` raises.
    """
    options = options or SessionOptions()
    built, line = build_call(call), _kernel_function(call).first
    with tempfile.TemporaryDirectory(prefix="tilescope-launch-") as folder:
        path = Path(folder, "launch")
        content, positions = _encode(call, line)
        path.write_bytes(content)
        traces: list[Trace] = []
        session = Session(
            options,
            lambda trace, seconds: traces.append(trace),
            lambda program: (built.sources.texts, built.compiler.version),
        )
        try:
            settings = {VARIABLE: str(path)}
            files = () if call.device is None else (call.device.file,)
            if call.device is not None:
                settings[MEMORY_VARIABLE] = str(call.device.file)
            session.run([str(built.path)], os.environ | settings, files=files)
        finally:
            session.close()
        written = path.read_bytes()
    _check_status(call, np.frombuffer(written, _HEADER, 1)[0], line)
    if not traces:
        fault = next(iter(session.faults), None)
        if fault is None:
            raise KernelLaunchError(f"the launch of {call.kernel} left no trace.", str(call.file), line)
        raise KernelLaunchError(fault.text, fault.file or str(call.file), fault.line or line, fault.kind)
    names = (
        tuple(name for name, _ in session.facts.debug.parameters_of(call.kernel, len(call.arguments)))
        if session.facts
        else ()
    )
    arrays = {
        number: np.frombuffer(written, array.dtype, array.size, positions[number]).reshape(array.shape).copy()
        for number, array in enumerate(call.arguments)
        if isinstance(array, np.ndarray)
    }
    count = len(call.arguments)
    variables = {
        name: np.frombuffer(written, array.dtype, array.size, positions[count + number])
        .reshape(array.shape)
        .copy()
        for number, (name, array) in enumerate(call.variables.items())
    }
    given = {number: array.shape for number, array in arrays.items()} | dict(call.shapes)
    shapes = {name: given[number] for number, name in enumerate(names) if number in given}
    trace = _with_shapes(traces[0], shapes)
    return LaunchedKernel(trace, arrays, names, variables, tuple(session.faults))


def build_call(call: KernelCall) -> BuiltProgram:
    """Compile the program of a call, whatever its arguments; raises CompilerError, BuildError and KernelLaunchError."""
    before, after = _entry(call, _kernel_function(call))
    return build(call.file, replace(call.build, before=before, after=after), call.text)


def _kernel_function(call: KernelCall) -> cpp_text.Function:
    """Find the kernel in the text; raises KernelLaunchError."""
    functions = [function for function in cpp_text.functions(call.text) if function.name == call.kernel]
    if not functions:
        text = f"{call.file.name} has no kernel named {call.kernel}; the kernel must keep its name."
        raise KernelLaunchError(text, str(call.file))
    return functions[0]


def _entry(call: KernelCall, function: cpp_text.Function) -> tuple[str, str]:
    """Return the C++ text in front of the user's and after it."""
    parameters = cpp_text.template_parameters(call.text, function)
    constants = {name: _constant(value) for name, value in call.constants.items()}
    macros = "".join(
        f"#define {name} {value}\n" for name, value in constants.items() if name not in parameters
    )
    if re.search(r"\bmain\b", call.text):
        macros += "#define main tilescope_user_main\n"
    chosen = [constants[name] for name in parameters if name in constants]
    scopes = cpp_text.namespaces(call.text, function)
    own_name = "::".join((*scopes, call.kernel)) + (f"<{', '.join(chosen)}>" if chosen else "")
    expression = call.expression or own_name
    shown = str(call.file.absolute()).replace("\\", "\\\\").replace('"', '\\"')
    sets = "".join(f"  launch.set({name});\n" for name in call.variables)
    after = (
        f'\n#line 1 "tilescope"\n#undef main\n{include_without("single_launch.h", call.text, macros)}'
        f"TILESCOPE_HELPER int main() {{\n  TilescopeSingleLaunch launch;\n{sets}"
        f'  return launch.run("{expression}", "{shown}", {expression});\n}}\n'
    )
    return macros, after


def include_without(header: str, *texts: str) -> str:
    """Include a header of ours where the macros of these texts, such as T, are not defined."""
    names = dict.fromkeys(name for text in texts for name in _MACRO.findall(text) if name != "main")
    hidden = "".join(f'#pragma push_macro("{name}")\n#undef {name}\n' for name in names)
    shown = "".join(f'#pragma pop_macro("{name}")\n' for name in names)
    return f'{hidden}#include "tilescope/{header}"\n{shown}'


def _constant(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _encode(call: KernelCall, line: int) -> tuple[bytes, dict[int, int]]:
    """Return the file of a launch, and where in it the content of each array begins, by its number.

    Raises KernelLaunchError.
    """
    arguments = [*call.arguments, *call.variables.values()]
    if len(arguments) > MOST_ARGUMENTS:
        raise KernelLaunchError(
            f"{call.kernel} has more than {MOST_ARGUMENTS} arguments.", str(call.file), line
        )
    header = np.zeros(1, _HEADER)
    table = np.empty((0, 3), np.uint64) if call.device is None else call.device.table()
    header[0] = (
        call.grid, call.block, call.shared_bytes, call.is_cooperative, line, len(call.arguments), len(call.variables),
        0, 0, os.getpid(), len(table), 0, call.device is not None, b"",
    )  # fmt: skip
    given = np.zeros(len(arguments), _GIVEN)
    offset = _aligned(header.nbytes + given.nbytes)
    pieces: list[bytes] = []
    positions: dict[int, int] = {}
    memories: dict[tuple[int, int], int] = {}  # number of the first argument with the same memory
    for number, argument in enumerate(arguments):
        content = b""
        if isinstance(argument, np.ndarray):
            if not argument.flags.c_contiguous:
                raise KernelLaunchError(
                    f"argument {number + 1} of {call.kernel} is not contiguous.", str(call.file), line
                )
            key = (argument.ctypes.data, argument.nbytes)
            memory = memories.setdefault(key, number)
            dtype = argument.dtype.newbyteorder("=").str if call.checks_types else ""
            shown = dtype if argument.dtype.kind in "biuf" and argument.dtype.itemsize in (1, 2, 4, 8) else ""
            if shown == "<f2":
                shown = ""  # a class of ours in C++
            position = positions[memory] if memory != number else offset
            given[number] = (_ARRAY, shown.encode(), position, argument.nbytes, memory, 0, 0.0)
            positions[number] = position
            content = argument.tobytes() if memory == number else b""
        elif isinstance(argument, bytes | np.float16 | np.void) or (
            call.device and isinstance(argument, np.generic)
        ):
            content = argument if isinstance(argument, bytes) else argument.tobytes()
            given[number] = (_BYTES, b"", offset, len(content), number, 0, 0.0)
        elif isinstance(argument, bool | int | np.integer | np.bool_):
            given[number] = (_INTEGER, b"", 0, 0, number, _as_int64(int(argument)), float(int(argument)))
        elif isinstance(argument, float | np.floating):
            given[number] = (_REAL, b"", 0, 0, number, 0, float(argument))
        else:
            text = f"argument {number + 1} of {call.kernel} is neither an array nor a number."
            raise KernelLaunchError(text, str(call.file), line)
        if content:
            pieces.append(content + bytes(_aligned(len(content)) - len(content)))
            offset += len(pieces[-1])
    header["table"] = offset
    start = header.tobytes() + given.tobytes()
    return b"".join([start + bytes(_aligned(len(start)) - len(start)), *pieces, table.tobytes()]), positions


def _as_int64(value: int) -> int:
    if not -(1 << 63) <= value < 1 << 64:
        raise KernelLaunchError(f"{value} does not fit in 64 bits.")
    return value - (1 << 64) if value >= 1 << 63 else value


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _check_status(call: KernelCall, header: np.void, line: int) -> None:
    """Raise KernelLaunchError if the child reported arguments that do not fit."""
    status, which = int(header["status"]), int(header["which"])
    expected = bytes(header["expected"]).decode("ascii", "replace")
    count = len(call.arguments)
    text = ""
    if status == _COUNT_DIFFERS:
        text = f"{call.kernel} takes {expected} arguments, not {count}."
    elif status == _KIND_DIFFERS:
        text = f"parameter {which + 1} of {call.kernel} is {expected}, which the argument is not."
    elif status == _TYPE_DIFFERS:
        argument = call.arguments[which]
        given = argument.dtype.name if isinstance(argument, np.ndarray) else ""
        text = f"parameter {which + 1} of {call.kernel} points to {np.dtype(expected).name}, but the array has {given}."
    elif status == _SIZE_DIFFERS:
        name = list(call.variables)[which - count]
        text = f"the content of {name} is larger than the variable."
    if text:
        raise KernelLaunchError(text, str(call.file), line)


def _with_shapes(trace: Trace, shapes: Mapping[str, tuple[int, ...]]) -> Trace:
    """Give the buffers of arguments the shapes of their arrays."""
    return replace(trace, buffers=tuple(_shaped(buffer, shapes) for buffer in trace.buffers))


def _shaped(buffer: Buffer, shapes: Mapping[str, tuple[int, ...]]) -> Buffer:
    shape = shapes.get(buffer.name)
    if shape is None or buffer.space != "global" or len(buffer.shape) != 1:
        return buffer
    if int(np.prod(shape)) != buffer.size or buffer.unit != buffer.itemsize:
        return buffer
    strides = tuple(buffer.itemsize * int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
    return replace(buffer, shape=shape, strides=strides)
