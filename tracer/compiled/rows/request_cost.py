"""The cost of a request, compiled: `cost_of` of analysis.request_cost, for one request at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.extending import register_jitable

from ...analysis import request_cost
from .. import compile_cached as storage
from ..state import IntArray


def compile_cached_with_rules(function: Callable[..., Any]) -> Any:
    """Compile and cache a function as `compile_cached` does; its version also covers the rules of request_cost."""
    return storage.compile_cached(function, request_cost.__file__)


# Compiled code may call these from now on; they stay plain functions for Python.
for _part in (
    request_cost.sectors_of, request_cost.turns_of, request_cost.wavefronts_of, request_cost.wavefronts_by_lane,
    request_cost.wavefronts_in_parts, request_cost.neighbours_agree, request_cost.new_mark, request_cost.is_new,
):  # fmt: skip
    register_jitable(_part)
# Inlined: a call that passes arrays would take a fifth of the time of counting.
cost_of = numba.njit(inline="always")(request_cost.cost_of)


def _add_request(
    low: int, count: int, lanes: int, op: int, buffer: int, rules: int, scratch: int, sums: IntArray
) -> None:
    """Add one request, its cost and its lanes to sums[buffer, op]; for the other parameters see `cost_of`."""
    sums[buffer, op, 0] += 1
    sums[buffer, op, 1] += cost_of(low, count, lanes, op, buffer, rules, scratch)
    sums[buffer, op, 2] += count


add_request = compile_cached_with_rules(_add_request)
