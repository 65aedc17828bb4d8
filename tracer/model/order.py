"""An explicit order of threads as a short text: which threads go next, where the order of lockstep is left.

    t3x2+b1w0x1+b0/1+t0
    vc0ffee:t3x2@14

A text is a sequence of segments, joined by `+`. A segment names a thread (`t3` of block 0, `b1t3`), a warp (`w0`,
`b1w0`), a block (`b1`) or `all` blocks. `x2` gives each of its threads two turns, each of which makes an access; `/1`
runs until the first barrier is passed; without both it runs until none of its threads can go on. `@14` states the line
of the segment's last access. Threads that a barrier releases go to their next access at once, without a turn. After
the last segment all threads take turns in lockstep. `vc0ffee:` is a digest of the kernel's code.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from .syntax_tree import syntax_tree
from .trace import WARP, Dim3

ORDER_PREFIX = "order:"  # of the text in a spec, such as schedule=order:t3x2
MOST_SEGMENTS = 100_000
_SEGMENT = re.compile(
    r"(?:(all)|(?:b(\d{1,9}))?(?:([tw])(\d{1,9}))?)(?:x(\d{1,9}))?(?:/(\d{1,9}))?(?:@(\d{1,9}))?", re.ASCII
)
_VERSION = re.compile(r"v([0-9a-f]{6}):", re.ASCII)
_FORM = "write for example t3x2+b1t0+b0/1"


class OrderTextError(Exception):
    """An order that can't be used; the message is one sentence for the user."""


class Segment(Struct, frozen=True):
    """Threads that take turns while all others wait.

    turns: accesses of each thread; 0 for as many as it can make. barrier: the number of barriers that the threads may
    pass, -1 for any number. line: of the last access, 0 if it is not stated.
    """

    block: int  # linear number in the grid, -1 for all blocks
    first: int  # linear number in the block of the first thread
    count: int  # of threads in each block; 0 for all
    turns: int = 0
    barrier: int = -1
    line: int = 0

    @property
    def is_thread(self) -> bool:
        """Whether the segment is of one thread."""
        return self.count == 1 and self.block >= 0

    def includes(self, block: int, thread: int) -> bool:
        """Check if a thread is one of the segment's."""
        in_block = self.block < 0 or self.block == block
        return in_block and (not self.count or self.first <= thread < self.first + self.count)

    @property
    def threads_name(self) -> str:
        """The threads in words: "thread 3 of block 1"."""
        if self.block < 0:
            return "all blocks"
        if not self.count:
            return f"block {self.block}"
        name = f"thread {self.first}" if self.count == 1 else f"warp {self.first // WARP}"
        return f"{name} of block {self.block}"

    def __str__(self) -> str:
        block = f"b{self.block}" if self.block > 0 or not self.count else ""
        name = "all" if self.block < 0 else block
        if self.count == 1:
            name += f"t{self.first}"
        elif self.count:
            name += f"w{self.first // WARP}"
        turns = f"x{self.turns}" if self.turns else ""
        barrier = f"/{self.barrier}" if self.barrier >= 0 else ""
        return name + turns + barrier + (f"@{self.line}" if self.line else "")


class Order(Struct, frozen=True):
    """Segments that run one after the other; then all threads run in lockstep."""

    segments: tuple[Segment, ...]
    version: str = ""  # the first 6 hexadecimal digits of the kernel's digest, "" for any version

    def __str__(self) -> str:
        text = "+".join(map(str, self.segments))
        return f"v{self.version}:{text}" if self.version else text

    @property
    def switches(self) -> int:
        """The number of times that threads go before their turn; `all/1` and `b0/1` only wait for a barrier."""
        return sum(1 for segment in self.segments if segment.count)


def parse_order(text: str) -> Order:
    """Parse the text of an order; raises OrderTextError."""
    text = text.removeprefix(ORDER_PREFIX)
    version = _VERSION.match(text)
    words = text[version.end() if version else 0 :].split("+")
    if len(words) > MOST_SEGMENTS:
        raise OrderTextError(f"The order has {len(words):,} parts; at most {MOST_SEGMENTS:,} are possible.")
    return Order(tuple(map(_segment, words)), version[1] if version else "")


def _segment(word: str) -> Segment:
    match = _SEGMENT.fullmatch(word)
    if not word or match is None or not any(match.group(1, 2, 4)):
        shown = word if len(word) <= 40 else f"{word[:40]}..."
        raise OrderTextError(f"{shown!r} is not a part of an order; {_FORM}.")
    every, block, kind, number, turns, barrier, line = match.groups()
    size = {"t": 1, "w": WARP, None: 0}[kind]
    if turns is not None and int(turns) == 0:
        raise OrderTextError(f"{word!r} gives no turns; write x1 or more.")
    return Segment(
        block=-1 if every else int(block or 0),
        first=int(number or 0) * max(1, size),
        count=size,
        turns=int(turns or 0),
        barrier=-1 if barrier is None else int(barrier),
        line=int(line or 0),
    )


def check_order(order: Order, grid: Dim3, dim: Dim3, source: str, kernel: str) -> None:
    """Raise OrderTextError if an order can't belong to a launch: its threads, its lines, its version of the kernel.

    kernel: the name of the function in the file with the text `source`.
    """
    if order.version and order.version != kernel_version(source, kernel):
        raise OrderTextError(
            f"The order is of another version of {kernel}; search again, or open the version that it was made with."
        )
    blocks, threads = grid[0] * grid[1] * grid[2], dim[0] * dim[1] * dim[2]
    lines = source.count("\n") + 1
    for segment in order.segments:
        if segment.block >= blocks:
            raise OrderTextError(
                f"The order names block {segment.block}, but the grid has blocks 0 to {blocks - 1}."
            )
        if segment.count and segment.first >= threads:
            raise OrderTextError(
                f"The order names {segment.threads_name}, but a block has threads 0 to {threads - 1}."
            )
        if segment.line > lines:
            raise OrderTextError(
                f"The order names line {segment.line}, but the kernel's file ends at line {lines}."
            )


@lru_cache(maxsize=64)
def kernel_version(source: str, kernel: str) -> str:
    """Return 6 hexadecimal digits that change with the code of a kernel, but not with comments or its position."""
    try:
        tree = syntax_tree(source)
    except (SyntaxError, ValueError):
        text = source
    else:
        functions = [
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == kernel
        ]
        text = ast.dump(functions[-1]) if functions else source
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:6]


def order_of_turns(turns: Iterable[tuple[int, int]]) -> Order:
    """Build the order in which these threads (block, thread) make one access each, joined into segments."""
    segments: list[Segment] = []
    for block, thread in turns:
        if segments and (segments[-1].block, segments[-1].first) == (block, thread):
            last = segments.pop()
            segments.append(Segment(block, thread, 1, last.turns + 1))
        else:
            segments.append(Segment(block, thread, 1, 1))
    return Order(tuple(segments))


def segment_words(segments: Sequence[Segment]) -> list[str]:
    """Describe each segment of an order in one sentence, without a full stop."""
    sentences = []
    for segment in segments:
        if segment.turns:
            amount = "one access" if segment.turns == 1 else f"{segment.turns} accesses"
            verb = "make" if segment.block < 0 else "makes"
            sentence = f"{segment.threads_name} {verb} {amount}"
        elif segment.barrier >= 0:
            verb = "run" if segment.block < 0 else "runs"
            sentence = f"{segment.threads_name} {verb} to barrier {segment.barrier}"
        else:
            ending = "run until they wait or end" if segment.block < 0 else "runs until it waits or ends"
            sentence = f"{segment.threads_name} {ending}"
        sentences.append(f"{sentence}, the last in line {segment.line}" if segment.line else sentence)
    return sentences
