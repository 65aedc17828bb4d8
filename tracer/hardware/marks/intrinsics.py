"""The machine code of marks: inline PTX that reads the clocks of a multiprocessor, as Numba intrinsics.

A mark stores eight bytes: the low half of the clock and the mark's number. Only a warp's first lane writes marks, into
its own slot. `at` is the index of its next mark in all slots, negative for warps without marks. It also counts marks
beyond the slot, so that the number of marks is known at the end; marks beyond the memory of all slots are not written.
A mark has few instructions and keeps one register live, so that ptxas does not reorder the kernel's loads. Numbers that
are equal for all warps are constants of the compiled kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.cuda.extending import intrinsic

# Neither LLVM nor ptxas may move a memory access across a mark.
ORDERED = "~{memory}"
WARP = """
.reg .u32 lane, block, warp, n; .reg .u64 row;
mov.u32 lane, %tid.z; mov.u32 n, %ntid.y; mov.u32 warp, %tid.y; mad.lo.u32 lane, lane, n, warp;
mov.u32 n, %ntid.x; mov.u32 warp, %tid.x; mad.lo.u32 lane, lane, n, warp;
mov.u32 block, %ctaid.z; mov.u32 n, %nctaid.y; mov.u32 warp, %ctaid.y; mad.lo.u32 block, block, n, warp;
mov.u32 n, %nctaid.x; mov.u32 warp, %ctaid.x; mad.lo.u32 block, block, n, warp;
shr.u32 warp, lane, 5; and.b32 lane, lane, 31;
"""


def _assembly(
    text: str, returned: Any, arguments: Sequence[Any], constraints: str
) -> Callable[[Any, Any, Any, Any], Any]:
    """Create a code generator that casts its arguments to these types and emits PTX in braces."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        given = [
            context.cast(builder, value, source, target)
            for value, source, target in zip(values, signature.args, arguments, strict=True)
        ]
        native = [context.get_value_type(to) for to in arguments]
        back = ir.VoidType() if returned is types.void else context.get_value_type(returned)
        function = ir.FunctionType(back, native)
        call = builder.call(ir.InlineAsm(function, f"{{{text}}}", constraints, side_effect=True), given)
        return context.get_dummy_value() if returned is types.void else call

    return generate


@intrinsic
def begin(typingctx: Any, ends: Any, warps: Any, slot: Any, detailed: Any) -> Any:
    """Write the start of a warp, and return its first `at`.

    ends: address of the warps' rows. warps: per block. slot: marks per warp. detailed: warps on multiprocessors with
    this number or a higher one write no marks.
    """
    text = (
        WARP
        + """
.reg .pred first; .reg .u32 time, sm;
mov.u32 time, %clock; mov.u32 sm, %smid;
mad.lo.u32 warp, block, $2, warp;
mul.wide.u32 row, warp, 16; add.u64 row, row, $1;
setp.eq.u32 first, lane, 0;
@first st.global.u32 [row], time;
setp.lt.and.u32 first, sm, $4, first;
mul.lo.u32 n, warp, $3; selp.b32 $0, n, 0x80000000, first;
"""
    )
    signature = types.int32(ends, warps, slot, detailed)
    wide = (types.uint64, types.uint32, types.uint32, types.uint32)
    return signature, _assembly(text, types.int32, wide, f"=r,l,r,r,r,{ORDERED}")


@intrinsic
def mark(typingctx: Any, position: Any, marks: Any, limit: Any, number: Any) -> Any:
    """Write a mark at index `position` of `marks`, an address, and return the next index.

    limit: the number of marks in memory.
    """
    text = """
.reg .pred writes; .reg .u32 time; .reg .u64 place;
setp.lt.u32 writes, $1, $3;
mul.wide.u32 place, $1, 8; add.u64 place, place, $2;
mov.u32 time, %clock;
@writes st.global.v2.u32 [place], {time, $4};
add.u32 $0, $1, 1;
"""
    signature = types.int32(position, marks, limit, number)
    wide = (types.int32, types.uint64, types.uint32, types.uint32)
    return signature, _assembly(text, types.int32, wide, f"=&r,r,l,r,r,{ORDERED}")


@intrinsic
def end(typingctx: Any, ends: Any, warps: Any, position: Any) -> Any:
    """Write the end of a warp: all lanes write the time in turn, so the last one stays; the first writes its index."""
    text = (
        WARP
        + """
.reg .pred first; .reg .u32 time, sm;
mov.u32 sm, %smid;
mad.lo.u32 warp, block, $1, warp;
mul.wide.u32 row, warp, 16; add.u64 row, row, $0;
setp.eq.u32 first, lane, 0;
@first st.global.v2.u32 [row+8], {sm, $2};
mov.u32 time, %clock;
st.global.u32 [row+4], time;
"""
    )
    signature = types.void(ends, warps, position)
    return signature, _assembly(
        text, types.void, (types.uint64, types.uint32, types.int32), f"l,r,r,{ORDERED}"
    )


@intrinsic
def clock(typingctx: Any) -> Any:
    """Return the clock cycles of the multiprocessor."""
    return types.uint64(), _assembly("mov.u64 $0, %clock64;", types.uint64, (), f"=l,{ORDERED}")


@intrinsic
def timer(typingctx: Any) -> Any:
    """Return the nanoseconds of the GPU's timer, which all multiprocessors share."""
    return types.uint64(), _assembly("mov.u64 $0, %globaltimer;", types.uint64, (), f"=l,{ORDERED}")


@intrinsic
def multiprocessor(typingctx: Any) -> Any:
    """Return the number of the multiprocessor."""
    return types.uint32(), _assembly("mov.u32 $0, %smid;", types.uint32, (), f"=r,{ORDERED}")
