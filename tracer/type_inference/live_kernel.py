"""A kernel of the program under way as a question: its code, and what the names in it stand for now.

Looks at the function objects themselves, so that names in closures, in other modules and of classes are right. What
it can't describe is `Missing`, and then nothing is asked. Runs where Numba's simulator does, and imports nothing.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import marshal
import sys
from collections.abc import Container, Iterable
from enum import Enum, EnumMeta, IntEnum
from types import CodeType, FunctionType, ModuleType
from typing import Any, Literal

import numpy as np

from ..model.registered_functions import is_registered
from .question import (
    ArrayLike,
    ArrayType,
    DType,
    Enumeration,
    ErrorClass,
    Function,
    FunctionNumber,
    Library,
    Missing,
    NumPyScalar,
    Opaque,
    Plain,
    Question,
    Sequence,
    TypeObject,
    UserModule,
    Value,
)

MARSHAL_VERSION = 2  # without references, which would make equal values differ
LIBRARIES = ("cmath", "math", "numba", "numpy", "operator")
TYPEOFS = ("numba.core.typing.typeof", "numba.cuda.typing.typeof")
CUDA_PATH = "_cuda_path"  # where a name of `cuda` that was taken out of it remembers which it is
CUDA_MODULES = ("numba.cuda", "numba.cuda.libdevice", "numba.cuda.random")
SIMULATORS = ("numba.", "numpy.", f"{__name__.partition('.')[0]}.tracer.")
TRANSFERS = ("In", "Out", "InOut")  # how arrays are passed
CONFIGS = ("numba.core.config", "numba.cuda.core.config")
TYPE_MODULES = ("numba.core.types", "numba.cuda.types")
PLAIN = (bool, int, float, complex, str, bytes, type(None))
MOST = 256  # elements of a list, set or dict that are looked at, and functions of a kernel
DEEPEST = 20  # values in values
MOST_KERNELS = 1000  # whose questions are kept
GLOBAL_OPS = ("LOAD_GLOBAL", "LOAD_NAME")
ATTRIBUTE_OPS = ("LOAD_ATTR", "LOAD_METHOD")
JIT_OPTIONS = ("inline", "fastmath", "forceinline", "debug")  # of a decorator, which matter to the compiler


def question_of_call(kernel: Any, arguments: Iterable[Any], describer: Describer | None = None) -> Question:
    """Return the question about a call of a kernel of the simulator's; some of it may be `Missing`."""
    return described_call(kernel, arguments, describer)[0]


def described_call(
    kernel: Any, arguments: Iterable[Any], describer: Describer | None = None
) -> tuple[Question, list[FunctionType]]:
    """Return the same question, and its functions in the order of their numbers."""
    arguments = tuple(arguments)
    return _described(kernel, arguments, _declared_for(kernel, arguments), describer)


def _declared_for(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the signature that a call takes, None where a kernel has none."""
    return kernel.declared_for(arguments) if hasattr(kernel, "declared_for") else None


def _described(
    kernel: Any, arguments: tuple[Any, ...], signature: Any, describer: Describer | None = None
) -> tuple[Question, list[FunctionType]]:
    try:
        describer = describer or Describer()
        passed = () if signature else tuple(map(describer.argument, arguments))
        number = describer.function(kernel.fn, "kernel", kernel, signature)
        why = _not_described(kernel, len(signature.args if signature else passed))
        if why or not isinstance(number, FunctionNumber):
            return _unknown(why or "a kernel that is no function"), []
        return Question(tuple(describer.functions), passed), describer.live
    except Exception as error:  # noqa: BLE001  # objects of the program's may answer as they like
        return _unknown(f"{type(error).__name__}: {error}"), []


def _unknown(why: str) -> Question:
    return Question((), (Missing(why),))


def _not_described(kernel: Any, arguments: int) -> str:
    """Return why a call with so many arguments is more than the kernel's code and their types, "" where it is not."""
    code = kernel.fn.__code__
    if arguments != code.co_argcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return "arguments that are not one for each parameter"
    if getattr(kernel, "extensions", None):
        return "arguments pass through extensions"
    return "memory for new arrays is enabled" if _has_memory() else ""


class LaunchedKernels:
    """The questions about a program's launches: a kernel is described once for each types of its arguments.

    That is when a GPU's program would compile it, and freeze what its names stand for.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], tuple[Question, list[FunctionType]]] = {}

    def question(self, kernel: Any, arguments: Iterable[Any]) -> Question:
        """Return the question about a call of a kernel of the simulator's; some of it may be `Missing`."""
        return self.described(kernel, arguments)[1]

    def described(
        self, kernel: Any, arguments: Iterable[Any]
    ) -> tuple[tuple[Any, ...], Question, list[FunctionType]]:
        """Return what tells the types of a call's arguments apart, its question, and the question's functions."""
        try:
            arguments = tuple(arguments)
            return self._of(kernel, arguments, _declared_for(kernel, arguments))
        except Exception as error:  # noqa: BLE001  # a kernel or an argument of a kind of its own
            return (), _unknown(f"{type(error).__name__}: {error}"), []

    def declared(self, kernel: Any) -> list[tuple[tuple[Any, ...], Question]]:
        """Return the keys and questions for each signature of a kernel, which is described where it is decorated."""
        return [self._of(kernel, (), signature)[:2] for signature in kernel._declared]

    def _of(
        self, kernel: Any, arguments: tuple[Any, ...], signature: Any
    ) -> tuple[tuple[Any, ...], Question, list[FunctionType]]:
        given = (str(signature.args),) if signature else tuple(map(Describer().argument, arguments))
        key = (kernel.fn, *given)
        if key not in self._known:
            if len(self._known) >= MOST_KERNELS:  # a program that makes new ones for each launch
                self._known.clear()
            self._known[key] = _described(kernel, arguments, signature)
        return given, *self._known[key]


class Describer:
    """Describes values; functions are numbered, since they may call themselves and each other."""

    names_of_plain = False  # whether those of functions without a decorator are described, which no GPU calls

    def __init__(self) -> None:
        self._numbers: dict[int, FunctionNumber] = {}
        self._made: list[Function | None] = []
        self.live: list[FunctionType] = []
        self._depth = 0
        self._arguments = False  # whether arguments are described

    @property
    def functions(self) -> list[Function]:
        return [function for function in self._made if function is not None]

    def function(
        self, function: Any, role: Literal["kernel", "device", "plain"], decorated: Any = None,
        signature: Any = None,
    ) -> Value:  # fmt: skip
        """Return the number of a function, which is described where it was not before.

        signature: that a kernel is launched with, where it declares one.
        """
        if not isinstance(function, FunctionType):
            return Missing("a kernel that is no function")
        if function.__kwdefaults__:
            return Missing("defaults of parameters that have names alone")
        if id(function) in self._numbers:
            return self._numbers[id(function)]
        if len(self._made) >= MOST:
            return Missing("too many functions")
        types = _types(signature) if role == "kernel" else _of_device(decorated) if role == "device" else ()
        number = self._numbers[id(function)] = FunctionNumber(len(self._made))
        self._made.append(None)
        self.live.append(function)
        code = function.__code__
        self._made[number.number] = Function(
            role, function.__name__, _marshalled(code),
            self._names(function) if role != "plain" or self.names_of_plain else {},
            () if role == "plain" else tuple(map(self.value, function.__defaults__ or ())),
            _options(decorated), types,
        )  # fmt: skip
        return number

    def _names(self, function: FunctionType) -> dict[str, Value]:
        found: dict[str, Any] = {}
        attributes = names_in(function.__code__, ATTRIBUTE_OPS)
        for name in sorted(names_in(function.__code__, GLOBAL_OPS)):
            if name in function.__globals__:
                found[name] = function.__globals__[name]
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            found[name] = cell.cell_contents  # ValueError where it is empty: nothing is asked then
        return {name: self.value(value, attributes) for name, value in found.items()}

    def argument(self, value: Any) -> Value:
        """Return an argument, of which only the type counts: equal types make equal questions."""
        if isinstance(value, bool):
            return _plain(False)
        if isinstance(value, str | bytes):
            return Missing("text as an argument")
        if type(value) is int:
            return _plain(0 if -(1 << 63) <= value < 1 << 63 else 1 << 63)
        if type(value) in (float, complex):
            return _plain(type(value)())
        if isinstance(value, np.generic) and value.dtype.kind in "biufc":
            return self.value(value.dtype.type(0))
        if type(value).__name__ in TRANSFERS and type(value).__module__.startswith("numba.cuda"):
            value = value.value
        if isinstance(value, tuple):
            items = tuple(map(self.argument, value))
            return Sequence(items, *_name_and_fields(value))
        self._arguments = True
        described = self.value(value)
        self._arguments = False
        return Missing("an argument that is no value") if isinstance(described, Opaque) else described

    def value(self, value: Any, attributes: Container[str] = ()) -> Value:
        """Return what a name stands for; attributes: those that the code around it may ask of it."""
        self._depth += 1
        try:
            if self._depth > DEEPEST:
                return Missing("a value that is nested deeply")
            if isinstance(value, ModuleType):
                return self._module(value, attributes)
            if hasattr(type(value), "copy_to_host") and not self._arguments:
                return Missing("a device array from outside the kernel")
            for describe in (
                self._number, self._array, self._tuple, self._container, self._enumeration, _type_object,
                self._callable, _library_object, _class,
            ):  # fmt: skip
                found = describe(value)
                if found is not None:
                    return found
            return _opaque(value)
        finally:
            self._depth -= 1

    @staticmethod
    def _number(value: Any) -> Value | None:
        if type(value) in PLAIN:
            return _plain(value)
        if isinstance(value, np.generic):
            if value.dtype.kind in "OUSmM":
                return Missing(f"a value of {value.dtype}")
            return NumPyScalar(dtype_of(value.dtype), value.tobytes())
        return None

    @staticmethod
    def _array(value: Any) -> Value | None:
        ary = _array_in(value)
        if ary is None:
            return None
        if ary.dtype.hasobject or not ary.dtype.isnative or (ary.dtype.kind in "USV" and not ary.dtype.names):
            return Missing(f"an array of {ary.dtype}")
        contiguous: Literal["C", "F", "A"] = (
            "C" if ary.flags.c_contiguous else "F" if ary.flags.f_contiguous else "A"
        )
        readonly = not ary.flags.writeable and ary is value  # on a device all can be written
        if not ary.flags.aligned:
            return Missing("an array that is not aligned")
        return ArrayLike(dtype_of(ary.dtype), ary.ndim, contiguous, readonly)

    def _tuple(self, value: Any) -> Value | None:
        if not isinstance(value, tuple):
            return None
        if len(value) > MOST:
            return Missing("a long tuple")
        if type(value) is not tuple and not _name_and_fields(value)[1]:
            return Missing("a tuple of a class of its own")
        return Sequence(tuple(map(self.value, value)), *_name_and_fields(value))

    @staticmethod
    def _container(value: Any) -> Value | None:
        if type(value) not in (list, set, frozenset, dict):
            return None
        some = [*value.items()] if isinstance(value, dict) else [*value]
        inner = [one for pair in some for one in pair] if isinstance(value, dict) else some
        if len(some) <= MOST and all(type(one) in PLAIN for one in inner):
            return _plain(value)
        return Opaque("builtins", "dict") if isinstance(value, dict) else Missing(f"a {type(value).__name__}")

    def _enumeration(self, value: Any) -> Value | None:
        kind = value if isinstance(value, EnumMeta) else type(value)
        if not isinstance(kind, EnumMeta):
            return None
        members = tuple((name, self.value(member.value)) for name, member in kind.__members__.items())
        if len(members) > MOST or not {*kind.__mro__} <= {kind, IntEnum, Enum, int, object, *IntEnum.__mro__}:
            return Missing("an enumeration of a kind of its own")
        return Enumeration(
            kind.__name__,
            issubclass(kind, int),
            members,
            value.name if isinstance(value, Enum) else "",
        )

    def _callable(self, value: Any) -> Value | None:
        """Return a function, decorated or not, that is no library's."""
        if isinstance(value, type) or not callable(value):
            return None
        library = _library_object(value)
        if library is not None:
            return library
        if _is_part_of_simulator(value):
            return Missing("a part of the simulator")
        if is_registered(value):
            return Missing("a function that the program taught Numba")
        if hasattr(value, "fn") and hasattr(value, "_device"):  # of the simulator
            return self.function(value.fn, "device" if value._device else "kernel", value)
        if hasattr(value, "py_func"):
            if not hasattr(value, "targetoptions"):
                return Missing("a function compiled in another way")
            return self.function(value.py_func, "device", value)
        return self.function(value, "plain") if isinstance(value, FunctionType) else None

    def _module(self, value: ModuleType, attributes: Container[str]) -> Value:
        if value is sys.modules.get("numba.cuda"):
            return Library("numba.cuda")
        name = value.__name__
        if name.partition(".")[0] in LIBRARIES and sys.modules.get(name) is value:
            return Library(name)
        names = {name: self.value(one, attributes) for name, one in vars(value).items() if name in attributes}
        return UserModule(name, names)


def _has_memory() -> bool:
    """Return whether the program has turned on numba-cuda's runtime, with which kernels make arrays."""
    return any(getattr(sys.modules.get(name), "CUDA_ENABLE_NRT", False) for name in CONFIGS)


def _marshalled(code: CodeType) -> bytes:
    return marshal.dumps(code, MARSHAL_VERSION)


def _plain(value: Any) -> Plain:
    return Plain(marshal.dumps(value, MARSHAL_VERSION))


def _name_and_fields(value: tuple[Any, ...]) -> tuple[str, tuple[str, ...]]:
    fields = getattr(value, "_fields", ())
    return (type(value).__name__, tuple(fields)) if fields else ("", ())


def dtype_of(dtype: np.dtype[Any]) -> DType:
    """Return a dtype as plain data."""
    if dtype.subdtype is not None:
        inner = dtype_of(dtype.subdtype[0])
        return DType(
            inner.text, inner.names, inner.formats, inner.offsets, inner.size, inner.aligned, dtype.shape
        )
    if dtype.names is None or dtype.fields is None:
        return DType(dtype.str)
    fields = [dtype.fields[name] for name in dtype.names]
    return DType(
        "", dtype.names, tuple(dtype_of(f[0]) for f in fields), tuple(f[1] for f in fields), dtype.itemsize,
        dtype.isalignedstruct,
    )  # fmt: skip


def _array_in(value: Any) -> Any:
    """Return the NumPy array of an array, or of a device array of the simulator's."""
    inner = getattr(value, "_ary", None) if hasattr(type(value), "copy_to_host") else value
    return inner if isinstance(inner, np.ndarray) else None


def names_in(code: CodeType, operations: Container[str]) -> set[str]:
    """Return the names that these operations of a code, and of those in it, look up."""
    found = {str(i.argval) for i in dis.get_instructions(code) if i.opname in operations}
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return found.union(*(names_in(nested, operations) for nested in inner))


def _options(decorated: Any) -> dict[str, bool | str]:
    chosen = getattr(decorated, "targetoptions", None) or {}
    options = {name: chosen[name] for name in JIT_OPTIONS if isinstance(chosen.get(name), bool | str)}
    if getattr(decorated, "_fastmath", False) is True:
        options["fastmath"] = True
    return options


def _types(signature: Any) -> tuple[Value, ...]:
    """Return the types of a signature's arguments."""
    found = signature.args if signature else ()
    return tuple(_type_object(one) or Missing("a type") for one in found)


def _of_device(decorated: Any) -> tuple[Value, ...]:
    """Return the types that a device function's decorator names: of the result, None if it names none; of arguments."""
    declared: tuple[Any, ...] = getattr(decorated, "_declared", ())
    if len(declared) != 1:
        return (Missing("several signatures"),) if declared else ()
    (signature,) = declared
    result = signature.return_type
    kind = _plain(None) if result is None else _type_object(result) or Missing("a type")
    return (kind, *_types(signature))


def _library_object(value: Any) -> Value | None:
    """Return the name of what is a library's: math.sin, cuda.grid, a type of numbers."""
    if hasattr(type(value), "cuda_path"):  # of `tracer/simulator/host/kernel_names.py`
        return Library("numba.cuda", value.cuda_path)
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if isinstance(value, np.ufunc):
        module = "numpy"
    if isinstance(value, ModuleType) or not isinstance(name, str):
        return _of_cuda(value)
    if getattr(builtins, name, None) is value:
        return Library("builtins", name)
    for place in (module, str(module).lstrip("_"), "numpy", "math"):
        if str(place).partition(".")[0] in LIBRARIES and _named(place, name, value):
            return Library(str(place), name)
    return _of_cuda(value)


def _is_part_of_simulator(value: Any) -> bool:
    """Return whether something is Numba's or ours, and stands for what a GPU's program has in its place."""
    places = {str(getattr(value, "__module__", "")), type(value).__module__}
    kernels = hasattr(value, "fn") or hasattr(
        value, "py_func"
    )  # which are functions of the user's, in a class of ours
    return not kernels and any(place.startswith(SIMULATORS) for place in places)


def _named(module: Any, name: str, value: Any) -> bool:
    found = vars(sys.modules.get(str(module), ModuleType(""))).get(name)
    return found is value


def _of_cuda(value: Any) -> Value | None:
    """Return what stands in the simulator for something of numba.cuda's."""
    if isinstance(value, ModuleType) or value is None:
        return None
    taken_out = getattr(value, "__dict__", {}).get(CUDA_PATH)
    if isinstance(taken_out, str) and taken_out.isidentifier():
        return Library("numba.cuda", taken_out)
    for place in CUDA_MODULES:
        for name, one in vars(sys.modules.get(place, ModuleType(place))).items():
            if one is value and not name.startswith("_"):
                return Library(place, name)
    return None


def _type_object(value: Any) -> Value | None:
    """Return a type of numba's, or a dtype of NumPy's."""
    if isinstance(value, np.dtype):
        return (
            Missing(f"the type {value}")
            if value.hasobject
            else TypeObject("numpy dtype", dtype=dtype_of(value))
        )
    modules: list[Any] = [m for m in map(sys.modules.get, TYPE_MODULES) if hasattr(m, "Type")]
    kinds: Any = tuple(module.Type for module in modules)
    if not isinstance(value, kinds):
        return None
    for module in modules:
        for name, one in vars(module).items():
            if one is value and not name.startswith("_"):
                return TypeObject("numba", name)
    dtype = getattr(value, "dtype", None)
    if type(value).__name__ == "Record" and isinstance(dtype, np.dtype):
        return TypeObject("numba", "", dtype_of(dtype))
    element = _type_object(dtype) if type(value).__name__ == "Array" else None
    if isinstance(element, TypeObject) and value.aligned:
        return ArrayType(element, value.ndim, value.layout, not value.mutable)
    return Missing(f"a type, {value}")


def _class(value: Any) -> Value | None:
    if not isinstance(value, type):
        return None
    if issubclass(value, BaseException):
        return ErrorClass(value.__name__)
    return _opaque(value)


def _opaque(value: Any) -> Value:
    """Return something without a type of Numba's: what it says of others, it says of this."""
    kind = value if isinstance(value, type) else type(value)
    library = kind.__module__.partition(".")[0] in ("numba", "numpy", "cupy", "torch")
    if library or is_registered(value) or any(map(_has_type, TYPEOFS, (value, value))):
        return Missing(f"a value of {kind.__name__}")
    return Opaque(kind.__module__, kind.__qualname__, value is kind)


def _has_type(name: str, value: Any) -> bool:
    """Return whether the Numba in this module knows a type of a value."""
    module = sys.modules.get(name)
    if module is None:
        return False
    try:
        return module.typeof_impl(value, module._TypeofContext(module.Purpose.constant)) is not None
    except Exception:  # noqa: BLE001  # another Numba, or whatever an object of the program's raises
        return True
