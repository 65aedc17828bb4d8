"""Stopping and going on: from a thread's stack to the scheduler's, and back. See scheduler/stacks.py."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..cached import part
from ..next_row import read_next_row_again
from ..state import PlaceWord, StopReason, Word
from ..words import I64, at, load_word, word

_SWITCH = ir.FunctionType(ir.VoidType(), [I64, I64])
_CALL = ir.FunctionType(I64, [I64])


def _switch(builder: Any, state: Any, save: Any, to: Any) -> None:
    """Go on with another stack pointer, and return once somebody goes on with the one stored at `save`."""
    builder.call(builder.inttoptr(load_word(builder, state, Word.SWITCH), _SWITCH.as_pointer()), [save, to])


def stop(builder: Any, state: Any, reason: Any) -> None:
    """Let the scheduler have its turn; the current thread goes on here."""
    builder.store(reason, word(builder, state, Word.STOPPED))
    place = load_word(builder, state, Word.PLACE)
    save = builder.add(place, I64(8 * PlaceWord.STACK_POINTER))
    _switch(builder, state, save, load_word(builder, state, Word.SCHEDULER))
    read_next_row_again(builder, state)


def end_turn(builder: Any, state: Any) -> None:
    """End the current thread's turn before an access, where threads take turns."""
    with cgutils.if_unlikely(
        builder, builder.icmp_signed("!=", load_word(builder, state, Word.TURNS), I64(0))
    ):
        stop(builder, state, I64(StopReason.ACCESS))


def call_driver(context: Any, builder: Any, state: Any, event: Any) -> None:
    """Call the driver, from the scheduler's stack, and end the thread with InterruptedError where it says so."""
    builder.store(event, word(builder, state, Word.EVENT))
    stop(builder, state, I64(StopReason.CALL))
    stopped = builder.icmp_signed("!=", load_word(builder, state, Word.ANSWER), I64(0))
    with cgutils.if_unlikely(builder, stopped):
        context.call_conv.return_user_exc(builder, InterruptedError, ("stopped",))


def _go_on(typing: Any, state: Any) -> Any:
    """Let the current thread run until it stops."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        state = args[0]
        place = at(builder, load_word(builder, state, Word.PLACE), I64, I64(PlaceWord.STACK_POINTER))
        _switch(builder, state, builder.add(state, I64(8 * Word.SCHEDULER)), builder.load(place))
        return context.get_dummy_value()

    return types.none(types.int64), generate


def _ask(typing: Any, state: Any, event: Any) -> Any:
    """Call the driver for a `DriverCall`; return what it answers, 1 where the launch is to stop."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = builder.inttoptr(load_word(builder, args[0], Word.CALL), _CALL.as_pointer())
        return builder.call(function, [context.cast(builder, args[1], event, types.int64)])

    return types.int64(types.int64, event), generate


def _run_entry(typing: Any, state: Any) -> Any:
    """Run the kernel to its end in the current thread, and note how it ended; return 0 where nothing was raised."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        state, kinds = args[0], (types.int64,)
        function_type = context.call_conv.get_function_type(types.none, kinds)
        entry = builder.inttoptr(load_word(builder, state, Word.ENTRY), function_type.as_pointer())
        status, _ = context.call_conv.call_function(builder, entry, types.none, kinds, [state])
        builder.store(builder.zext(status.code, I64), word(builder, state, Word.ERROR_CODE))
        builder.store(builder.ptrtoint(status.excinfoptr, I64), word(builder, state, Word.ERROR))
        return builder.zext(status.is_error, I64)

    return types.int64(types.int64), generate


def _raise_noted(typing: Any, state: Any) -> Any:
    """Raise what a thread has raised."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        convention = context.call_conv
        code = builder.trunc(load_word(builder, args[0], Word.ERROR_CODE), ir.IntType(32))
        kind = convention._get_excinfo_argument(builder.function).type.pointee
        error = builder.inttoptr(load_word(builder, args[0], Word.ERROR), kind)
        status = convention._get_return_status(builder, code, error)
        with builder.if_then(status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(types.int64), generate


def _stop_for(typing: Any, state: Any, reason: Any) -> Any:
    """Let the scheduler have its turn, for a `StopReason`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stop(builder, args[0], context.cast(builder, args[1], reason, types.int64))
        return context.get_dummy_value()

    return types.none(types.int64, reason), generate


go_on, ask, run_entry, raise_noted, stop_for = (
    intrinsic(typer) for typer in (_go_on, _ask, _run_entry, _raise_noted, _stop_for)
)


def _ask_or_stop(state: Any, event: Any) -> None:
    """Call the driver for a `DriverCall`; raises InterruptedError where the launch is to stop."""
    if ask(state, event):
        raise InterruptedError("stopped")


ask_or_stop = part(_ask_or_stop)
