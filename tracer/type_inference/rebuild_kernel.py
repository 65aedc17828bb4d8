"""Rebuilds a question's kernel as a function that Numba compiles: its code, with a new dictionary of names.

None of the code runs. But Numba executes text that it builds from a nested function's defaults and constants
(`convert_code_obj_to_function` in its `ir_utils`). If these could contain text of the file, the kernel is not rebuilt.
Library objects are read from the dictionaries of their modules.
"""

from __future__ import annotations

import dis
import importlib
import marshal
import sys
from collections import namedtuple
from collections.abc import Callable
from enum import Enum, IntEnum
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import msgspec
import numpy as np

from .question import (
    ArrayLike,
    ArrayType,
    DeviceArray,
    DType,
    Enumeration,
    ErrorClass,
    Function,
    FunctionNumber,
    Library,
    MarshalledValue,
    NumPyScalar,
    Opaque,
    PointerType,
    Question,
    Sequence,
    TypeObject,
    UserModule,
    Value,
)

LIBRARIES = ("builtins", "cmath", "math", "numba", "numpy", "operator")
TYPE_MODULES = ("numba.core.types", "numba.cuda.types")
# Makes a device function; takes a function, its description, and the types of its signature.
Device = Callable[[FunctionType, Function, tuple[Any, ...]], Any]


class NotRebuiltError(Exception):
    """A part of a question is not available here; the message names it."""


def rebuild_question(
    question: Question, device: Device
) -> tuple[list[FunctionType], tuple[Any, ...], list[CodeType]]:
    """Rebuild a question; return (functions, the kernel first; arguments; the code objects to compile).

    device: turns a function into a device function. The arguments are types of numba if a signature declares them,
    otherwise examples. Raises NotRebuiltError if a part is missing, or if Numba would execute text of it.
    """
    if question.missing():
        raise NotRebuiltError(question.missing())
    maker = KernelBuilder(question.functions, device)
    functions = [maker.plain(number) for number in range(len(question.functions))]
    signature = question.functions[0].signature
    arguments = tuple(map(maker.value, signature or question.arguments))
    compiled = [number for number, function in enumerate(question.functions) if function.role != "plain"]
    codes = [maker.plain(number).__code__ for number in compiled]
    return functions, arguments, codes


class KernelBuilder:
    """Builds the objects that a question describes; device: turns a function into a device function."""

    runs = False  # whether the kernel is going to run; then text that Numba executes is no risk

    def __init__(self, functions: tuple[Function, ...], device: Device) -> None:
        self._functions, self._device = functions, device
        self._plain: dict[int, FunctionType] = {}
        self._decorated: dict[int, Any] = {}
        self._classes: dict[bytes, Any] = {}  # each class is built once, so that its members are equal

    def plain(self, number: int) -> FunctionType:
        """Return a function without its decorator; the first call builds it, with a separate dictionary of names."""
        if number in self._plain:
            return self._plain[number]
        described = self._functions[number]
        code = marshal.loads(described.code)
        if described.role != "plain" and not self.runs and _may_execute_text(code, described):
            raise NotRebuiltError("a nested function and text")
        names: dict[str, Any] = {"__name__": "kernels", "__builtins__": __builtins__}
        cells = tuple(CellType() for _ in code.co_freevars)
        function = self._plain[number] = FunctionType(code, names, described.name, None, cells)
        function.__defaults__ = tuple(map(self.value, described.defaults)) or None
        values = {name: self.value(value) for name, value in described.names.items()}
        for name, cell in zip(code.co_freevars, cells, strict=True):
            cell.cell_contents = values.pop(name)
        names.update(values)
        return function

    def _function(self, number: int) -> Any:
        """Return a function as its callers see it, decorated if it was."""
        described, function = self._functions[number], self.plain(number)
        if described.role == "plain":
            return function
        if number not in self._decorated:
            types = tuple(map(self.value, described.signature))
            self._decorated[number] = self._device(function, described, types)
        return self._decorated[number]

    def value(self, value: Value) -> Any:
        """Build a described value; raises NotRebuiltError for a value that is not available here."""
        if isinstance(value, MarshalledValue):
            return marshal.loads(value.data)
        if isinstance(value, FunctionNumber):
            return self._function(value.number)
        if isinstance(value, Sequence):
            return self._tuple(value)
        if isinstance(value, UserModule):
            module = ModuleType(value.name)
            vars(module).update({name: self.value(item) for name, item in value.names.items()})
            return module
        if isinstance(value, Enumeration):
            kind = self._enumeration(msgspec.structs.replace(value, member=""))
            return kind[value.member] if value.member else kind
        return _simple(value)

    def _enumeration(self, value: Enumeration) -> Any:
        key = msgspec.json.encode(value)
        if key not in self._classes:
            kind: Any = IntEnum if value.is_integer else Enum
            self._classes[key] = kind(
                value.name, [(name, self.value(member)) for name, member in value.members]
            )
        return self._classes[key]

    def _tuple(self, value: Sequence) -> Any:
        items = map(self.value, value.items)
        if not value.fields:
            return tuple(items)
        key = msgspec.json.encode((value.name, value.fields))
        if key not in self._classes:
            self._classes[key] = namedtuple(value.name, value.fields)
        return self._classes[key](*items)


def _simple(value: Value) -> Any:
    """Build a value that contains no other values."""
    if isinstance(value, NumPyScalar):
        return np.frombuffer(value.data, dtype_from(value.dtype))[0]
    if isinstance(value, ArrayLike):
        return _array(value)
    if isinstance(value, DeviceArray):
        return _DeviceArray(_array(value.array))
    if isinstance(value, TypeObject):
        return _type(value)
    if isinstance(value, ArrayType):
        return _array_type(value)
    if isinstance(value, PointerType):
        return _pointer_type(value)
    if isinstance(value, Library):
        return _library(value)
    if isinstance(value, ErrorClass):
        return type(value.name, (Exception,), {})
    if isinstance(value, Opaque):
        kind = type(value.name.rpartition(".")[2], (), {"__module__": value.module})
        return kind if value.is_class else kind()
    raise NotRebuiltError(f"{value}")


def dtype_from(dtype: DType) -> np.dtype[Any]:
    """Build a dtype from the description of `dtype_of`."""
    if dtype.names:
        base = np.dtype(
            {
                "names": list(dtype.names),
                "formats": [dtype_from(f) for f in dtype.formats],
                "offsets": list(dtype.offsets),
                "itemsize": dtype.size,
            },
            align=dtype.aligned,
        )
    else:
        base = np.dtype(dtype.text)
    return np.dtype((base, dtype.shape)) if dtype.shape else base


def _array(value: ArrayLike) -> Any:
    dtype = dtype_from(value.dtype)
    if value.layout == "A":
        array = np.zeros((4,) * value.ndim, dtype)[(slice(None, None, 2),) * value.ndim]
    else:
        array = np.zeros((2,) * value.ndim, dtype, order=value.layout)
    array.flags.writeable = not value.readonly
    return array


class _DeviceArray:
    """An array by its type, as Numba reads one on a device; nothing is at its address."""

    def __init__(self, array: Any) -> None:
        self.__cuda_array_interface__ = {
            "shape": array.shape, "strides": array.strides, "typestr": array.dtype.str, "data": (256, False),
            "version": 3,
        }  # fmt: skip


def _type(value: TypeObject) -> Any:
    from numba import from_dtype

    if value.origin == "numpy dtype" and value.dtype:
        return np.dtype(dtype_from(value.dtype))
    if value.dtype:
        return from_dtype(dtype_from(value.dtype))
    modules: list[Any] = [loaded for loaded in map(sys.modules.get, TYPE_MODULES) if hasattr(loaded, "Type")]
    for module in modules:
        kind = vars(module).get(value.name)
        if isinstance(kind, module.Type):
            return kind
    raise NotRebuiltError(f"the type {value.name}")


def _array_type(value: ArrayType) -> Any:
    from numba import types

    return types.Array(_type(value.element), value.ndim, value.layout, value.readonly)


def _pointer_type(value: PointerType) -> Any:
    from numba import types

    return types.CPointer(_type(value.element))


def _library(value: Library) -> Any:
    """Return a library's module, or an object in it."""
    if value.module.partition(".")[0] not in LIBRARIES:
        raise NotRebuiltError(f"the module {value.module}")
    try:
        module = importlib.import_module(value.module)
    except ImportError as error:
        raise NotRebuiltError(f"the module {value.module}") from error
    if not value.name:
        return module
    if value.name not in vars(module):
        raise NotRebuiltError(f"{value.module}.{value.name}")
    return vars(module)[value.name]


def _may_execute_text(code: CodeType, described: Function) -> bool:
    """Check whether Numba might execute text from a nested function's defaults or captured values."""
    if not any(isinstance(constant, CodeType) for constant in code.co_consts):
        return False
    return any(map(_is_text, _loaded_constants(code))) or any(
        isinstance(value, Sequence)
        or (isinstance(value, MarshalledValue) and _is_text(marshal.loads(value.data)))
        for value in described.names.values()
    )


def _loaded_constants(code: CodeType) -> list[Any]:
    """List the constants that a code object and those nested in it load."""
    constants = [
        instruction.argval for instruction in dis.get_instructions(code) if instruction.opname == "LOAD_CONST"
    ]
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [*constants, *(constant for nested in inner for constant in _loaded_constants(nested))]


def _is_text(value: Any) -> bool:
    if isinstance(value, tuple | list | set | frozenset):
        return any(map(_is_text, value))
    return isinstance(value, str | bytes) and not (isinstance(value, str) and value.isidentifier())
