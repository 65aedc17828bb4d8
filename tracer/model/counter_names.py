"""Names of the counters and of a trace's totals, composed of the access, the memory and the measure."""

from __future__ import annotations

from collections.abc import Mapping

from .trace import Op

# Global traffic is counted in requests, sectors of 32 bytes and requested bytes; shared in instructions and
# wavefronts.
GROUPS = {
    "global_load": ("global", (Op.LOAD,)),
    "global_store": ("global", (Op.STORE,)),
    "global_atomic": ("global", (Op.ATOMIC,)),
    "global_reduction": ("global", (Op.REDUCTION,)),
    "shared_load": ("shared", (Op.LOAD,)),
    "shared_store": ("shared", (Op.STORE,)),
    "shared_atomic": ("shared", (Op.ATOMIC, Op.REDUCTION)),
}  # fmt: skip
MEASURES = {"global": ("requests", "sectors", "bytes"), "shared": ("instructions", "wavefronts")}
NAMES = tuple(f"{group}_{measure}" for group, (space, _) in GROUPS.items() for measure in MEASURES[space])
SUMS = {  # sums that the window shows: the space and the measure of the counters in each
    "global_sectors": ("global", "sectors"),
    "global_requests": ("global", "requests"),
    "global_bytes": ("global", "bytes"),
    "shared_requests": ("shared", "instructions"),
    "shared_wavefronts": ("shared", "wavefronts"),
}


def sum_of(counters: Mapping[str, int], name: str) -> int:
    """Add up the counters of a name in SUMS."""
    space, measure = SUMS[name]
    return sum(count for key, count in counters.items() if key.startswith(space) and key.endswith(measure))
