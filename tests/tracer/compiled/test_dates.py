"""The compiled engine on dates and durations: the numbers that they are, computed with as NumPy and Numba do."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

from engines import assert_engines_agree, assert_same
from launching import Array, launch
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.not_compilable import NotCompilableError
from tilescope.tracer.recording.finish import finish
from tilescope.tracer.recording.run_record import RunRecord
from tilescope.tracer.simulator.execution import Execution

DAYS = np.array(
    ["2005-02-01", "2024-02-29", "NaT", "1969-12-31", "2026-11-23", "0001-01-01", "NaT", "9999-12-31"],
    "M8[D]",
)


def dates(folder, values, name="dates"):
    """Return an argument that holds these values."""
    path = folder / f"{name}.npy"
    np.save(path, values.view(np.int64))
    return Array(values.shape, values.dtype.name, "file", path=str(path))


DIFFERENCES = """
EPOCH, WEEK = np.datetime64("2000-01-01"), np.timedelta64(7, "D")

@cuda.jit
def kernel(start, end, delta, moved, compared):
    i = cuda.threadIdx.x
    delta[i] = end[i] - start[i]
    moved[i] = start[i] + WEEK
    compared[i, 0] = start[i] == end[i]
    compared[i, 1] = start[i] < EPOCH
    compared[i, 2] = start[i] != start[i]
    delta[i] += WEEK
    if delta[i] > WEEK:
        delta[i] = -delta[i]
"""


def test_dates_and_durations(tmp_path):
    given = (
        dates(tmp_path, DAYS), dates(tmp_path, DAYS[::-1].copy(), "end"),
        dates(tmp_path, np.zeros(8, "m8[D]"), "delta"), dates(tmp_path, np.zeros(8, "M8[D]"), "moved"),
        Array((8, 3), "bool"),
    )  # fmt: skip
    trace = assert_engines_agree(launch(tmp_path, DIFFERENCES, given, block=(8, 1, 1)))
    assert [buffer.dtype for buffer in trace.buffers] == ["<i8"] * 4 + ["|b1"]
    assert {"NaT"} == set(map(str, trace.initial[0].view("M8[D]")[[2, 6]]))


def test_dates_in_slices(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        out[t] = a[7 - t]
        if t == 0:
            out[2:4] = a[4]
        out[t + 2] = a[t]
    """
    given = dates(tmp_path, DAYS), dates(tmp_path, np.zeros(9, "M8[D]"), "out")
    trace = assert_engines_agree(launch(tmp_path, source, given, block=(8, 1, 1)))
    assert len(trace.outside.text) == 1


def test_units_that_differ(tmp_path):
    source = """
    @cuda.jit
    def kernel(days, hours, out):
        t = cuda.threadIdx.x
        out[t] = days[t] - hours[t]
    """
    hours = np.arange(8).astype("M8[h]")
    given = (
        dates(tmp_path, DAYS[[0, 1, 2, 3, 4]]),
        dates(tmp_path, hours, "hours"),
        dates(tmp_path, np.zeros(8, "m8[h]"), "out"),
    )
    assert_engines_agree(launch(tmp_path, source, given, block=(5, 1, 1)))


def test_a_date_that_numba_does_not_convert_is_refused(tmp_path):
    source = "@cuda.jit\ndef kernel(a, out):\n    out[0] = a[0]\n"
    given = dates(tmp_path, np.zeros(2, "M8[h]")), dates(tmp_path, np.zeros(2, "M8[D]"), "out")
    with pytest.raises(NotCompilableError, match="store"):
        compiled.run_compiled(launch(tmp_path, source, given), lambda done, total: None)


TAKING = """
def kernel(dates, target, delta, matches, out):
    for i in range(matches.size):
        matches[i] = dates[i] == target
        out[i] = dates[i] - delta
"""


def test_dates_as_arguments(tmp_path):
    linecache.cache["dates.py"] = (len(TAKING), None, TAKING.splitlines(keepends=True), "dates.py")
    names: dict[str, object] = {}
    exec(compile(TAKING, "dates.py", "exec"), names)
    results = []
    for engine in ("compiled", "simulator"):
        given = (DAYS.copy(), DAYS[4], DAYS[1] - DAYS[0], np.zeros(8, bool), np.zeros(8, "M8[D]"))
        parameters = ("dates", "target", "delta", "matches", "out")
        record = RunRecord(launch(tmp_path, "", schedule="sequential"), parameters, lambda done, total: None)
        if engine == "compiled":
            compiled.execute(record, names["kernel"], given)
        else:
            Execution(record).execute(names["kernel"], (1, 1, 1), (1, 1, 1), given, debug=False)
        results.append((finish(record, "dates.py", ""), given))
    assert_same(results[0][0], results[1][0], 0)
    for _, given in results:
        assert np.flatnonzero(given[3]).tolist() == [4]
        assert np.array_equal(given[4], DAYS - given[2], equal_nan=True)
