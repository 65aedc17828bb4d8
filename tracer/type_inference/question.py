"""Questions and answers about kernels as plain data: the code of their functions, and the values of their names.

Everything consists of numbers, texts and names in our tables. Functions are included only as code, which is compiled
and never run.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from ..model.launch import Launch
from .typed_ir import Program


class MarshalledValue(msgspec.Struct, frozen=True, tag="plain"):
    """A number, a text, None, or a container of these, as bytes of `marshal`."""

    data: bytes


class DType(msgspec.Struct, frozen=True, omit_defaults=True):
    """A NumPy dtype: the text of a simple one; the names, formats and offsets of a record."""

    text: str = ""  # "<f4"
    names: tuple[str, ...] = ()  # of a record's fields
    formats: tuple[DType, ...] = ()  # of a record's fields
    offsets: tuple[int, ...] = ()  # bytes
    size: int = 0  # bytes of a record
    aligned: bool = False  # as in `numpy.dtype(align=True)`
    shape: tuple[int, ...] = ()  # of a field that is an array


class NumPyScalar(msgspec.Struct, frozen=True, tag="scalar"):
    """A NumPy number or record."""

    dtype: DType
    data: bytes


class ArrayLike(msgspec.Struct, frozen=True, tag="array"):
    """An array of which only the type matters."""

    dtype: DType
    ndim: int
    layout: Literal["C", "F", "A"]  # A: neither
    readonly: bool = False


class ArrayContent(msgspec.Struct, frozen=True, tag="array content"):
    """An array with its elements, for running a kernel (`tracer/calls`); the compiler uses an `ArrayLike`."""

    dtype: DType
    shape: tuple[int, ...]
    layout: Literal["C", "F"]
    data: bytes  # its elements in this layout


class DeviceArray(msgspec.Struct, frozen=True, tag="device array"):
    """An array on the device that a kernel finds by a name: kernels may write to it."""

    array: ArrayLike


class Sequence(msgspec.Struct, frozen=True, tag="tuple"):
    """A tuple; a named tuple if it has fields."""

    items: tuple[Value, ...]
    name: str = ""
    fields: tuple[str, ...] = ()


class TypeObject(msgspec.Struct, frozen=True, tag="type"):
    """A type that a kernel names: a type of numba ("float32", or a record), or a NumPy dtype."""

    origin: Literal["numba", "numpy dtype"]
    name: str = ""  # in numba's types
    dtype: DType | None = None  # of a record or of NumPy


class ArrayType(msgspec.Struct, frozen=True, tag="array type"):
    """An array type of a signature: float32[:, ::1]."""

    element: TypeObject
    ndim: int
    layout: Literal["C", "F", "A"]
    readonly: bool = False


class PointerType(msgspec.Struct, frozen=True, tag="pointer type"):
    """A pointer type of a signature: CPointer(float32)."""

    element: TypeObject


class Library(msgspec.Struct, frozen=True, tag="library"):
    """A library module, or an object in it: numpy, ("math", "sin")."""

    module: str
    name: str = ""


class UserModule(msgspec.Struct, frozen=True, tag="module"):
    """A user's module, with the names that are used."""

    name: str
    names: dict[str, Value]


class Enumeration(msgspec.Struct, frozen=True, tag="enum"):
    """A class of the standard library's `enum`, or its member `member`."""

    name: str
    is_integer: bool  # an IntEnum
    members: tuple[tuple[str, Value], ...]
    member: str = ""


class ErrorClass(msgspec.Struct, frozen=True, tag="error"):
    """A user's exception class."""

    name: str


class Opaque(msgspec.Struct, frozen=True, tag="opaque"):
    """An object that Numba has no type for: only the name of its class matters."""

    module: str
    name: str
    is_class: bool = False  # the class itself


class FunctionNumber(msgspec.Struct, frozen=True, tag="function"):
    """A reference to one of the question's functions."""

    number: int


class Missing(msgspec.Struct, frozen=True, tag="missing"):
    """A value that can't be described; a question that contains it is not asked."""

    reason: str


Value = (
    MarshalledValue
    | NumPyScalar
    | ArrayLike
    | ArrayContent
    | DeviceArray
    | PointerType
    | Sequence
    | TypeObject
    | ArrayType
    | Library
    | UserModule
    | Enumeration
    | ErrorClass
    | Opaque
    | FunctionNumber
    | Missing
)


class Function(msgspec.Struct, frozen=True):
    """A function as code that is compiled and never run."""

    role: Literal["kernel", "device", "plain"]  # plain: undecorated, so that Numba can't call it
    name: str
    code: bytes  # of `marshal`
    names: dict[str, Value]  # values of the globals and closure variables that it uses
    defaults: tuple[Value, ...] = ()  # of its last parameters
    options: dict[str, bool | str] = {}  # of its decorator: inline, fastmath
    # Declared types of the arguments, if any; a device function's result type comes first.
    signature: tuple[Value, ...] = ()


class Question(msgspec.Struct, frozen=True, tag="live"):
    """A question about a kernel, which is the first of these functions, and the types of its arguments."""

    functions: tuple[Function, ...]
    arguments: tuple[Value, ...]

    def key(self) -> str:
        """Return the key of this question (64 hexadecimal digits); equal questions have equal keys."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()

    def missing(self) -> str:
        """Explain why this question can't be answered, "" if it can."""
        values = [*self.arguments]
        for function in self.functions:
            values += [*function.names.values(), *function.defaults, *function.signature]
        return next(filter(None, map(missing_in, values)), "")


class SourceQuestion(msgspec.Struct, frozen=True, tag="source"):
    """A question about a kernel of which only the source text is known."""

    launch: Launch

    def key(self) -> str:
        """Return the key of this question (64 hexadecimal digits); equal questions have equal keys."""
        return self.launch.key()


def missing_in(value: Value) -> str:
    """Explain why a value can't be described, "" if it can."""
    inner: tuple[Value, ...] = ()
    if isinstance(value, Missing):
        return value.reason
    if isinstance(value, Sequence):
        inner = value.items
    elif isinstance(value, UserModule):
        inner = tuple(value.names.values())
    elif isinstance(value, Enumeration):
        inner = tuple(member for _, member in value.members)
    return next(filter(None, map(missing_in, inner)), "")


class Operation(msgspec.Struct, frozen=True, order=True):
    """An operation computed in float64."""

    file: str
    line: int  # from 1
    name: str  # "add", "sqrt"
    causes: tuple[tuple[str, int, str], ...]  # each cause, its line (0 for none), and its remedy
    loop: int = 0  # line of the loop to report, if no array holds floats; otherwise 0


class Refusal(msgspec.Struct, frozen=True):
    """The reason why Numba does not compile a kernel for a GPU."""

    file: str
    line: int  # from 1
    reason: str  # a sentence without its full stop
    remedy: str = ""  # "" if unknown
    error: str = ""  # class of Numba's error, "" for other errors


class Answer(msgspec.Struct, frozen=True):
    """The compiler's answer about a kernel."""

    operations: tuple[Operation, ...] = ()  # float64 operations, if the kernel compiles
    refusal: Refusal | None = None  # None if the kernel compiles, or if that is unknown
    program: Program | None = None  # the typed IR, if the kernel compiles
    unknown: str = ""  # why there is neither a refusal nor a program


NOTHING = Answer()


# Created at import: threads that use a type for the first time simultaneously can crash msgspec.
ANSWER = msgspec.json.Decoder(Answer)
