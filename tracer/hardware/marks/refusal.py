"""Reasons why cases can't have a timeline."""

from __future__ import annotations

from ....kernels.scenarios.catalogue import find
from ..times.cases import Case


def reason_for_refusal(case: Case) -> str:
    """Explain in a sentence why a case can't have a timeline; "" if it can."""
    scenario = find(case.scenario)
    if scenario.engine == "python":
        return f"{case.scenario} is a Python program, which does not run on a GPU; a timeline needs a kernel."
    if scenario.cuda_c:
        return f"{case.scenario} is written in CUDA C; only Numba kernels get marks."
    return ""
