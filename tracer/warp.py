"""Warp operations: the lanes that a mask names meet, and each takes away what the others brought.

After "Warp Vote Functions", "Warp Match Functions" and "Warp Shuffle Functions" in the CUDA C++ Programming
Guide. Where the guide leaves a result undefined (a shuffle from a lane that is not there), a lane gets
its own value back.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from .trace import WARP

ALL = 0xFFFFFFFF
Place = tuple[CodeType, int]  # the instruction that a warp operation is
Meet = Callable[..., dict[int, Any]]  # (mask, value, *, orders: bool = False), see WarpOperations


class Meeting:
    """The lanes of one mask that have come to a warp operation, and what each brought."""

    def __init__(self, mask: int, place: Place) -> None:
        self.mask = mask
        self.place = place
        self.values: dict[int, Any] = {}
        self.threads: list[Any] = []


class WarpOperations:
    """The warp functions of `cuda`.

    `meet(mask, value)` waits for the lanes and returns {lane: value}; with `orders` it orders their memory, which
    a shuffle or a vote does not promise ("Warp Shuffle Functions").
    """

    def __init__(self, meet: Meet, lane: Callable[[], int]) -> None:
        self._meet = meet
        self._lane = lane

    def syncwarp(self, mask: int = ALL) -> None:
        """Wait for the lanes of the mask."""
        self._meet(mask, None, orders=True)

    def shfl_sync(self, mask: int, value: Any, src_lane: int) -> Any:
        """Return the value of a lane, counted modulo 32."""
        return self._meet(mask, value).get(int(src_lane) % WARP, value)

    def shfl_up_sync(self, mask: int, value: Any, delta: int) -> Any:
        """Return the value of the lane `delta` below; the lowest lanes keep their own."""
        return self._meet(mask, value).get(self._lane() - int(delta), value)

    def shfl_down_sync(self, mask: int, value: Any, delta: int) -> Any:
        """Return the value of the lane `delta` above; the highest lanes keep their own."""
        return self._meet(mask, value).get(self._lane() + int(delta), value)

    def shfl_xor_sync(self, mask: int, value: Any, lane_mask: int) -> Any:
        """Return the value of the lane whose number differs in the bits of `lane_mask`."""
        return self._meet(mask, value).get(self._lane() ^ int(lane_mask), value)

    def all_sync(self, mask: int, predicate: Any) -> bool:
        """Return whether the predicate holds in every lane."""
        return all(self._meet(mask, predicate).values())

    def any_sync(self, mask: int, predicate: Any) -> bool:
        """Return whether the predicate holds in any lane."""
        return any(self._meet(mask, predicate).values())

    def eq_sync(self, mask: int, predicate: Any) -> bool:
        """Return whether the predicate is the same in every lane."""
        return len({bool(p) for p in self._meet(mask, predicate).values()}) == 1

    def ballot_sync(self, mask: int, predicate: Any) -> int:
        """Return a bit for each lane in which the predicate holds."""
        return lanes(lane for lane, p in self._meet(mask, predicate).items() if p)

    def match_any_sync(self, mask: int, value: Any) -> int:
        """Return a bit for each lane with the same value."""
        return lanes(lane for lane, other in self._meet(mask, value).items() if other == value)

    def match_all_sync(self, mask: int, value: Any) -> tuple[int, bool]:
        """Return (the mask, True) where all lanes have the same value, else (0, False)."""
        same = all(other == value for other in self._meet(mask, value).values())
        return (int(mask) & ALL if same else 0), same

    def lanemask_lt(self) -> int:
        """Return a bit for each lane below this one."""
        return (1 << self._lane()) - 1


def warp_operations(meet: Meet, lane: Callable[[], int]) -> dict[str, Any]:
    """Return the warp functions of `cuda` by name."""
    operations = WarpOperations(meet, lane)
    return {name: getattr(operations, name) for name in vars(WarpOperations) if not name.startswith("_")}


def lanes(numbers: Any) -> int:
    """Return the mask with a bit for each of these lanes."""
    mask = 0
    for lane in numbers:
        mask |= 1 << lane
    return mask
