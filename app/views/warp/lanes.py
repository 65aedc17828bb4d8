"""One request, lane by lane: sectors, banks, shared elements and conflicts. No Qt."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ....tracer.analysis.minimum_cost import minimum_sectors, minimum_wavefronts
from ....tracer.analysis.request_cost import BANKS, SECTOR, WORD, parts_of
from ....tracer.analysis.requests import REQUEST_KINDS
from ....tracer.model.array_types import Ints
from ....tracer.model.trace import WARP, Buffer, Op
from ...model.session import Selection, Session
from ..common.outside import outside_of

LINE = 128  # bytes: four sectors of a cache line


class TouchedBytes(Struct, frozen=True):
    """Bytes that lanes access: of one sector, or one word of a bank."""

    target: int  # number of the sector, or of the bank
    first: int  # the first byte: an address, or an offset in the block's shared memory
    end: int  # one past the last byte
    lanes: tuple[int, ...]  # that access it, ascending
    part: int = 0  # of the warp: the parts access banks one after the other, see `parts_of`


class Lanes(Struct, frozen=True, eq=False, dict=True):
    """A request by its lanes, or a warp without a request."""

    session: Session
    request: int  # its number, -1 for none
    block: int  # linear number
    warp: int  # number in its block
    present: NDArray[np.bool_]  # (32,), lanes that have a thread
    row: Ints  # (32,), each lane's access (row of the trace), -1 for none
    address: Ints  # (32,), the first byte: an address, in shared memory an offset in the block's

    @property
    def active(self) -> list[int]:
        """The lanes that access memory."""
        return np.flatnonzero(self.row >= 0).tolist()

    @cached_property
    def outside(self) -> dict[int, str]:
        """The out-of-bounds accesses at the moment of the request, by lane."""
        if self.request < 0 or not len(self.session.trace.outside.block):
            return {}
        moment = int(self.session.requests.moment[self.request])
        first = Selection(self.block, self.warp * WARP)
        return {lane: access.text for lane, access in outside_of(self.session).lanes(moment, first)}

    @property
    def kind(self) -> str:
        """The kind of request, or ""."""
        return REQUEST_KINDS[int(self.session.requests.kind[self.request])] if self.request >= 0 else ""

    @property
    def buffer(self) -> Buffer:
        """The accessed buffer."""
        return self.session.trace.buffers[int(self.session.requests.buffer[self.request])]

    @property
    def is_atomic(self) -> bool:
        """Lanes that access the same element take turns."""
        return self.request >= 0 and int(self.session.requests.op[self.request]) >= Op.ATOMIC

    @cached_property
    def targets(self) -> Ints:
        """The accessed sectors or banks, ascending; empty outside global and shared memory."""
        return np.unique(np.array([p.target for p in self.touched], np.int64))

    @cached_property
    def touched(self) -> tuple[TouchedBytes, ...]:
        """The accessed bytes of each sector, or words of each bank, by address."""
        split = {"global": _in_sectors, "shared": _in_banks}.get(self.buffer.space if self.kind else "")
        return split(self) if split else ()

    @cached_property
    def cost(self) -> int:
        """The number of sectors in global memory, of wavefronts in shared memory."""
        requests = self.session.requests
        return int((requests.wavefronts if self.buffer.space == "shared" else requests.sectors)[self.request])

    @cached_property
    def minimum(self) -> int:
        """The fewest sectors or wavefronts for the same elements."""
        size = self.buffer.itemsize
        if self.buffer.space == "shared":
            return min(minimum_wavefronts(np.array(self.active), size), self.cost)
        return min(int(minimum_sectors(self.elements * size)), self.cost)

    @property
    def elements(self) -> int:
        """The number of distinct elements."""
        return len(np.unique(self.address[self.active]))

    @property
    def used_share(self) -> float:
        """The share of the accessed sectors' bytes that lanes request."""
        return sum(p.end - p.first for p in self.touched) / max(1, SECTOR * len(self.targets))

    def same_element_lanes(self, lane: int) -> list[int]:
        """List the lanes that access the same element, including this one."""
        return [other for other in self.active if self.address[other] == self.address[lane]]

    @property
    def contention(self) -> int:
        """The largest number of lanes that access the same element."""
        return int(np.unique(self.address[self.active], return_counts=True)[1].max())

    def neighbours(self, lane: int) -> list[int]:
        """List the lanes that access the same sectors or banks, including this one."""
        own_targets = {p.target for p in self.touched if lane in p.lanes}
        return sorted({other for p in self.touched if p.target in own_targets for other in p.lanes})


def lanes_of(session: Session, request: int) -> Lanes:
    """Collect a request lane by lane."""
    trace, requests = session.trace, session.requests
    rows = requests.accesses.rows_of(slice(request, request + 1))
    buffer = trace.buffers[int(requests.buffer[request])]
    row, address = np.full(WARP, -1, np.int64), np.full(WARP, -1, np.int64)
    lane = trace.thread[rows].astype(np.int64) % WARP
    row[lane] = rows
    address[lane] = buffer.address + trace.index[rows].astype(np.int64) * buffer.unit
    warp = int(requests.warp[request])
    return Lanes(session, request, int(requests.block[request]), warp, _present(session, warp), row, address)


def idle_lanes(session: Session, block: int, warp: int) -> Lanes:
    """Describe a warp without a request."""
    none = np.full(WARP, -1, np.int64)
    return Lanes(session, -1, block, warp, _present(session, warp), none, none)


def _present(session: Session, warp: int) -> NDArray[np.bool_]:
    return np.arange(WARP) + warp * WARP < session.trace.threads


def _in_sectors(lanes: Lanes) -> tuple[TouchedBytes, ...]:
    """List the requested elements, split at sectors, by address."""
    spans: dict[tuple[int, int], list[int]] = {}
    for lane in lanes.active:
        first, end = int(lanes.address[lane]), int(lanes.address[lane]) + lanes.buffer.itemsize
        for sector in range(first // SECTOR, (end - 1) // SECTOR + 1):
            span = max(first, sector * SECTOR), min(end, (sector + 1) * SECTOR)
            spans.setdefault(span, []).append(lane)
    return tuple(
        TouchedBytes(a // SECTOR, a, b, tuple(own_lanes)) for (a, b), own_lanes in sorted(spans.items())
    )


def _in_banks(lanes: Lanes) -> tuple[TouchedBytes, ...]:
    """List the words requested by each part of the warp, by bank and address."""
    words: dict[tuple[int, int], list[int]] = {}
    active, size = np.array(lanes.active), lanes.buffer.itemsize
    parts = parts_of(np.zeros_like(active), lanes.address[active], active, np.array([size])).tolist()
    for lane, part in zip(lanes.active, parts, strict=True):
        first = int(lanes.address[lane])
        for word in range(first // WORD, (first + size - 1) // WORD + 1):
            words.setdefault((word, part), []).append(lane)
    cut = [
        TouchedBytes(w % BANKS, w * WORD, w * WORD + WORD, tuple(own_lanes), p)
        for (w, p), own_lanes in words.items()
    ]
    return tuple(sorted(cut, key=lambda piece: (piece.target, piece.first, piece.part)))
