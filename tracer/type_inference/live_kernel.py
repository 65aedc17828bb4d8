"""Builds the question about a kernel of the running program: its code, and the current values of its names.

It reads the function objects, so that names in closures, other modules and classes are right. An unsupported value
becomes `Missing`, and then the question is not asked. It runs next to Numba's simulator, and imports nothing of Numba.
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

from ..model.registered_functions import is_jitable, is_registered
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
    Missing,
    NumPyScalar,
    Opaque,
    PointerType,
    Question,
    Sequence,
    TypeObject,
    UserModule,
    Value,
)

MARSHAL_VERSION = 2  # without references, so that equal values give equal bytes
LIBRARIES = ("cmath", "math", "numba", "numpy", "operator")
TYPEOFS = ("numba.core.typing.typeof", "numba.cuda.typing.typeof")
CUDA_PATH = "_cuda_path"  # attribute of an object of `cuda` that holds its name there
CUDA_MODULES = ("numba.cuda", "numba.cuda.libdevice", "numba.cuda.random")
SIMULATORS = ("numba.", "numpy.", f"{__name__.partition('.')[0]}.tracer.")
TRANSFERS = ("In", "Out", "InOut")  # classes of numba.cuda around arrays
CONFIGS = ("numba.core.config", "numba.cuda.core.config")
TYPE_MODULES = ("numba.core.types", "numba.cuda.types")
PLAIN_TYPES = (bool, int, float, complex, str, bytes, type(None))
MAX_DESCRIBED = 256  # elements of a container, and functions of a kernel, that are described
MAX_DEPTH = 20  # nested values
MAX_KERNELS = 1000  # kernels whose questions are kept
GLOBAL_OPS = ("LOAD_GLOBAL", "LOAD_NAME")
ATTRIBUTE_OPS = ("LOAD_ATTR", "LOAD_METHOD")
JIT_OPTIONS = (
    "inline",
    "fastmath",
    "forceinline",
    "debug",
)  # options of a decorator that matter to the compiler


def question_of_call(kernel: Any, arguments: Iterable[Any], describer: Describer | None = None) -> Question:
    """Build the question about a call of a simulator's kernel; parts of it may be `Missing`."""
    return describe_call_with_functions(kernel, arguments, describer)[0]


def describe_call_with_functions(
    kernel: Any, arguments: Iterable[Any], describer: Describer | None = None
) -> tuple[Question, list[FunctionType]]:
    """Build the same question, and return it with its functions in the order of their numbers."""
    arguments = tuple(arguments)
    return _describe_call(kernel, arguments, _signature_for(kernel, arguments), describer)


def _signature_for(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the declared signature that a call uses, None if the kernel declares none."""
    return kernel.declared_for(arguments) if hasattr(kernel, "declared_for") else None


def _describe_call(
    kernel: Any, arguments: tuple[Any, ...], signature: Any, describer: Describer | None = None
) -> tuple[Question, list[FunctionType]]:
    try:
        describer = describer or Describer()
        passed = () if signature else tuple(map(describer.argument, arguments))
        number = describer.function(kernel.fn, "kernel", kernel, signature)
        obstacle = _obstacle(kernel, len(signature.args if signature else passed))
        if obstacle or not isinstance(number, FunctionNumber):
            return _missing_question(obstacle or "a kernel that is not a function"), []
        return Question(tuple(describer.functions), passed), describer.function_objects
    except Exception as error:  # noqa: BLE001  # the program's objects may raise anything
        return _missing_question(f"{type(error).__name__}: {error}"), []


def _missing_question(reason: str) -> Question:
    return Question((), (Missing(reason),))


def _obstacle(kernel: Any, arguments: int) -> str:
    """Explain why the kernel's code and the argument types don't determine the compilation; "" if they do."""
    code = kernel.fn.__code__
    if arguments != code.co_argcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return "arguments that are not one for each parameter"
    if getattr(kernel, "extensions", None):
        return "arguments pass through extensions"
    return "memory for new arrays is enabled" if _has_memory() else ""


class LaunchedKernels:
    """The questions about a program's launches: a kernel is described once for each list of argument types.

    At the same moments a program on a GPU would compile the kernel and freeze the values of its names.
    """

    def __init__(self) -> None:
        self._described_calls: dict[tuple[Any, ...], tuple[Question, list[FunctionType]]] = {}

    def question(self, kernel: Any, arguments: Iterable[Any]) -> Question:
        """Return the question about a call of a simulator's kernel; parts of it may be `Missing`."""
        return self.describe(kernel, arguments)[1]

    def describe(
        self, kernel: Any, arguments: Iterable[Any]
    ) -> tuple[tuple[Any, ...], Question, list[FunctionType]]:
        """Return the key of a call's argument types, its question, and the question's functions."""
        try:
            arguments = tuple(arguments)
            return self._cached_call(kernel, arguments, _signature_for(kernel, arguments))
        except Exception as error:  # noqa: BLE001  # an unusual kernel or argument
            return (), _missing_question(f"{type(error).__name__}: {error}"), []

    def declared(self, kernel: Any) -> list[tuple[tuple[Any, ...], Question]]:
        """Return the key and the question for each declared signature of a kernel, at its decoration."""
        return [self._cached_call(kernel, (), signature)[:2] for signature in kernel._declared]

    def _cached_call(
        self, kernel: Any, arguments: tuple[Any, ...], signature: Any
    ) -> tuple[tuple[Any, ...], Question, list[FunctionType]]:
        type_key = (str(signature.args),) if signature else tuple(map(Describer().argument, arguments))
        key = (kernel.fn, *type_key)
        if key not in self._described_calls:
            if len(self._described_calls) >= MAX_KERNELS:  # the program may create kernels for each launch
                self._described_calls.clear()
            self._described_calls[key] = _describe_call(kernel, arguments, signature)
        return type_key, *self._described_calls[key]


class Describer:
    """Describes values; functions are numbered, because they may call themselves and each other."""

    names_of_plain = False  # whether to describe the names of undecorated functions, which no GPU calls

    def __init__(self) -> None:
        self._numbers: dict[int, FunctionNumber] = {}
        self._described: list[Function | None] = []
        self.function_objects: list[FunctionType] = []
        self._depth = 0
        self._in_argument = False  # whether an argument is being described

    @property
    def functions(self) -> list[Function]:
        return [function for function in self._described if function is not None]

    def function(
        self, function: Any, role: Literal["kernel", "device", "plain"], decorated: Any = None,
        signature: Any = None,
    ) -> Value:  # fmt: skip
        """Return the number of a function, and describe it if that is new.

        signature: the declared signature that a kernel is launched with, if any.
        """
        if not isinstance(function, FunctionType):
            return Missing("a kernel that is not a function")
        if function.__kwdefaults__:
            return Missing("defaults of keyword-only parameters")
        if id(function) in self._numbers:
            return self._numbers[id(function)]
        if len(self._described) >= MAX_DESCRIBED:
            return Missing("too many functions")
        types = (
            _types(signature) if role == "kernel" else _device_types(decorated) if role == "device" else ()
        )
        number = self._numbers[id(function)] = FunctionNumber(len(self._described))
        self._described.append(None)
        self.function_objects.append(function)
        code = function.__code__
        self._described[number.number] = Function(
            role, function.__name__, _marshalled(code),
            self._names(function) if role != "plain" or self.names_of_plain else {},
            () if role == "plain" else tuple(map(self.value, function.__defaults__ or ())),
            _options(decorated), types,
        )  # fmt: skip
        return number

    def _names(self, function: FunctionType) -> dict[str, Value]:
        values: dict[str, Any] = {}
        attributes = names_in(function.__code__, ATTRIBUTE_OPS)
        for name in sorted(names_in(function.__code__, GLOBAL_OPS)):
            if name in function.__globals__:
                values[name] = function.__globals__[name]
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            values[name] = cell.cell_contents  # ValueError if the cell is empty: then nothing is asked
        return {name: self.value(value, attributes) for name, value in values.items()}

    def argument(self, value: Any) -> Value:
        """Describe the type of an argument: equal types give equal questions."""
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
        self._in_argument = True
        described = self.value(value)
        self._in_argument = False
        return Missing("an argument of an unsupported class") if isinstance(described, Opaque) else described

    def value(self, value: Any, attributes: Container[str] = ()) -> Value:
        """Describe a value; attributes: those that the surrounding code may read."""
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                return Missing("a value that is nested deeply")
            if isinstance(value, ModuleType):
                return self._module(value, attributes)
            if hasattr(type(value), "copy_to_host") and not self._in_argument:
                return self._device_array(value)
            for describe in (
                self._number, self._array, self._tuple, self._container, self._enumeration, _type_object,
                self._callable, _library_object, _class,
            ):  # fmt: skip
                described = describe(value)
                if described is not None:
                    return described
            return _opaque(value)
        finally:
            self._depth -= 1

    @staticmethod
    def _number(value: Any) -> Value | None:
        if type(value) in PLAIN_TYPES:
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
        readonly = not ary.flags.writeable and ary is value  # device arrays are always writable
        if not ary.flags.aligned:
            return Missing("an array that is not aligned")
        return ArrayLike(dtype_of(ary.dtype), ary.ndim, contiguous, readonly)

    def _device_array(self, value: Any) -> Value:
        array = self._array(value)
        if isinstance(array, ArrayLike) and not array.dtype.names:
            return DeviceArray(array)
        return Missing("a device array from outside the kernel")

    def _tuple(self, value: Any) -> Value | None:
        if not isinstance(value, tuple):
            return None
        if len(value) > MAX_DESCRIBED:
            return Missing("a long tuple")
        if type(value) is not tuple and not _name_and_fields(value)[1]:
            return Missing("a tuple of a custom class")
        return Sequence(tuple(map(self.value, value)), *_name_and_fields(value))

    @staticmethod
    def _container(value: Any) -> Value | None:
        if type(value) not in (list, set, frozenset, dict):
            return None
        items = [*value.items()] if isinstance(value, dict) else [*value]
        values = [element for pair in items for element in pair] if isinstance(value, dict) else items
        if len(items) <= MAX_DESCRIBED and all(type(element) in PLAIN_TYPES for element in values):
            return _plain(value)
        return Opaque("builtins", "dict") if isinstance(value, dict) else Missing(f"a {type(value).__name__}")

    def _enumeration(self, value: Any) -> Value | None:
        kind = value if isinstance(value, EnumMeta) else type(value)
        if not isinstance(kind, EnumMeta):
            return None
        members = tuple((name, self.value(member.value)) for name, member in kind.__members__.items())
        if len(members) > MAX_DESCRIBED or not {*kind.__mro__} <= {
            kind,
            IntEnum,
            Enum,
            int,
            object,
            *IntEnum.__mro__,
        }:
            return Missing("an enumeration of a custom kind")
        return Enumeration(
            kind.__name__,
            issubclass(kind, int),
            members,
            value.name if isinstance(value, Enum) else "",
        )

    def _callable(self, value: Any) -> Value | None:
        """Describe a function, decorated or not, that belongs to no library."""
        if isinstance(value, type) or not callable(value):
            return None
        library = _library_object(value)
        if library is not None:
            return library
        if _is_part_of_simulator(value):
            return Missing("a part of the simulator")
        if is_jitable(value):
            return self.function(value, "device")
        if is_registered(value):
            return Missing("a function that the program registered with Numba")
        if hasattr(value, "fn") and hasattr(value, "_device"):  # of the simulator
            return self.function(value.fn, "device" if value._device else "kernel", value)
        if hasattr(value, "py_func"):
            if not hasattr(value, "targetoptions"):
                return Missing("a function compiled by another decorator")
            return self.function(value.py_func, "device", value)
        return self.function(value, "plain") if isinstance(value, FunctionType) else None

    def _module(self, value: ModuleType, attributes: Container[str]) -> Value:
        if value is sys.modules.get("numba.cuda"):
            return Library("numba.cuda")
        name = value.__name__
        if name.partition(".")[0] in LIBRARIES and sys.modules.get(name) is value:
            return Library(name)
        names = {
            name: self.value(member, attributes) for name, member in vars(value).items() if name in attributes
        }
        return UserModule(name, names)


def _has_memory() -> bool:
    """Check whether numba-cuda's runtime is enabled, which lets kernels allocate arrays."""
    return any(getattr(sys.modules.get(name), "CUDA_ENABLE_NRT", False) for name in CONFIGS)


def _marshalled(code: CodeType) -> bytes:
    return marshal.dumps(code, MARSHAL_VERSION)


def _plain(value: Any) -> MarshalledValue:
    return MarshalledValue(marshal.dumps(value, MARSHAL_VERSION))


def _name_and_fields(value: tuple[Any, ...]) -> tuple[str, tuple[str, ...]]:
    fields = getattr(value, "_fields", ())
    return (type(value).__name__, tuple(fields)) if fields else ("", ())


def dtype_of(dtype: np.dtype[Any]) -> DType:
    """Describe a dtype as plain data."""
    if dtype.subdtype is not None:
        inner = dtype_of(dtype.subdtype[0])
        return DType(
            inner.text, inner.names, inner.formats, inner.offsets, inner.size, inner.aligned, dtype.shape
        )
    if dtype.names is None or dtype.fields is None:
        return DType(dtype.str)
    fields = [dtype.fields[name] for name in dtype.names]
    return DType(
        "", dtype.names, tuple(dtype_of(f[0]) for f in fields), tuple(field[1] for field in fields), dtype.itemsize,
        dtype.isalignedstruct,
    )  # fmt: skip


def _array_in(value: Any) -> Any:
    """Return the NumPy array of an array or of a simulator's device array."""
    inner = getattr(value, "_ary", None) if hasattr(type(value), "copy_to_host") else value
    return inner if isinstance(inner, np.ndarray) else None


def names_in(code: CodeType, operations: Container[str]) -> set[str]:
    """Collect the names that these operations look up, in a code object and those nested in it."""
    names = {
        str(instruction.argval)
        for instruction in dis.get_instructions(code)
        if instruction.opname in operations
    }
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return names.union(*(names_in(nested, operations) for nested in inner))


def _options(decorated: Any) -> dict[str, bool | str]:
    chosen = getattr(decorated, "targetoptions", None) or {}
    options = {name: chosen[name] for name in JIT_OPTIONS if isinstance(chosen.get(name), bool | str)}
    if getattr(decorated, "_fastmath", False) is True:
        options["fastmath"] = True
    return options


def _types(signature: Any) -> tuple[Value, ...]:
    """Describe the types of a signature's arguments."""
    arguments = signature.args if signature else ()
    return tuple(_type_object(argument) or Missing("a type") for argument in arguments)


def _device_types(decorated: Any) -> tuple[Value, ...]:
    """Describe a device function's declared types: of the result (None if undeclared), then of the arguments."""
    declared: tuple[Any, ...] = getattr(decorated, "_declared", ())
    if len(declared) != 1:
        return (Missing("several signatures"),) if declared else ()
    (signature,) = declared
    result = signature.return_type
    kind = _plain(None) if result is None else _type_object(result) or Missing("a type")
    return (kind, *_types(signature))


def _library_object(value: Any) -> Value | None:
    """Describe an object of a library: math.sin, cuda.grid, a number type."""
    if hasattr(type(value), "cuda_path"):  # of `tracer/simulator/host/kernel_names.py`
        return Library("numba.cuda", value.cuda_path)
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if isinstance(value, np.ufunc):
        module = "numpy"
    if isinstance(value, ModuleType) or not isinstance(name, str):
        return _cuda_object(value)
    if getattr(builtins, name, None) is value:
        return Library("builtins", name)
    for module_name in (module, str(module).lstrip("_"), "numpy", "math"):
        if str(module_name).partition(".")[0] in LIBRARIES and _is_module_attribute(module_name, name, value):
            return Library(str(module_name), name)
    return _cuda_object(value)


def _is_part_of_simulator(value: Any) -> bool:
    """Check whether an object of Numba or ours replaces an object of the real CUDA target."""
    modules = {str(getattr(value, "__module__", "")), type(value).__module__}
    is_kernel = hasattr(value, "fn") or hasattr(value, "py_func")  # the user's functions, in our classes
    return not is_kernel and any(module.startswith(SIMULATORS) for module in modules)


def _is_module_attribute(module: Any, name: str, value: Any) -> bool:
    return vars(sys.modules.get(str(module), ModuleType(""))).get(name) is value


def _cuda_object(value: Any) -> Value | None:
    """Describe the simulator's replacement of an object of numba.cuda."""
    if isinstance(value, ModuleType) or value is None:
        return None
    cuda_name = getattr(value, "__dict__", {}).get(CUDA_PATH)
    if isinstance(cuda_name, str) and cuda_name.isidentifier():
        return Library("numba.cuda", cuda_name)
    for module in CUDA_MODULES:
        for name, attribute in vars(sys.modules.get(module, ModuleType(module))).items():
            if attribute is value and not name.startswith("_"):
                return Library(module, name)
    return None


def _type_object(value: Any) -> Value | None:
    """Describe a type of numba or a dtype of NumPy."""
    if isinstance(value, np.dtype):
        return (
            Missing(f"the type {value}")
            if value.hasobject
            else TypeObject("numpy dtype", dtype=dtype_of(value))
        )
    modules: list[Any] = [module for module in map(sys.modules.get, TYPE_MODULES) if hasattr(module, "Type")]
    kinds: Any = tuple(module.Type for module in modules)
    if not isinstance(value, kinds):
        return None
    for module in modules:
        for name, attribute in vars(module).items():
            if attribute is value and not name.startswith("_"):
                return TypeObject("numba", name)
    dtype = getattr(value, "dtype", None)
    if type(value).__name__ == "Record" and isinstance(dtype, np.dtype):
        return TypeObject("numba", "", dtype_of(dtype))
    element = _type_object(dtype) if type(value).__name__ in ("Array", "CPointer") else None
    if isinstance(element, TypeObject) and type(value).__name__ == "CPointer":
        return PointerType(element)
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
    """Describe an object that Numba has no type for; only the name of its class matters to the compiler."""
    kind = value if isinstance(value, type) else type(value)
    library = kind.__module__.partition(".")[0] in ("numba", "numpy", "cupy", "torch")
    if library or is_registered(value) or any(map(_has_type, TYPEOFS, (value, value))):
        return Missing(f"a value of {kind.__name__}")
    return Opaque(kind.__module__, kind.__qualname__, value is kind)


def _has_type(name: str, value: Any) -> bool:
    """Check whether this Numba module has a type for a value."""
    module = sys.modules.get(name)
    if module is None:
        return False
    try:
        return module.typeof_impl(value, module._TypeofContext(module.Purpose.constant)) is not None
    except Exception:  # noqa: BLE001  # another version of Numba, or any exception of the program's object
        return True
