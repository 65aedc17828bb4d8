"""From rows, as compiled code writes them, to columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.array_types import Columns
from ..cached import cached
from ..state import CODE_BITS, DTYPES, ROW, SITE_BITS

COLUMNS = ("block", "thread", "phase", "buffer", "site", "index")  # of whole numbers, as wide as they need be
LOW = (1 << SITE_BITS) - 1  # the site of a key
ROWS_OF_RUN = 8  # of one thread that follow each other, from which on it pays to look for such runs
BLOCK, THREAD, PHASE, BUFFER, SITE, INDEX, CODES = range(7)  # CODES: a bit for each dtype's code


def decoded(
    rows: NDArray[Any], columns: Columns, threads: int, by_sweep: tuple[NDArray[np.int64], ...],
    by_key: tuple[NDArray[Any], ...], top: NDArray[np.int64],
) -> int:  # fmt: skip
    """Write rows into columns; return the first row of unknown buffer or site, or how many there are.

    by_sweep: block and phase. by_key: buffer by key, site of the trace by site of the program, Op by that. top gets the
    largest number for each of COLUMNS, which a column may be too narrow for, and dtypes' codes.
    """
    what = (columns[name] for name in ("buffer", "site", "op", "index"))
    done: int = look_up(rows["key"], rows["index"], *by_key, *what, top)
    if done < len(rows):
        return done
    starts = np.empty((4, len(rows) // ROWS_OF_RUN + 2), np.int64)
    runs, who = find_runs(rows["context"], threads, *by_sweep, starts, top), ("block", "thread", "phase")
    if runs < 0:
        place_each(rows["context"], threads, *by_sweep, *(columns[name] for name in who), top)
        return done
    for name, numbers in zip(who, starts[1:], strict=True):
        spread(starts[0], numbers, runs, columns[name])
    return done


def _look_up(
    keys: Any, indices: Any, buffers: Any, sites: Any, ops: Any, buffer: Any, site: Any, op: Any, index: Any,
    top: Any,
) -> Any:  # fmt: skip
    """Fill buffer, site, op and index; see `decoded`."""
    codes = largest_buffer = largest_site = largest_index = np.int64(0)
    seen = np.full((len(ops), 4), -1, np.int64)  # by site of the program: its latest key, and what that means
    for row in range(len(keys)):
        key = np.int64(keys[row])
        known = seen[np.uint64(keys[row] & np.uint32(LOW))]
        if known[0] != key:
            known[0], known[1], known[2] = key, buffers[key >> SITE_BITS], sites[key & LOW]
            known[3] = ops[key & LOW]
            if known[1] < 0 or known[2] < 0:
                return row
            codes |= np.int64(1) << (key >> SITE_BITS & ((1 << CODE_BITS) - 1))
            largest_buffer, largest_site = max(largest_buffer, known[1]), max(largest_site, known[2])
        buffer[row], site[row], op[row], index[row] = known[1], known[2], known[3], indices[row]
        largest_index = max(largest_index, indices[row])
    top[BUFFER], top[SITE], top[INDEX], top[CODES] = largest_buffer, largest_site, largest_index, codes
    return len(keys)


def _find_runs(contexts: Any, threads: Any, blocks: Any, phases: Any, found: Any, top: Any) -> Any:
    """Find where contexts change; found gets these rows, and the block, thread and phase from there on.

    Returns how many there are, -1 where there is no room for them.
    """
    runs = 0
    for row in range(len(contexts)):
        if row == 0 or contexts[row] != contexts[row - 1]:
            if runs == found.shape[1] - 1:
                return -1
            context = np.int64(contexts[row])
            sweep = context // threads
            found[0, runs], found[1, runs] = row, blocks[sweep]
            found[2, runs], found[3, runs] = context - sweep * threads, phases[sweep]
            runs += 1
    found[0, runs] = len(contexts)
    for column in range(3):
        top[column] = found[column + 1, :runs].max() if runs else 0
    return runs


def _spread(starts: Any, numbers: Any, runs: Any, column: Any) -> None:
    """Fill a column with the number of each run."""
    for run in range(runs):
        for row in range(starts[run], starts[run + 1]):
            column[row] = numbers[run]


def _place_each(
    contexts: Any, threads: Any, blocks: Any, phases: Any, block: Any, thread: Any, phase: Any, top: Any
) -> None:
    """Fill block, thread and phase of rows whose contexts change all the time."""
    largest_block = largest_thread = largest_phase = np.int64(0)
    each = 1.0 / threads
    for row in range(len(contexts)):
        context = np.int64(contexts[row])
        sweep = np.uint64((context + 0.5) * each)  # of numbers as small as these; to divide takes longer
        here, now, mine = blocks[sweep], phases[sweep], context - np.int64(sweep) * threads
        block[row], thread[row], phase[row] = here, mine, now
        largest_block, largest_thread = max(largest_block, here), max(largest_thread, mine)
        largest_phase = max(largest_phase, now)
    top[BLOCK], top[THREAD], top[PHASE] = largest_block, largest_thread, largest_phase


def _copy(source: Any, target: Any) -> None:
    """Copy numbers that lie apart, which NumPy takes four times as long for."""
    for row in range(len(source)):
        target[row] = source[row]


def _bits_of(words: Any) -> Any:
    """Return, by column, the bits that any number of a table has: as many as its largest number takes."""
    bits = np.zeros(words.shape[1], np.int64)
    for row in range(len(words)):
        for column in range(words.shape[1]):
            bits[column] |= words[row, column]
    return bits


look_up, find_runs, spread, place_each, copy, bits_of = (
    cached(function) for function in (_look_up, _find_runs, _spread, _place_each, _copy, _bits_of)
)


def type_of_values(codes: int) -> np.dtype[Any]:
    """Return the widest of the dtypes whose codes are the bits of `codes`."""
    present = [dtype for code, dtype in enumerate(DTYPES) if codes >> code & 1]
    return present[0] if len(present) == 1 else np.result_type(*present)


def put_values(rows: NDArray[Any], codes: int, target: NDArray[Any]) -> None:
    """Write the values of rows, whose dtypes' codes are the bits of `codes`, into a column as wide or wider."""
    present = [code for code in range(len(DTYPES)) if codes >> code & 1]
    if len(present) == 1 and target.dtype == DTYPES[present[0]] and target.itemsize <= 8:
        bits = np.dtype(f"u{target.itemsize}")
        copy(_values_as(rows, bits), target.view(bits))
        return
    code = rows["key"] >> SITE_BITS & ((1 << CODE_BITS) - 1)
    for one in present:
        mine = code == one
        target[mine] = _values_as(rows, DTYPES[one])[mine]


def _values_as(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.ndarray(len(rows), dtype, rows, 16, (ROW.itemsize,))
