"""Warp operations: the lanes of a mask converge and exchange values.

See "Warp Vote Functions", "Warp Match Functions" and "Warp Shuffle Functions" in the CUDA C++ Programming Guide. If the
guide leaves a result undefined, as for a shuffle from a missing lane, a lane gets its own value back. Forbidden uses
are recorded as `MaskFaults`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..model.trace import COMPARED, VOTED_NO, VOTED_YES, WARP, MissingLanes
from ..model.user_code import Code

ALL = 0xFFFFFFFF
Instruction = tuple[Code, int]  # the instruction of a warp operation
Converge = Callable[
    ..., dict[int, Any]
]  # (mask, value, *, orders=False, source=None, part=0), see WarpOperations


class ConvergingLanes:
    """The lanes of one mask that have arrived at a warp operation: their values, instructions and source lanes.

    An open operation does not wait for all lanes of the mask. It completes with the arrived lanes once all others wait
    elsewhere or have ended.
    """

    def __init__(self, mask: int, *, is_open: bool = False) -> None:
        self.mask, self.is_open = mask, is_open
        self.values: dict[int, Any] = {}
        self.instructions: dict[int, Instruction] = {}
        self.sources: list[int] = []
        self.threads: list[Any] = []


class WarpOperations:
    """The warp functions of `cuda`.

    `converge(mask, value)` waits for the lanes and returns {lane: value}. With `orders` it also orders their memory
    accesses, which shuffles and votes do not guarantee ("Warp Shuffle Functions"). `source` is the lane whose value is
    read, `part` the lane's part in the operation (`Barriers`).
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
        received = self._converge(mask, value, source=source, part=giver + 1).get(source)
        return value if received is None else received  # a lane at syncwarp has no value

    def all_sync(self, mask: int, predicate: Any) -> bool:
        """Test whether the predicate is true in every lane."""
        return all(self._converge(mask, predicate, part=_vote(predicate)).values())

    def any_sync(self, mask: int, predicate: Any) -> bool:
        """Test whether the predicate is true in any lane."""
        return any(self._converge(mask, predicate, part=_vote(predicate)).values())

    def eq_sync(self, mask: int, predicate: Any) -> bool:
        """Test whether the predicate is the same in every lane."""
        return len({bool(p) for p in self._converge(mask, predicate, part=_vote(predicate)).values()}) == 1

    def ballot_sync(self, mask: int, predicate: Any) -> int:
        """Return a bit for each lane in which the predicate is true."""
        return lanes(lane for lane, p in self._converge(mask, predicate, part=_vote(predicate)).items() if p)

    def match_any_sync(self, mask: int, value: Any) -> int:
        """Return a bit for each lane with the same value."""
        return lanes(
            lane for lane, other in self._converge(mask, value, part=COMPARED).items() if other == value
        )

    def match_all_sync(self, mask: int, value: Any) -> tuple[int, bool]:
        """Return (the mask, True) if all lanes have the same value, otherwise (0, False)."""
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
    """The lanes that arrived at a completed warp operation, and those that could have."""

    block: int  # linear number in the grid
    warp: int  # number in the block
    mask: int  # a bit for each lane in the mask
    sites: dict[int, int]  # site of each lane, in order of arrival
    sources: list[int]  # lanes whose values are read
    there: int  # a bit for each lane that has a thread
    running: int  # a bit for each lane whose thread has not ended
    step: int  # number of the launch's accesses before it


class MaskFaults:
    """The mask faults of a launch: missing lanes and lanes outside a mask, the first of each kind at each site."""

    def __init__(self) -> None:
        self._first: dict[tuple[int, str], MissingLanes] = {}

    def check(self, participants: Participants) -> None:
        """Add the new faults of a warp operation; lanes outside a mask arrive one by one and are merged."""
        for fault in _faults_of(participants):
            key = (fault.site, fault.why)
            first = self._first.setdefault(key, fault)
            if fault.why == "unnamed" and (first.block, first.warp) == (fault.block, fault.warp):
                self._first[key] = replace(first, missing=first.missing | fault.missing)

    def faults(self) -> tuple[MissingLanes, ...]:
        """Return the faults in order of occurrence."""
        return tuple(self._first.values())


def _faults_of(participants: Participants) -> Iterator[MissingLanes]:
    """Yield the faults of a warp operation that the guide forbids or leaves undefined."""
    mask, arrived = participants.mask, lanes(participants.sites)
    site = next(iter(participants.sites.values()))
    location = (participants.block, participants.warp, site, mask)
    if outside := arrived & ~mask:
        yield MissingLanes(*location, outside, participants.step, "unnamed")
        return
    if waiting := mask & participants.running & ~arrived:
        yield MissingLanes(*location, waiting, participants.step)
    ended_lanes = mask & ~participants.running
    outside = lanes_outside(mask, participants.sources)
    if outside and not _drops_undefined(mask, [*participants.sites], participants.sources):
        yield MissingLanes(*location, outside, participants.step, "outside")
    if read := ended_lanes & lanes({source for source in participants.sources if 0 <= source < WARP}):
        yield MissingLanes(*location, read, participants.step, "read")
    elif ended := ended_lanes & participants.there:
        yield MissingLanes(*location, ended, participants.step, "ended")
    for other in dict.fromkeys(participants.sites.values()):
        if other != site:
            separate = lanes(lane for lane, lane_site in participants.sites.items() if lane_site == other)
            yield MissingLanes(*location, separate, participants.step, "apart", other)


def _drops_undefined(mask: int, arrived: Sequence[int], sources: Sequence[int]) -> bool:
    """Check for a step of a sum over 2, 4, 8 or 16 lanes next to each other, whose last lanes take values from beyond.

    All take from the same distance, and the lanes that take from within the mask need no value of the others.
    """
    size, low = mask.bit_count(), mask & -mask
    is_group = (
        size & (size - 1) == 0 and mask == ((1 << size) - 1) * low and low.bit_length() % size == 1 % size
    )
    distances = {source - lane for lane, source in zip(arrived, sources, strict=False)}
    is_partly_inside = any(0 <= source < WARP and mask >> source & 1 for source in sources)
    return is_group and len(distances) == 1 and is_partly_inside


def lanes_outside(mask: int, sources: Sequence[int]) -> int:
    """Return a bit for each lane outside a mask from which a shuffle takes a value."""
    return lanes({source for source in sources if 0 <= source < WARP and not mask >> source & 1})


def lanes(numbers: Any) -> int:
    """Build the mask with a bit for each of these lanes."""
    mask = 0
    for lane in numbers:
        mask |= 1 << lane
    return mask
