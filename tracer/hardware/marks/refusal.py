"""Which cases can have no timeline, and why."""

from __future__ import annotations

from ....kernels.scenarios.catalogue import find
from ...measure.cases import Case


def refusal(case: Case) -> str:
    """Return a sentence about why a case has no timeline, "" where it may have one."""
    scenario = find(case.scenario)
    if scenario.engine == "python":
        return f"{case.scenario} is a Python program and runs on no GPU; a timeline needs a kernel."
    if scenario.cuda_c:
        return f"{case.scenario} is written in CUDA C; marks are put into kernels of Numba's alone."
    return ""
