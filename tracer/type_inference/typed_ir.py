"""A kernel's typed IR as plain data: the types that Numba inferred for each variable, operator and call."""

from __future__ import annotations

import msgspec

Position = tuple[int, int, int, int]  # line from 1, column from 0 (-1: unknown), last line, last column


class Type(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A type of Numba.

    kind: a number type ("int32", "bool", "complex64"), "none", or one of the words in `typed_program.py`. text:
    distinguishes types of the same kind. parts: the items of a tuple, or the content of an array, a pointer or an
    optional value.
    """

    kind: str
    text: str = ""
    parts: tuple[Type, ...] = ()


class Literal(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A constant: the name of its Python type and its text, exact for floats; or the parts of a tuple."""

    kind: str
    text: str = ""
    parts: tuple[Literal, ...] = ()


class Statement(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A statement: an operation with the variable for its result, a store to memory, or a jump.

    operands: names of variables. name: an operator, an attribute, a global or a parameter. number: the index of an
    argument, of a called function of the program (-1: none), or of the function that a global name belongs to.

    types: the types the operation converts its operands to, and its result type, as indices into the program's types
    (-1: no conversion). keywords: names of the last operands of a call. labels: target blocks of a jump.
    """

    op: str
    target: str = ""
    operands: tuple[str, ...] = ()
    name: str = ""
    position: Position = (0, -1, 0, -1)
    types: tuple[int, ...] = ()
    number: int = -1
    value: Literal | None = None
    keywords: tuple[str, ...] = ()
    labels: tuple[int, ...] = ()


class Block(msgspec.Struct, frozen=True, array_like=True):
    """Statements that run one after the other; the last one is a jump, a return or a raise."""

    label: int
    statements: tuple[Statement, ...]


class FunctionIR(msgspec.Struct, frozen=True, array_like=True):
    """A function, compiled for the types of its arguments.

    number: of the question's function, -1 for a library function. variables: the type index of each variable.
    """

    number: int
    name: str
    file: str
    variables: dict[str, int]
    blocks: tuple[Block, ...]


class Program(msgspec.Struct, frozen=True, array_like=True):
    """The typed IR of a kernel, which is the first function, and of the functions that it calls.

    arguments: the types of the kernel's arguments, as indices into `types`.
    """

    types: tuple[Type, ...]
    functions: tuple[FunctionIR, ...]
    arguments: tuple[int, ...]
