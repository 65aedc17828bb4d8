"""One cause is one finding: with its other places, and with the remedy that suits all of them."""

from __future__ import annotations

import pytest

from launching import Array, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.finding import RelatedPlace, message_of

SQUARE = Array((48, 48), "float32", "random")
HEAD = "@cuda.jit\ndef kernel(a, b, c):\n    {names} = cuda.grid(2)\n"
MATMUL = """
    if row < c.shape[0] and col < c.shape[1]:
        t = float32(0)
        for k in range(a.shape[1]):
            t += a[row, k] * b[k, col]
        c[row, col] = t
"""
STENCIL = """
    if row < c.shape[0] - 1 and col < c.shape[1] - 1 and row > 0 and col > 0:
        t = a[row - 1, col] + a[row + 1, col]
        t += a[row, col - 1]
        t += a[row, col + 1]
        c[row, col] = t + b[row, col]
"""
TRANSPOSE = """
    if row < c.shape[0] and col < c.shape[1]:
        c[col, row] = a[row, col]
"""


def findings_in(folder, source, *arguments, block=(16, 16, 1), grid=(3, 3, 1), kinds=None, **options):
    ended = trace(folder, source, arguments or (SQUARE,) * 3, grid=grid, block=block, **options)
    assert ended.error is None, ended.error
    return [f for f in findings_of(ended, requests_of(ended)) if kinds is None or f.kind in kinds]


@pytest.mark.parametrize(
    ("body", "places"), [(MATMUL, {("c", 12)}), (STENCIL, {("a", 9), ("b", 12), ("c", 12)})]
)
def test_swapped_axes_are_reported_as_one_finding(tmp_path, body, places):
    (swapped,) = findings_in(tmp_path, HEAD.format(names="row, col") + body, kinds=("uncoalesced",))
    assert swapped.severity == "warning"
    assert swapped.remedy == (
        "write `col, row = cuda.grid(2)` on line 6, so that threadIdx.x is the last index, and swap the two lengths "
        "of the grid"
    )
    assert places <= {(place.name, place.line) for place in swapped.also} | {(swapped.name, 9)}
    right = findings_in(tmp_path, HEAD.format(names="col, row") + body, kinds=("uncoalesced",))
    assert not [f for f in right if f.severity == "warning" or "threadIdx" in f.remedy]


def test_tiles_filled_across_are_reported_with_the_axes(tmp_path):
    body = """
    s = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    s[x, y] = a[row, col]
    cuda.syncthreads()
    c[row, col] = s[x, (y + 1) % 16]
"""
    (finding,) = findings_in(
        tmp_path, HEAD.format(names="row, col") + body, kinds=("uncoalesced", "bank conflict")
    )
    assert finding.kind == "uncoalesced" and "threadIdx.x is the last index" in finding.remedy


def test_a_transpose_has_no_axes_to_swap_but_takes_a_tile(tmp_path):
    for names in ("row, col", "col, row"):
        (finding,) = findings_in(tmp_path, HEAD.format(names=names) + TRANSPOSE, kinds=("uncoalesced",))
        assert "tile in shared memory" in finding.remedy and "grid" not in finding.remedy


def test_wider_blocks_are_suggested_for_narrow_ones(tmp_path):
    body = "    if row < 48 and col < 48:\n        c[row, col] = a[row, col]\n"
    source = HEAD.format(names="col, row") + body
    bytes_ = (Array((64, 64), "int8"),) * 3
    (finding,) = findings_in(tmp_path, source, *bytes_, kinds=("uncoalesced",))
    assert (finding.severity, finding.remedy) == ("note", "use blocks of 32 threads along x")
    assert (
        findings_in(tmp_path, source, *bytes_, block=(32, 8, 1), grid=(2, 6, 1), kinds=("uncoalesced",)) == []
    )


def test_a_missing_guard_is_one_error(tmp_path):
    lines = (
        "t = a[row, col]",
        "t += b[row, col] + b[row + 1, col]",
        "c[row, col] = t",
        "c[row, col] += a[row, col]",
    )
    body = "".join(f"    {line}\n" for line in lines)
    (bounds,) = findings_in(tmp_path, HEAD.format(names="col, row") + body, grid=(4, 4, 1), kinds=("bounds",))
    assert (bounds.severity, bounds.name) == ("error", "a")
    assert {(place.name, place.line) for place in bounds.also} == {("b", 8), ("c", 9), ("c", 10), ("a", 10)}
    assert bounds.message.endswith("(also b on line 8, c on lines 9 and 10 and a on line 10).")


def test_data_dependent_indices_have_another_cause_than_thread_indices(tmp_path):
    body = "    t = b[a[row, col], 0]\n    c[row, col + 1] = t\n"
    given = (Array((48, 48), "int32", "arange"), SQUARE, SQUARE)
    two = findings_in(tmp_path, HEAD.format(names="col, row") + body, *given, kinds=("bounds",))
    assert sorted(f.name for f in two if f.severity == "error") == ["b", "c"]


def test_rows_that_become_longer_suit_all_accesses_of_an_array(tmp_path):
    body = """
    s = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    s[y, x] = a[row, col]
    cuda.syncthreads()
    t = s[x, y] + s[(2 * x) % 32, y]
    t += s[x, 0]
    c[row, col] = t
"""
    (finding,) = findings_in(
        tmp_path,
        HEAD.format(names="col, row") + body,
        block=(32, 8, 1),
        grid=(1, 1, 1),
        kinds=("bank conflict",),
    )
    assert finding.remedy.startswith("make each row of s 1 element longer, or ")
    padded = body.replace("(32, 32)", "(32, 33)")
    after = findings_in(
        tmp_path,
        HEAD.format(names="col, row") + padded,
        block=(32, 8, 1),
        grid=(1, 1, 1),
        kinds=("bank conflict",),
    )
    assert not [f for f in after if "longer" in f.remedy]


def test_places_are_listed_while_they_are_few():
    few = [RelatedPlace("", 3, "a"), RelatedPlace("", 5, "a"), RelatedPlace("x/other.py", 4, "b")]
    assert message_of("So it is.", few) == "So it is (also a on lines 3 and 5 and b on line 4 of other.py)."
    count = [RelatedPlace("", line, "a") for line in range(20, 30)]
    assert (
        message_of("So it is.", count, 4)
        == "So it is (also at 10 more places, first a on line 20, in 4 launches, with the numbers of one)."
    )
    assert message_of("So it is.", (), 2, holds_for_each=True) == "So it is (in each of 2 launches)."
    assert message_of("So it is.", ()) == "So it is."
