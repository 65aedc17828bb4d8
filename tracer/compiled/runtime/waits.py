"""Waits of threads: barriers, warp operations and fences, with the values that a thread brings and takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.datamodel import models
from numba.core.extending import intrinsic, register_model

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..memory_words import I64, element_pointer, load_word, word_pointer
from ..scheduler.switching import stop
from ..state import StopReason, ThreadSlot, Word

_OUT, _MASK, _EXTRA = ThreadSlot.OUT, ThreadSlot.MASK, ThreadSlot.EXTRA


class GridGroup(types.Type):  # type: ignore[misc]  # Numba is untyped to mypy
    """The group of all threads of the grid."""

    def __init__(self) -> None:
        super().__init__(name="GridGroup")


register_model(GridGroup)(models.OpaqueModel)
_GRID = GridGroup()


def _this_grid(typing: TypingContext) -> Intrinsic:
    """Return the group of all threads of the grid."""
    return _GRID(), lambda context, builder, signature, args: context.get_dummy_value()


def _wait_group(typing: TypingContext, state: types.Type, group: types.Type, site: types.Type) -> Intrinsic:
    """Stop a thread until all threads of its group have come."""
    if group != _GRID:
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        builder.store(args[2], word_pointer(builder, args[0], Word.SITE))
        stop(builder, args[0], I64(StopReason.GRID))
        return context.get_dummy_value()

    return types.none(types.int64, _GRID, types.int64), generate


def _thread_word(builder: Builder, state: Value, index: ThreadSlot, kind: Any) -> Value:
    """Return a pointer to one of the current thread's words."""
    return element_pointer(
        builder, builder.add(load_word(builder, state, Word.THREAD_SLOT), I64(8 * index)), kind
    )


def _write_value(
    context: BaseContext, builder: Builder, state: Value, index: ThreadSlot, kind: Any, value: Value
) -> None:
    """Write a value of up to 8 bytes to one of the current thread's words; lanes and distances as signed integers."""
    if index != _OUT:
        value, kind = context.cast(builder, value, kind, types.int64), types.int64
    data = context.data_model_manager[kind].as_data(builder, value)
    builder.store(I64(0), _thread_word(builder, state, index, I64))
    builder.store(data, _thread_word(builder, state, index, data.type))


def _fits_word(kind: Any) -> bool:
    return isinstance(kind, types.Number | types.Boolean) and kind != types.complex128


def wait(
    reason: StopReason, *, brings: tuple[ThreadSlot, ...] = (), takes: Any = None, extra: int | None = None
) -> Any:
    """Make an intrinsic that stops a thread at a barrier or warp operation: (state, brought values..., site) -> result.

    takes: the type of the result, or the index of the brought value with the same type; None for no result.
    extra: a constant that every thread brings too.
    """

    def typer(typing: TypingContext, state: types.Type, *argument_types: types.Type) -> Intrinsic:
        values, site = argument_types[:-1], argument_types[-1]
        if len(values) != len(brings) or not all(map(_fits_word, values)):
            return None
        result_type = types.unliteral(values[takes]) if isinstance(takes, int) else takes

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            state = args[0]
            for index, kind, value in zip(brings, signature.args[1:-1], args[1:-1], strict=True):
                _write_value(context, builder, state, index, kind, value)
            if extra is not None:
                builder.store(I64(extra), _thread_word(builder, state, _EXTRA, I64))
            builder.store(args[-1], word_pointer(builder, state, Word.SITE))
            stop(builder, state, I64(reason))
            return _read_result(context, builder, state, result_type)

        plain_types = (types.unliteral(v) for v in values)
        return (result_type or types.none)(state, *plain_types, types.unliteral(site)), generate

    return intrinsic(_fix_parameters(typer, len(brings)))


def _fix_parameters(typer: Callable[..., Intrinsic], count: int) -> Callable[..., Intrinsic]:
    """Give a typer a fixed number of parameters besides state and site: Numba counts them."""

    def with_none(typing: TypingContext, state: types.Type, site: types.Type) -> Intrinsic:
        return typer(typing, state, site)

    def with_one(typing: TypingContext, state: types.Type, a: types.Type, site: types.Type) -> Intrinsic:
        return typer(typing, state, a, site)

    def with_two(
        typing: TypingContext, state: types.Type, a: types.Type, b: types.Type, site: types.Type
    ) -> Intrinsic:
        return typer(typing, state, a, b, site)

    def with_three(
        typing: TypingContext,
        state: types.Type,
        a: types.Type,
        b: types.Type,
        c: types.Type,
        site: types.Type,
    ) -> Intrinsic:
        return typer(typing, state, a, b, c, site)

    return (with_none, with_one, with_two, with_three)[count]


def _read_result(context: BaseContext, builder: Builder, state: Value, kind: Any) -> Value:
    if kind is None:
        return context.get_dummy_value()
    entry = _thread_word(builder, state, ThreadSlot.IN, context.get_data_type(kind))
    return context.data_model_manager[kind].from_data(builder, builder.load(entry))


def _is_true(value: Any) -> Any:
    return value != 0


def _with_truth(value: Any) -> Any:
    return value, value != 0


_INT = types.int32  # Numba's type of counts, votes and masks, so that lane 31 is the sign
_MASK_AND_VALUE, _SHUFFLE_WORDS = (_MASK, _OUT), (_MASK, _OUT, _EXTRA)
WAITS: dict[str, Any] = {
    "_ts_wait_barrier": wait(StopReason.BARRIER),
    "_ts_this_grid": intrinsic(_this_grid),
    "_ts_wait_group": intrinsic(_wait_group),
    "_ts_wait_fence": wait(StopReason.FENCE, extra=0),
    "_ts_wait_block_fence": wait(StopReason.FENCE, extra=1),
    "_ts_wait_syncwarp": wait(StopReason.SYNCWARP, brings=(_MASK,)),
    "_ts_wait_active": wait(StopReason.ACTIVE, takes=types.uint32),
    "_ts_is_true": numba.njit(_is_true),
    "_ts_and_whether": numba.njit(_with_truth),
}
for _name in ("COUNT", "AND", "OR"):
    WAITS[f"_ts_wait_{_name.lower()}"] = wait(StopReason[_name], brings=(_OUT,), takes=_INT)
for _name in ("SHUFFLE", "UP", "DOWN", "XOR"):
    WAITS[f"_ts_wait_{_name.lower()}"] = wait(StopReason[_name], brings=_SHUFFLE_WORDS, takes=1)
for _name in ("ALL", "ANY", "EQUAL", "BALLOT", "MATCH_ANY", "MATCH_ALL"):
    WAITS[f"_ts_wait_{_name.lower()}"] = wait(StopReason[_name], brings=_MASK_AND_VALUE, takes=_INT)
