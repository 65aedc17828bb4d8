"""What was measured nearest to a launch, and what may be compared with what."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from measured import measurement
from recorded_charts import H200, raw_row, samples_of
from tilescope.app.timings.model import sources as sources_module
from tilescope.app.timings.model.nearest_measured import (
    displayed_times,
    explanation,
    line_text,
    line_texts,
    nearest_time,
    nearest_times,
    query_of_values,
)
from tilescope.app.timings.model.sources import Source, sources
from tilescope.kernels.scenarios.catalogue import CatalogueError
from tilescope.tracer.hardware.times.measurement import median, save


def cube(side, **values):
    return {"m": side, "k": side, "n": side, **values}


def pair(left, right, recordings=(H200,)):
    """Return the times of two panes: name and parameters each."""
    return nearest_times([query_of_values(*left), query_of_values(*right)], recordings)


def test_the_launch_itself_is_taken_where_it_was_measured():
    nearest = nearest_time("matmul-tiled", cube(1024, tile=8), [H200])
    taken = samples_of(raw_row("matmul-tiled", **cube(1024, tile=8)), "kernel-warm")
    assert nearest.is_exact
    assert nearest.microseconds == median(tuple(taken))
    assert nearest.gflop_per_s == pytest.approx(2 * 1024**3 / nearest.microseconds / 1000)
    assert nearest.gb_per_s == pytest.approx(3 * 4 * 1024**2 / nearest.microseconds / 1000)
    assert "nearest" not in explanation(nearest, None)


def test_otherwise_the_nearest_size_of_the_same_type_is_used_and_its_tooltip_lists_differences():
    nearest = nearest_time("matmul-tiled", cube(16, tile=8), [H200])
    assert (nearest.size, nearest.row.parameters["tile"], nearest.is_exact) == ("64", 16, False)
    tip = explanation(nearest, None)
    assert "M = K = N = 64, blocks of 16 × 16, float32." in tip
    assert "nearest measured launch to that of this pane: M = K = N = 16, blocks of 8 × 8, float32." in tip
    assert nearest_time("matmul-tiled", cube(1100, tile=32), [H200]).row.parameters["tile"] == 32
    double = nearest_time("matmul-tiled", cube(64, dtype="float64"), [H200])
    assert double.size == "24 × 12 × 22, float64"


@pytest.mark.parametrize(
    ("name", "values", "own", "nearest"),
    [
        ("matmul-tiled", cube(8, tile=4), "8 × 8 × 8, tile 4", "64 × 64 × 64, tile 16"),
        ("matmul-tiled", cube(64, tile=8), "64 × 64 × 64, tile 8", "64 × 64 × 64, tile 16"),
        (
            "matmul-tiled",
            cube(64, tile=16, dtype="float64"),
            "64 × 64 × 64",
            "24 × 12 × 22",
        ),
        (
            "transpose-tile",
            {"rows": 64, "cols": 64, "padding": 1},
            "64 × 64, padding 1",
            "64 × 64, padding 0",
        ),
        (
            "transpose-tile",
            {"rows": 32, "cols": 32, "dtype": "float64"},
            "32 × 32, float64",
            "64 × 64, float32",
        ),
        ("histogram-global", {"count": 4096}, "4,096 elements", "1,000,000 elements"),
    ],
)
def test_a_launch_that_was_not_measured_has_no_time_and_names_the_nearest_by_what_differs(
    name, values, own, nearest
):
    time = nearest_time(name, values, [H200])
    text = line_text(time, None)
    assert text.startswith(f"not measured at {own}")
    assert f" · nearest: {nearest}" in text
    joined = " ".join(line_texts(time, nearest_time("matmul-naive-col-on-x", cube(64), [H200])))
    for word in ("s · measured", "µs", "ms", "times as fast", "H200"):
        assert word not in joined


def test_a_launch_that_was_measured_has_its_time_in_the_heading():
    taken = median(tuple(samples_of(raw_row("matmul-tiled", **cube(64, tile=16)), "kernel-warm")))
    text = line_text(nearest_time("matmul-tiled", cube(64, tile=16), [H200]), None)
    assert text == f"NVIDIA H200, 64: {taken:.2f} µs · measured"


def test_each_pane_has_the_time_of_its_own_size_where_only_one_of_both_was_measured_there():
    asked = [query_of_values(n, cube(64, tile=t)) for n, t in (("matmul-tiled", 16), ("matmul-tiled", 8))]
    own, other = displayed_times(asked, [H200])
    assert (own.is_exact, other.is_exact) == (True, False)
    assert "times as fast" not in line_text(own, other) + line_text(other, own)
    apart = [query_of_values("matmul-tiled", cube(64)), query_of_values("workitem-naive", cube(256))]
    assert all(time.is_exact for time in displayed_times(apart, [H200]))
    both = [query_of_values(n, cube(64)) for n in ("matmul-naive-row-on-x", "matmul-tiled")]
    slow, fast = displayed_times(both, [H200])
    assert f"{slow.microseconds / fast.microseconds:.1f} times as fast" in line_text(fast, slow)
    assert displayed_times([None, query_of_values("count-racing", {})], [H200]) == [None, None]
    assert displayed_times(both, []) == [None, None]


def test_the_faster_pane_shows_its_speed_up_and_the_slower_one_only_its_time():
    left, right = pair(("matmul-naive-row-on-x", cube(4096)), ("matmul-tiled", cube(4096)))
    slow, fast = (median(tuple(samples_of(raw_row(n, **cube(4096)), "kernel-warm"))) for n in (
        "matmul-naive-row-on-x", "matmul-tiled"))  # fmt: skip
    assert line_text(left, right) == f"NVIDIA H200, 4,096: ~{slow / 1000:.0f} ms · measured"
    assert (
        line_text(right, left)
        == f"NVIDIA H200, 4,096: ~{fast / 1000:.1f} ms, ~{slow / fast:.1f} times as fast · measured"
    )


def test_panes_of_one_size_use_the_nearest_size_at_which_both_were_measured():
    left, right = pair(("workitem-naive", cube(32)), ("matmul-tiled", cube(32)))
    assert (left.size, right.size) == ("256", "256")
    assert right.speedup_over(left) == left.microseconds / right.microseconds


def test_what_was_measured_at_another_size_is_not_compared():
    left, right = pair(("matmul-naive-row-on-x", cube(64)), ("matmul-tiled", cube(1024)))
    assert (left.size, right.size) == ("64", "1,024")
    assert left.speedup_over(right) is None
    assert "times as fast" not in line_text(left, right) + line_text(right, left)
    assert "Not compared" in explanation(left, right)


def test_an_unmeasured_padding_is_not_passed_off_as_measured():
    size = {"rows": 64, "cols": 64}
    plain = nearest_time("transpose-tile", size, [H200])
    assert plain.is_exact
    assert "padding" not in line_text(plain, None) + explanation(plain, None)
    padded = nearest_time("transpose-tile", {**size, "padding": 1}, [H200])
    assert not padded.is_exact
    assert line_text(padded, None).endswith(", padding 0")
    assert "padding 1" in explanation(padded, None)


def test_what_was_measured_here_comes_first_and_is_never_compared_with_another_device():
    own = Source(H200.path, measurement(2.0, 2.0, 2.0))  # of the tiled kernel alone
    left, right = pair(("matmul-naive-row-on-x", {}), ("matmul-tiled", {}), (H200, own))
    assert right.measured.source is own
    assert right.microseconds == 2.0
    assert "measured here on 2026-11-20" in right.origin
    assert left.measured.source is H200
    assert left.speedup_over(right) is None


def test_kernels_measured_here_together_are_compared_even_if_a_later_file_has_one_of_them():
    row = measurement(3.0).rows[0]
    both = measurement(2.0)
    both = replace(both, rows=(*both.rows, replace(row, scenario="matmul-naive-row-on-x")))
    later, before = (replace(H200, measurement=m, recorded=False) for m in (measurement(1.0), both))
    left, right = pair(("matmul-naive-row-on-x", {}), ("matmul-tiled", {}), (H200, later, before))
    assert right.speedup_over(left) == 1.5


def test_unmeasured_kernels_have_no_time():
    assert nearest_time("count-racing", {}, [H200]) is None
    assert nearest_time("matmul-tiled", {}, []) is None
    assert pair(("count-racing", {}), ("matmul-tiled", {}))[0] is None
    with pytest.raises(CatalogueError):
        nearest_time("matmul-tilde", {}, [H200])


def test_a_file_is_read_anew_only_when_it_changes():
    assert sources()[0][0].measurement is sources()[0][0].measurement


def test_recorded_measurements_that_go_on_with_one_are_one_with_it(tmp_path, monkeypatch):
    def again(rows, **changes):
        return replace(H200.measurement, rows=rows, **changes)

    every = H200.measurement.rows
    paths = [tmp_path / name for name in ("a.json", "b.json", "c.json")]
    parts = (
        again(every[:50]),
        again(every[50:], date="2026-12-01T10:00:00+00:00"),
        again(every[:1], versions={}),
    )
    for path, part in zip(paths, parts, strict=True):
        save(part, path)
    monkeypatch.setattr(sources_module, "recorded_measurements", lambda: tuple(paths))
    all_rows, other = sources()[0]
    assert all_rows.measurement.rows == every
    assert all_rows.origin == f"NVIDIA H200, recorded on {H200.measurement.date[:10]} and 2026-12-01"
    assert (other.path, len(other.measurement.rows)) == (paths[2], 1)
    left, right = pair(("matmul-naive-row-on-x", cube(1024)), ("transpose-naive", {}), sources()[0])
    assert left.measured.source is right.measured.source
