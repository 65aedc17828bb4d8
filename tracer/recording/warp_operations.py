"""Warp operations: the lanes that a mask names converge, and each takes away what the others brought.

After "Warp Vote Functions", "Warp Match Functions" and "Warp Shuffle Functions" in the CUDA C++ Programming
Guide. Where the guide leaves a result undefined (a shuffle from a lane that is not there), a lane gets
its own value back. What the guide forbids is noted (`MaskFaults`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..model.trace import COMPARED, VOTED_NO, VOTED_YES, WARP, MissingLanes
from ..model.user_code import Code

ALL = 0xFFFFFFFF
Instruction = tuple[Code, int]  # the instruction that a warp operation is
Converge = Callable[
    ..., dict[int, Any]
]  # (mask, value, *, orders=False, source=None, part=0), see WarpOperations


class ConvergingLanes:
    """The lanes of one mask that have come to a warp operation: what each brought, from where, and whom it asks.

    An `open` one is not waited for: it is of those lanes that have come once all others wait elsewhere or have ended.
    """

    def __init__(self, mask: int, *, is_open: bool = False) -> None:
        self.mask, self.is_open = mask, is_open
        self.values: dict[int, Any] = {}
        self.instructions: dict[int, Instruction] = {}
        self.sources: list[int] = []
        self.threads: list[Any] = []


class WarpOperations:
    """The warp functions of `cuda`.

    `converge(mask, value)` waits for the lanes and returns {lane: value}; with `orders` it orders their memory, which
    a shuffle or a vote does not promise ("Warp Shuffle Functions"). `source` is the lane whose value is taken, `part`
    the lane's part in the operation (`Barriers`).
    """

    def __init__(self, converge: Converge, lane: Callable[[], int]) -> None:
        self._converge = converge
        self._lane = lane

    def syncwarp(self, mask: int = ALL) -> None:
        """Wait for the lanes of the mask."""
        self._converge(mask, None, orders=True)

    def shfl_sync(self, mask: int, value: Any, src_lane: int) -> Any:
        """Return the value of a lane, counted modulo 32."""
        return self._from(mask, value, int(src_lane) % WARP)

    def shfl_up_sync(self, mask: int, value: Any, delta: int) -> Any:
        """Return the value of the lane `delta` below; the lowest lanes keep their own."""
        return self._from(mask, value, self._lane() - int(delta))

    def shfl_down_sync(self, mask: int, value: Any, delta: int) -> Any:
        """Return the value of the lane `delta` above; the highest lanes keep their own."""
        return self._from(mask, value, self._lane() + int(delta))

    def shfl_xor_sync(self, mask: int, value: Any, lane_mask: int) -> Any:
        """Return the value of the lane whose number differs in the bits of `lane_mask`."""
        return self._from(mask, value, self._lane() ^ int(lane_mask))

    def _from(self, mask: int, value: Any, source: int) -> Any:
        giver = source if 0 <= source < WARP else self._lane()
        found = self._converge(mask, value, source=source, part=giver + 1).get(source)
        return value if found is None else found  # a lane at syncwarp brings nothing

    def all_sync(self, mask: int, predicate: Any) -> bool:
        """Return whether the predicate holds in every lane."""
        return all(self._converge(mask, predicate, part=_vote(predicate)).values())

    def any_sync(self, mask: int, predicate: Any) -> bool:
        """Return whether the predicate holds in any lane."""
        return any(self._converge(mask, predicate, part=_vote(predicate)).values())

    def eq_sync(self, mask: int, predicate: Any) -> bool:
        """Return whether the predicate is the same in every lane."""
        return len({bool(p) for p in self._converge(mask, predicate, part=_vote(predicate)).values()}) == 1

    def ballot_sync(self, mask: int, predicate: Any) -> int:
        """Return a bit for each lane in which the predicate holds."""
        return lanes(lane for lane, p in self._converge(mask, predicate, part=_vote(predicate)).items() if p)

    def match_any_sync(self, mask: int, value: Any) -> int:
        """Return a bit for each lane with the same value."""
        return lanes(
            lane for lane, other in self._converge(mask, value, part=COMPARED).items() if other == value
        )

    def match_all_sync(self, mask: int, value: Any) -> tuple[int, bool]:
        """Return (the mask, True) where all lanes have the same value, else (0, False)."""
        same = all(other == value for other in self._converge(mask, value, part=COMPARED).values())
        return (int(mask) & ALL if same else 0), same

    def lanemask_lt(self) -> int:
        """Return a bit for each lane below this one."""
        return (1 << self._lane()) - 1


def _vote(predicate: Any) -> int:
    return VOTED_YES if predicate else VOTED_NO


def warp_operations(converge: Converge, lane: Callable[[], int]) -> dict[str, Any]:
    """Return the warp functions of `cuda` by name."""
    operations = WarpOperations(converge, lane)
    return {name: getattr(operations, name) for name in vars(WarpOperations) if not name.startswith("_")}


class Participants(Struct, frozen=True):
    """Who came to a warp operation that goes on, and who else could have."""

    block: int  # linear number in the grid
    warp: int  # number in the block
    mask: int  # a bit for each lane that it names
    sites: dict[int, int]  # where each lane is, in the order in which they came
    sources: list[int]  # lanes whose values are taken
    there: int  # a bit for each lane that has a thread
    running: int  # a bit for each lane whose thread has not ended
    step: int  # accesses of the launch before it


class MaskFaults:
    """Lanes that a launch's warp operations miss, or that their masks leave out: the first of a sort at each site."""

    def __init__(self) -> None:
        self._first: dict[tuple[int, str], MissingLanes] = {}

    def check(self, participants: Participants) -> None:
        """Keep what is new; lanes that a mask leaves out come one by one."""
        for fault in _faults_of(participants):
            key = (fault.site, fault.why)
            first = self._first.setdefault(key, fault)
            if fault.why == "unnamed" and (first.block, first.warp) == (fault.block, fault.warp):
                self._first[key] = replace(first, missing=first.missing | fault.missing)

    def found(self) -> tuple[MissingLanes, ...]:
        """Return them in the order in which they happened."""
        return tuple(self._first.values())


def _faults_of(participants: Participants) -> Iterator[MissingLanes]:
    """Return what the guide forbids, or lets pass without a promise, in a warp operation."""
    mask, here = participants.mask, lanes(participants.sites)
    site = next(iter(participants.sites.values()))
    where = (participants.block, participants.warp, site, mask)
    if outside := here & ~mask:
        yield MissingLanes(*where, outside, participants.step, "unnamed")
        return
    if waiting := mask & participants.running & ~here:
        yield MissingLanes(*where, waiting, participants.step)
    gone = mask & ~participants.running
    if read := gone & lanes({source for source in participants.sources if 0 <= source < WARP}):
        yield MissingLanes(*where, read, participants.step, "read")
    elif ended := gone & participants.there:
        yield MissingLanes(*where, ended, participants.step, "ended")
    for other in dict.fromkeys(participants.sites.values()):
        if other != site:
            apart = lanes(lane for lane, one in participants.sites.items() if one == other)
            yield MissingLanes(*where, apart, participants.step, "apart", other)


def lanes(numbers: Any) -> int:
    """Return the mask with a bit for each of these lanes."""
    mask = 0
    for lane in numbers:
        mask |= 1 << lane
    return mask
