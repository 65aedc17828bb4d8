"""Stacks: apart from each other, and used again by the next launch."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from tilescope.tracer.compiled.driver import stack_memory
from tilescope.tracer.compiled.driver.stack_memory import StackMemory
from tilescope.tracer.compiled.scheduler.stacks import STACK_BYTES


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """Begin without kept stacks, and restore those of others."""
    monkeypatch.setattr(stack_memory, "_idle", [])


def apart(ends):
    """Check whether stacks that end there do not overlap, apart from the offset of their ends."""
    return bool((np.diff(np.sort(ends)) > STACK_BYTES - 4096).all())


def test_stacks_do_not_overlap():
    stacks = StackMemory(STACK_BYTES)
    ends = np.concatenate([stacks.grow(5), stacks.grow(40), stacks.grow(40)])
    assert len(set(ends.tolist())) == 40
    assert apart(ends)
    assert not (ends % 64).any()


def test_a_launch_uses_the_stacks_of_the_one_before():
    first = StackMemory(STACK_BYTES)
    before = set(first.grow(8).tolist())
    meanwhile = set(StackMemory(STACK_BYTES).grow(8).tolist())
    assert not before & meanwhile
    del first
    gc.collect()
    after = StackMemory(STACK_BYTES)
    ends = after.grow(30)
    assert before < set(ends.tolist())
    assert apart(ends)
    assert not set(StackMemory(2 * STACK_BYTES).grow(3).tolist()) & set(ends.tolist())


def test_kept_stacks_are_reused_before_new_ones():
    StackMemory(STACK_BYTES).grow(30)
    gc.collect()
    kept = set(stack_memory._idle[0].ends.tolist())
    stacks = StackMemory(STACK_BYTES)
    assert set(stacks.grow(4).tolist()) | set(stacks.grow(30).tolist()) == kept


def test_kept_stacks_stay_within_the_limit(monkeypatch):
    monkeypatch.setattr(stack_memory, "MOST_IDLE", 10 * STACK_BYTES)
    several = [StackMemory(STACK_BYTES) for _ in range(4)]
    for stacks in several:
        stacks.grow(4)
    del several, stacks
    gc.collect()
    assert sum(len(chunk.memory) for chunk in stack_memory._idle) == 8 * STACK_BYTES
