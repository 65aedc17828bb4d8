"""A kernel's typed IR as plain data: what Numba's inference decided about each variable, operator and call."""

from __future__ import annotations

import msgspec

Position = tuple[int, int, int, int]  # line from 1, column from 0 (-1: not known), last line, last column


class Type(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A type of Numba's.

    kind: a kind of numbers ("int32", "bool", "complex64"), "none", or one of the words in `typed_program.py`. text:
    what else tells types of this kind apart. parts: of a tuple its items, of an array, a pointer or an optional value
    what they hold.
    """

    kind: str
    text: str = ""
    parts: tuple[Type, ...] = ()


class Literal(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A constant: the name of its Python type and its text, which for floats is exact; the parts of a tuple."""

    kind: str
    text: str = ""
    parts: tuple[Literal, ...] = ()


class Statement(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A statement: an operation with the variable that gets its result, an assignment to memory, or a jump.

    operands: names of variables. name: of an operator, an attribute, a global or a parameter. number: the index of
    an argument, of a called function of the program (-1: none) or of the function a global name belongs to. types: of
    the operands, as the operation takes them, and of its result, as indices into the program's types (-1: as they are).
    keywords: names of the last operands of a call. labels: of the blocks that a jump leads to.
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
    """A function for the types of its arguments.

    number: of the question's function, -1 for one of a library. variables: the index of the type of each.
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
