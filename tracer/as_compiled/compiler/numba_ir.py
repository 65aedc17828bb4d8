"""Compile a kernel with Numba's CUDA target up to LLVM's IR; each instruction refers to its place in the source.

Numba writes only lines into the IR's debug locations. Here each location's line is the number of a `CodeSite`, in a
table next to the IR, so that columns survive LLVM, libNVVM and ptxas. The columns come from Python's `co_positions`.
Both need three private methods of Numba's (`_LINES`, `_COLUMNS`): if one is missing, sites are lines, or unknown.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import msgspec
import numpy as np

from ...type_inference.process import CAPABILITY, _device, _stand_in_for_gpu
from ...type_inference.question import ArrayContent, Question, SourceQuestion, Value
from ...type_inference.rebuild_kernel import KernelBuilder, NotRebuiltError, dtype_from
from ...type_inference.source_kernel import question_of_source

UNKNOWN = 0  # number of the site of instructions without a place in the source


class CodeSite(msgspec.Struct, frozen=True):
    """A place in the source of instructions."""

    file: str
    line: int  # from 1; 0 if unknown
    column: int = -1  # from 0, in characters; -1 if unknown


class KernelIR(msgspec.Struct, frozen=True):
    """A kernel and all functions that it calls as LLVM's IR, for NVIDIA's target."""

    texts: tuple[str, ...]  # modules, the kernel's first
    kernel: str  # name of its function
    types: tuple[Any, ...]  # Numba's types of its parameters
    sites: tuple[CodeSite, ...]  # a debug location's line is an index of it
    linked: tuple[str, ...]  # names of the files of CUDA C++ that Numba would link
    fastmath: bool
    library: Any  # Numba's own, for libNVVM


def kernel_ir(question: Question | SourceQuestion) -> KernelIR:
    """Compile a question's kernel; raises Numba's errors, and NotRebuiltError if the kernel can't be rebuilt."""
    if isinstance(question, SourceQuestion):
        question = question_of_source(question.launch)
    if question.missing():
        raise NotRebuiltError(question.missing())
    maker = _Maker(question.functions, _device)
    kernel = maker.plain(0)
    arguments = tuple(map(maker.value, question.functions[0].signature or question.arguments))
    options = question.functions[0].options
    fastmath = str(options.get("fastmath", "")).lower() == "true"
    return compiled_ir(kernel, arguments, fastmath)


class _Maker(KernelBuilder):
    """Rebuilds kernels to be compiled, with the elements of their constant arrays."""

    def value(self, value: Value) -> Any:
        """Rebuild a value; raises NotRebuiltError if that is impossible here."""
        if isinstance(value, ArrayContent):
            elements = np.frombuffer(value.data, dtype_from(value.dtype))
            return elements.reshape(value.shape, order=value.layout).copy(order=value.layout)
        return super().value(value)


def compiled_ir(kernel: Any, arguments: tuple[Any, ...], fastmath: bool) -> KernelIR:
    """Compile a function for the types of arguments."""
    from numba import typeof, types
    from numba.core.types import Type
    from numba.cuda import compiler

    _stand_in_for_gpu()  # Numba needs little of the optional libNVVM before the final compilation
    kinds = tuple(argument if isinstance(argument, Type) else typeof(argument) for argument in arguments)
    sites = [CodeSite("", 0)]
    with _sites_in_debug_locations(sites):
        result = compiler.compile_cuda(
            kernel, types.void, kinds, cc=CAPABILITY, lineinfo=True, fastmath=fastmath,
            nvvm_options={"fastmath": fastmath, "opt": 3},
        )  # fmt: skip
        library = result.library
        function = library.get_function(result.fndesc.llvm_func_name)
        library._entry_name = function.name
        compiler.kernel_fixup(function, False)
        texts = tuple(library.llvm_strs)
    linked = tuple(str(getattr(file, "name", file)) for file in getattr(library, "_linking_files", ()))
    return KernelIR(texts, str(function.name), kinds, tuple(sites), linked, fastmath, library)


@contextmanager
def _sites_in_debug_locations(sites: list[CodeSite]) -> Iterator[None]:
    """Let Numba write indices of `sites` instead of lines within this context."""
    from numba.cuda import debuginfo, lowering
    from numba.cuda.core import interpreter

    with _patched(interpreter.Interpreter, "_dispatch", _with_columns):
        numbers: dict[CodeSite, int] = {site: number for number, site in enumerate(sites)}
        current: list[Any] = [None]

        def numbered(original: Any) -> Any:
            def location(self: Any, line: int) -> Any:
                loc = current[0]
                column = loc.col if loc is not None and loc.line == line and loc.col is not None else -1
                file = loc.filename if loc is not None and loc.line == line else str(self.filepath)
                site = CodeSite(file, line, column)
                if site not in numbers:
                    numbers[site] = len(sites)
                    sites.append(site)
                return original(self, numbers[site])

            return location

        def noted(original: Any) -> Any:
            def lower_inst(self: Any, inst: Any) -> Any:
                current[0] = inst.loc
                return original(self, inst)

            return lower_inst

        with (
            _patched(debuginfo.DIBuilder, "_di_location", numbered),
            _patched(lowering.Lower, "lower_inst", noted),
        ):
            yield


def _with_columns(original: Any) -> Any:
    """Give Numba's interpreter the column of each instruction of the bytecode."""
    positions: dict[CodeType, list[tuple[int | None, int | None, int | None, int | None]]] = {}

    def dispatch(self: Any, inst: Any, kws: Any) -> Any:
        code = self.bytecode.func_id.code
        if code not in positions:
            positions[code] = list(code.co_positions())
        index = inst.offset // 2
        if index < len(positions[code]):
            line, _, column, _ = positions[code][index]
            if line is not None:
                self.loc = type(self.loc)(
                    self.loc.filename, line, _in_characters(code.co_filename, line, column)
                )
        return original(self, inst, kws)

    return dispatch


def _in_characters(file: str, line: int, column: int | None) -> int | None:
    """Convert a column in bytes to one in characters, if the line's text is known."""
    text = linecache.getline(file, line).encode() if column else b""
    return len(text[:column].decode(errors="ignore")) if text else column


@contextmanager
def _patched(owner: Any, name: str, around: Any) -> Iterator[None]:
    """Replace a method by `around(method)` within this context; do nothing if there is no such method."""
    original = getattr(owner, name, None)
    if original is None:
        yield
        return
    setattr(owner, name, around(original))
    try:
        yield
    finally:
        setattr(owner, name, original)
