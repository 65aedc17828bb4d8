"""The state of one thread during a replay: its recorded accesses, and the data flow found so far."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from ..model.trace import ALIAS_SEPARATOR, Op
from .carried import AccessPosition
from .replay_values import UNKNOWN

READ, OUTSIDE, EXCHANGE = 1, 2, 3  # kinds of a node without parents
MOST_WORK = 2_000_000  # rounds of loops and calls of one thread
MOST_NODES = 2_000_000  # of one thread
NodeKind = int
Pair = tuple[object, int]  # a value and the node of its data flow, 0 for none


class ReplayEndError(Exception):
    """Raised where the recorded accesses of a thread end early, since its launch did."""


class ReplayError(Exception):
    """Raised where a replay can't continue; the text is a clause for a sentence."""


class ThreadEvents(Struct, eq=False):
    """The recorded events of a thread, in its order: its accesses, and those that lay outside their arrays."""

    places: list[AccessPosition]  # of each site of the trace
    site: list[int]  # of each event
    op: list[int]  # an `Op`
    row: list[int]  # of the trace; -1 - n for access n of the trace's `outside`
    arrays: list[str]  # names of the accessed arrays, joined by ALIAS_SEPARATOR
    value: list[object]  # that a load gave or a store wrote, UNKNOWN where there is none
    exchanges: list[
        tuple[int, int, int, int, int]
    ]  # arrival, site, part, lanes that voted yes, that voted no
    is_cut: bool  # whether later events of the thread may be missing
    value_before: Callable[[int], object]  # an atomic found, by its row

    def first(self, count: int) -> ThreadEvents:
        """Return the first events, as if the launch had ended there."""
        return replace(
            self,
            site=self.site[:count],
            op=self.op[:count],
            row=self.row[:count],
            arrays=self.arrays[:count],
            value=self.value[:count],
            is_cut=True,
        )


class ThreadFlow(Struct, eq=False):
    """The data flow of one thread. Nodes join what flows together; 0 is the node of nothing.

    Node n has two parents, or a kind (negative `left`) and a number: the row of a read, the number of an access
    outside its array, or an arrival at an exchange of the warp, whose value another lane gives.
    """

    left: array[int] = field(default_factory=lambda: array("q", [0]))
    right: array[int] = field(default_factory=lambda: array("q", [0]))
    stored: dict[int, int] = field(default_factory=dict)  # by row of a write, the node of its value
    index: dict[int, int] = field(default_factory=dict)  # by row, the node of its index, if any
    condition: dict[int, int] = field(
        default_factory=dict
    )  # by row, the node of conditions around it, if any
    given: dict[int, int] = field(
        default_factory=dict
    )  # by arrival at an exchange, the node of the value given
    reason: str = ""  # why the replay does not follow the complete thread; "" if it does
    followed: int = 0  # events that it followed

    def leaf(self, kind: NodeKind, number: int) -> int:
        """Add a node without parents."""
        self.left.append(-kind)
        self.right.append(number)
        return len(self.left) - 1

    def join(self, first: int, second: int) -> int:
        """Return the node of two values that flow together."""
        if not second or first == second:
            return first
        if not first:
            return second
        self.left.append(first)
        self.right.append(second)
        return len(self.left) - 1

    def leaves(self, node: int) -> Iterator[tuple[NodeKind, int]]:
        """Yield the kind and the number of each leaf below a node, each once."""
        pending, visited = [node], {0}
        while pending:
            current = pending.pop()
            if current in visited:
                continue
            visited.add(current)
            if self.left[current] < 0:
                yield -self.left[current], self.right[current]
            else:
                pending += (self.left[current], self.right[current])


class ReplayState:
    """A thread in the middle of a replay."""

    def __init__(
        self, events: ThreadEvents, flow: ThreadFlow, position: dict[str, int], work: int = MOST_WORK
    ) -> None:
        self.events, self.flow, self.position = events, flow, position
        self.event = self.exchange = self.guard = self.depth = 0
        self.work = work

    def spend(self) -> None:
        """Count a round of a loop or a call; raises ReplayError after too many."""
        self.work -= 1
        if self.work < 0 or len(self.flow.left) > MOST_NODES:
            raise ReplayError("the thread runs for too long")

    def is_next(self, place: AccessPosition, op: int) -> bool:
        """Test whether the thread's next event is such an access at a place."""
        events, number = self.events, self.event
        return (
            number < len(events.op)
            and events.op[number] == op
            and events.places[events.site[number]] == place
        )

    def load(self, place: AccessPosition, index: int = 0, name: str = "") -> Pair:
        """Follow a load from an array, if its name is known; return its value."""
        number, row = self._take(place, (Op.LOAD,))
        if name and row >= 0 and not _is_named(self.events.arrays[number], name):
            raise ReplayError(f"its recorded accesses differ from line {place[0]} on (it read another array)")
        self._note(row, index)
        return self.events.value[number], self._leaf(row)

    def store(self, place: AccessPosition, node: int, index: int) -> None:
        """Follow a store of a value with this node."""
        _, row = self._take(place, (Op.STORE,))
        self.flow.stored[row] = node
        self._note(row, index)

    def atomic(self, place: AccessPosition, node: int, index: int, *, keeps_old: bool) -> Pair:
        """Follow an atomic that combines a value with the old one, unless it replaces it; return the old value."""
        number, row = self._take(place, (Op.ATOMIC, Op.REDUCTION))
        old = self._leaf(row)
        self.flow.stored[row] = self.flow.join(old, node) if keeps_old else node
        self._note(row, index)
        if row < 0 or self.events.op[number] == Op.REDUCTION:
            return UNKNOWN, old
        return self.events.value_before(row), old

    def exchanged(self, place: AccessPosition, node: int) -> tuple[int, int, int, int]:
        """Follow a warp operation; return its arrival, part, and the lanes that voted yes and no."""
        exchanges, number = self.events.exchanges, self.exchange
        if number >= len(exchanges):
            self._end()
        arrival, site, part, yes, no = exchanges[number]
        if self.events.places[site] != place:
            raise ReplayError(f"the thread's recorded operation on line {place[0]} is another one")
        self.exchange += 1
        self.flow.given[arrival] = node
        return arrival, part, yes, no

    def _take(self, place: AccessPosition, ops: tuple[int, ...]) -> tuple[int, int]:
        events, number = self.events, self.event
        if number >= len(events.op):
            self._end()
        if events.places[events.site[number]] != place or events.op[number] not in ops:
            line = events.places[events.site[number]][0]
            raise ReplayError(
                f"its recorded accesses differ from line {place[0]} on (they go on at line {line})"
            )
        self.event += 1
        return number, events.row[number]

    def _end(self) -> None:
        if self.events.is_cut:
            raise ReplayEndError
        raise ReplayError("the thread made fewer accesses than its source text suggests")

    def _leaf(self, row: int) -> int:
        return self.flow.leaf(READ, row) if row >= 0 else self.flow.leaf(OUTSIDE, -1 - row)

    def _note(self, row: int, index: int) -> None:
        if index:
            self.flow.index[row] = index
        if self.guard:
            self.flow.condition[row] = self.guard


def _is_named(names: str, wanted: str) -> bool:
    """Test whether an array has this name; a field of a record belongs to the array before the point."""
    return wanted in (name.partition(".")[0] for name in names.split(ALIAS_SEPARATOR))
