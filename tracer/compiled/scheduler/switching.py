"""Switches from a thread's stack to the scheduler's, and back. See scheduler/stacks.py."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..compile_cached import compile_with_callers
from ..memory_words import I64, element_pointer, load_word, store_word, word_pointer
from ..next_row import reload_next_row
from ..state import StopReason, ThreadSlot, Word

_SWITCH = ir.FunctionType(ir.VoidType(), [I64, I64])
_CALL = ir.FunctionType(I64, [I64])


def _switch(builder: Builder, state: Value, save: Any, target: Value) -> None:
    """Switch to another stack pointer; return when a switch back to the pointer stored at `save` happens."""
    builder.call(
        builder.inttoptr(load_word(builder, state, Word.SWITCH), _SWITCH.as_pointer()), [save, target]
    )


def stop(builder: Builder, state: Value, reason: Any) -> None:
    """Switch to the scheduler; the current thread resumes here."""
    builder.store(reason, word_pointer(builder, state, Word.STOPPED))
    thread_slot = load_word(builder, state, Word.THREAD_SLOT)
    save = builder.add(thread_slot, I64(8 * ThreadSlot.STACK_POINTER))
    _switch(builder, state, save, load_word(builder, state, Word.SCHEDULER))
    reload_next_row(builder, state)


def end_turn(builder: Builder, state: Value) -> None:
    """End the current thread's turn before an access, if threads take turns."""
    with cgutils.if_unlikely(
        builder, builder.icmp_signed("!=", load_word(builder, state, Word.TURNS), I64(0))
    ):
        stop(builder, state, I64(StopReason.ACCESS))


def call_driver(context: BaseContext, builder: Builder, state: Value, event: Any) -> None:
    """Call the driver from the scheduler's stack; raise InterruptedError in the thread if it answers to stop."""
    builder.store(event, word_pointer(builder, state, Word.EVENT))
    stop(builder, state, I64(StopReason.CALL))
    stopped = builder.icmp_signed("!=", load_word(builder, state, Word.ANSWER), I64(0))
    with cgutils.if_unlikely(builder, stopped):
        context.call_conv.return_user_exc(builder, InterruptedError, ("stopped",))


def _resume_thread(typing: TypingContext, state: types.Type) -> Intrinsic:
    """Let the current thread run until it stops."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        state = args[0]
        slot = load_word(builder, state, Word.THREAD_SLOT)
        pointer, own_round = (
            element_pointer(builder, slot, I64, I64(word))
            for word in (ThreadSlot.STACK_POINTER, ThreadSlot.ROUND)
        )
        store_word(builder, builder.load(own_round), state, Word.ROUND)
        _switch(builder, state, builder.add(state, I64(8 * Word.SCHEDULER)), builder.load(pointer))
        builder.store(load_word(builder, state, Word.ROUND), own_round)
        return context.get_dummy_value()

    return types.none(types.int64), generate


def _ask(typing: TypingContext, state: types.Type, event: types.Type) -> Intrinsic:
    """Call the driver for a `DriverCall`; return its answer, 1 to stop the launch."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        function = builder.inttoptr(load_word(builder, args[0], Word.CALL), _CALL.as_pointer())
        return builder.call(function, [context.cast(builder, args[1], event, types.int64)])

    return types.int64(types.int64, event), generate


def _run_entry(typing: TypingContext, state: types.Type) -> Intrinsic:
    """Run the kernel in the current thread, and store its status; return 0 if it raised nothing."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        state, kinds = args[0], (types.int64,)
        function_type = context.call_conv.get_function_type(types.none, kinds)
        entry = builder.inttoptr(load_word(builder, state, Word.ENTRY), function_type.as_pointer())
        status, _ = context.call_conv.call_function(builder, entry, types.none, kinds, [state])
        builder.store(builder.zext(status.code, I64), word_pointer(builder, state, Word.ERROR_CODE))
        builder.store(builder.ptrtoint(status.excinfoptr, I64), word_pointer(builder, state, Word.ERROR))
        return builder.zext(status.is_error, I64)

    return types.int64(types.int64), generate


def _raise_noted(typing: TypingContext, state: types.Type) -> Intrinsic:
    """Raise the exception that a thread raised."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        convention = context.call_conv
        code = builder.trunc(load_word(builder, args[0], Word.ERROR_CODE), ir.IntType(32))
        error_type = convention._get_excinfo_argument(builder.function).type.pointee
        error = builder.inttoptr(load_word(builder, args[0], Word.ERROR), error_type)
        status = convention._get_return_status(builder, code, error)
        with builder.if_then(status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(types.int64), generate


def _stop_for(typing: TypingContext, state: types.Type, reason: types.Type) -> Intrinsic:
    """Switch to the scheduler, for a `StopReason`."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        stop(builder, args[0], context.cast(builder, args[1], reason, types.int64))
        return context.get_dummy_value()

    return types.none(types.int64, reason), generate


resume_thread, call_driver_now, run_entry, raise_stored, stop_for = (
    intrinsic(typer) for typer in (_resume_thread, _ask, _run_entry, _raise_noted, _stop_for)
)


def _ask_or_stop(state: int, event: int) -> None:
    """Call the driver for a `DriverCall`; raises InterruptedError if the launch must stop."""
    if call_driver_now(state, event):
        raise InterruptedError("stopped")


call_driver_or_stop = compile_with_callers(_ask_or_stop)
