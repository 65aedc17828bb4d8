"""The address of the next row: in the table of state, and in a register if the function calls no other function.

If it were only in memory, each access would wait for the store of the access before it.
"""

from __future__ import annotations

from numba.core import cgutils, types
from numba.core.extending import intrinsic

from .codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from .memory_words import load_word, store_word
from .state import Word

_ROW_VARIABLE = "tilescope_next_row"  # attribute of an LLVM function: the variable that holds the address


def _keep_row(typing: TypingContext, state: types.Type) -> Intrinsic:
    """Keep the address in a register in the function that begins with this call.

    The function calls nothing that writes rows, or `reload_next_row` follows the call.
    """

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        address = load_word(builder, args[0], Word.ROW)
        setattr(builder.function, _ROW_VARIABLE, cgutils.alloca_once_value(builder, address))
        return context.get_dummy_value()

    return types.none(types.int64), generate


keep_row_in_register = intrinsic(_keep_row)


def next_row(builder: Builder, state: Value) -> Value:
    """Return the address of the next row."""
    variable = getattr(builder.function, _ROW_VARIABLE, None)
    return load_word(builder, state, Word.ROW) if variable is None else builder.load(variable)


def set_next_row(builder: Builder, state: Value, address: Value) -> None:
    """Store the address of the next row."""
    store_word(builder, address, state, Word.ROW)
    variable = getattr(builder.function, _ROW_VARIABLE, None)
    if variable is not None:
        builder.store(address, variable)


def reload_next_row(builder: Builder, state: Value) -> None:
    """Read the address of the next row again, after a call that may have written rows."""
    variable = getattr(builder.function, _ROW_VARIABLE, None)
    if variable is not None:
        builder.store(load_word(builder, state, Word.ROW), variable)
