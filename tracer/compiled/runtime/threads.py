"""Threads of compiled kernels: where one stands in the grid, and how generators are kept and resumed."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..state import StopReason, Word
from .cell_type import I64, at, load_word, word


def reader(index: Word) -> Any:
    """Return what gives compiled code a word of the table of state."""

    def typer(typing: Any, state: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return load_word(builder, args[0], index)

        return types.int64(types.int64), generate

    return intrinsic(typer)


def per_thread(index: Word, kind: Any) -> Any:
    """Return what gives compiled code the current thread's entry in a table, as a type of 8 bytes."""

    def typer(typing: Any, state: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            entry = _entry(builder, args[0], index, context.get_data_type(kind))
            return context.data_model_manager[kind].from_data(builder, builder.load(entry))

        return kind(types.int64), generate

    return intrinsic(typer)


def _entry(builder: Any, state: Any, index: Word, kind: Any) -> Any:
    """Return a pointer to the current thread's entry in a table of 8-byte entries."""
    offset = builder.mul(load_word(builder, state, Word.THREAD), I64(8))
    return at(builder, builder.add(load_word(builder, state, index), offset), kind)


def scalar(kind: Any, index: int) -> Any:
    """Return what gives compiled code a scalar argument: bits at a word of the table of arguments."""

    def typer(typing: Any, state: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            table = builder.add(load_word(builder, args[0], Word.ARGUMENTS), I64(8 * index))
            data = builder.load(at(builder, table, context.get_data_type(kind)))
            return context.data_model_manager[kind].from_data(builder, data)

        return kind(types.int64), generate

    return intrinsic(typer)


def _arrive(typing: Any, state: Any, site: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], word(builder, args[0], Word.SITE))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), generate


def _turn(typing: Any, state: Any, number: Any) -> Any:
    """Make the thread at an index of the sweep's order the current one."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        b, state = builder, args[0]
        thread = b.load(at(b, load_word(b, state, Word.ORDER), I64, args[1]))
        width, height = load_word(b, state, Word.DX), load_word(b, state, Word.DY)
        rest = b.udiv(thread, width)
        values = {
            Word.THREAD: thread, Word.CONTEXT: b.add(load_word(b, state, Word.SWEEP), thread),
            Word.TX: b.urem(thread, width), Word.TY: b.urem(rest, height), Word.TZ: b.udiv(rest, height),
        }  # fmt: skip
        for index, value in values.items():
            b.store(value, word(b, state, index))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), generate


def _frame(context: Any, builder: Any, state: Any, kind: Any) -> Any:
    """Return a pointer to the current thread's generator."""
    offset = builder.mul(load_word(builder, state, Word.THREAD), load_word(builder, state, Word.FRAME))
    address = builder.add(load_word(builder, state, Word.FRAMES), offset)
    return at(builder, address, context.get_data_type(kind))


def _size(typing: Any, generator: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return I64(context.get_abi_sizeof(context.get_data_type(generator)))

    return types.int64(generator), generate


def _keep(typing: Any, state: Any, generator: Any) -> Any:
    """Keep a generator, which has not begun, as the current thread's."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(builder.load(args[1]), _frame(context, builder, args[0], generator))
        return context.get_dummy_value()

    return types.none(types.int64, generator), generate


def _resume(typing: Any, state: Any, generator: Any) -> Any:
    """Run the current thread until it stops, and note why and where; the generator given only says the type."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        b, state = builder, args[0]
        run = context.get_generator_impl(generator)
        status, value = run(context, b, types.int64(generator), [_frame(context, b, state, generator)])
        context.add_linking_libs(getattr(run, "libs", ()))
        failed = b.and_(status.is_error, b.not_(status.is_stop_iteration))
        with cgutils.if_unlikely(b, failed):
            context.call_conv.return_status_propagate(b, status)
        _note(b, state, b.select(status.is_stop_iteration, I64(StopReason.DONE), value))
        return context.get_dummy_value()

    return types.none(types.int64, generator), generate


def _note(builder: Any, state: Any, reason: Any) -> None:
    rows = builder.sub(load_word(builder, state, Word.ROW), load_word(builder, state, Word.BEGIN))
    made = builder.add(load_word(builder, state, Word.BASE), builder.lshr(rows, I64(5)))
    where = load_word(builder, state, Word.SITE)
    for index, value in ((Word.REASON, reason), (Word.STOP_SITE, where), (Word.STOP_STEP, made)):
        builder.store(value, _entry(builder, state, index, I64))


def bring(index: Word) -> Any:
    """Return what writes a value of up to 8 bytes to the current thread's entry in a table."""

    def typer(typing: Any, state: Any, value: Any) -> Any:
        if not isinstance(value, types.Number | types.Boolean) or value == types.complex128:
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = context.data_model_manager[value].as_data(builder, args[1])
            builder.store(I64(0), _entry(builder, args[0], index, I64))
            builder.store(data, _entry(builder, args[0], index, data.type))
            return context.get_dummy_value()

        return types.none(state, value), generate

    return intrinsic(typer)


def _taken_like(typing: Any, state: Any, value: Any) -> Any:
    """Return what the current thread takes away, as a value of the type of another."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        entry = _entry(builder, args[0], Word.IN, context.get_data_type(value))
        return context.data_model_manager[value].from_data(builder, builder.load(entry))

    return value(state, value), generate


taken_like = intrinsic(_taken_like)
arrive, turn, size, keep, resume = (intrinsic(t) for t in (_arrive, _turn, _size, _keep, _resume))
