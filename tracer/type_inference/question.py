"""A kernel as plain data, to be asked about: the code of its functions, and what the names in these stand for.

Everything is a number, a text, a name in a table of ours, or made of these; what a function does is never part of it
but as code that is compiled and not run.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from ..model.launch import Launch
from .typed_ir import Program


class Plain(msgspec.Struct, frozen=True, tag="plain"):
    """A number, a text, None, or a list, tuple, set or dict of such, as `marshal` writes them."""

    data: bytes


class DType(msgspec.Struct, frozen=True, omit_defaults=True):
    """A NumPy dtype: text for a simple one; for a record its names, formats and offsets."""

    text: str = ""  # "<f4"
    names: tuple[str, ...] = ()  # of the fields of a record
    formats: tuple[DType, ...] = ()  # of these
    offsets: tuple[int, ...] = ()  # bytes
    size: int = 0  # bytes of a record
    aligned: bool = False  # as in `numpy.dtype(align=True)`
    shape: tuple[int, ...] = ()  # of a field that is an array


class NumPyScalar(msgspec.Struct, frozen=True, tag="scalar"):
    """A number of NumPy's, or a record."""

    dtype: DType
    data: bytes


class ArrayLike(msgspec.Struct, frozen=True, tag="array"):
    """An array of which only the type counts."""

    dtype: DType
    ndim: int
    layout: Literal["C", "F", "A"]  # A: neither
    readonly: bool = False


class ArrayContent(msgspec.Struct, frozen=True, tag="array content"):
    """An array with its elements, for who runs a kernel (`tracer/calls`): to the compiler it is an `ArrayLike`."""

    dtype: DType
    shape: tuple[int, ...]
    layout: Literal["C", "F"]
    data: bytes  # of its elements, in this layout


class Sequence(msgspec.Struct, frozen=True, tag="tuple"):
    """A tuple; with fields, a named one."""

    items: tuple[Value, ...]
    name: str = ""
    fields: tuple[str, ...] = ()


class TypeObject(msgspec.Struct, frozen=True, tag="type"):
    """A type that a kernel names: of numba ("float32", or of a record), or a dtype of NumPy."""

    origin: Literal["numba", "numpy dtype"]
    name: str = ""  # in numba's types
    dtype: DType | None = None  # of a record or of NumPy's


class ArrayType(msgspec.Struct, frozen=True, tag="array type"):
    """The type of arrays, as signatures have it: float32[:, ::1]."""

    element: TypeObject
    ndim: int
    layout: Literal["C", "F", "A"]
    readonly: bool = False


class Library(msgspec.Struct, frozen=True, tag="library"):
    """A module of a library, or what it calls so: numpy, ("math", "sin")."""

    module: str
    name: str = ""


class UserModule(msgspec.Struct, frozen=True, tag="module"):
    """A module of the user's, of which these are used."""

    name: str
    names: dict[str, Value]


class Enumeration(msgspec.Struct, frozen=True, tag="enum"):
    """A class of the standard library's `enum`, or with `member` that of it."""

    name: str
    whole: bool  # an IntEnum
    members: tuple[tuple[str, Value], ...]
    member: str = ""


class ErrorClass(msgspec.Struct, frozen=True, tag="error"):
    """An exception class of the user's."""

    name: str


class Opaque(msgspec.Struct, frozen=True, tag="opaque"):
    """Something that Numba has no type for: only the name of its class counts."""

    module: str
    name: str
    is_class: bool = False  # the class itself


class FunctionNumber(msgspec.Struct, frozen=True, tag="function"):
    """One of the question's functions."""

    number: int


class Missing(msgspec.Struct, frozen=True, tag="missing"):
    """Something that can't be described: where it is used, nothing is asked."""

    why: str


Value = (
    Plain
    | NumPyScalar
    | ArrayLike
    | ArrayContent
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
    """A function as code, which is compiled and never run."""

    role: Literal["kernel", "device", "plain"]  # plain: without a decorator, so that Numba can't call it
    name: str
    code: bytes  # as `marshal` writes it
    names: dict[str, Value]  # what its globals and the variables around it hold, as far as it uses them
    defaults: tuple[Value, ...] = ()  # of its last parameters
    options: dict[str, bool | str] = {}  # of its decorator: inline, fastmath
    signature: tuple[
        Value, ...
    ] = ()  # types of its arguments where the decorator says them; of a device function's
    # result first


class Question(msgspec.Struct, frozen=True, tag="live"):
    """A kernel, the first of these functions, and the arguments that it was launched with, of which types count."""

    functions: tuple[Function, ...]
    arguments: tuple[Value, ...]

    def key(self) -> str:
        """Return a name for this question: equal ones have equal keys (64 hexadecimal digits)."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()

    def missing(self) -> str:
        """Return why this question can't be answered, "" where it can."""
        values = [*self.arguments]
        for function in self.functions:
            values += [*function.names.values(), *function.defaults, *function.signature]
        return next(filter(None, map(missing_in, values)), "")


class SourceQuestion(msgspec.Struct, frozen=True, tag="source"):
    """A kernel that only the source text of a launch says anything of."""

    launch: Launch

    def key(self) -> str:
        """Return a name for this question: equal ones have equal keys (64 hexadecimal digits)."""
        return self.launch.key()


def missing_in(value: Value) -> str:
    """Return why a value can't be had, "" where it can."""
    inner: tuple[Value, ...] = ()
    if isinstance(value, Missing):
        return value.why
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
    causes: tuple[tuple[str, int, str], ...]  # what made it so, on which line (0 for none), and what helps
    loop: int = 0  # the line of the loop that it is told of, where no array holds floats; else 0


class Refusal(msgspec.Struct, frozen=True):
    """Why Numba does not compile a kernel for a GPU."""

    file: str
    line: int  # from 1
    reason: str  # a sentence without its full stop
    remedy: str = ""  # what helps, "" where that is not known
    error: str = ""  # the class of Numba's error, "" for an error of another kind


class Answer(msgspec.Struct, frozen=True):
    """What Numba's compiler makes of a kernel."""

    operations: tuple[Operation, ...] = ()  # that are float64, where the kernel compiles
    refusal: Refusal | None = None  # None where it compiles, or where it is not known
    program: Program | None = None  # the typed IR, where the kernel compiles
    unknown: str = ""  # why there is neither a refusal nor a program


NOTHING = Answer()


# Made when it is imported: threads that are the first to use a type at once can crash msgspec.
ANSWER = msgspec.json.Decoder(Answer)
