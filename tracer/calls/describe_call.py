"""Describes a call in a user's process as a `Call`: the kernel with the current values of its names, and its arguments.

Supported are functions written in Python, decorated or not, of any module, notebook cell or prompt. Their names and
closures may refer to numbers, texts, arrays, tuples, enumerations, types, functions, and the libraries numba, numpy,
math and operator. Not supported are objects of other classes, device arrays in names, linked CUDA C, and Numba
extensions written in anything but Python. A kernel that uses one of these is refused.
"""

from __future__ import annotations

import dis
import inspect
import linecache
import marshal
import sys
from collections.abc import Container, Iterator, Sequence
from enum import Enum
from itertools import pairwise
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from ..model.launch import Schedule
from ..type_inference.live_kernel import ATTRIBUTE_OPS, MAX_DESCRIBED, Describer, dtype_of, question_of_call
from ..type_inference.question import (
    ArrayContent,
    Function,
    Library,
    Missing,
    Opaque,
    Question,
    UserModule,
    Value,
    missing_in,
)
from .call import Argument, ArgumentTuple, Call, CallError
from .configured_kernel import ConfiguredKernel
from .memories import Memories, check_array, contiguous_order

CUDA = "numba.cuda"


class DescribedCall(Struct, frozen=True, eq=False):
    """A call, the memory of its arguments, and the question about it for Numba's compiler."""

    call: Call
    memories: Memories
    question: Question | None  # None if a GPU's compiler has accepted the kernel already


def describe_call(
    configured: ConfiguredKernel, arguments: Sequence[Any], schedule: Schedule
) -> DescribedCall:
    """Describe a call of a kernel on these arguments; raises CallError, which names the unsupported part."""
    if configured.extensions:
        raise CallError(
            f"{configured.name} changes its arguments by extensions=, which Tilescope can't carry."
        )
    describer = _Describer()
    try:
        kernel = describer.function(configured.function, "kernel")
        signatures = tuple(tuple(map(describer.value, types)) for types in configured.signatures)
    except Exception as error:  # the program's objects may raise anything
        raise CallError(f"{configured.name} can't be described ({type(error).__name__}: {error}).") from error
    if obstacle := missing_in(kernel):
        raise CallError(f"{configured.name} has {obstacle}, which can't be carried.")
    functions = tuple(_transferable_functions(describer.functions, signatures, configured.name))
    memories = Memories(arguments)
    described = tuple(_describe_arguments(configured, arguments, memories))
    program, module = _current_program()
    call = Call(
        functions, described, memories.described, configured.grid, configured.block, configured.shared_bytes,
        signatures, configured.debug, dict(_read_sources(describer.seen_functions)), program, module, schedule,
        configured.specialized,
    )  # fmt: skip
    return DescribedCall(call, memories, _question_for_numba(configured, arguments))


class _Describer(Describer):
    """Describes functions that are to run: includes the elements of arrays and the source of Numba extensions."""

    names_of_plain = True

    def __init__(self) -> None:
        super().__init__()
        self.seen_functions: list[FunctionType] = []

    def function(self, function: Any, role: Any, decorated: Any = None, signature: Any = None) -> Value:
        """Return the number of a function, without its declared signature."""
        if isinstance(function, FunctionType) and function not in self.seen_functions:
            self.seen_functions.append(function)
        return super().function(function, role, None)

    def value(self, value: Any, attributes: Container[str] = ()) -> Value:
        """Describe the value of a name; attributes: those that the surrounding code may read."""
        described = super().value(value, attributes)
        is_cuda_function = (
            isinstance(described, Library) and described.module.startswith(CUDA) and described.name
        )
        if is_cuda_function or isinstance(described, Missing | Opaque):
            path = _cuda_name(value)
            return Library(CUDA, path) if path else described
        return described

    def _callable(self, value: Any) -> Value | None:
        described = super()._callable(value)
        if isinstance(described, Missing) and isinstance(value, FunctionType):
            return self.function(value, "plain")
        return described

    def _device_array(self, value: Any) -> Value:
        return Missing("a device array from outside the kernel")

    @staticmethod
    def _array(value: Any) -> Value | None:
        described = Describer._array(value)
        if described is None or isinstance(described, Missing) or not isinstance(value, np.ndarray):
            return described
        layout = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        data = value.tobytes(order=layout)  # type: ignore[arg-type]  # "C" or "F"
        return ArrayContent(dtype_of(value.dtype), value.shape, layout, data)  # type: ignore[arg-type]  # as above


def _cuda_name(value: Any) -> str:
    """Look up the name of an object in numba.cuda, such as threadIdx; "" if it is not there."""
    cuda = sys.modules.get(CUDA)
    if cuda is None or value is None or isinstance(value, ModuleType):
        return ""
    names = (
        name for name, attribute in vars(cuda).items() if attribute is value and not name.startswith("_")
    )
    return next(names, "")


def _transferable_functions(
    functions: Sequence[Function], signatures: Sequence[Sequence[Value]], kernel: str
) -> Iterator[Function]:
    """Yield the functions that can be transferred.

    Functions that no GPU calls lose their unsupported names. Raises CallError if another function uses such a name.
    """
    if any(map(missing_in, [declared for types in signatures for declared in types])):
        raise CallError(f"{kernel} is declared for types that can't be carried; leave out its signature.")
    for function in functions:
        unsupported = _unsupported_names(function)
        if unsupported and function.role != "plain":
            name, reason = next(iter(unsupported.items()))
            location = "" if function.name == kernel else f" in {function.name}"
            raise CallError(
                f"{kernel} uses {name}{location}, {reason}, which can't be carried to the process that traces; "
                "pass its numbers as arguments, or give each a separate name."
            )
        names = {
            name: _without_unsupported(value)
            for name, value in function.names.items()
            if not _obstacle(value)
        }
        yield msgspec.structs.replace(function, names=names)


def _unsupported_names(function: Function) -> dict[str, str]:
    """List the names a function uses that can't be transferred, with the reasons."""
    defaults = {f"default {number}": default for number, default in enumerate(function.defaults)}
    used = function.names | defaults
    for name, attribute in _attributes_used(marshal.loads(function.code)):
        module = function.names.get(name)
        if isinstance(module, UserModule) and attribute in module.names:
            used[f"{name}.{attribute}"] = module.names[attribute]
    return {name: reason for name, value in used.items() if (reason := _obstacle(value))}


def _attributes_used(code: CodeType) -> Iterator[tuple[str, str]]:
    """Yield the (name, attribute) of each `name.attribute` in a code object and those nested in it."""
    for first, second in pairwise(dis.get_instructions(code)):
        if first.opname.startswith("LOAD_") and second.opname in ATTRIBUTE_OPS:
            yield str(first.argval), str(second.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _attributes_used(constant)


def _obstacle(value: Value) -> str:
    """Return the part of a value that can't be transferred, "" if it all can; a module may always lose some names."""
    if isinstance(value, UserModule):
        return ""
    return f"an object of {value.name}" if isinstance(value, Opaque) else missing_in(value)


def _without_unsupported(value: Value) -> Value:
    """Return a value; a module loses the names that can't be transferred."""
    if not isinstance(value, UserModule):
        return value
    names = {name: _without_unsupported(item) for name, item in value.names.items() if not _obstacle(item)}
    return UserModule(value.name, names)


def _describe_arguments(
    configured: ConfiguredKernel, arguments: Sequence[Any], memories: Memories
) -> Iterator[Argument]:
    names = tuple(inspect.signature(configured.function).parameters)
    for index, value in enumerate(arguments):
        name = names[index] if index < len(names) else f"number {index + 1}"
        yield describe_argument(value, f"argument {name} of {configured.name}", memories)


def describe_argument(value: Any, name: str, memories: Memories) -> Argument:
    """Describe an argument, its arrays by their memory; name: its name in errors. Raises CallError."""
    array = memories.locate(value, name)
    if array is not None:
        return array
    if isinstance(value, tuple):
        items = tuple(describe_argument(item, f"an item of {name}", memories) for item in value)
        fields = tuple(getattr(value, "_fields", ()))
        return ArgumentTuple(items, type(value).__name__ if fields else "", fields)
    if not isinstance(value, bool | int | float | complex | np.generic | Enum):
        raise CallError(
            f"{name} is {_with_article(type(value).__name__)}, which no kernel takes; pass numbers and arrays."
        )
    if isinstance(value, np.generic):
        check_array(np.asarray(value), name)
    described = _Describer().value(value)
    if obstacle := missing_in(described):
        raise CallError(f"{name} is {obstacle}, which can't be carried to the process that traces.")
    return described


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _question_for_numba(configured: ConfiguredKernel, arguments: Sequence[Any]) -> Question | None:
    """Build the question for Numba's compiler, None if a GPU's compiler has accepted the kernel already."""
    if configured.signatures or len(arguments) > MAX_DESCRIBED:
        return None
    options = getattr(configured.kernel, "targetoptions", None) or {}
    stand_in = SimpleNamespace(fn=configured.function, targetoptions=options)
    return question_of_call(stand_in, map(_host_equivalent, arguments))


def _host_equivalent(value: Any) -> Any:
    """Replace a device array by a host array of the same type."""
    on_device = hasattr(type(value), "copy_to_host") and not isinstance(value, np.ndarray)
    if on_device and not isinstance(getattr(value, "_ary", None), np.ndarray):
        if order := contiguous_order(value):
            return np.zeros((2,) * value.ndim, value.dtype, order=order)
        return np.zeros((4,) * value.ndim, value.dtype)[(slice(None, None, 2),) * value.ndim]
    return tuple(map(_host_equivalent, value)) if type(value) is tuple else value


def _read_sources(functions: Sequence[FunctionType]) -> Iterator[tuple[str, str]]:
    """Yield the (file, text) of each source file of these functions that can be read."""
    for file, names in {
        function.__code__.co_filename: function.__globals__ for function in functions
    }.items():
        text = "".join(linecache.getlines(file, names))
        if text:
            yield file, text


def _current_program() -> tuple[str, str]:
    """Return the file of this process's program, and its module name if it was run by python -m."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    return getattr(main, "__file__", None) or "", spec.name if spec is not None else ""
