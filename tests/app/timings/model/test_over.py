"""Charts over a parameter: rows that differ only in it, their times, rates and bandwidths."""

from __future__ import annotations

import statistics

import pytest

from recorded_charts import H200, SIDES, choice_of, raw_row, samples_of
from tilescope.app.timings.model.build import build
from tilescope.app.timings.model.choice import parameters_to_draw_over
from tilescope.app.timings.model.choice_text import parse_choice
from tilescope.app.timings.model.figure import number_texts
from tilescope.app.timings.model.sources import sources

SUMS = ("sum-interleaved", "sum-sequential")


def warm(name, **given):
    return statistics.median(samples_of(raw_row(name, **given), "kernel-warm"))


def test_points_belong_to_rows_that_differ_only_in_the_parameter():
    times, _ = build([H200], choice_of("matmul-tiled", chart="over", over="tile")).panels
    (line,) = times.series
    assert [(p.x, p.y) for p in line.points] == [
        (tile, warm("matmul-tiled", **SIDES, tile=tile)) for tile in (8, 16, 32)
    ]
    assert all({n: p.datum.parameters[n] for n in SIDES} == SIDES for p in line.points)


def test_without_a_name_it_is_the_parameter_with_the_most_values():
    choice = choice_of("matmul-tiled", "matmul-naive-row-on-x", chart="over")
    assert parameters_to_draw_over([H200], choice) == ["tile", "k"]  # of 256 x 256 x 256 and 256 x 512 x 256
    assert build([H200], choice).title.startswith("Time and rate over tile:")


def test_bandwidth_counts_used_elements_and_is_next_to_that_of_copies():
    figure = build([H200], choice_of(*SUMS, chart="over", over="threads", show="bandwidth"))
    (panel,) = figure.panels
    bytes_used = raw_row("sum-sequential", threads=1024)["bytes"]
    fast = panel.series[1].points[-1]
    assert fast.y == pytest.approx(bytes_used / warm("sum-sequential", threads=1024) / 1000)
    assert fast.low <= fast.y <= fast.high
    assert panel.y.marks == (("measured", "time"), ("modelled", "bytes"))
    assert panel.levels[0].value == H200.measurement.ceilings.copy_gb_per_s
    assert "Sum, sequential, threads 1,024: 499 GB/s" in number_texts(figure)


def test_kernels_are_drawn_at_a_size_at_which_each_has_a_line():
    figure = build([H200], choice_of(*SUMS, chart="over", over="threads"))
    assert [len(series.points) for series in figure.panels[0].series] == [2, 2]
    assert "1,000,000 elements" in figure.subtitle


def test_a_size_is_a_parameter_too():
    (panel,) = build([H200], choice_of("vector-double", chart="over", over="count", show="time")).panels
    assert [point.x for point in panel.series[0].points] == [256, 1_000_000]


def test_what_does_not_vary_is_an_empty_chart_with_its_reason():
    figure = build([H200], choice_of("transpose-naive", "matmul-tiled", chart="over", over="bins"))
    assert figure.is_empty
    assert "Not measured like this" in figure.notes[0]
    no_flop = build([H200], choice_of("transpose-naive", chart="over", over="rows", show="rate"))
    assert no_flop.is_empty
    assert "no arithmetic" in no_flop.notes[0]


def test_a_copy_with_a_stride_uses_as_much_as_it_writes_twice_however_far_apart_it_reads():
    recorded = [source for source in sources()[0] if source.recorded]
    (panel,) = build(recorded, parse_choice("over stride copy-stride show=bandwidth", recorded)).panels
    points = panel.series[0].points
    assert [point.x for point in points] == [1, 2, 3, 4, 8, 16, 32]
    assert [point.y for point in points] == sorted((point.y for point in points), reverse=True)
    for point in points:
        elements = point.datum.parameters["count"]
        assert point.y == pytest.approx(2 * 4 * elements / statistics.median(point.datum.samples) / 1000)
    assert panel.x.log
    (flat,) = build(recorded, parse_choice("over offset copy-offset show=bandwidth", recorded)).panels
    assert not flat.x.log  # it begins with 0
    assert flat.series[0].points[0].x == 0
