"""A call under way in a user's process as a `Call`: what its kernel is, as its names are now, and its arguments.

What can be carried: functions written in Python, decorated or not, of any module, a notebook's cell or a prompt, with
the numbers, texts, arrays, tuples, enumerations, types and functions that their names and closures stand for; and of
libraries what numba, numpy, math and operator have. What can't: objects of other classes, device arrays in names, CUDA
C that is linked in, functions that Numba was taught by other means than Python. A kernel that uses such is refused.
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
from ..type_inference.live_kernel import ATTRIBUTE_OPS, MOST, Describer, dtype_of, question_of_call
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
from .configured import ConfiguredKernel
from .memories import Memories, check_array, order_of

CUDA = "numba.cuda"


class CarriedCall(Struct, frozen=True, eq=False):
    """A call, the memory of its arguments, and the question what Numba's compiler makes of it."""

    call: Call
    memories: Memories
    question: Question | None  # None where a GPU's compiler has taken the kernel already


def carried_call(configured: ConfiguredKernel, arguments: Sequence[Any], schedule: Schedule) -> CarriedCall:
    """Return a call of a kernel on these arguments; raises CallError, which says what can't be carried."""
    if configured.extensions:
        raise CallError(
            f"{configured.name} changes its arguments by extensions=, which Tilescope can't carry."
        )
    describer = _Describer()
    try:
        kernel = describer.function(configured.function, "kernel")
        signatures = tuple(tuple(map(describer.value, types)) for types in configured.signatures)
    except Exception as error:  # objects of the program's may answer as they like
        raise CallError(f"{configured.name} can't be described ({type(error).__name__}: {error}).") from error
    if why := missing_in(kernel):
        raise CallError(f"{configured.name} has {why}, which can't be carried.")
    functions = tuple(_checked(describer.functions, signatures, configured.name))
    memories = Memories(arguments)
    given = tuple(_arguments(configured, arguments, memories))
    program, module = _program()
    call = Call(
        functions, given, memories.described, configured.grid, configured.block, configured.shared_bytes,
        signatures, configured.debug, dict(_sources(describer.came_by)), program, module, schedule,
        configured.specialized,
    )  # fmt: skip
    return CarriedCall(call, memories, _question(configured, arguments))


class _Describer(Describer):
    """Describes functions to be run: with the elements of arrays, and what Numba was taught as it is written."""

    names_of_plain = True

    def __init__(self) -> None:
        super().__init__()
        self.came_by: list[FunctionType] = []  # the functions that it came by

    def function(self, function: Any, role: Any, decorated: Any = None, signature: Any = None) -> Value:
        """Return the number of a function, without the signature that it was declared with."""
        if isinstance(function, FunctionType) and function not in self.came_by:
            self.came_by.append(function)
        return super().function(function, role, None)

    def value(self, value: Any, attributes: Container[str] = ()) -> Value:
        """Return what a name stands for; attributes: those that the code around it may ask of it."""
        found = super().value(value, attributes)
        of_cuda = isinstance(found, Library) and found.module.startswith(CUDA) and found.name
        if of_cuda or isinstance(found, Missing | Opaque):
            path = _path_in_cuda(value)
            return Library(CUDA, path) if path else found
        return found

    def _callable(self, value: Any) -> Value | None:
        taught = super()._callable(value)
        if isinstance(taught, Missing) and isinstance(value, FunctionType):
            return self.function(value, "plain")
        return taught

    @staticmethod
    def _array(value: Any) -> Value | None:
        described = Describer._array(value)
        if described is None or isinstance(described, Missing) or not isinstance(value, np.ndarray):
            return described
        layout = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        data = value.tobytes(order=layout)  # type: ignore[arg-type]  # "C" or "F"
        return ArrayContent(dtype_of(value.dtype), value.shape, layout, data)  # type: ignore[arg-type]  # as above


def _path_in_cuda(value: Any) -> str:
    """Return what something is called in numba.cuda: threadIdx, syncthreads; "" for what is not there."""
    cuda = sys.modules.get(CUDA)
    if cuda is None or value is None or isinstance(value, ModuleType):
        return ""
    names = (name for name, one in vars(cuda).items() if one is value and not name.startswith("_"))
    return next(names, "")


def _checked(
    functions: Sequence[Function], signatures: Sequence[Sequence[Value]], kernel: str
) -> Iterator[Function]:
    """Yield the functions without what those that no GPU calls lack; raises CallError for what others use."""
    if any(map(missing_in, [one for types in signatures for one in types])):
        raise CallError(f"{kernel} is declared for types that can't be carried; leave out its signature.")
    for function in functions:
        lacking = _lacking(function)
        if lacking and function.role != "plain":
            name, why = next(iter(lacking.items()))
            where = "" if function.name == kernel else f" in {function.name}"
            raise CallError(
                f"{kernel} uses {name}{where}, {why}, which can't be carried to the process that traces; "
                "pass its numbers as arguments, or give each a name of its own."
            )
        names = {name: _carried(one) for name, one in function.names.items() if not _why_not(one)}
        yield msgspec.structs.replace(function, names=names)


def _lacking(function: Function) -> dict[str, str]:
    """Return what a function uses that can't be carried, and why."""
    defaults = {f"default {number}": one for number, one in enumerate(function.defaults)}
    used = function.names | defaults
    for name, attribute in _attributes_used(marshal.loads(function.code)):
        module = function.names.get(name)
        if isinstance(module, UserModule) and attribute in module.names:
            used[f"{name}.{attribute}"] = module.names[attribute]
    return {name: why for name, one in used.items() if (why := _why_not(one))}


def _attributes_used(code: CodeType) -> Iterator[tuple[str, str]]:
    """Yield the (name, attribute) of each `name.attribute` in a code, and in those in it."""
    for first, second in pairwise(dis.get_instructions(code)):
        if first.opname.startswith("LOAD_") and second.opname in ATTRIBUTE_OPS:
            yield str(first.argval), str(second.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _attributes_used(constant)


def _why_not(value: Value) -> str:
    """Return what can't be carried of what a name stands for, "" where it can be; of modules all may lack some."""
    if isinstance(value, UserModule):
        return ""
    return f"an object of {value.name}" if isinstance(value, Opaque) else missing_in(value)


def _carried(value: Value) -> Value:
    """Return what a name stands for, of modules what of it can be carried."""
    if not isinstance(value, UserModule):
        return value
    names = {name: _carried(one) for name, one in value.names.items() if not _why_not(one)}
    return UserModule(value.name, names)


def _arguments(
    configured: ConfiguredKernel, arguments: Sequence[Any], memories: Memories
) -> Iterator[Argument]:
    names = tuple(inspect.signature(configured.function).parameters)
    for place, value in enumerate(arguments):
        name = names[place] if place < len(names) else f"number {place + 1}"
        yield described_argument(value, f"argument {name} of {configured.name}", memories)


def described_argument(value: Any, name: str, memories: Memories) -> Argument:
    """Describe an argument, its arrays by where they lie; name: what an error calls it. Raises CallError."""
    placed = memories.place(value, name)
    if placed is not None:
        return placed
    if isinstance(value, tuple):
        items = tuple(described_argument(item, f"an item of {name}", memories) for item in value)
        fields = tuple(getattr(value, "_fields", ()))
        return ArgumentTuple(items, type(value).__name__ if fields else "", fields)
    if not isinstance(value, bool | int | float | complex | np.generic | Enum):
        raise CallError(
            f"{name} is {_a(type(value).__name__)}, which no kernel takes; pass numbers and arrays."
        )
    if isinstance(value, np.generic):
        check_array(np.asarray(value), name)
    described = _Describer().value(value)
    if why := missing_in(described):
        raise CallError(f"{name} is {why}, which can't be carried to the process that traces.")
    return described


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _question(configured: ConfiguredKernel, arguments: Sequence[Any]) -> Question | None:
    """Return what to ask Numba's compiler of a call, None where a GPU's has taken the kernel already."""
    if configured.signatures or len(arguments) > MOST:
        return None
    options = getattr(configured.kernel, "targetoptions", None) or {}
    stand_in = SimpleNamespace(fn=configured.function, targetoptions=options)
    return question_of_call(stand_in, map(_on_host, arguments))


def _on_host(value: Any) -> Any:
    """Return an argument with an array of the same type in place of one on a device."""
    on_device = hasattr(type(value), "copy_to_host") and not isinstance(value, np.ndarray)
    if on_device and not isinstance(getattr(value, "_ary", None), np.ndarray):
        if order := order_of(value):
            return np.zeros((2,) * value.ndim, value.dtype, order=order)
        return np.zeros((4,) * value.ndim, value.dtype)[(slice(None, None, 2),) * value.ndim]
    return tuple(map(_on_host, value)) if type(value) is tuple else value


def _sources(functions: Sequence[FunctionType]) -> Iterator[tuple[str, str]]:
    """Yield the (file, text) of each file that functions are written in, as far as it can be had."""
    for file, names in {one.__code__.co_filename: one.__globals__ for one in functions}.items():
        text = "".join(linecache.getlines(file, names))
        if text:
            yield file, text


def _program() -> tuple[str, str]:
    """Return the file of this process's program, and the name of the module that it was run as, if any."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    return getattr(main, "__file__", None) or "", spec.name if spec is not None else ""
