"""Values that compiled kernels read from the table of state: the thread's position in the grid, scalar arguments."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.extending import intrinsic

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..memory_words import I64, element_pointer, load_word
from ..state import Word


def state_reader(index: Word) -> Any:
    """Make an intrinsic that reads a word of the table of state."""

    def typer(typing: TypingContext, state: types.Type) -> Intrinsic:
        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            return load_word(builder, args[0], index)

        return types.int64(types.int64), generate

    return intrinsic(typer)


def scalar_reader(kind: Any, index: int) -> Any:
    """Make an intrinsic that reads a scalar argument: its bits are in the table of arguments."""

    def typer(typing: TypingContext, state: types.Type) -> Intrinsic:
        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            table = builder.add(load_word(builder, args[0], Word.ARGUMENTS), I64(8 * index))
            data = builder.load(element_pointer(builder, table, context.get_data_type(kind)))
            return context.data_model_manager[kind].from_data(builder, data)

        return kind(types.int64), generate

    return intrinsic(typer)
