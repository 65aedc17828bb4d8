"""Loops that let the driver have its turn: without them nothing could end a loop that makes no access."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from .cells import I64, load_word, word
from .names import Unknown
from .places import located
from .state import Event, Word

if TYPE_CHECKING:
    from .writer import Writer

PERIOD = 1 << 20  # rounds of loops from one call of the driver to the next: a few milliseconds
SHORT = 1 << 16  # rounds of a loop that is over soon
_CALL = ir.FunctionType(I64, [I64])


def with_tick(writer: Writer, loop: ast.For | ast.While, body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the body of a loop, which first counts a round if there may be many."""
    if isinstance(loop, ast.For) and _is_short(writer, loop.iter):
        return body
    return [located(ast.Expr(writer.call("_ts_tick", [], loop)), loop), *body]


def _is_short(writer: Writer, iterated: ast.expr) -> bool:
    """Return whether a loop over this has few rounds, or an access in each."""
    if not isinstance(iterated, ast.Call):
        return True
    try:
        return all(abs(writer.names.static(argument)) <= SHORT for argument in iterated.args)
    except (Unknown, TypeError):
        return False


def _tick(typing: Any, state: Any) -> Any:
    """Count a round of a loop; call the driver once in PERIOD rounds, and stop where it says so."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        b, place = builder, word(builder, args[0], Word.TICKS)
        left = b.sub(b.load(place), I64(1))
        b.store(left, place)
        with cgutils.if_unlikely(b, b.icmp_signed("<", left, I64(0))):
            b.store(I64(PERIOD), place)
            call = b.inttoptr(load_word(b, args[0], Word.CALL), _CALL.as_pointer())
            with cgutils.if_unlikely(b, b.icmp_signed("!=", b.call(call, [I64(Event.TICK)]), I64(0))):
                context.call_conv.return_user_exc(b, InterruptedError, ("stopped",))
        return context.get_dummy_value()

    return types.none(types.int64), generate


tick = intrinsic(_tick)
