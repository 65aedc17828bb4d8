"""What all stand-ins share: the device's memory, modules of kernels, and their launches, which are traced."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ..cuda_cpp.build import BuildError, BuildOptions
from ..cuda_cpp.compilers import CompilerError
from ..cuda_cpp.debug_info import DebugInfo, Layout, debug_info_of
from ..cuda_cpp.device_memory import Allocation, DeviceMemory, DeviceMemoryError
from ..cuda_cpp.program_facts import variable_spaces
from ..cuda_cpp.rewrite import kernel_names, without_comments
from ..cuda_cpp.session import ProgramFault, SessionOptions
from ..cuda_cpp.single_launch import KernelCall, KernelLaunchError, build_call, launch_kernel
from ..model import cpp_text
from ..model import launch as launches
from ..model.trace import Dim3, Trace
from .source_place import PlacedText, calling_line

_ILLEGAL = "an illegal memory access was encountered"
_ERROR_NAMES = {
    "IllegalAddress": _ILLEGAL,
    "HostMemory": _ILLEGAL,
    "FreedMemory": _ILLEGAL,
    "SurfaceBounds": _ILLEGAL,
    "MisalignedAddress": "misaligned address",
    "Assertion": "device-side assert triggered",
    "Trap": "unspecified launch failure",
}
_EXTERN_C = re.compile(r'\bextern\s+"C"')
_DEFINITION = re.compile(r"(?:-D|--define-macro=)\s*(\S+)")
_FOLDER = re.compile(r"(?:-I|--include-path=)\s*(\S+)")
MOST_PARTS = 3  # dimensions of a grid


class DriverError(Exception):
    """CUDA would report an error: one sentence.

    kind: "compile", "not found", "memory", "launch" for a refused one, or "kernel" for one that failed.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class RaisedAs:
    """Context manager that raises DriverError and DeviceMemoryError as a package's own errors.

    kinds: the class and the beginning of the text for each kind of DriverError.
    """

    def __init__(self, kinds: Mapping[str, tuple[type[Exception], str]]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, DeviceMemoryError):
            error = DriverError("memory", str(error))
        if isinstance(error, DriverError):
            raised, text = self._kinds["illegal" if _ILLEGAL in str(error) else error.kind]
            raise raised(f"{text}{error}") from None


class Settings(Struct):
    """How the launches of this process are traced."""

    options: SessionOptions = SessionOptions()
    take: Callable[[Trace, float], None] = lambda trace, seconds: None  # gets each trace, with its seconds
    note: Callable[[ProgramFault], None] = lambda fault: None  # gets what no trace shows


settings = Settings()
one_at_a_time = threading.Lock()  # launches of all threads
memory = DeviceMemory()


class Argument(Struct, frozen=True):
    """An argument of a launch, as its bits."""

    bits: bytes
    dtype: str = ""  # of a number, or of the elements of an array; "" if it is unknown
    shape: tuple[int, ...] | None = None  # of an array
    is_pointer: bool = False
    passed_as: str = ""  # how the package passes it, such as "a Python float as double"


class CudaModule:
    """Kernels that were compiled together, and the contents of their variables."""

    def __init__(
        self,
        placed: PlacedText,
        options: Sequence[str] = (),
        *,
        is_extern_c: bool = False,
        expressions: Sequence[str] = (),
    ) -> None:
        """is_extern_c: whether all of it is in `extern "C"`. expressions: instances of templates."""
        self.placed, self.expressions = placed, tuple(expressions)
        self._is_extern_c = is_extern_c
        text = " ".join(options)
        self._build = BuildOptions(
            include_folders=tuple(Path(match[1]) for match in _FOLDER.finditer(text)),
            definitions=tuple(match[1] for match in _DEFINITION.finditer(text)),
        )
        self._variables: dict[str, Allocation] = {}

    @cached_property
    def kernels(self) -> list[str]:
        """The names of the kernels."""
        return kernel_names(self.placed.compiled)

    def check_kernel(self, expression: str) -> None:
        """Raise DriverError unless the module has the kernel under this name."""
        text = self.placed.compiled
        name = plain_name(expression)
        function = next((f for f in cpp_text.functions(text) if f.name == name), None)
        if name not in self.kernels or function is None:
            listed = f"; the text has {', '.join(self.kernels)}" if self.kernels else ""
            raise DriverError("not found", f"there is no kernel {expression}{listed}")
        if expression in self.expressions or self._is_extern_c or "<" in expression:
            return
        begin = text.rfind("__global__", 0, function.body)
        head = max(text.rfind(mark, 0, begin) for mark in ";}") + 1
        if not _EXTERN_C.search(text[head:begin]) and not _is_in_extern_c(text, begin):
            raise DriverError(
                "not found", f'the name of {name} is mangled by C++; write extern "C" in front of __global__'
            )

    def compile(self) -> None:
        """Compile the module; raises DriverError."""
        if self.kernels:
            self._built(self.expressions[0] if self.expressions else self.kernels[0])

    def _call(self, expression: str, **values: object) -> KernelCall:
        defaults: dict[str, object] = {
            "file": Path(self.placed.file), "text": self.placed.compiled, "kernel": plain_name(expression),
            "arguments": (), "grid": (1, 1, 1), "block": (1, 1, 1), "build": self._build, "device": memory,
            "expression": expression if expression in self.expressions or "<" in expression else "",
            "constants": {}, "variables": {},
        }  # fmt: skip
        return KernelCall(**(defaults | values))  # type: ignore[arg-type]

    def _built(self, expression: str) -> DebugInfo:
        call = self._call(expression, variables=self._contents())
        try:
            return debug_info_of(build_call(call).path)
        except CompilerError as error:
            raise DriverError("compile", str(error)) from None
        except BuildError as error:
            self._note("compile", str(error), error.file, error.line)
            where = f"{error.file}:{error.line}: " if error.file and error.line else ""
            raise DriverError("compile", f"{where}{error}") from None
        except KernelLaunchError as error:
            raise DriverError("not found", str(error)) from None

    def variable(self, name: str) -> Allocation:
        """Return the memory of a variable; raises DriverError if there is none."""
        self._load_variables()
        if name not in self._variables:
            raise DriverError("not found", f"there is no variable {name} in the module")
        return self._variables[name]

    def _load_variables(self) -> None:
        names = variable_spaces(without_comments(self.placed.compiled))
        if self._variables or not names or not self.kernels:
            return
        debug = self._built(self.expressions[0] if self.expressions else self.kernels[0])
        for variable in debug.variables:
            if variable.name in names and variable.name not in self._variables:
                allocation = memory.allocate(variable.size, is_written=True)
                allocation.content[:] = np.frombuffer(debug.initial_content(variable), np.uint8)
                self._variables[variable.name] = allocation

    def _contents(self) -> dict[str, np.ndarray]:
        return {self._qualified(name): part.content.copy() for name, part in self._variables.items()}

    def _qualified(self, name: str) -> str:
        text = without_comments(self.placed.compiled)
        match = re.search(rf"__(?:constant|device|managed)__[^;(){{}}=]*?\b{re.escape(name)}\b", text)
        if match is None:
            return name
        function = cpp_text.Function(name, 0, match.end(), match.end(), 0)
        return "::".join((*cpp_text.namespaces(self.placed.compiled, function), name))

    def launch(
        self,
        expression: str,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Argument],
        shared: int = 0,
        *,
        is_cooperative: bool = False,
    ) -> None:
        """Launch a kernel and trace it; raises DriverError."""
        with one_at_a_time:
            self._launch(
                expression, _dim3(grid), _dim3(block), arguments, shared, is_cooperative=is_cooperative
            )

    def _launch(
        self,
        expression: str,
        grid: Dim3,
        block: Dim3,
        arguments: Sequence[Argument],
        shared: int,
        *,
        is_cooperative: bool,
    ) -> None:
        started = time.perf_counter()
        self._load_variables()
        debug = self._built(expression)
        kernel = plain_name(expression)
        self._check(kernel, debug.parameters_of(kernel, len(arguments)), arguments)
        contents = self._contents()
        call = self._call(
            expression,
            arguments=[argument.bits for argument in arguments],
            grid=grid,
            block=block,
            shared_bytes=shared,
            variables=contents,
            is_cooperative=is_cooperative,
            shapes={n: a.shape for n, a in enumerate(arguments) if a.shape},
        )
        flush_output()
        try:
            launched = launch_kernel(call, settings.options)
        except KernelLaunchError as error:
            file, line = (
                (error.file, error.line) if error.kind not in ("refused", "arguments") else calling_line()
            )
            self._note(error.kind, str(error), file, line, kernel)
            raise DriverError(
                "launch" if error.kind in ("refused", "arguments") else "kernel", str(error)
            ) from None
        finally:
            memory.note_launch()
        for name, content in zip(self._variables, launched.variables.values(), strict=True):
            self._variables[name].content[:] = content
        for fault in launched.faults:
            if fault.kind != "leak":
                settings.note(fault)
        can_repeat = self.placed.is_exact and not self._build.definitions
        take_trace(launched.trace, self.placed, time.perf_counter() - started, can_repeat=can_repeat)

    def _note(self, kind: str, text: str, file: str, line: int, kernel: str = "") -> None:
        """Note a fault; kernel: whose launch leaves no trace."""
        own = self.placed.file
        settings.note(ProgramFault(kind, text, file or own, line or 1, kernel, own if kernel else ""))

    def _check(
        self, kernel: str, parameters: Sequence[tuple[str, Layout]], arguments: Sequence[Argument]
    ) -> None:
        """Note arguments whose bits the kernel reads as another type; raises DriverError for a wrong number."""
        file, line = calling_line()
        if parameters and len(parameters) != len(arguments):
            text = f"{kernel} takes {len(parameters)} arguments, not {len(arguments)}"
            self._note("arguments", f"{text}.", file, line, kernel)
            raise DriverError("launch", text)
        for (name, layout), argument in zip(parameters, arguments, strict=False):
            problem = _mismatch(layout, argument)
            if problem:
                self._note("arguments", f"parameter {name} of {kernel} {problem}.", file, line)


def flush_output() -> None:
    """Write the program's output so far, before a launch writes its own."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


def take_trace(trace: Trace, placed: PlacedText, seconds: float, *, can_repeat: bool) -> None:
    """Report the trace of a launch, with the program's text instead of the compiled one.

    can_repeat: whether the kernel can be launched again from its text. Raises DriverError if the kernel failed.
    """
    launch = launches.decode(trace.launch)
    if launch.kernel.rpartition(":")[0] == placed.file:
        launch = replace(
            launch,
            kernel=f"{placed.launch_file}:{trace.kernel}",
            source=placed.shown,
            arguments=launch.arguments if can_repeat else (),
        )
        sources = trace.sources | {placed.file: placed.shown}
        trace = replace(trace, launch=launches.encode(launch), sources=sources)
    settings.take(trace, seconds)
    if trace.error is not None:
        text = _ERROR_NAMES.get(trace.error.type, "unspecified launch failure")
        raise DriverError("kernel", f"{text} ({trace.kernel}, {trace.error.file}, line {trace.error.line})")


def _mismatch(layout: Layout, argument: Argument) -> str:
    """Describe the difference between an argument and its parameter; "" if it fits."""
    if layout.target is not None:
        wanted = layout.target.dtype
        if not argument.is_pointer or not wanted or not argument.dtype:
            return ""
        given, target = np.dtype(argument.dtype), np.dtype(wanted)
        if given.kind not in "biuf" or 1 in (given.itemsize, target.itemsize):
            return ""
        is_same = given.itemsize == target.itemsize and (given.kind == "f") == (target.kind == "f")
        return "" if is_same else f"points to {target.name}, but the array has {given.name}"
    size = len(argument.bits)
    shown = argument.passed_as or (np.dtype(argument.dtype).name if argument.dtype else f"{size} bytes")
    if argument.is_pointer:
        return "" if not layout.dtype else f"is {np.dtype(layout.dtype).name}, but the argument is an array"
    if not layout.dtype or not argument.dtype:
        fits = not layout.size or size == layout.size or bool(layout.dtype)
        return "" if fits else f"has {layout.size} bytes, but the argument has {size}"
    target, given = np.dtype(layout.dtype), np.dtype(argument.dtype)
    is_float = target.kind == "f" or given.kind == "f"
    if size < target.itemsize or (is_float and target != given):
        return f"is {target.name}, but the argument is {shown}, whose bits it reads; pass numpy.{target.name}(...)"
    value = int.from_bytes(argument.bits, sys.byteorder, signed=given.kind == "i")
    kept = int.from_bytes(argument.bits[: target.itemsize], sys.byteorder, signed=target.kind == "i")
    bits = 8 * size
    return (
        ""
        if (value - kept) % (1 << bits) == 0 or target.kind == "b"
        else f"is {target.name}, too small for {value}"
    )


def number_argument(value: bool | int | float | complex) -> Argument:
    """Return Python's number as `long long`, `double`, complex or `bool`."""
    if isinstance(value, bool):
        return Argument(np.bool_(value).tobytes(), "|b1")
    if isinstance(value, int):
        wide = np.int64(value) if value < 1 << 63 else np.uint64(value)
        return Argument(wide.tobytes(), wide.dtype.str, passed_as="a Python int, passed as 64 bits")
    if isinstance(value, float):
        return Argument(np.float64(value).tobytes(), "<f8", passed_as="a Python float, passed as double")
    return Argument(np.complex128(value).tobytes())


def numpy_argument(value: np.generic) -> Argument:
    """Return a NumPy number or structure."""
    return Argument(value.tobytes(), value.dtype.str if value.dtype.kind in "biuf" else "")


def pointer_argument(address: int, dtype: str = "", shape: tuple[int, ...] | None = None) -> Argument:
    """Return a pointer to device memory."""
    return Argument(np.uint64(address).tobytes(), dtype, shape, is_pointer=True)


def plain_name(expression: str) -> str:
    """Return the name of a kernel without namespaces and template arguments."""
    return expression.partition("<")[0].rpartition("::")[2].strip()


def _is_in_extern_c(text: str, position: int) -> bool:
    """Return True if a position lies in a block of `extern "C"`."""
    for match in re.finditer(r'\bextern\s+"C"\s*\{', text[:position]):
        inside = cpp_text.plain(text)[match.end() : position]
        depth = 1
        for character in inside:
            depth += (character == "{") - (character == "}")
            if not depth:
                break
        if depth:
            return True
    return False


def _dim3(lengths: Sequence[int]) -> Dim3:
    x, y, z = (*map(int, lengths), 1, 1, 1)[:MOST_PARTS]
    return x, y, z
