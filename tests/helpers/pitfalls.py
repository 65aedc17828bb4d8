"""The kernels of the catalogue, and the errors that its pitfalls are about."""

from __future__ import annotations

import os

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before numba is imported
from tilescope.kernels.scenarios.catalogue import groups
from tilescope.tracer.model.plan import launch_of

PITFALLS = "Pitfalls"


ERRORS = {"matmul-tiled-early-return": {"unwritten"}, "count-racing": {"race"}}


KERNELS = [
    (group, scenario) for group, scenarios in groups().items() for scenario in scenarios
    if "@cuda.jit" in launch_of(scenario, {}).source
]  # fmt: skip
