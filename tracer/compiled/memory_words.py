"""Load and store 64-bit words in compiled code: in the table of state, and at any address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from .codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from .state import Number

I64, I32 = ir.IntType(64), ir.IntType(32)


def word_pointer(builder: Builder, state: Value, index: int) -> Value:
    """Return a pointer to a word of the table of state."""
    return builder.gep(builder.inttoptr(state, I64.as_pointer()), [I64(index)])


def load_word(builder: Builder, state: Value, index: int) -> Value:
    """Load a word of the table of state."""
    return builder.load(word_pointer(builder, state, index))


def store_word(builder: Builder, value: Value, state: Value, index: int) -> None:
    """Store a word of the table of state."""
    builder.store(value, word_pointer(builder, state, index))


def element_pointer(builder: Builder, address: Value, element: Any, index: Value = None) -> Value:
    """Return a pointer to the index-th element at an address."""
    pointer = builder.inttoptr(address, element.as_pointer())
    return pointer if index is None else builder.gep(pointer, [index])


def _peek(typing: TypingContext, address: types.Type, index: types.Type) -> Intrinsic:
    """Load the word at an index of the table at an address."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        position = context.cast(builder, args[1], index, types.int64)
        return builder.load(element_pointer(builder, args[0], I64, position))

    return types.int64(types.int64, index), generate


def _poke(typing: TypingContext, address: types.Type, index: types.Type, value: types.Type) -> Intrinsic:
    """Store a word to an index of the table at an address."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        position = context.cast(builder, args[1], index, types.int64)
        builder.store(
            context.cast(builder, args[2], value, types.int64),
            element_pointer(builder, args[0], I64, position),
        )
        return context.get_dummy_value()

    return types.none(types.int64, index, value), generate


def _prefetch(typing: TypingContext, address: types.Type) -> Intrinsic:
    """Ask the processor to load the cache line of an address in the background."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        byte, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
        builder.call(function, [builder.inttoptr(args[0], byte), i32(1), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.none(types.int64), generate


def _lowest(typing: TypingContext, bits: types.Type) -> Intrinsic:
    """Find the index of the lowest set bit; one must be set."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


def _narrow(bits: int) -> tuple[Any, Any]:
    """Make intrinsics that load and store an unsigned integer of a width at an address."""
    element = ir.IntType(bits)

    def load(typing: TypingContext, address: types.Type) -> Intrinsic:
        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            return builder.zext(builder.load(element_pointer(builder, args[0], element)), I64)

        return types.int64(types.int64), generate

    def store(typing: TypingContext, address: types.Type, value: types.Type) -> Intrinsic:
        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            number = context.cast(builder, args[1], value, types.int64)
            builder.store(builder.trunc(number, element), element_pointer(builder, args[0], element))
            return context.get_dummy_value()

        return types.none(types.int64, value), generate

    return load, store


def _pointer(typing: TypingContext, address: types.Type) -> Intrinsic:
    """Convert an address to a pointer."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), generate


# As Python code sees them: addresses and words are integers.
peek: Callable[[int, Number], int]
poke: Callable[[int, Number, Number], None]
prefetch: Callable[[int], None]
lowest_bit: Callable[[int], int]
pointer: Callable[[int], object]
peek8: Callable[[int], int]
peek16: Callable[[int], int]
peek32: Callable[[int], int]
poke8: Callable[[int, Number], None]
poke16: Callable[[int, Number], None]
poke32: Callable[[int, Number], None]
peek, poke, prefetch, lowest_bit, pointer = (
    intrinsic(typer) for typer in (_peek, _poke, _prefetch, _lowest, _pointer)
)
(peek8, poke8), (peek16, poke16), (peek32, poke32) = (map(intrinsic, _narrow(bits)) for bits in (8, 16, 32))
