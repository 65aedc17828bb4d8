"""The names of the counters, which a trace's totals bear too: what is counted, of which memory, in which measure."""

from __future__ import annotations

from collections.abc import Mapping

from .trace import Op

# Global traffic is counted in requests, sectors of 32 bytes and bytes asked for, shared in instructions and
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
SUMS = {  # what the window shows: the space and the measure of the counters that a name adds up
    "global_sectors": ("global", "sectors"),
    "global_requests": ("global", "requests"),
    "global_bytes": ("global", "bytes"),
    "shared_requests": ("shared", "instructions"),
    "shared_wavefronts": ("shared", "wavefronts"),
}


def sum_of(counters: Mapping[str, int], name: str) -> int:
    """Add up the counters that a name of SUMS stands for."""
    space, measure = SUMS[name]
    return sum(n for key, n in counters.items() if key.startswith(space) and key.endswith(measure))
