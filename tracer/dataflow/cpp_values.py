"""Values, places and operations of a replayed thread in CUDA C++: pointers, arrays in registers, structures, calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from ..model.trace import COMPARED, VOTED_NO
from .carried import AccessPosition
from .cpp_tokens import Token
from .replay_program import (
    Expression,
    Names,
    fail,
    truth,
)
from .replay_state import EXCHANGE, Pair, ReplayState
from .replay_values import (
    BINARY,
    COMPARISONS,
    UNKNOWN,
    ArrayValue,
    NumberType,
    computed,
    wrapped,
)

INTEGERS = {
    "char": 8, "short": 16, "int": 32, "long": 64, "size_t": -64, "ptrdiff_t": 64, "uint": -32, "uchar": -8,
    "ushort": -16, "ulong": -64, "ssize_t": 64, "clock_t": 64,
}  # fmt: skip
INTEGERS |= {f"int{bits}_t": bits for bits in (8, 16, 32, 64)} | {
    f"uint{bits}_t": -bits for bits in (8, 16, 32, 64)
}
FLOATS = {"float": 32, "double": 64, "half": 16, "__half": 16}
NUMBER_WORDS = frozenset((*INTEGERS, *FLOATS, "unsigned", "signed", "bool", "void", "auto"))
OPERATORS: dict[str, Callable[..., object]] = {
    "|": BINARY["BitOr"], "^": BINARY["BitXor"], "&": BINARY["BitAnd"], "<<": BINARY["LShift"], ">>": BINARY["RShift"],
    "+": BINARY["Add"], "-": BINARY["Sub"], "*": BINARY["Mult"],
    "==": COMPARISONS["Eq"], "!=": COMPARISONS["NotEq"], "<": COMPARISONS["Lt"], ">": COMPARISONS["Gt"],
    "<=": COMPARISONS["LtE"], ">=": COMPARISONS["GtE"],
}  # fmt: skip


def divided(left: float, right: float) -> float:
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return float(BINARY["Div"](left, right))  # type: ignore[arg-type]


def remainder(left: int, right: int) -> int:
    return left - right * int(divided(left, right))


OPERATORS |= {"/": divided, "%": remainder}


class Pointer(Struct, frozen=True):
    """A pointer into an array, or an array."""

    name: str  # of the array, "" if it is not known
    dimensions: int = 1  # that are left to index
    node: int = 0  # of the indices so far
    cells: dict[tuple[object, ...], Pair] | None = None  # of an array in registers
    key: tuple[object, ...] = ()  # indices so far into such an array
    is_field: bool = False


class Place(Struct, frozen=True):
    """Where a value lies: in memory, in an array in registers, or in a variable."""

    pointer: Pointer | None = None
    names: Names | None = None
    slot: str = ""
    field: str = ""
    kind: NumberType | None = None

    def load(self, state: ReplayState, position: AccessPosition) -> Pair:
        """Return the value; of memory by the next recorded access."""
        if self.pointer is not None and self.pointer.cells is None:
            return state.load(position, self.pointer.node, self.pointer.name)
        value, node = self._kept()
        if not self.field:
            return value, node
        if isinstance(value, dict):
            kept: Pair = value.get(self.field, (UNKNOWN, 0))
            return kept
        return UNKNOWN, node

    def _kept(self) -> Pair:
        if self.pointer is not None:
            assert self.pointer.cells is not None
            return self.pointer.cells.get(self.pointer.key, (UNKNOWN, 0))
        assert self.names is not None
        return self.names.get(self.slot, (UNKNOWN, 0))

    def store(self, state: ReplayState, position: AccessPosition, pair: Pair) -> None:
        """Set the value; in memory by the next recorded access."""
        if self.pointer is not None and self.pointer.cells is None:
            state.store(position, pair[1], self.pointer.node)
            return
        if self.field:
            old, node = self._kept()
            cells = dict(old) if isinstance(old, dict) else dict.fromkeys("xyzw", (UNKNOWN, node))
            cells[self.field] = pair
            node = 0
            for _, part in cells.values():
                node = state.flow.join(node, part)
            pair = cells, node
        elif self.kind is not None:
            pair = self.kind.convert(pair[0]), pair[1]
        if self.pointer is None:
            assert self.names is not None
            self.names[self.slot] = pair
            return
        if UNKNOWN in self.pointer.key:
            fail(f"line {position[0]} indexes an array in registers by a value that is not known")
        assert self.pointer.cells is not None
        self.pointer.cells[self.pointer.key] = pair


Finder = Callable[[ReplayState, Names], "Place | Pointer"]


class CppExpression(Struct, frozen=True):
    """An expression: its value, and the place if it has one."""

    value: Expression
    place: Finder | None
    access: AccessPosition  # of a load


def constant_expression(value: object, access: AccessPosition) -> CppExpression:
    pair = (value, 0)
    return CppExpression(lambda state, names: pair, None, access)


def loaded_expression(place: Finder, access: AccessPosition) -> CppExpression:
    """Return an expression that loads from a place; an array becomes a pointer."""

    def value(state: ReplayState, names: Names) -> Pair:
        target = place(state, names)
        return (target, target.node) if isinstance(target, Pointer) else target.load(state, access)

    return CppExpression(value, place, access)


def number_type_of(words: Sequence[str]) -> NumberType | None:
    """Return the type of a number with these words, None for others."""
    if not words or any(word not in NUMBER_WORDS for word in words) or words[0] in ("void", "auto"):
        return None
    if "bool" in words:
        return NumberType("b", 8)
    for word in words:
        if word in FLOATS:
            return NumberType("f", FLOATS[word])
    bits = next((INTEGERS[w] for w in ("char", "short", "long", *words) if w in words and w in INTEGERS), 32)
    return NumberType("u" if bits < 0 or "unsigned" in words else "i", abs(bits))


def number_of(text: str) -> object:
    plain = text.replace("'", "").lower()
    try:
        if plain.startswith(("0x", "0b")):
            return int(plain.rstrip("ul"), 0)
        if any(letter in plain for letter in ".ef"):
            value = float(plain.rstrip("fl"))
            return NumberType("f", 32).convert(value) if plain.endswith("f") else value
        return int(plain.rstrip("ul"), 8 if plain.startswith("0") and plain.rstrip("ul") != "0" else 10)
    except ValueError:
        return UNKNOWN


def joined(state: ReplayState, pairs: Sequence[Pair]) -> int:
    joined = 0
    for _, node in pairs:
        joined = state.flow.join(joined, node)
    return joined


def combined(state: ReplayState, function: Callable[..., object], left: Pair, right: Pair) -> Pair:
    """Apply an operator; the sum of a pointer and a number is a pointer."""
    node = state.flow.join(left[1], right[1])
    for pointer, other in ((left, right), (right, left)):
        if isinstance(pointer[0], Pointer | ArrayValue):
            own = pointer[0] if isinstance(pointer[0], Pointer) else Pointer(pointer[0].name)
            return moved(own, (other[0], node)), node
    return computed(function, left[0], right[0]), node


def moved(pointer: Pointer, by: Pair) -> Pointer:
    key = pointer.key
    if pointer.cells is not None and key:
        key = (*key[:-1], computed(OPERATORS["+"], key[-1], by[0]))
    elif pointer.cells is not None and by[0] != 0:
        key = (UNKNOWN,)
    return Pointer(
        pointer.name, pointer.dimensions, by[1] or pointer.node, pointer.cells, key, pointer.is_field
    )


def operation(operator: Token, left: CppExpression, right: CppExpression) -> CppExpression:
    word, line = operator.text, operator.line
    if word in ("&&", "||"):

        def run_both(state: ReplayState, names: Names) -> Pair:
            value, node = left.value(state, names)
            is_true = truth(value, line)
            if is_true == (word == "||"):
                return is_true, node
            value, other = right.value(state, names)
            return (UNKNOWN if value is UNKNOWN else bool(value)), state.flow.join(node, other)

        return CppExpression(run_both, None, left.access)
    function = OPERATORS[word]

    def run(state: ReplayState, names: Names) -> Pair:
        first = left.value(state, names)
        return combined(state, function, first, right.value(state, names))

    return CppExpression(run, None, left.access)


def element(base: Pair, index: Pair, state: ReplayState | None = None) -> Place | Pointer:
    """Return the place of an element of an array, or a row of one with several dimensions."""
    pointer = base[0] if isinstance(base[0], Pointer) else Pointer("", node=base[1])
    if isinstance(base[0], ArrayValue):
        pointer = Pointer(base[0].name, node=base[1])
    node = pointer.node
    if index[1]:
        node = state.flow.join(node, index[1]) if state else index[1]
    key = pointer.key
    if pointer.cells is not None:
        own = key[len(key) - 1] if key and pointer.dimensions == 0 else None
        key = (*key, index[0]) if own is None else (*key[:-1], computed(OPERATORS["+"], own, index[0]))
    left = pointer.dimensions - 1
    moved = Pointer(pointer.name, max(left, 0), node, pointer.cells, key)
    return moved if left > 0 else Place(moved)


def subscript(base: CppExpression, index: CppExpression) -> CppExpression:
    def find(state: ReplayState, names: Names) -> Place | Pointer:
        array = base.value(state, names)
        return element(array, index.value(state, names), state)

    return loaded_expression(find, base.access)


def address(place: Place | Pointer) -> Pair:
    if isinstance(place, Pointer):
        return place, place.node
    if place.pointer is not None:
        return Pointer(
            place.pointer.name, 1, place.pointer.node, place.pointer.cells, place.pointer.key
        ), place.pointer.node
    return UNKNOWN, 0


def field_expression(base: CppExpression, name: Token, *, is_arrow: bool) -> CppExpression:
    access = (name.line, name.column)
    if is_arrow:
        return loaded_expression(lambda state, names: element(base.value(state, names), (0, 0)), access)
    if base.place is None:

        def member(state: ReplayState, names: Names) -> Pair:
            value, node = base.value(state, names)
            kept: Pair = value.get(name.text, (UNKNOWN, 0)) if isinstance(value, dict) else (UNKNOWN, node)
            return kept

        return CppExpression(member, None, access)
    find_base = base.place

    def find(state: ReplayState, names: Names) -> Place | Pointer:
        place = find_base(state, names)
        if isinstance(place, Pointer):
            return place
        return Place(place.pointer, place.names, place.slot, name.text)

    return loaded_expression(find, access)


def increment(target: CppExpression, by: int, access: AccessPosition, *, returns_old: bool) -> CppExpression:
    if target.place is None:
        fail(f"line {access[0]} counts an unusual target")
    find = target.place

    def run(state: ReplayState, names: Names) -> Pair:
        place = find(state, names)
        if isinstance(place, Pointer):
            fail(f"line {access[0]} counts an unusual target")
        old = place.load(state, access)
        new = combined(state, OPERATORS["+"], old, (by, 0))
        place.store(state, access, new)
        return old if returns_old else new

    return CppExpression(run, None, target.access)


def cast_expression(operand: CppExpression, kind: NumberType | None, *, is_pointer: bool) -> CppExpression:
    def run(state: ReplayState, names: Names) -> Pair:
        value, node = operand.value(state, names)
        if isinstance(value, Pointer | ArrayValue):
            if isinstance(value, ArrayValue):
                value = Pointer(value.name)
            return Pointer("", 1, node or value.node, value.cells, value.key), node
        return (value if kind is None or is_pointer else kind.convert(value)), node

    return CppExpression(run, None, operand.access)


def unknown_call(values: Sequence[Expression], access: AccessPosition) -> CppExpression:
    def run(state: ReplayState, names: Names) -> Pair:
        return UNKNOWN, joined(state, [value(state, names) for value in values])

    return CppExpression(run, None, access)


def new_array(state: ReplayState, names: Names, dimensions: int, parts: Sequence[Expression]) -> Pair:
    cells: dict[tuple[object, ...], Pair] = {}
    for number, part in enumerate(parts):
        cells[(number,)] = part(state, names)
    return Pointer("", dimensions, 0, cells), 0


def pack(state: ReplayState, parts: Sequence[Pair]) -> Pair:
    return dict(zip("xyzw", parts, strict=False)), joined(state, parts)


def atomic(
    state: ReplayState, names: Names, name: str, access: AccessPosition, values: Sequence[Expression]
) -> Pair:
    given = [value(state, names) for value in values]
    address = given[0][0] if given else UNKNOWN
    index = address.node if isinstance(address, Pointer) else 0
    return state.atomic(access, joined(state, given[1:]), index, keeps_old="Exch" not in name)


def exchange(
    state: ReplayState, names: Names, name: str, access: AccessPosition, values: Sequence[Expression]
) -> Pair:
    """Replay a shuffle, a vote or a match."""
    given = [value(state, names) for value in values]
    node = given[1][1] if len(given) > 1 else 0
    arrival, part, yes, no = state.exchanged(access, node)
    leaf = state.flow.leaf(EXCHANGE, arrival)
    if part < VOTED_NO or part == COMPARED:
        return UNKNOWN, leaf
    votes = {"ballot": wrapped(yes, 32, signed=False), "all": not no, "any": bool(yes)}
    return next((votes[word] for word in votes if word in name), UNKNOWN), leaf
