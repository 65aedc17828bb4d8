"""All findings about what is right but slow: the list of the functions that look for one kind each.

A warning is what its author can mend, where it costs a tenth of the launch or more; a note is for the rest.
"""

from __future__ import annotations

from ...analysis.minimum_cost import request_costs_of
from ...analysis.requests import Requests
from ...model.finding import Finding
from ...model.launch import decode, is_python_program
from ...model.trace import Trace
from .bank_conflicts import bank_conflict_findings
from .block_size import block_size_findings
from .divergence import divergence_findings
from .hot_atomics import hot_atomic_findings
from .overwritten import overwritten_findings
from .reloads import reload_findings
from .uncoalesced import uncoalesced_findings


def waste_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """Return what is right but wasteful on a GPU, as warnings and notes; a plain Python program has no lanes."""
    if trace.launch and is_python_program(decode(trace.launch)):
        return []
    if not len(trace):
        return block_size_findings(trace)
    costs = request_costs_of(trace, requests)
    return [
        *uncoalesced_findings(trace, requests, costs),
        *bank_conflict_findings(trace, requests, costs),
        *divergence_findings(trace, requests),
        *reload_findings(trace, requests, costs),
        *overwritten_findings(trace, requests, costs),
        *hot_atomic_findings(trace, requests, costs),
        *block_size_findings(trace),
    ]
