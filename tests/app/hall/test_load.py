"""Many phones at once, a few of them hostile. `script/hall-load` is the same with 300 phones."""

from __future__ import annotations

import random
import sys

import pytest

from halls import expected_votes, run_load

PHONES, HOSTILE = 40, 10
MEMORY = 50_000_000  # bytes


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
def test_every_vote_counts_once_while_others_attack(tmp_path):
    load = run_load(tmp_path, PHONES, HOSTILE, random.Random(0).randbytes(100_000))
    assert load.votes == expected_votes(PHONES, HOSTILE)
    assert load.memory < MEMORY
