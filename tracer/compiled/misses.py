"""Accesses outside their arrays, from the list of the recorder to columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..array_types import narrow
from ..trace import Outside


def outside_of(missed: Sequence[tuple[Any, ...]]) -> Outside:
    """Return the accesses that were not made as columns; each is given as the fields of `Outside`, in their order."""
    block, thread, phase, op, buffer, site, step, cell, text = ([m[i] for m in missed] for i in range(9))
    where = (narrow(np.array(c, np.int64)) for c in (block, thread, phase))
    what = (narrow(np.array(c, np.int64)) for c in (buffer, site, step))
    return Outside(*where, np.array(op, np.uint8), *what, np.array(cell, np.int64), tuple(text))  # type: ignore[call-arg, arg-type]
