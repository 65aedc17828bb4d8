"""A question's kernel as a function that Numba compiles: code in a dictionary of names that was made here.

None of the code is run. Numba itself runs texts that it makes of a nested function's defaults and of the constants
that it uses (`convert_code_obj_to_function` in its `ir_utils`): where such could hold text of the file's, there is no
kernel. Of the libraries, what a question names is taken from a module's dictionary.
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
    DType,
    Enumeration,
    ErrorClass,
    Function,
    FunctionNumber,
    Library,
    NumPyScalar,
    Opaque,
    Plain,
    Question,
    Sequence,
    TypeObject,
    UserModule,
    Value,
)

LIBRARIES = ("builtins", "cmath", "math", "numba", "numpy", "operator")
TYPE_MODULES = ("numba.core.types", "numba.cuda.types")
Device = Callable[
    [FunctionType, Function, tuple[Any, ...]], Any
]  # of a function, what it is, types of a signature


class NotRebuilt(Exception):
    """Something of a question that can't be had here; the text says what."""


def rebuilt_kernel(
    question: Question, device: Device
) -> tuple[list[FunctionType], tuple[Any, ...], list[CodeType]]:
    """Return (functions, the kernel first; arguments; the code of what is compiled).

    device: makes a device function of a function.

    Where a signature says the types of the arguments, these are types of numba's, else examples.

    Raises NotRebuilt where something of it is missing, or Numba would run text of it.
    """
    if question.missing():
        raise NotRebuilt(question.missing())
    maker = Maker(question.functions, device)
    functions = [maker.plain(number) for number in range(len(question.functions))]
    given = question.functions[0].signature
    arguments = tuple(map(maker.value, given or question.arguments))
    compiled = [number for number, one in enumerate(question.functions) if one.role != "plain"]
    codes = [maker.plain(number).__code__ for number in compiled]
    return functions, arguments, codes


class Maker:
    """Makes what a question describes; device: makes a device function of a function."""

    runs = False  # whether the kernel is to run: then text that Numba might run is of no concern

    def __init__(self, functions: tuple[Function, ...], device: Device) -> None:
        self._functions, self._device = functions, device
        self._plain: dict[int, FunctionType] = {}
        self._decorated: dict[int, Any] = {}
        self._classes: dict[bytes, Any] = {}  # each once, so that members of one are of one

    def plain(self, number: int) -> FunctionType:
        """Return a function, in a dictionary of its own, which is filled when it is first asked for."""
        if number in self._plain:
            return self._plain[number]
        described = self._functions[number]
        code = marshal.loads(described.code)
        if described.role != "plain" and not self.runs and _gives_text(code, described):
            raise NotRebuilt("a nested function and text")
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
        """Return what a function is to those who call it."""
        described, function = self._functions[number], self.plain(number)
        if described.role == "plain":
            return function
        if number not in self._decorated:
            types = tuple(map(self.value, described.signature))
            self._decorated[number] = self._device(function, described, types)
        return self._decorated[number]

    def value(self, value: Value) -> Any:
        """Return what a value stands for; raises NotRebuilt for what can't be had here."""
        if isinstance(value, Plain):
            return marshal.loads(value.data)
        if isinstance(value, FunctionNumber):
            return self._function(value.number)
        if isinstance(value, Sequence):
            return self._tuple(value)
        if isinstance(value, UserModule):
            module = ModuleType(value.name)
            vars(module).update({name: self.value(one) for name, one in value.names.items()})
            return module
        if isinstance(value, Enumeration):
            kind = self._enumeration(msgspec.structs.replace(value, member=""))
            return kind[value.member] if value.member else kind
        return _simple(value)

    def _enumeration(self, value: Enumeration) -> Any:
        key = msgspec.json.encode(value)
        if key not in self._classes:
            kind: Any = IntEnum if value.whole else Enum
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
    """Return what is made of nothing else."""
    if isinstance(value, NumPyScalar):
        return np.frombuffer(value.data, dtype_from(value.dtype))[0]
    if isinstance(value, ArrayLike):
        return _array(value)
    if isinstance(value, TypeObject):
        return _type(value)
    if isinstance(value, ArrayType):
        return _array_type(value)
    if isinstance(value, Library):
        return _library(value)
    if isinstance(value, ErrorClass):
        return type(value.name, (Exception,), {})
    if isinstance(value, Opaque):
        kind = type(value.name.rpartition(".")[2], (), {"__module__": value.module})
        return kind if value.is_class else kind()
    raise NotRebuilt(f"{value}")


def dtype_from(dtype: DType) -> np.dtype[Any]:
    """Return a dtype described by `dtype_of`."""
    if dtype.names:
        made = np.dtype(
            {
                "names": list(dtype.names),
                "formats": [dtype_from(f) for f in dtype.formats],
                "offsets": list(dtype.offsets),
                "itemsize": dtype.size,
            },
            align=dtype.aligned,
        )
    else:
        made = np.dtype(dtype.text)
    return np.dtype((made, dtype.shape)) if dtype.shape else made


def _array(value: ArrayLike) -> Any:
    dtype = dtype_from(value.dtype)
    if value.layout == "A":
        made = np.zeros((4,) * value.ndim, dtype)[(slice(None, None, 2),) * value.ndim]
    else:
        made = np.zeros((2,) * value.ndim, dtype, order=value.layout)
    made.flags.writeable = not value.readonly
    return made


def _type(value: TypeObject) -> Any:
    from numba import from_dtype

    if value.origin == "numpy dtype" and value.dtype:
        return np.dtype(dtype_from(value.dtype))
    if value.dtype:
        return from_dtype(dtype_from(value.dtype))
    modules: list[Any] = [m for m in map(sys.modules.get, TYPE_MODULES) if hasattr(m, "Type")]
    for module in modules:
        found = vars(module).get(value.name)
        if isinstance(found, module.Type):
            return found
    raise NotRebuilt(f"the type {value.name}")


def _array_type(value: ArrayType) -> Any:
    from numba import types

    return types.Array(_type(value.element), value.ndim, value.layout, value.readonly)


def _library(value: Library) -> Any:
    """Return a library's module, or what it holds."""
    if value.module.partition(".")[0] not in LIBRARIES:
        raise NotRebuilt(f"the module {value.module}")
    try:
        module = importlib.import_module(value.module)
    except ImportError as error:
        raise NotRebuilt(f"the module {value.module}") from error
    if not value.name:
        return module
    if value.name not in vars(module):
        raise NotRebuilt(f"{value.module}.{value.name}")
    return vars(module)[value.name]


def _gives_text(code: CodeType, described: Function) -> bool:
    """Return whether Numba might run text of a code: of a nested function's defaults, or what it captures."""
    if not any(isinstance(constant, CodeType) for constant in code.co_consts):
        return False
    return any(map(_is_text, _loaded(code))) or any(
        isinstance(v, Sequence) or (isinstance(v, Plain) and _is_text(marshal.loads(v.data)))
        for v in described.names.values()
    )


def _loaded(code: CodeType) -> list[Any]:
    """Return the constants that a code and those in it load."""
    found = [i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_CONST"]
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return [*found, *(one for nested in inner for one in _loaded(nested))]


def _is_text(value: Any) -> bool:
    if isinstance(value, tuple | list | set | frozenset):
        return any(map(_is_text, value))
    return isinstance(value, str | bytes) and not (isinstance(value, str) and value.isidentifier())
