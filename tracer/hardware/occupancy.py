"""Occupancy, modelled: how many blocks of a kernel fit on a multiprocessor at once, and what keeps more away.

After NVIDIA's "CUDA C++ Programming Guide", Technical Specifications per Compute Capability, and the occupancy
calculator of the CUDA Toolkit (cuda_occupancy.h): registers are given to warps in units of 256 and lie in four
partitions, shared memory is given to blocks in units, from compute capability 8.0 on with 1 KiB more for the system.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

WARP: Final = 32  # threads
LARGEST_BLOCK: Final = 1024  # threads
REGISTERS: Final = 65_536  # of a multiprocessor, and the most of a block
PARTITIONS: Final = 4  # of a multiprocessor, each with a quarter of the registers
REGISTER_UNIT: Final = 256  # registers that a warp is given at a time
MOST_REGISTERS: Final = 255  # of a thread
KIB: Final = 1024  # bytes
UNBOUNDED: Final = 1 << 30  # blocks, of what a kernel takes nothing of

Limiter = Literal["registers", "shared memory", "threads", "blocks"]
Capability = tuple[int, int]  # compute capability: major, minor


class Multiprocessor(Struct, frozen=True):
    """What a multiprocessor has room for."""

    warps: int  # at once
    blocks: int  # at once
    shared_kib: tuple[int, ...]  # sizes that its shared memory can be set to, ascending; the rest is L1 cache
    shared_unit: int  # bytes of shared memory that a block is given at a time
    reserved: int  # bytes of it that the system takes for each block

    @property
    def shared_bytes(self) -> int:
        """The most shared memory of all its blocks together, with what the system takes."""
        return KIB * self.shared_kib[-1]

    @property
    def block_bytes(self) -> int:
        """The most static and dynamic shared memory of one block, as a kernel may ask for."""
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
    """How many blocks of a launch are on a multiprocessor at once, at most."""

    blocks: int  # 0 where a block does not fit at all
    warps: int  # of these blocks
    most_warps: int  # that a multiprocessor can have
    limits: dict[Limiter, int]  # blocks that each of these alone would allow

    @property
    def share(self) -> float:
        """The warps as a part of those that there can be, 0 to 1."""
        return self.warps / self.most_warps

    @property
    def limiters(self) -> tuple[Limiter, ...]:
        """What keeps more blocks away: several where they tie."""
        return tuple(name for name, blocks in self.limits.items() if blocks == self.blocks)


def occupancy(capability: Capability, registers: int, shared_bytes: int, threads: int) -> Occupancy | None:
    """Return the occupancy of a launch, None for a compute capability that is not in the tables.

    registers: of a thread. shared_bytes: static and dynamic, of a block; more than 48 KiB are taken as allowed, which
    a program has to ask for. threads: of a block. Raises ValueError for numbers that no launch has.
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
    """Return the blocks for whose warps there are registers; each warp's lie in one partition."""
    a_warp = _rounded_up(registers * WARP, REGISTER_UNIT)
    # A launch is refused by what it would take with as many warps in each partition.
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
