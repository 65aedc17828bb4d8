"""From rows, as compiled code writes them, to columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cached import cached
from ..state import CODE_BITS, DTYPES, ROW, SITE_BITS

COLUMNS = ("block", "thread", "phase", "op", "buffer", "site", "index")
COLUMN_TYPES = (np.uint32, np.uint16, np.uint32, np.uint8, np.uint16, np.uint16, np.int64)


def _fill_columns(
    keys: Any, contexts: Any, indices: Any, threads: int, blocks: Any, phases: Any, buffers: Any, sites: Any, ops: Any,
    out: Any, top: Any,
) -> int:  # fmt: skip
    """Fill the columns from the rows; return the first row of unknown buffer or site, or how many rows there are.

    top gets the largest phase, buffer, site and index, and a bit for each dtype's code.
    """
    block, thread, phase, op, buffer, site, index = out
    last = sweep = lane = np.int64(-1)
    largest_phase = largest_buffer = largest_site = largest_index = codes = np.int64(0)
    for row in range(len(keys)):
        key, context = np.int64(keys[row]), np.int64(contexts[row])
        low = key & ((1 << SITE_BITS) - 1)
        where, number = np.int64(buffers[key >> SITE_BITS]), np.int64(sites[low])
        if where < 0 or number < 0:
            return row
        if context != last:
            last, sweep = context, context // threads
            lane = context - sweep * threads
            largest_phase = max(largest_phase, phases[sweep])
        block[row], phase[row], thread[row] = blocks[sweep], phases[sweep], lane
        op[row], buffer[row], site[row], index[row] = ops[low], where, number, indices[row]
        largest_buffer, largest_site = max(largest_buffer, where), max(largest_site, number)
        largest_index = max(largest_index, indices[row])
        codes |= np.int64(1) << ((key >> SITE_BITS) & ((1 << CODE_BITS) - 1))
    top[:] = (largest_phase, largest_buffer, largest_site, largest_index, codes)
    return len(keys)


fill_columns = cached(_fill_columns)


def values_of_rows(rows: NDArray[Any], codes: int) -> NDArray[Any]:
    """Return the values of rows whose dtypes' codes are the bits of `codes`, in the widest of these dtypes."""
    present = [code for code in range(len(DTYPES)) if codes >> code & 1]
    if len(present) == 1:
        return _values_as(rows, DTYPES[present[0]]).copy()
    made = np.empty(len(rows), np.result_type(*(DTYPES[c] for c in present)))
    code = rows["key"] >> SITE_BITS & ((1 << CODE_BITS) - 1)
    for one in present:
        mine = code == one
        made[mine] = _values_as(rows, DTYPES[one])[mine]
    return made


def _values_as(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.ndarray(len(rows), dtype, rows, 16, (ROW.itemsize,))
