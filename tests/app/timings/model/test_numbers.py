"""What charts are made of: published figures, counted traffic, tables, words, colours and ticks."""

from __future__ import annotations

import csv
import json
import statistics

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recorded_charts import H200, SIDES, choice_of, raw_row, samples_of
from tilescope.app.timings.model.bars import published_for, published_times
from tilescope.app.timings.model.build import build
from tilescope.app.timings.model.choice import ChartSubject, Choice, problem_for, shapes, slots_of
from tilescope.app.timings.model.table import COLUMNS, csv_text, json_text
from tilescope.app.timings.model.wording import number_text, problem_of, time_text, unit_of
from tilescope.app.views.common.geometry import log_range, powers_of_two, tick_text, ticks
from tilescope.kernels.scenarios.catalogue import names
from tilescope.tracer.hardware.times import traffic
from tilescope.tracer.hardware.times.measurement import load, recorded_measurements
from tilescope.tracer.hardware.times.traffic import count, traffic_of
from tilescope.tracer.run.worker_client import Worker

RUNGS = ("matmul-column", "matmul-square", "matmul-wide", "matmul-two-buffers")

# --- published figures


def test_every_published_figure_is_next_to_a_measured_row():
    for entry in published_times():
        kind = entry.kind
        rows = [
            row
            for row in H200.measurement.rows
            if (row.scenario, row.baseline) == (entry.scenario, entry.baseline)
        ]
        published = {mark.microseconds for row in rows for mark in published_for(row, kind)}
        assert entry.microseconds in published, entry
        assert entry.scenario in names()


def test_published_figures_name_their_gpu_and_can_be_left_out():
    choice = choice_of("cuda-c-naive", "matmul-tiled-dynamic", problem="M = 5,120, K = 256, N = 5,120")
    bars = build([H200], choice).panels[0].bars
    assert [mark.microseconds for bar in bars for mark in bar.published] == [6200, 44600]
    increments = build([H200], choice_of("vector-increment")).panels[0].bars
    assert "CS236781 tutorial 11" in build([H200], choice_of("vector-increment")).notes[0]
    assert increments[0].published[0].text == "79.4 µs, GeForce RTX 2080 Ti"
    assert increments[0].published[0].document == "CS236781 tutorial 11"
    assert not build([H200], choice_of("vector-increment", published=False)).panels[0].bars[0].published


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
        ("matmul-naive-row-on-x", {"m": 32, "k": 32, "n": 64, "tile": 4}),
        ("matmul-tiled", {"m": 24, "k": 16, "n": 24, "tile": 2}),
        ("matmul-add-into-global", {"m": 32, "k": 64, "n": 64}),
        ("matmul-tiled-by-gridsize", {"m": 32, "k": 64, "n": 32, "grid": "inputs"}),
        ("matmul-tiled-early-return", {"m": 32, "k": 64, "n": 32}),
    ],
)
def test_blocks_that_are_alike_are_counted_once(scenario, values, monkeypatch):
    worker = Worker()
    try:
        launch_count = count(worker, scenario, values)
        monkeypatch.setattr(traffic, "SMALL", 0)
        parts = count(worker, scenario, values)
    finally:
        worker.close()
    assert parts.sectors == launch_count.sectors
    assert parts.blocks < launch_count.blocks


# --- tables


def test_the_csv_holds_each_number_with_unit_and_mark():
    text = csv_text(build([H200], Choice()))
    lines = [line for line in text.splitlines() if not line.startswith("# ")]
    rows = list(csv.DictReader(lines))
    assert tuple(rows[0]) == COLUMNS
    expected = statistics.median(samples_of(raw_row("matmul-tiled", **SIDES, tile=16), "kernel-warm"))
    assert float(rows[2]["value"]) == expected
    assert (rows[2]["unit"], rows[2]["marks"]) == ("µs", "measured")
    assert "NVIDIA H200, recorded on" in text.splitlines()[2]


def test_the_json_holds_every_sample():
    (number,) = json.loads(json_text(build([H200], choice_of("matmul-tiled"))))["numbers"]
    assert number["samples"] == samples_of(raw_row("matmul-tiled", **number["parameters"]), "kernel-warm")
    assert len(number["samples"]) >= 20
    roofline = json.loads(json_text(build([H200], Choice("roofline"))))
    assert roofline["roofs"][0]["marks"] == ["measured"]
    assert {number["quantity"] for number in roofline["numbers"]} >= {"rate", "operational intensity"}


# --- words, colours, ticks


def test_times_have_three_digits_and_the_unit_that_suits():
    assert [time_text(us) for us in (0.45, 1.456, 297.4, 2267.4, 140139.1, 2e6)] == [
        "450 ns", "1.46 µs", "297 µs", "2.27 ms", "140 ms", "2.00 s",
    ]  # fmt: skip
    assert number_text(12345.6) == "12,346"
    assert unit_of(999.9) == ("µs", 1.0)


def test_sizes_that_can_be_compared_have_one_name():
    problems = {problem_of(row) for row in H200.measurement.rows}
    assert {"M = K = N = 1,024", "M = 5,120, K = 256, N = 5,120", "1,000,000 elements", "64 × 64"} <= problems
    blocks = shapes([H200], choice_of("vector-multiply"))
    assert blocks == ["1,024 blocks of 1,024", "32 blocks of 256"]
    assert problem_for([H200], choice_of("histogram-global")) == "1,000,000 elements"


def test_a_kernel_keeps_its_colour_while_others_come_and_go():
    few = slots_of(choice_of("matmul-tiled", "cuda-c-naive").subjects)
    more = slots_of(choice_of("matmul-tiled", "cuda-c-naive", "count-atomic").subjects)
    assert few.items() <= more.items()
    everything = [ChartSubject(name) for name in names()]
    slots = slots_of(everything)
    assert len(set(slots.values())) == len(everything)


@given(st.floats(1e-6, 1e6), st.floats(1.5, 1e6), st.booleans(), st.integers(2, 12))
def test_ticks_lie_inside_and_are_not_too_many(low, factor, log, count):
    positions = ticks(low, low * factor, log, count)
    slack = 1e-6 * low * factor
    assert all(low - slack <= tick <= low * factor * 1.001 + slack for tick in positions)
    assert len(positions) <= count + 1
    assert positions == sorted(positions)


@given(st.floats(0.01, 1e6), st.floats(10, 1e8), st.integers(2, 6))
@example(2.0, 15.0, 2)  # 2 to 30: one power of ten between, and one even step
def test_an_axis_over_a_decade_has_at_least_two_numbers(low, factor, count):
    assert 2 <= len(ticks(low, low * factor, True, count)) <= count + 1


@given(st.floats(1e-9, 1e12))
def test_numbers_are_decimal(value):
    for text in (tick_text(value), number_text(value), time_text(value)):
        assert "e" not in text.lower()
    assert float(tick_text(value).replace(",", "")) == pytest.approx(value, rel=1e-5)
    assert float(number_text(value).replace(",", "")) == pytest.approx(value, rel=0.006)


def test_numbers_keep_their_three_digits():
    assert [tick_text(v) for v in (1_048_576, 1e6, 0.25, 1500, 0, 1e-6)] == [
        "1,048,576", "1,000,000", "0.25", "1,500", "0", "0.000001",
    ]  # fmt: skip
    assert [number_text(v) for v in (4, 2.3, 99.96, 0.0123, 1.05e6)] == [
        "4.00", "2.30", "100", "0.0123", "1,050,000",
    ]  # fmt: skip


def test_ranges_and_powers():
    low, high = log_range([3.0], 1.0)
    assert (low, high) == (1.5, 6.0)
    assert powers_of_two(60, 300) == [64, 128, 256]


def test_sectors_of_measured_rows_are_those_that_nsight_compute_read():
    rows = [
        row
        for path in recorded_measurements()
        for row in load(path).rows
        if row.scenario in RUNGS and not row.baseline
    ]
    counted = {(row.scenario, row.parameters["m"]): traffic_of(row) for row in rows}
    assert all(counter is not None and counter.sectors for counter in counted.values())
    # Loaded and stored, on an H200.
    assert counted["matmul-square", 256].sectors == 32_768 + 65_536
    assert (
        counted["matmul-wide", 256].sectors == counted["matmul-two-buffers", 256].sectors == 32_768 + 32_768
    )
