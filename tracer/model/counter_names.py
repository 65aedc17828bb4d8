"""The names of the counters, which a trace's totals bear too: what is counted, of which memory, in which measure."""

from __future__ import annotations

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
