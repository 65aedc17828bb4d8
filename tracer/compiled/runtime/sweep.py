"""Running threads: what is the same for all kernels, compiled once. Each kernel gives the address of its entry."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..cached import cached
from ..state import Word
from .threads import reader, turn
from .uniform_barrier import goes_on

_ARGUMENTS = (types.int64, types.int64)


def _call_entry(typing: Any, entry: Any, state: Any, mode: Any) -> Any:
    """Call the compiled function at an address, (state, mode), and pass on what it raises."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.call_conv.get_function_type(types.int64, _ARGUMENTS)
        function = builder.inttoptr(args[0], kind.as_pointer())
        status, value = context.call_conv.call_function(builder, function, types.int64, _ARGUMENTS, args[1:])
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return value

    return types.int64(types.int64, types.int64, types.int64), generate


call_entry, _count = intrinsic(_call_entry), reader(Word.COUNT)


def _sweep_of(entry: Any, state: Any, mode: Any) -> Any:
    """Run threads until each stops, and go on where that needs no decision; mode 0 only returns a generator's size."""
    if mode == 0:
        return call_entry(entry, state, mode)
    while mode:
        for i in range(_count(state)):
            turn(state, i)
            call_entry(entry, state, mode)
        mode = goes_on(state)
    return 0


sweep = cached(_sweep_of)
