"""Charts as data: the numbers of the recorded measurement, counted by hand, and what is said about them."""

from __future__ import annotations

import csv
import json
import statistics

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.app.charts.asks import asks_for
from tilescope.app.charts.build import build
from tilescope.app.charts.choose import (
    CHARTS,
    Choice,
    Subject,
    problem_for,
    problems,
    shapes,
    slots_of,
    subjects_of,
)
from tilescope.app.charts.published import entries, published_for
from tilescope.app.charts.sources import Source, own_folder, sources
from tilescope.app.charts.table import COLUMNS, csv_text, json_text
from tilescope.app.charts.wording import number_text, problem_of, shape_of, time_text, unit_of
from tilescope.app.views.chart_ticks import Scale, log_range, powers_of_two, ticks
from tilescope.kernels.catalogue import names
from tilescope.tracer import traffic
from tilescope.tracer.client import Worker
from tilescope.tracer.measurement import load, recorded, save
from tilescope.tracer.traffic import count, traffic_of

FILE = recorded()[0]
RAW = json.loads(FILE.read_bytes())["measurement"]
H200 = Source(FILE, load(FILE), recorded=True)
SIDES = {"m": 1024, "k": 1024, "n": 1024}


def raw(scenario, baseline="", **parameters):
    """Return the first row of the file with these parameters, as it stands there."""
    return next(
        row
        for row in RAW["rows"]
        if (row["scenario"], row["baseline"]) == (scenario, baseline)
        and all(row["parameters"].get(name) == value for name, value in parameters.items())
    )


def samples(row, kind):
    return next(timing["microseconds"] for timing in row["timings"] if timing["kind"] == kind)


def of(*keys, **options):
    pairs = [key.partition("/") for key in keys]
    return Choice(subjects=tuple(Subject(name, baseline) for name, _, baseline in pairs), **options)


# --- what is drawn


def test_a_newcomer_gets_the_naive_kernels_beside_the_tiled_one_at_a_size_all_were_measured_at():
    figure = build([H200], Choice())
    assert [bar.datum.subject for bar in figure.panels[0].bars] == [
        "matmul-naive-row-on-x",
        "matmul-naive-col-on-x",
        "matmul-tiled",
    ]
    assert {bar.datum.parameters["m"] for bar in figure.panels[0].bars} == {1024}


def test_bars_are_the_medians_of_all_samples_with_their_intervals():
    for bar in build([H200], Choice(kind="call")).panels[0].bars:
        taken = samples(raw(bar.datum.subject, **SIDES, tile=16), "call")
        assert bar.value == statistics.median(taken)
        assert bar.dots == tuple(taken)
        assert bar.low <= bar.value <= bar.high
        assert {bar.low, bar.high} <= set(taken)


def test_a_speed_up_is_the_ratio_of_two_medians():
    figure = build([H200], Choice("speedup", against="matmul-naive-col-on-x"))
    tiled = figure.panels[0].bars[-1]
    naive = statistics.median(samples(raw("matmul-naive-col-on-x", **SIDES, tile=16), "kernel-warm"))
    fast = statistics.median(samples(raw("matmul-tiled", **SIDES, tile=16), "kernel-warm"))
    assert tiled.value == naive / fast
    assert tiled.low < tiled.value < tiled.high
    assert figure.panels[0].bars[1].value == 1
    assert "Naive, column on x" in figure.panels[0].axis.label


def test_a_speed_up_over_what_was_not_measured_says_so():
    figure = build([H200], of("matmul-tiled", chart="speedup", against="count-atomic"))
    assert figure.is_empty
    assert "count-atomic" in figure.notes[0]


def test_scaling_has_every_square_size_and_rates_of_modelled_flop_by_measured_time():
    times, rates = build([H200], Choice("scaling")).panels
    assert [point.x for point in times.series[2].points] == [64, 128, 256, 512, 1024, 2048, 4096]
    point = rates.series[2].points[4]
    median = statistics.median(samples(raw("matmul-tiled", **SIDES, tile=16), "kernel-warm"))
    assert point.y == pytest.approx(2 * 1024**3 / median / 1000)
    assert point.low <= point.y <= point.high
    assert ("modelled", "FLOP") in rates.y.marks
    assert ("measured", "time") in rates.y.marks


def test_scaling_takes_the_blocks_that_are_asked_for():
    (times, _) = build([H200], of("matmul-tiled", chart="scaling", shape="blocks of 32 × 32")).panels
    at_1024 = next(point for point in times.series[0].points if point.x == 1024)
    assert at_1024.datum.parameters["tile"] == 32


def test_the_roofline_counts_sectors_and_stands_under_what_the_device_reached():
    (plane,) = build([H200], Choice("roofline")).panels
    roof = plane.roofs[0]
    ceilings = RAW["ceilings"]
    assert (roof.gb_per_s, roof.gflop_per_s) == (ceilings["copy_gb_per_s"], ceilings["float32_gflop_per_s"])
    by_name = {series.points[0].datum.subject: series.points[0] for series in plane.series}
    # Per warp of 2 x 16 threads and step of k the naive kernel asks for 2 sectors of A and 2 of B, and stores C once.
    sectors = 1024**2 // 32 * (1024 * 4 + 4)
    assert by_name["matmul-naive-col-on-x"].x == pytest.approx(2 * 1024**3 / (32 * sectors))
    assert by_name["matmul-naive-row-on-x"].x < by_name["matmul-naive-col-on-x"].x < by_name["matmul-tiled"].x
    assert not any(series.hollow for series in plane.series)
    assert plane.x.marks == (("modelled", "FLOP"), ("exact", "bytes"))


def test_the_roofline_leaves_programs_on_the_cpu_out_and_says_so():
    figure = build([H200], of("matmul-naive-col-on-x", "matmul-naive-col-on-x/numpy", chart="roofline"))
    assert len(figure.panels[0].series) == 1
    assert any("NumPy" in note for note in figure.notes)


@pytest.mark.parametrize(("chart", "kinds"), [("calls", "first-call"), ("copies", "with-copies")])
def test_calls_and_copies_stand_beside_a_later_call_and_the_kernel(chart, kinds):
    bars = build([H200], of("matmul-tiled", chart=chart)).panels[0].bars
    assert [bar.datum.kind for bar in bars] == [kinds, "call", "kernel-warm"]
    assert bars[0].value > bars[1].value > bars[2].value


def test_the_ladder_from_python_to_the_gpu_is_one_chart():
    keys = ("python-threads", "python-loops", "matmul-naive-col-on-x/numpy", "matmul-tiled")
    figure = build([H200], of(*keys))
    assert [bar.datum.subject for bar in figure.panels[0].bars] == list(keys)
    assert {bar.datum.kind for bar in figure.panels[0].bars} == {"cpu", "kernel-warm"}
    assert figure.panels[0].axis.log
    assert not build([H200], of(*keys, log=False)).panels[0].axis.log
    assert "CPU" in figure.title


def test_every_measured_row_can_be_drawn():
    drawn = set()
    for subject in subjects_of([H200]):
        offered = problems([H200], Choice(subjects=(subject,), kind="call"))
        for problem in offered:
            choice = Choice(subjects=(subject,), kind="call", problem=problem, shape="all")
            drawn |= {
                json.dumps(bar.datum.parameters) + subject.key for bar in build([H200], choice).panels[0].bars
            }
    timed = [row for row in H200.measurement.rows if row.timings]
    rows = {json.dumps(row.parameters) + Subject(row.scenario, row.baseline).key for row in timed}
    shapes_apart = {(r.scenario, r.baseline, problem_of(r), shape_of(r)) for r in timed}
    assert len(drawn) == len(shapes_apart)
    assert drawn <= rows


def test_a_kernel_that_is_wrong_is_named_with_the_reason():
    figure = build([H200], of("vector-increment", "vector-too-few-threads"))
    assert [bar.datum.subject for bar in figure.panels[0].bars] == ["vector-increment"]
    assert any("too few threads" in note and "NumPy" in note for note in figure.notes)


def test_what_was_measured_here_is_drawn_beside_what_was_recorded(tmp_path):
    halved = msgspec.convert(msgspec.to_builtins(H200.measurement), type(H200.measurement))
    save(msgspec.structs.replace(halved, date="2027-01-02T03:04:05+00:00"), tmp_path / "mine.json")
    mine = Source(tmp_path / "mine.json", load(tmp_path / "mine.json"))
    figure = build([H200, mine], of("matmul-tiled"))
    assert [bar.part for bar in figure.panels[0].bars] == ["recorded 2026-11-21", "here 2027-01-02 03:04"]
    assert "recorded on 2026-11-21" in figure.origins[0]
    assert "measured here on 2027-01-02" in figure.origins[1]
    lines = build([H200, mine], of("matmul-tiled", chart="scaling")).panels[0].series
    assert [line.style for line in lines] == [0, 1]


def test_every_figure_says_device_date_and_method():
    for chart in CHARTS:
        figure = build([H200], Choice(chart))
        assert not figure.is_empty, chart
        assert "NVIDIA H200, recorded on 2026" in figure.origins[0]
        assert figure.method
        marks = [
            mark
            for panel in figure.panels
            for axis in vars(panel).values()
            for mark in getattr(axis, "marks", ())
        ]
        assert marks, chart


# --- sources


def test_files_that_cannot_be_read_are_told_in_one_sentence_and_the_others_are_there():
    own_folder().mkdir(parents=True, exist_ok=True)
    broken = own_folder() / "broken.json"
    try:
        for content in (b"", b"{}", FILE.read_bytes().replace(b'"version":1', b'"version":7', 1)):
            broken.write_bytes(content)
            found, complaints = sources()
            assert [source.path for source in found] == list(recorded())
            assert len(complaints) == 1
            assert complaints[0].endswith(".")
    finally:
        broken.unlink()


def test_what_the_chart_shows_is_what_is_measured():
    asks = asks_for([H200], Choice())
    assert [(ask.scenario, ask.values["m"], ask.values["tile"]) for ask in asks] == [
        ("matmul-naive-row-on-x", 1024, 16),
        ("matmul-naive-col-on-x", 1024, 16),
        ("matmul-tiled", 1024, 16),
    ]
    assert len(asks_for([H200], Choice("scaling"))) == 21
    assert all(ask.first for ask in asks_for([H200], Choice("calls")))
    assert [ask.baseline for ask in asks_for([], of("vector-increment/numpy"))] == ["numpy"]


# --- published figures


def test_every_published_figure_stands_beside_a_row_that_was_measured():
    for entry in entries():
        kind = entry.kind
        rows = [
            row
            for row in H200.measurement.rows
            if (row.scenario, row.baseline) == (entry.scenario, entry.baseline)
        ]
        told = {mark.microseconds for row in rows for mark in published_for(row, kind)}
        assert entry.microseconds in told, entry
        assert entry.scenario in names()


def test_published_figures_name_their_gpu_and_can_be_left_out():
    choice = of("cuda-c-naive", "matmul-tiled-dynamic", problem="M = 5,120, K = 256, N = 5,120")
    bars = build([H200], choice).panels[0].bars
    assert [mark.microseconds for bar in bars for mark in bar.published] == [6200, 44600]
    increments = build([H200], of("vector-increment")).panels[0].bars
    assert "003: CS236781 tutorial 11" in build([H200], of("vector-increment")).notes[0]
    assert increments[0].published[0].told == "79.4 µs GeForce RTX 2080 Ti, document 003"
    assert not build([H200], of("vector-increment", published=False)).panels[0].bars[0].published


# --- counted traffic


def test_traffic_is_known_for_every_kernel_with_arithmetic_and_counted_again_gives_the_same():
    rows = [
        row
        for row in H200.measurement.rows
        if row.flop and row.timings and row.engine in ("numba-cuda", "cuda-c")
    ]
    assert all(traffic_of(row) for row in rows)
    small = [row for row in rows if row.flop <= 524_288 and row.parameters.get("tile") == 16]
    worker = Worker()
    try:
        for row in small[:4]:
            assert count(worker, row.scenario, row.parameters) == traffic_of(row)
    finally:
        worker.close()


@pytest.mark.parametrize(
    ("scenario", "values"),
    [
        ("matmul-naive-row-on-x", {"m": 64, "k": 32, "n": 64}),
        ("matmul-add-into-global", {"m": 32, "k": 64, "n": 64}),
        ("matmul-tiled-by-gridsize", {"m": 32, "k": 64, "n": 32, "grid": "inputs"}),
        ("matmul-tiled-early-return", {"m": 32, "k": 64, "n": 32}),
    ],
)
def test_blocks_that_are_alike_are_counted_once(scenario, values, monkeypatch):
    worker = Worker()
    try:
        whole = count(worker, scenario, values)
        monkeypatch.setattr(traffic, "SMALL", 0)
        parts = count(worker, scenario, values)
    finally:
        worker.close()
    assert parts.sectors == whole.sectors
    assert parts.blocks < whole.blocks


# --- tables


def test_the_csv_holds_each_number_with_unit_and_mark():
    text = csv_text(build([H200], Choice()))
    lines = [line for line in text.splitlines() if not line.startswith("# ")]
    rows = list(csv.DictReader(lines))
    assert tuple(rows[0]) == COLUMNS
    expected = statistics.median(samples(raw("matmul-tiled", **SIDES, tile=16), "kernel-warm"))
    assert float(rows[2]["value"]) == expected
    assert (rows[2]["unit"], rows[2]["marks"]) == ("µs", "measured")
    assert "NVIDIA H200, recorded on" in text.splitlines()[2]


def test_the_json_holds_every_sample():
    (number,) = json.loads(json_text(build([H200], of("matmul-tiled"))))["numbers"]
    assert number["samples"] == samples(raw("matmul-tiled", **number["parameters"]), "kernel-warm")
    assert len(number["samples"]) >= 20
    roofline = json.loads(json_text(build([H200], Choice("roofline"))))
    assert roofline["roofs"][0]["marks"] == ["measured"]
    assert {number["quantity"] for number in roofline["numbers"]} == {"rate", "operational intensity"}


# --- words, colours, ticks


def test_times_have_three_digits_and_the_unit_that_suits():
    assert [time_text(us) for us in (0.45, 1.456, 297.4, 2267.4, 140139.1, 2e6)] == [
        "450 ns", "1.46 µs", "297 µs", "2.27 ms", "140 ms", "2 s",
    ]  # fmt: skip
    assert number_text(12345.6) == "12,346"
    assert unit_of(999.9) == ("µs", 1.0)


def test_sizes_that_can_be_compared_have_one_name():
    found = {problem_of(row) for row in H200.measurement.rows}
    assert {"M = K = N = 1,024", "M = 5,120, K = 256, N = 5,120", "1,000,000 elements", "64 × 64"} <= found
    blocks = shapes([H200], of("vector-multiply"))
    assert blocks == ["1,024 blocks of 1,024", "32 blocks of 256"]
    assert problem_for([H200], of("histogram-global")) == "1,000,000 elements"


def test_a_kernel_keeps_its_colour_while_others_come_and_go():
    few = slots_of(of("matmul-tiled", "cuda-c-naive").subjects)
    more = slots_of(of("matmul-tiled", "cuda-c-naive", "count-atomic").subjects)
    assert few.items() <= more.items()
    everything = [Subject(name) for name in names()]
    slots = slots_of(everything)
    assert len(set(slots.values())) == len(everything)


@given(st.floats(1e-6, 1e6), st.floats(1.5, 1e6), st.booleans(), st.integers(2, 12))
def test_ticks_lie_inside_and_are_not_too_many(low, factor, log, count):
    found = ticks(low, low * factor, log, count)
    slack = 1e-6 * low * factor
    assert all(low - slack <= tick <= low * factor * 1.001 + slack for tick in found)
    assert len(found) <= count + 1
    assert found == sorted(found)


def test_scales_and_ranges():
    assert Scale(1, 100, 0, 10, log=True).at(10) == pytest.approx(5)
    assert Scale(0, 4, 10, 0).at(1) == 7.5
    low, high = log_range([3.0], 1.0)
    assert (low, high) == (1.5, 6.0)
    assert powers_of_two(60, 300) == [64, 128, 256]
