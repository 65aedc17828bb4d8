"""All findings about waste: the functions that each look for one kind.

A warning is for waste that the author can mend and that costs a tenth of the launch or more. Other waste is a note.
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
    """List the waste in a launch, as warnings and notes; a plain Python program has no lanes and none."""
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
