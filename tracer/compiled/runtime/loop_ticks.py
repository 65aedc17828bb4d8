"""Calls of the driver from loops and recursion: the only way to end a loop without accesses, or to save a stack."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..memory_words import I64, element_pointer, load_word, store_word, word_pointer
from ..scheduler.switching import call_driver
from ..state import DriverCall, ThreadSlot, Word

ROOM_LEFT = 1 << 14  # bytes of stack for a function that no longer recurses
PERIOD = 1 << 20  # rounds of loops between two calls of the driver: a few milliseconds


def _tick(typing: TypingContext, state: types.Type, loop: types.Type, rounds: types.Type) -> Intrinsic:
    """Count a round of a loop and the rounds of its inner loops; call the driver, which may stop it, once in PERIOD.

    loop: its number, stored for the driver.
    """

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        b, state = builder, args[0]
        remaining = b.sub(load_word(b, state, Word.TICKS), args[2])
        store_word(b, remaining, state, Word.TICKS)
        store_word(b, args[1], state, Word.LOOP)
        with cgutils.if_unlikely(b, b.icmp_signed("<", remaining, I64(0))):
            store_word(b, I64(PERIOD), state, Word.TICKS)
            call_driver(context, b, state, I64(DriverCall.TICK))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), generate


def _go_deeper(typing: TypingContext, state: types.Type, name: types.Type) -> Intrinsic:
    """Begin a recursive function; if its stack is almost full, the driver ends the launch.

    name: of the function, a literal.
    """
    if not isinstance(name, types.StringLiteral):
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        b, state = builder, args[0]
        stack_position = b.ptrtoint(cgutils.alloca_once(b, ir.IntType(8)), I64)
        end = b.load(element_pointer(b, load_word(b, state, Word.THREAD_SLOT), I64, I64(ThreadSlot.STACK)))
        remaining = b.sub(stack_position, b.sub(end, load_word(b, state, Word.STACK_BYTES)))
        with cgutils.if_unlikely(b, b.icmp_signed("<", remaining, I64(ROOM_LEFT))):
            function_name = context.insert_const_string(b.module, name.literal_value)
            b.store(b.ptrtoint(function_name, I64), word_pointer(b, state, Word.MESSAGE))
            call_driver(context, b, state, I64(DriverCall.TOO_DEEP))
        return context.get_dummy_value()

    return types.none(types.int64, name), generate


def _plain(typing: TypingContext, value: types.Type) -> Intrinsic:
    """Return a value without its literal type, so that a recursive function is compiled only once."""
    kind = types.unliteral(value)

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        return context.cast(builder, args[0], value, kind)

    return kind(value), generate


tick, go_deeper, without_literal_type = intrinsic(_tick), intrinsic(_go_deeper), intrinsic(_plain)
