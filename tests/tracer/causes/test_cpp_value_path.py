"""The path of a value in CUDA C++ equals a brute-force data flow."""

from __future__ import annotations

import numpy as np
import pytest

from cuda_cpp import needs_compiler, run_text
from random_cpp_flows import random_kernels
from random_flows import Oracle, brute_force_path
from tilescope.tracer.causes.value_path import Causes
from tilescope.tracer.causes.variables import variables_of, watch
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.trace import Op, Trace

pytestmark = needs_compiler
SCHEDULES = (Schedule(), Schedule("sequential"), Schedule("random", 3))


@pytest.mark.parametrize("seed", range(30))
def test_path_equals_a_brute_force_data_flow(tmp_path, seed):
    python, cpp = random_kernels(seed)
    print(cpp)
    launched = run_text(tmp_path, cpp, schedule=SCHEDULES[seed % 3]).traces[0]
    oracle, causes = Oracle(launched, python), Causes(launched)
    assert launched.value is not None
    writes = np.flatnonzero(launched.op != Op.LOAD)
    assert {int(row) for row in writes} == oracle.flows.keys()
    for row in writes.tolist():
        feeds = causes.flows.feeds(row)
        assert not feeds.reason
        assert launched.value[row] == oracle.values[row]
        assert frozenset(feeds.reads) == oracle.flows[row]
        assert frozenset(feeds.index_reads) == oracle.indices[row]
    for row in writes[-1 :: -max(1, len(writes) // 12)].tolist():
        path = causes.path(causes.element_of(row), before=row + 1)
        assert path.is_exact and path.last == row
        assert (set(path.writes), set(path.readings)) == brute_force_path(oracle, row)
