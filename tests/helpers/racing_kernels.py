"""Kernels whose races need several switches, and correct twins: a body for each, of one block.

`s` is shared memory of 8 numbers, which are 0 at the start; `pause(n)` reads a private element n times, so that in
lockstep other threads come first. The threads agree at the end: thread 0 writes `out[0]`.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

HEAD = """\
@cuda.jit
def kernel(pad, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array(8, int64)
    r = cuda.local.array(4, int64)
    if t == 0:
        for i in range(8):
            s[i] = 0
    cuda.syncthreads()
"""
PAUSE = "for i in range({}):\n    r[0] += pad[t]\n"


class RacingKernel(NamedTuple):
    """A kernel and its correct twin. threads: of the only block."""

    name: str
    threads: int
    racing: str
    twin: str


def source_of(body: str) -> str:
    """Return the source of a kernel of this body, in which `pause(n)` stands for private reads."""
    lines = []
    for line in textwrap.dedent(body).splitlines():
        before, _, after = line.partition("pause(")
        if after:
            lines += [before + part for part in PAUSE.format(after.rstrip(")")).splitlines()]
        else:
            lines.append(line)
    return HEAD + textwrap.indent("\n".join(lines) + "\n", "    ")


TORN_PAIR = """\
if t == 0:
    a = s[0]
    b = s[0]
    out[0] = b - a
else:
    pause(6)
    s[0] = 1
"""
TORN_PAIR_TWIN = """\
if t == 0:
    a = s[0]
    b = s[0]
    out[0] = b - a
cuda.syncthreads()
if t == 1:
    s[0] = 1
"""
TWO_TORN_PAIRS = """\
if t == 0:
    a = s[0]
    b = s[0]
    c = s[1]
    d = s[1]
    out[0] = (b - a) * (d - c)
else:
    pause(9)
    s[t - 1] = 1
"""
TWO_TORN_PAIRS_TWIN = """\
if t == 0:
    a = s[0]
    b = s[1]
    c = s[2]
    d = s[3]
    out[0] = (b - a) * (d - c)
else:
    pause(9)
    s[t + 3] = 1
"""
LOST_UPDATE = """\
if t == 0:
    pause(6)
v = s[0]
s[0] = v + 1
cuda.syncthreads()
if t == 0:
    out[0] = s[0]
"""
LOST_UPDATE_TWIN = """\
if t == 0:
    pause(6)
cuda.atomic.add(s, 0, 1)
cuda.syncthreads()
if t == 0:
    out[0] = s[0]
"""
CHAIN_OF_THREE = """\
if t == 0:
    pause(6)
    s[0] = 1
elif t == 1:
    pause(3)
    s[1] = s[0]
else:
    s[2] = s[1]
cuda.syncthreads()
if t == 0:
    out[0] = s[2]
"""
CHAIN_OF_THREE_TWIN = """\
if t == 0:
    s[0] = 1
cuda.syncthreads()
if t == 1:
    s[1] = s[0]
cuda.syncthreads()
if t == 2:
    s[2] = s[1]
cuda.syncthreads()
if t == 0:
    out[0] = s[2]
"""
CHAIN_OF_FOUR = """\
if t == 0:
    pause(9)
    s[0] = 1
elif t == 1:
    pause(6)
    s[1] = s[0]
elif t == 2:
    pause(3)
    s[2] = s[1]
else:
    s[3] = s[2]
cuda.syncthreads()
if t == 0:
    out[0] = s[3]
"""
CHAIN_OF_FOUR_TWIN = """\
for k in range(4):
    if t == k:
        s[k + 1] = s[k] + 1
    cuda.syncthreads()
if t == 0:
    out[0] = s[4]
"""
THERE_AND_BACK = """\
if t == 0:
    a = s[0]
    b = s[0]
    c = s[0]
    out[0] = 1 if a == 0 and b == 1 and c == 0 else 0
elif t == 1:
    pause(6)
    s[0] = 1
else:
    pause(9)
    s[0] = 0
"""
THERE_AND_BACK_TWIN = """\
if t == 0:
    a = s[0]
    b = s[0]
    c = s[0]
    out[0] = 1 if a == 0 and b == 1 and c == 0 else 0
cuda.syncthreads()
if t == 1:
    s[0] = 1
cuda.syncthreads()
if t == 2:
    s[0] = 0
"""
FLAG_BEFORE_DATA = """\
if t == 0:
    s[0] = 1
    s[1] = 42
else:
    pause(6)
    flag = s[0]
    data = s[1]
    out[0] = 1 if flag == 1 and data == 0 else 0
"""
FLAG_BEFORE_DATA_TWIN = """\
if t == 0:
    s[1] = 42
    s[0] = 1
else:
    pause(6)
    flag = s[0]
    data = s[1]
    out[0] = 1 if flag == 1 and data == 0 else 0
"""
LOST_MAXIMUM = """\
if t == 0:
    pause(6)
v = 5 - t
if v > s[0]:
    s[0] = v
cuda.syncthreads()
if t == 0:
    out[0] = s[0]
"""
LOST_MAXIMUM_TWIN = """\
if t == 0:
    pause(6)
cuda.atomic.max(s, 0, 5 - t)
cuda.syncthreads()
if t == 0:
    out[0] = s[0]
"""
SPLIT_READ = """\
if t == 0:
    a = s[0]
    pause(3)
    b = s[1]
    out[0] = 1 if a == 0 and b == 1 else 0
else:
    pause(9)
    s[0] = 1
    s[1] = 1
"""
SPLIT_READ_TWIN = """\
if t == 0:
    a = s[0]
    pause(3)
    b = s[1]
    out[0] = 1 if a == 0 and b == 1 else 0
cuda.syncthreads()
if t == 1:
    pause(9)
    s[0] = 1
    s[1] = 1
"""
TWO_LOST_UPDATES = """\
pause(5 * t)
v = s[0]
s[0] = v + 1
cuda.syncthreads()
if t == 0:
    out[0] = 1 if s[0] == 1 else 0
"""
TWO_LOST_UPDATES_TWIN = """\
pause(5 * t)
cuda.atomic.add(s, 0, 1)
cuda.syncthreads()
if t == 0:
    out[0] = 1 if s[0] == 1 else 0
"""

KERNELS = (
    RacingKernel("torn pair", 2, TORN_PAIR, TORN_PAIR_TWIN),
    RacingKernel("two torn pairs", 3, TWO_TORN_PAIRS, TWO_TORN_PAIRS_TWIN),
    RacingKernel("lost update", 2, LOST_UPDATE, LOST_UPDATE_TWIN),
    RacingKernel("chain of three", 3, CHAIN_OF_THREE, CHAIN_OF_THREE_TWIN),
    RacingKernel("chain of four", 4, CHAIN_OF_FOUR, CHAIN_OF_FOUR_TWIN),
    RacingKernel("there and back", 3, THERE_AND_BACK, THERE_AND_BACK_TWIN),
    RacingKernel("flag before data", 2, FLAG_BEFORE_DATA, FLAG_BEFORE_DATA_TWIN),
    RacingKernel("lost maximum", 2, LOST_MAXIMUM, LOST_MAXIMUM_TWIN),
    RacingKernel("split read", 2, SPLIT_READ, SPLIT_READ_TWIN),
    RacingKernel("two lost updates", 3, TWO_LOST_UPDATES, TWO_LOST_UPDATES_TWIN),
)
