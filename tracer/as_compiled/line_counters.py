"""The counters of a launch as compiled, for each line of its source."""

from __future__ import annotations

from ..model.counter_names import GROUPS, MEASURES
from .job import CompiledCounters


def compiled_by_line(compiled: CompiledCounters) -> dict[tuple[str, int], dict[str, int]]:
    """Add up the compiled counters of each (file, line); line 0 has what the compiler merged of several lines."""
    lines: dict[tuple[str, int], dict[str, int]] = {}
    for site in compiled.sites:
        amounts = {
            "requests": site.requests, "instructions": site.requests, "sectors": site.cost, "wavefronts": site.cost,
            "bytes": site.lanes * site.size,
        }  # fmt: skip
        counters = lines.setdefault((site.file, site.line), {})
        for group, (space, ops) in GROUPS.items():
            if space == site.space and site.op in ops:
                for measure in MEASURES[space]:
                    name = f"{group}_{measure}"
                    counters[name] = counters.get(name, 0) + amounts[measure]
    return lines
