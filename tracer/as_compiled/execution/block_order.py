"""The order in which a warp's lanes go through the blocks of a function, and where its loops come round.

Lanes that diverged meet again where their ways join. A warp that always goes on with those of its lanes that are
furthest behind shows that, if "behind" is an order in which every loop is one piece and its inside goes forwards: lanes
that left a loop, or a branch, wait for the others. A GPU's compiler joins lanes at the same places.
"""

from __future__ import annotations

import msgspec


class Loop(msgspec.Struct, frozen=True):
    """A loop: its blocks, where it is entered, and which of its blocks go back there."""

    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]
    inner: tuple[Loop, ...]  # loops in it, the outermost of these


def ordered(successors: list[list[int]]) -> tuple[list[int], list[Loop]]:
    """Return the blocks of a function in that order, without those that are never reached, and its outermost loops.

    successors: of each block; the first one is the entry.
    """
    return _ordered(set(_reached(successors)), 0, successors)


def _reached(successors: list[list[int]]) -> list[int]:
    seen, waiting = {0}, [0]
    while waiting:
        for block in successors[waiting.pop()]:
            if block not in seen:
                seen.add(block)
                waiting.append(block)
    return sorted(seen)


def _ordered(blocks: set[int], entry: int, successors: list[list[int]]) -> tuple[list[int], list[Loop]]:
    """Order blocks of which `entry` is the first: topologically, each cycle as one piece."""
    order: list[int] = []
    loops: list[Loop] = []
    for component in reversed(_components(blocks, entry, successors)):
        if len(component) == 1 and component[0] not in successors[component[0]]:
            order.append(component[0])
            continue
        inside = set(component)
        header = _header(inside, entry, blocks, successors)
        latches = tuple(sorted(b for b in inside if header in successors[b]))
        without = [
            [s for s in successors[b] if s in inside and s != header] if b in inside else []
            for b in range(len(successors))
        ]
        inner_order, inner = _ordered(inside, header, without)
        missed = sorted(inside - set(inner_order))  # of cycles with several entries
        order += [*inner_order, *missed]
        loops.append(Loop(header, frozenset(inside), latches, tuple(inner)))
    return order, loops


def _header(inside: set[int], entry: int, blocks: set[int], successors: list[list[int]]) -> int:
    """Return the block by which a cycle is entered, the first one where there are several."""
    if entry in inside:
        return entry
    entered = {s for b in blocks - inside for s in successors[b] if s in inside}
    return min(entered) if entered else min(inside)


def _components(blocks: set[int], entry: int, successors: list[list[int]]) -> list[list[int]]:
    """Return the strongly connected components that `entry` reaches, each after those that it leads to (Tarjan's)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    found: list[list[int]] = []
    work: list[tuple[int, int]] = [(entry, 0)]
    while work:
        block, position = work.pop()
        if position == 0:
            index[block] = low[block] = len(index)
            stack.append(block)
            on_stack.add(block)
        following = [s for s in successors[block] if s in blocks]
        if position and (before := following[position - 1]) in on_stack:
            low[block] = min(low[block], low[before])
        while position < len(following) and following[position] in index:
            if following[position] in on_stack:
                low[block] = min(low[block], index[following[position]])
            position += 1
        if position < len(following):
            work += [(block, position + 1), (following[position], 0)]
            continue
        if low[block] == index[block]:
            component: list[int] = []
            while not component or component[-1] != block:
                component.append(stack.pop())
                on_stack.remove(component[-1])
            found.append(component)
    return found


def dominators(successors: list[list[int]]) -> list[set[int]]:
    """Return the blocks through which every way from the entry to a block goes, itself among them."""
    reached = _reached(successors)
    predecessors: dict[int, list[int]] = {block: [] for block in reached}
    for block in reached:
        for following in successors[block]:
            predecessors[following].append(block)
    every = set(reached)
    found = [set(every) for _ in successors]
    found[0] = {0}
    changed = True
    while changed:
        changed = False
        for block in reached[1:]:
            new = set.intersection(*(found[b] for b in predecessors[block])) | {block}
            if new != found[block]:
                found[block], changed = new, True
    return found
