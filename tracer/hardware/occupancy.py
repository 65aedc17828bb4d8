"""Occupancy, modelled: the blocks of a kernel that fit on a multiprocessor, and what limits them.

After NVIDIA's "CUDA C++ Programming Guide", Technical Specifications per Compute Capability, and the occupancy
calculator of the CUDA Toolkit (cuda_occupancy.h). Warps get registers in units of 256 from four partitions. Blocks get
shared memory in units; from compute capability 8.0 on the system reserves 1 KiB more per block.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

WARP: Final = 32  # threads
LARGEST_BLOCK: Final = 1024  # threads
REGISTERS: Final = 65_536  # of a multiprocessor, and the most of a block
PARTITIONS: Final = 4  # of a multiprocessor, each with a quarter of the registers
REGISTER_UNIT: Final = 256  # registers of one allocation for a warp
MOST_REGISTERS: Final = 255  # of a thread
KIB: Final = 1024  # bytes
UNBOUNDED: Final = 1 << 30  # blocks, if a kernel does not need the resource

Limiter = Literal["registers", "shared memory", "threads", "blocks"]
Capability = tuple[int, int]  # compute capability: major, minor


class Multiprocessor(Struct, frozen=True):
    """The resources of a multiprocessor."""

    warps: int  # resident at once
    blocks: int  # resident at once
    shared_kib: tuple[int, ...]  # possible sizes of its shared memory, ascending; the rest is L1 cache
    shared_unit: int  # bytes of one allocation of shared memory
    reserved: int  # bytes that the system takes for each block

    @property
    def shared_bytes(self) -> int:
        """The shared memory of all its blocks together, including the reserved part."""
        return KIB * self.shared_kib[-1]

    @property
    def block_bytes(self) -> int:
        """The most static and dynamic shared memory that a block may request."""
        return self.shared_bytes - self.reserved


def _volta(warps: int, blocks: int, *shared_kib: int) -> Multiprocessor:
    return Multiprocessor(warps, blocks, shared_kib, 256, 0)


def _ampere(warps: int, blocks: int, *shared_kib: int) -> Multiprocessor:
    return Multiprocessor(warps, blocks, shared_kib, 128, KIB)


_SMALL, _MIDDLE = (0, 8, 16, 32, 64, 100), (0, 8, 16, 32, 64, 100, 132, 164)
_LARGE = (*_MIDDLE, 196, 228)
MULTIPROCESSORS: Final[dict[Capability, Multiprocessor]] = {
    (7, 0): _volta(64, 32, 0, 8, 16, 32, 64, 96),
    (7, 2): _volta(64, 32, 0, 8, 16, 32, 64, 96),
    (7, 5): _volta(32, 16, 32, 64),
    (8, 0): _ampere(64, 32, *_MIDDLE),
    (8, 6): _ampere(48, 16, *_SMALL),
    (8, 7): _ampere(48, 16, *_MIDDLE),
    (8, 9): _ampere(48, 24, *_SMALL),
    (9, 0): _ampere(64, 32, *_LARGE),
    (10, 0): _ampere(64, 32, *_LARGE),
    (10, 1): _ampere(48, 24, *_LARGE),  # 11.0 from CUDA 13 on
    (10, 3): _ampere(64, 32, *_LARGE),
    (11, 0): _ampere(48, 24, *_LARGE),
    (12, 0): _ampere(48, 24, *_SMALL),
    (12, 1): _ampere(48, 24, *_SMALL),
}


class Occupancy(Struct, frozen=True):
    """The largest number of concurrent blocks of a launch on a multiprocessor."""

    blocks: int  # 0 if a block does not fit
    warps: int  # of these blocks
    most_warps: int  # the limit of a multiprocessor
    limits: dict[Limiter, int]  # blocks that each resource allows by itself

    @property
    def share(self) -> float:
        """The warps as a share of the limit, 0 to 1."""
        return self.warps / self.most_warps

    @property
    def limiters(self) -> tuple[Limiter, ...]:
        """The resources that limit the blocks; several if they tie."""
        return tuple(name for name, blocks in self.limits.items() if blocks == self.blocks)


def occupancy(capability: Capability, registers: int, shared_bytes: int, threads: int) -> Occupancy | None:
    """Compute the occupancy of a launch; return None for a compute capability that is not in the tables.

    registers: per thread. shared_bytes: static and dynamic, per block; more than 48 KiB are assumed to be allowed (a
    program must request them). threads: per block. Raises ValueError for impossible numbers.
    """
    if registers < 0 or shared_bytes < 0 or threads < 1:
        raise ValueError(f"no launch has {registers} registers, {shared_bytes} bytes and {threads} threads")
    room = MULTIPROCESSORS.get(capability)
    if room is None:
        return None
    warps = -(-threads // WARP)
    limits: dict[Limiter, int] = {
        "registers": _by_registers(registers, warps),
        "shared memory": _by_shared_memory(room, shared_bytes),
        "threads": room.warps // warps if threads <= LARGEST_BLOCK else 0,
        "blocks": room.blocks,
    }
    blocks = min(limits.values())
    return Occupancy(blocks, blocks * warps, room.warps, limits)


def _by_registers(registers: int, warps: int) -> int:
    """Count the blocks whose warps have registers; those of a warp lie in one partition."""
    a_warp = _rounded_up(registers * WARP, REGISTER_UNIT)
    # The driver refuses a launch by its needs with equal numbers of warps in all partitions.
    if registers > MOST_REGISTERS or a_warp * _rounded_up(warps, PARTITIONS) > REGISTERS:
        return 0
    if not a_warp:
        return UNBOUNDED
    return REGISTERS // PARTITIONS // a_warp * PARTITIONS // warps


def _by_shared_memory(room: Multiprocessor, shared_bytes: int) -> int:
    if shared_bytes > room.block_bytes:
        return 0
    a_block = _rounded_up(shared_bytes + room.reserved, room.shared_unit)
    return room.shared_bytes // a_block if a_block else UNBOUNDED


def _rounded_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
