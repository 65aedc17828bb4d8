"""The path of a value equals a brute-force data flow, backward and forward."""

from __future__ import annotations

import numpy as np
import pytest

from launching import Array, trace
from random_flows import Oracle, brute_force_path, random_kernel
from tilescope.tracer.causes.value_path import Causes, reach_of
from tilescope.tracer.model.trace import Op

ARRAYS = (Array((12,), "int32", fill="arange"), Array((12,), "int32", fill="arange"))
SCHEDULES = ("lockstep", "sequential", "random")


@pytest.mark.parametrize("seed", range(50))
def test_path_equals_a_brute_force_data_flow(tmp_path, seed):
    print("seed", seed)
    text = random_kernel(seed)
    kind = SCHEDULES[seed % 3]
    launched = trace(tmp_path, text, ARRAYS, grid=(2, 1, 1), block=(32, 1, 1), schedule=kind, seed=seed)
    assert launched.error is None, launched.error
    oracle = Oracle(launched, text)
    causes = Causes(launched)
    assert launched.value is not None
    writes = np.flatnonzero(launched.op != Op.LOAD)
    assert {int(row) for row in writes} == oracle.flows.keys()
    for row in writes.tolist():
        assert launched.value[row] == oracle.values[row]
        feeds = causes.flows.feeds(row)
        assert not feeds.reason, text
        assert frozenset(feeds.reads) == oracle.flows[row], (row, text)
        assert frozenset(feeds.index_reads) == oracle.indices[row]
    for row in writes[-1 :: -max(1, len(writes) // 12)].tolist():
        path = causes.path(causes.element_of(row), before=row + 1)
        assert path.is_exact and path.last == row
        assert (set(path.writes), set(path.readings)) == brute_force_path(oracle, row)
    fed_by = {row: set[int]() for row in range(len(launched))}
    for written, reads in oracle.flows.items():
        for read in reads:
            fed_by[read].add(written)
    for row in writes[:: max(1, len(writes) // 4)].tolist():
        reached = reach_of(causes, causes.element_of(row), since=row)
        expected = set(causes.uses(row).tolist())
        assert reached.is_exact and expected <= reached.reads.keys()
        for read, fed in reached.reads.items():
            assert set(fed) == fed_by[read]
