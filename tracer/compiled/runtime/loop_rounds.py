"""The number of the current rounds of loops, as rewritten kernels set it, and as rows record it."""

from __future__ import annotations

from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..memory_words import I64, element_pointer, load_word, store_word
from ..state import ROUND_AT, VALUE_AT, Word

_RECORDS_ROUNDS = "tilescope_records_rounds"  # attribute of an LLVM function


def _keep(typing: TypingContext, state: types.Type) -> Intrinsic:
    """Let the accesses of the function that begins with this call record the number."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        record_rounds(builder)
        return context.get_dummy_value()

    return types.none(types.int64), generate


def record_rounds(builder: Builder) -> None:
    """Let the accesses of the current function that follow record the number."""
    setattr(builder.function, _RECORDS_ROUNDS, True)


def write_round(builder: Builder, state: Value, row: Value, itemsize: int) -> None:
    """Write the number to a row whose value has so many bytes, in functions that record it."""
    if not getattr(builder.function, _RECORDS_ROUNDS, False):
        return
    if itemsize > ROUND_AT - VALUE_AT:
        store_word(builder, I64(1), state, Word.ROUNDS_LOST)
    else:
        position = element_pointer(builder, row, I64, I64(ROUND_AT // 8))
        builder.store(load_word(builder, state, Word.ROUND), position)


def _set(
    typing: TypingContext,
    state: types.Type,
    outer: types.Type,
    number: types.Type,
    shift: types.Type,
    bits: types.Type,
) -> Intrinsic:
    """Set the number to an outer one with a number in a field, and return it."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        b, state, outer, number, shift, bits = builder, *args
        with cgutils.if_unlikely(b, b.icmp_signed("!=", b.ashr(number, bits), I64(0))):
            store_word(b, I64(1), state, Word.ROUNDS_LOST)
        changed = b.add(outer, b.shl(number, shift))
        store_word(b, changed, state, Word.ROUND)
        return changed

    return types.int64(*[types.int64] * 5), generate


keep_rounds, set_round = intrinsic(_keep), intrinsic(_set)
