"""Everything worth telling about a launch."""

from __future__ import annotations

from ..analysis.requests import Requests
from ..model.finding import FINDING_KINDS, SEVERITIES, Finding, place_of, rank
from ..model.trace import Trace
from ..races.detect import races_of
from ..races.missed_barriers import missed_barriers_of
from ..type_inference.client import Operation
from .barriers import barrier_findings
from .float64 import float64_findings
from .launch_limits import in_one_memory, launch_findings
from .out_of_bounds import bounds_findings, wrapped_findings
from .races import race_findings
from .uninitialised import unwritten_findings
from .warp_masks import warp_mask_findings
from .waste.all_waste import waste_findings

__all__ = ["FINDING_KINDS", "SEVERITIES", "Finding", "findings_of", "place_of"]


def findings_of(trace: Trace, requests: Requests, operations: tuple[Operation, ...] = ()) -> list[Finding]:
    """Return the findings of a trace, errors first, then by kind (as in FINDING_KINDS) and moment.

    operations: the float64 arithmetic that Numba's type inference found, see `types_findings`.
    """
    missed = missed_barriers_of(trace)
    found = [
        *race_findings(trace, requests, races_of(trace, missed)),
        *barrier_findings(trace, requests, missed),
        *warp_mask_findings(trace, requests),
        *bounds_findings(trace, requests),
        *unwritten_findings(trace, requests),
        *launch_findings(trace),
        *wrapped_findings(trace, requests),
        *waste_findings(trace, requests),
        *float64_findings(trace, requests, operations),
    ]
    found = [in_one_memory(finding, trace) for finding in found]
    return sorted(found, key=lambda f: rank(f.severity, f.kind, f.moment))
