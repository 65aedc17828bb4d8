"""The address of the next row, in the table of state and, where a function calls no other, in a register too.

Through memory alone each access would wait until the one before it has stored where its row ends.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.extending import intrinsic

from .state import Word
from .words import load_word, store_word

_PLACE = "tilescope_next_row"  # attribute of an LLVM function: the variable that it keeps the address in


def _keep_row(typing: Any, state: Any) -> Any:
    """Have the function that begins with this keep the address in a register.

    Nothing that it calls writes rows, or `read_next_row_again` follows.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = load_word(builder, args[0], Word.ROW)
        setattr(builder.function, _PLACE, cgutils.alloca_once_value(builder, address))
        return context.get_dummy_value()

    return types.none(types.int64), generate


keep_row = intrinsic(_keep_row)


def next_row(builder: Any, state: Any) -> Any:
    """Return the address of the next row."""
    place = getattr(builder.function, _PLACE, None)
    return load_word(builder, state, Word.ROW) if place is None else builder.load(place)


def set_next_row(builder: Any, state: Any, address: Any) -> None:
    """Go on to the next row."""
    store_word(builder, address, state, Word.ROW)
    place = getattr(builder.function, _PLACE, None)
    if place is not None:
        builder.store(address, place)


def read_next_row_again(builder: Any, state: Any) -> None:
    """Take note of where the next row is, after others may have written rows."""
    place = getattr(builder.function, _PLACE, None)
    if place is not None:
        builder.store(load_word(builder, state, Word.ROW), place)
