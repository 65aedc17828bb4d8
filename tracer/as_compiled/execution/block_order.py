"""The order in which a warp's lanes go through the blocks of a function, and the places where its loops repeat.

Lanes that diverged meet again where their paths join. The scheduler always continues the lanes that are furthest
behind. That makes them meet if "behind" is an order in which every loop is contiguous and its body goes forwards:
lanes that left a loop, or a branch, wait for the others. A GPU's compiler joins lanes at the same places.
"""

from __future__ import annotations

import msgspec


class Loop(msgspec.Struct, frozen=True):
    """A loop: its blocks, its entry, and the blocks that jump back to it."""

    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]
    inner: tuple[Loop, ...]  # loops in it, the outermost of these


def order_blocks(successors: list[list[int]]) -> tuple[list[int], list[Loop]]:
    """Return the blocks of a function in that order, without unreachable ones, and its outermost loops.

    successors: of each block; the first one is the entry.
    """
    return _ordered(set(_reached(successors)), 0, successors)


def _reached(successors: list[list[int]]) -> list[int]:
    reached, pending = {0}, [0]
    while pending:
        for block in successors[pending.pop()]:
            if block not in reached:
                reached.add(block)
                pending.append(block)
    return sorted(reached)


def _ordered(blocks: set[int], entry: int, successors: list[list[int]]) -> tuple[list[int], list[Loop]]:
    """Order blocks from `entry`: topologically, each cycle contiguous."""
    order: list[int] = []
    loops: list[Loop] = []
    for component in reversed(_components(blocks, entry, successors)):
        if len(component) == 1 and component[0] not in successors[component[0]]:
            order.append(component[0])
            continue
        inside = set(component)
        header = _header(inside, entry, blocks, successors)
        latches = tuple(sorted(block for block in inside if header in successors[block]))
        without = [
            [successor for successor in successors[block] if successor in inside and successor != header]
            if block in inside
            else []
            for block in range(len(successors))
        ]
        inner_order, inner = _ordered(inside, header, without)
        unordered = sorted(inside - set(inner_order))  # in cycles with several entries
        order += [*inner_order, *unordered]
        loops.append(Loop(header, frozenset(inside), latches, tuple(inner)))
    return order, loops


def _header(inside: set[int], entry: int, blocks: set[int], successors: list[list[int]]) -> int:
    """Return the block by which a cycle is entered, the first one if there are several."""
    if entry in inside:
        return entry
    entered = {
        successor for block in blocks - inside for successor in successors[block] if successor in inside
    }
    return min(entered) if entered else min(inside)


def _components(blocks: set[int], entry: int, successors: list[list[int]]) -> list[list[int]]:
    """List the strongly connected components reachable from `entry`, each after those that it leads to (Tarjan's)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    components: list[list[int]] = []
    work: list[tuple[int, int]] = [(entry, 0)]
    while work:
        block, position = work.pop()
        if position == 0:
            index[block] = low[block] = len(index)
            stack.append(block)
            on_stack.add(block)
        following = [successor for successor in successors[block] if successor in blocks]
        if position and (child := following[position - 1]) in on_stack:
            low[block] = min(low[block], low[child])
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
            components.append(component)
    return components


def dominators(successors: list[list[int]]) -> list[set[int]]:
    """List the blocks on every path from the entry to a block, the block included."""
    reached = _reached(successors)
    predecessors: dict[int, list[int]] = {block: [] for block in reached}
    for block in reached:
        for following in successors[block]:
            predecessors[following].append(block)
    all_blocks = set(reached)
    dominators_of = [set(all_blocks) for _ in successors]
    dominators_of[0] = {0}
    changed = True
    while changed:
        changed = False
        for block in reached[1:]:
            updated = set.intersection(
                *(dominators_of[predecessor] for predecessor in predecessors[block])
            ) | {block}
            if updated != dominators_of[block]:
                dominators_of[block], changed = updated, True
    return dominators_of
