"""All findings about a launch: the functions that each look for one kind."""

from __future__ import annotations

from msgspec.structs import replace

from ..analysis.kernel_structure import is_in_cuda_cpp
from ..analysis.requests import Requests
from ..model.finding import Finding, sort_key
from ..model.trace import ALIAS_SEPARATOR, Trace
from ..races.detect import races_of
from ..races.missed_barriers import missed_barriers_of
from ..type_inference.client import Operation
from .barriers import barrier_findings, merge_return_warnings
from .cuda_cpp_words import in_cuda_cpp
from .float64 import float64_findings
from .launch_limits import launch_limit_findings
from .out_of_bounds import out_of_bounds_findings
from .races import race_findings
from .same_cause import merge_by_cause
from .stopped_kernels import stopped_kernel_findings
from .uninitialised import uninitialised_findings
from .warp_masks import warp_mask_findings
from .waste.all_waste import waste_findings
from .wrapped_index import wrapped_index_findings


def findings_of(trace: Trace, requests: Requests, operations: tuple[Operation, ...] = ()) -> list[Finding]:
    """Return the findings of a trace, one for each cause: errors first, then by kind (as in FINDING_KINDS) and moment.

    operations: the float64 arithmetic that Numba's type inference found, see `type_inference.client`.
    """
    missed = missed_barriers_of(trace)
    findings = [
        *race_findings(trace, requests, races_of(trace, missed)),
        *barrier_findings(trace, requests, missed),
        *warp_mask_findings(trace, requests),
        *out_of_bounds_findings(trace, requests),
        *wrapped_index_findings(trace, requests),
        *uninitialised_findings(trace, requests),
        *launch_limit_findings(trace),
        *stopped_kernel_findings(trace),
        *waste_findings(trace, requests),
        *float64_findings(trace, requests, operations),
    ]
    findings = merge_return_warnings(findings, trace, missed)
    findings = [_naming_aliases(finding, trace) for finding in merge_by_cause(findings, trace)]
    if is_in_cuda_cpp(trace):
        findings = [in_cuda_cpp(finding) for finding in findings]
    return sorted(findings, key=lambda f: sort_key(f.severity, f.kind, f.moment))


def _naming_aliases(finding: Finding, trace: Trace) -> Finding:
    """Add to a finding which of the arguments it names lie in one array."""
    for name in dict.fromkeys(b.name for b in trace.buffers if ALIAS_SEPARATOR in b.name):
        if name in finding.statement:
            also = f" ({' and '.join(name.split(ALIAS_SEPARATOR))} lie in one array)."
            return replace(finding, statement=finding.statement.removesuffix(".") + also)
    return finding
