"""Races whose every order gives the same are notes or warnings; what looks like them and is not stays an error."""

from __future__ import annotations

import numpy as np
import pytest

from finding_kernels import EVERY, trace_kernel
from launching import Array
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of

PATHS = (
    "n = arg0.shape[0]\nr, c = i // n, i % n\nif i < n * n:\n"
    "    arg0[r, c] = min(arg0[r, c], arg0[r, {k}] + arg0[{k}, c])"
)


def races(folder, body, *arguments, **options):
    ended = trace_kernel(folder, body, *arguments, **options)
    return [f.severity for f in findings_of(ended, requests_of(ended)) if f.kind == "race"]


@EVERY
def test_shortest_paths_may_be_stored_where_they_stay_as_they_are(tmp_path, schedule):
    distances = Array((8, 8), "float32", "random")
    assert races(tmp_path, PATHS.format(k=3), distances, block=32, grid=2, schedule=schedule) == ["note"]


def test_where_nothing_changes_at_all_other_values_may_show_the_race(tmp_path):
    body = "if 0 < i < 127:\n    arg0[i] = (arg0[i] + arg0[i - 1] + arg0[i + 1]) / 3"
    assert set(races(tmp_path, body, Array((128,), "float32", "zeros"))) == {"warning"}
    assert "error" in races(tmp_path, body, Array((128,), "float32", "random"))


@EVERY
def test_a_table_that_each_thread_fills_for_itself(tmp_path, schedule):
    fill = "s = cuda.shared.array(8, int32)\nfor k in range(8):\n    s[k] = {}\narg1[t] = s[{}]"
    given = (Array((8,), "int32", "arange"), Array((32,), "int32"))
    for value, read, expected in (
        ("arg0[k]", "t % 8", {"note"}),
        ("7", "t % 8", {"warning"}),  # with values that differ it may not be harmless
        ("arg0[k] + t", "t % 8", {"error"}),
    ):
        assert set(races(tmp_path, fill.format(value, read), *given, schedule=schedule, grid=1)) == expected
    some = fill.format("arg0[k]", "t % 8").replace("    s[k]", "    if (t + k) % 3 == 0:\n        s[k]")
    assert "error" in races(tmp_path, some, *given, schedule=schedule, grid=1)


@EVERY
def test_an_element_that_all_set_alike_after_one_has_stored_another_value(tmp_path, schedule):
    given = (Array((128,), "int32", "arange"), Array((128,), "int32"), Array((128,), "int32"))
    own = "arg1[i] = arg0[i] - 9\narg1[0] = arg0[7]\n"
    for body, expected in (
        (own + "arg2[i] = arg1[i]", {"warning"}),  # each reads what it has stored
        (own, {"warning"}),
        ("arg1[i] = arg0[i] - 9\nn = arg1[i]\narg1[0] = arg0[7]\narg2[i] = n", {"error"}),  # read before
        (own + "arg2[i] = arg1[0]", {"error", "warning"}),  # others may see what the first has stored
        ("arg1[i] = arg0[i] - 9\narg1[0] = arg0[7] + (i == 127)", {"error"}),  # one differs
        ("arg1[0] = arg0[7]\narg1[i] = arg0[i] - 9", {"error"}),  # the first stores another value last
    ):
        assert set(races(tmp_path, body, *given, schedule=schedule)) <= expected, body
        assert ("error" in races(tmp_path, body, *given, schedule=schedule)) == ("error" in expected), body


SWAP = """old = arg1[0]
while True:
    assumed = old
    old = cuda.atomic.cas(arg1, 0, assumed, assumed + arg0[i])
    if old == assumed:
        break"""


@EVERY
def test_what_a_compare_and_swap_checks_may_be_read_before(tmp_path, schedule):
    given = (Array((128,), "int32", "arange"), Array((1,), "int32"), Array((128,), "int32"))
    for body, expected in (
        (SWAP, {"note"}),
        (f"{SWAP}\narg2[i] = arg1[0]", {"note", "error"}),  # nothing checks this one
        ("arg2[i] = cuda.atomic.exch(arg1, 0, arg1[0] + i)", {"error"}),
    ):
        assert set(races(tmp_path, body, *given, schedule=schedule)) == expected, body


@EVERY
def test_an_element_may_be_read_to_spare_an_atomic_that_compares_again(tmp_path, schedule):
    given = (Array((128,), "int32", "random"), Array((1,), "int32"), Array((128,), "int32"))
    spare = "if arg0[i] > arg1[0]:\n    cuda.atomic.{}(arg1, 0, arg0[i])"
    for body, expected in (
        (spare.format("max"), {"warning"}),
        (spare.format("max") + "\narg2[i] = arg1[0]", {"warning", "error"}),
        (spare.format("max") + "\nif i == 0:\n    cuda.atomic.min(arg1, 0, arg0[i])", {"error"}),
        (spare.format("add"), {"error"}),
    ):
        assert set(races(tmp_path, body, *given, schedule=schedule)) == expected, body


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32", "int64"])
def test_nan_and_poison_do_not_show_unchanged_elements(tmp_path, dtype):
    body = "if 0 < i < 127:\n    arg0[i] = arg0[i - 1]"
    assert set(races(tmp_path, body, Array((128,), dtype, "zeros"))) == {"warning"}
    assert "error" in races(tmp_path, body, Array((128,), dtype, "empty"))
    if dtype[0] in "fc":
        np.save(tmp_path / "nan.npy", np.full(128, np.nan, dtype))
        assert "error" in races(tmp_path, body, Array((128,), dtype, "file", path=str(tmp_path / "nan.npy")))


@EVERY
def test_a_mark_that_all_set_alike_where_they_find_it_unset(tmp_path, schedule):
    body = "w = (i * 7) % 16\nif arg0[w] == 0:\n    arg0[w] = 5\n    arg1[0] = 1"
    given = (Array((16,), "int32"), Array((1,), "int32"))
    assert set(races(tmp_path, body, *given, schedule=schedule)) == {"warning", "note"}


@EVERY
def test_a_mark_whose_setters_are_counted_is_an_error(tmp_path, schedule):
    body = "w = (i * 7) % 16\nif arg0[w] == 0:\n    arg0[w] = 5\n    arg1[cuda.atomic.add(arg2, 0, 1)] = w"
    given = (Array((16,), "int32"), Array((128,), "int32"), Array((1,), "int32"))
    ended = trace_kernel(tmp_path, body, *given, schedule=schedule)
    remedies = {f.remedy for f in findings_of(ended, requests_of(ended)) if f.severity == "error"}
    assert remedies == {"let cuda.atomic.cas set it, and only the thread that gets the old value go on"}
    outside = body.replace("    arg1[", "arg1[")  # all threads are counted
    assert "error" not in races(tmp_path, outside, *given, schedule=schedule)


@EVERY
def test_a_search_may_read_levels_that_others_set_meanwhile(tmp_path, schedule):
    body = "w = (i * 7 + 1) % 128\nif arg0[i] == 0:\n    if arg0[w] == -1:\n        arg0[w] = 1\n        arg1[0] = 1"
    np.save(tmp_path / "levels.npy", np.where(np.arange(128) < 40, 0, -1).astype(np.int32))
    given = (Array((128,), "int32", "file", path=str(tmp_path / "levels.npy")), Array((1,), "int32"))
    assert set(races(tmp_path, body, *given, schedule=schedule)) == {"warning", "note"}
    wrong = body.replace("arg0[i] == 0", "arg0[i] >= 0")  # who is set meanwhile would go on
    assert "error" in races(tmp_path, wrong, *given, schedule=schedule)


@pytest.mark.parametrize(
    "body",
    [
        "arg0[0] += 1",
        "if i < 99: arg0[i % 4] += 1",
        "if arg0[0] < 5:\n    arg0[0] = arg0[0] + 1",
        "if i == 0:\n    arg0[0] = 5\nif i == 40:\n    arg1[0] = arg0[0]",
        "if i == 0:\n    arg0[0] = 5\nif arg0[0] == 5 and i == 40:\n    arg1[0] = 1",
    ],
)
def test_a_race_that_changes_the_result_is_an_error(tmp_path, body):
    given = (Array((16,), "int32"), Array((1,), "int32"))
    assert "error" in races(tmp_path, body, *given)
