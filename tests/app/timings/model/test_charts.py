"""Charts as data: the numbers of the recorded measurement, counted separately, and their descriptions."""

from __future__ import annotations

import json
import statistics

import msgspec
import pytest
from msgspec.structs import astuple, replace

from measured import case
from recorded_charts import FILE, H200, RAW, SIDES, choice_of, raw_row, samples_of
from tilescope.app.timings.model.build import build
from tilescope.app.timings.model.cases import cases_to_measure
from tilescope.app.timings.model.choice import (
    CHARTS,
    LADDER,
    LADDER_TO_CUBLAS,
    ChartSubject,
    Choice,
    problems,
    subjects_of,
    usual_choice,
    with_chart,
)
from tilescope.app.timings.model.sources import Source, own_folder, sources
from tilescope.app.timings.model.vocabulary import terminology_of, with_terminology
from tilescope.app.timings.model.wording import problem_of, shape_of
from tilescope.tracer.hardware.times.cases import row_of
from tilescope.tracer.hardware.times.measurement import Timing, load, recorded_measurements, save

# --- what is drawn


def test_the_default_chart_compares_naive_and_tiled_kernels_at_a_size_all_were_measured_at():
    figure = build([H200], Choice())
    assert [bar.datum.subject for bar in figure.panels[0].bars] == [
        "matmul-naive-row-on-x",
        "matmul-naive-col-on-x",
        "matmul-tiled",
    ]
    assert {bar.datum.parameters["m"] for bar in figure.panels[0].bars} == {1024}


def test_bars_are_the_medians_of_all_samples_with_their_intervals():
    for bar in build([H200], Choice(kind="call")).panels[0].bars:
        taken = samples_of(raw_row(bar.datum.subject, **SIDES, tile=16), "call")
        assert bar.value == statistics.median(taken)
        assert bar.dots == tuple(taken)
        assert bar.low <= bar.value <= bar.high
        assert {bar.low, bar.high} <= set(taken)


def test_a_speed_up_is_the_ratio_of_two_medians():
    figure = build([H200], Choice("speedup", against="matmul-naive-col-on-x"))
    tiled = figure.panels[0].bars[-1]
    naive = statistics.median(samples_of(raw_row("matmul-naive-col-on-x", **SIDES, tile=16), "kernel-warm"))
    fast = statistics.median(samples_of(raw_row("matmul-tiled", **SIDES, tile=16), "kernel-warm"))
    assert tiled.value == naive / fast
    assert tiled.low < tiled.value < tiled.high
    assert figure.panels[0].bars[1].value == 1
    assert "Naive, column on x" in figure.panels[0].axis.label


def test_a_speed_up_over_an_unmeasured_kernel_is_reported_as_missing():
    figure = build([H200], choice_of("matmul-tiled", chart="speedup", against="count-atomic"))
    assert figure.is_empty
    assert "Counter, atomic was not measured like this" in figure.notes[0]


def test_scaling_has_every_square_size_and_rates_of_modelled_flop_by_measured_time():
    times, rates = build([H200], Choice("scaling")).panels
    assert [point.x for point in times.series[2].points] == [64, 128, 256, 512, 1024, 2048, 4096]
    point = rates.series[2].points[4]
    median = statistics.median(samples_of(raw_row("matmul-tiled", **SIDES, tile=16), "kernel-warm"))
    assert point.y == pytest.approx(2 * 1024**3 / median / 1000)
    assert point.low <= point.y <= point.high
    assert ("modelled", "FLOP") in rates.y.marks
    assert ("measured", "time") in rates.y.marks


def test_scaling_takes_the_blocks_that_are_asked_for():
    (times, _) = build([H200], choice_of("matmul-tiled", chart="scaling", shape="blocks of 32 × 32")).panels
    assert [(point.x, point.datum.parameters["tile"]) for point in times.series[0].points] == [(1024, 32)]


def test_scaling_never_has_matrices_and_vectors_on_one_axis():
    figure = build([H200], Choice("scaling", subjects=tuple(subjects_of([H200]))))
    by_label = {}
    for panel in figure.panels:
        by_label.setdefault(panel.x.label, []).append(panel.y.label)
        for point in (point for series in panel.series for point in series.points):
            assert ("count" in point.datum.parameters) == (panel.x.label == "elements")
            assert ("elements" in point.text) == (panel.x.label == "elements")
    assert by_label == {"N, the side of the matrices": ["time", "rate"], "elements": ["time", "rate"]}


def test_a_line_joins_one_dtype_and_one_shape_of_blocks():
    for shape in ("", "blocks of 8 × 8"):
        figure = build([H200], Choice("scaling", subjects=tuple(subjects_of([H200])), shape=shape))
        for series in (series for panel in figure.panels for series in panel.series):
            given = [point.datum.parameters for point in series.points]
            assert len({(g.get("tile"), g.get("threads"), g.get("num_blocks")) for g in given}) == 1
            assert len({g.get("dtype") for g in given}) == 1
    (pitfall, _) = build([H200], choice_of("matmul-tiled-by-gridsize", chart="scaling")).panels
    assert [point.x for point in pitfall.series[0].points] == [1024]  # N = 4 was measured in float64


def test_a_usual_shape_is_named_once_and_others_with_their_kernels():
    figure = build([H200], choice_of("matmul-tiled", "cuda-c-naive", "transpose-naive", chart="scaling"))
    assert figure.notes[0] == "Blocks of 16 × 16 unless a name has others."
    assert [series.part for series in figure.panels[0].series] == ["", "", "blocks of 32 × 32"]


def test_one_kernel_at_two_sizes_has_two_labels():
    pair = tuple(ChartSubject("matmul-tiled", values=(("m", m), ("tile", 16))) for m in (512, 1024))
    bars = build([H200], Choice(subjects=pair)).panels[0].bars
    assert {bar.part for bar in bars} >= {"M = K = N = 512", "M = K = N = 1,024"}
    same = tuple(ChartSubject("matmul-tiled", values=(("m", 1024), ("tile", tile))) for tile in (8, 32))
    figure = build([H200], Choice("roofline", subjects=same))
    assert [series.part for series in figure.panels[0].series] == ["blocks of 8 × 8", "blocks of 32 × 32"]
    assert figure.subtitle.startswith("M = K = N = 1,024")


def test_reasons_for_missing_bars_are_listed_once():
    figure = build([H200], choice_of("matmul-tiled", "transpose-naive", "histogram-global", chart="roofline"))
    (note,) = (note for note in figure.notes if "arithmetic" in note)
    assert note == "No arithmetic to count: Transpose, naive; Histogram, global atomics."


def test_words_that_only_their_author_knows_are_in_no_chart():
    for chart in CHARTS:
        figure = build([H200], with_chart(Choice(subjects=tuple(subjects_of([H200]))), chart))
        figure_text = " ".join((figure.title, figure.subtitle, figure.method, *figure.notes))
        for word in ("held stream", "document 00", "003", "004", "matmul-", "vector-", "python-"):
            assert word not in figure_text


def test_the_roofline_counts_sectors_and_stands_under_what_the_device_reached():
    (plane,) = build([H200], Choice("roofline")).panels
    roof = plane.roofs[0]
    ceilings = RAW["ceilings"]
    rates = {(peak["dtype"], peak["by"]): peak["gflop_per_s"] for peak in ceilings["peaks"]}
    assert (roof.gb_per_s, roof.gflop_per_s) == (ceilings["copy_gb_per_s"], rates["float32", "cublas"])
    assert roof.other_rates == (("multiply-adds in registers", rates["float32", "registers"]),)
    by_name = {series.points[0].datum.subject: series.points[0] for series in plane.series}
    # Per warp of 2 x 16 threads and step of k the naive kernel asks for 2 sectors of A and 2 of B, and stores C once.
    sectors = 1024**2 // 32 * (1024 * 4 + 4)
    assert by_name["matmul-naive-col-on-x"].x == pytest.approx(2 * 1024**3 / (32 * sectors))
    assert by_name["matmul-naive-row-on-x"].x < by_name["matmul-naive-col-on-x"].x < by_name["matmul-tiled"].x
    assert not any(series.hollow for series in plane.series)
    assert plane.x.marks == (("modelled", "FLOP"), ("exact", "bytes"), ("measured", "bytes of rings"))


def test_the_roof_is_that_of_the_dtype_and_the_note_names_its_measurement():
    figure = build([H200], choice_of("matmul-tiled", chart="roofline", problem="M = K = N = 512, float64"))
    (roof,) = figure.panels[0].roofs
    assert roof.dtype == "float64"
    assert "DGEMM" in roof.reached_by
    assert any("tensor cores" in note for note in figure.notes)
    assert not any("tensor cores" in note for note in build([H200], Choice("roofline")).notes)
    assert any(
        "float64" in note and "cuBLAS" in note and "registers, dotted" in note for note in figure.notes
    )


@pytest.mark.parametrize(
    ("left", "roof"),
    [({"cuda-c", "registers"}, "cuda-c"), ({"registers"}, "registers")],
)
def test_without_cublas_the_roof_is_a_product_of_our_own_else_the_registers(left, roof):
    ceilings = H200.measurement.ceilings
    peaks = tuple(peak for peak in ceilings.peaks if peak.by in left)
    measurement = replace(H200.measurement, ceilings=replace(ceilings, peaks=peaks))
    (drawn,) = build([replace(H200, measurement=measurement)], Choice("roofline")).panels[0].roofs
    expected = next(peak for peak in peaks if (peak.by, peak.dtype) == (roof, "float32"))
    assert (drawn.gflop_per_s, drawn.reached_by) == (expected.gflop_per_s, expected.method)
    assert len(drawn.other_rates) == len(left) - 1


def test_the_roofline_omits_programs_on_the_cpu_and_reports_it():
    figure = build(
        [H200], choice_of("matmul-naive-col-on-x", "matmul-naive-col-on-x/numpy", chart="roofline")
    )
    assert len(figure.panels[0].series) == 1
    assert any("NumPy" in note for note in figure.notes)
    assert "CPU" not in f"{figure.title} {figure.method}"
    assert figure.subtitle.endswith("NVIDIA H200")


@pytest.mark.parametrize(("chart", "kinds"), [("calls", "first-call"), ("copies", "with-copies")])
def test_calls_and_copies_are_next_to_a_later_call_and_the_kernel(chart, kinds):
    bars = build([H200], choice_of("matmul-tiled", chart=chart)).panels[0].bars
    assert [bar.datum.kind for bar in bars] == [kinds, "call", "kernel-warm"]
    assert bars[0].value > bars[1].value > bars[2].value


def test_the_ladder_from_python_to_the_gpu_is_one_chart():
    keys = ("python-threads", "python-loops", "matmul-naive-col-on-x/numpy", "matmul-tiled")
    figure = build([H200], choice_of(*keys))
    assert [bar.datum.subject for bar in figure.panels[0].bars] == list(keys)
    assert {bar.datum.kind for bar in figure.panels[0].bars} == {"cpu", "kernel-warm"}
    assert figure.panels[0].axis.log
    assert not build([H200], choice_of(*keys, log=False)).panels[0].axis.log
    assert "CPU" in figure.title


def test_a_ladder_goes_from_the_slowest_to_the_fastest_and_has_one_when_none_was_chosen():
    usual = with_chart(Choice(), "ladder")
    bars = build([H200], usual).panels[0].bars
    assert len(bars) == len(LADDER)
    assert [bar.value for bar in bars] == sorted((bar.value for bar in bars), reverse=True)
    assert {bar.datum.parameters["k"] for bar in bars} == {256}
    assert {bar.datum.kind for bar in bars} == {"cpu", "kernel-warm"}
    choice = choice_of("vector-increment", "vector-increment/numpy")
    assert with_chart(choice, "ladder").subjects == choice.subjects


def with_ladder(microseconds, cublas):
    """Return the recorded measurement with rungs that it lacks, at 4096, and cuBLAS if that has a time."""
    names = [key.partition("/") for key in LADDER_TO_CUBLAS if key.startswith(("matmul-two", "matmul-wide"))]
    rows = []
    for name, _, baseline in names:
        row = row_of(case(name, baseline, m=4096, k=4096, n=4096, tile=128, side=8))
        time = cublas if baseline else microseconds
        timings = (Timing("kernel-warm", (time,) * 25, True),) if time else ()
        rows.append(replace(row, timings=timings))
    kept = [row for row in H200.measurement.rows if row.scenario in ("matmul-tiled", "matmul-naive-col-on-x")]
    return replace(H200, measurement=replace(H200.measurement, rows=(*kept, *rows)))


def test_the_ladder_to_cublas_is_in_per_cent_of_it_in_the_same_run():
    figure = build([with_ladder(3600.0, 2700.0)], usual_choice("cublas"))
    (panel,) = figure.panels
    shares = {bar.datum.subject: bar.value for bar in panel.bars}
    assert shares["matmul-two-buffers"] == pytest.approx(75) and shares["matmul-two-buffers/cublas"] == 100
    assert [bar.value for bar in panel.bars] == sorted(shares.values())
    assert panel.bars[-2].text == "75.0 %" and panel.reference == 100
    assert {bar.datum.parameters["m"] for bar in panel.bars} == {4096}
    assert not panel.axis.log
    assert "100 %: 50,903 GFLOP/s, cuBLAS at the same size." in figure.notes


def test_where_cublas_was_not_measured_the_ladder_stands_against_the_ceiling_of_the_run():
    figure = build([with_ladder(3600.0, 0)], usual_choice("cublas"))
    (ceiling,) = (p for p in H200.measurement.ceilings.peaks if (p.dtype, p.by) == ("float32", "cublas"))
    share = {bar.datum.subject: bar.value for bar in figure.panels[0].bars}["matmul-two-buffers"]
    assert share == pytest.approx(100 * 2 * 4096**3 / 3600 / 1000 / ceiling.gflop_per_s)
    assert any(ceiling.method in note for note in figure.notes)
    bare = replace(H200.measurement, ceilings=None)
    nothing = build([replace(H200, measurement=bare)], usual_choice("cublas"))
    assert nothing.is_empty and any("cuBLAS was not measured" in note for note in nothing.notes)


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
    rows = {json.dumps(row.parameters) + ChartSubject(row.scenario, row.baseline).key for row in timed}
    shapes_apart = {(r.scenario, r.baseline, problem_of(r), shape_of(r)) for r in timed}
    assert len(drawn) == len(shapes_apart)
    assert drawn <= rows


def test_a_kernel_that_is_wrong_is_named_with_the_reason():
    figure = build([H200], choice_of("vector-increment", "vector-too-few-threads"))
    assert [bar.datum.subject for bar in figure.panels[0].bars] == ["vector-increment"]
    assert any("too few threads" in note and "NumPy" in note for note in figure.notes)


def test_own_measurements_are_drawn_next_to_recorded_ones(tmp_path):
    halved = msgspec.convert(msgspec.to_builtins(H200.measurement), type(H200.measurement))
    save(replace(halved, date="2027-01-02T03:04:05+00:00"), tmp_path / "mine.json")
    own_source = Source(tmp_path / "mine.json", load(tmp_path / "mine.json"))
    figure = build([H200, own_source], choice_of("matmul-tiled"))
    assert [bar.part for bar in figure.panels[0].bars] == ["recorded 2026-11-21", "here 2027-01-02 03:04"]
    assert "recorded on 2026-11-21" in figure.origins[0]
    assert "measured here on 2027-01-02" in figure.origins[1]
    lines = build([H200, own_source], choice_of("matmul-tiled", chart="scaling")).panels[0].series
    assert [line.style for line in lines] == [0, 1]
    assert [line.part for line in lines] == [bar.part for bar in figure.panels[0].bars]


def test_each_kernel_names_its_measurement_where_there_are_several():
    measured = H200.measurement
    rows = tuple(row for row in measured.rows if row.scenario == "cuda-c-naive")
    laptop = replace(measured.device, name="GeForce RTX 4060 Laptop")
    laptop_source = replace(H200, measurement=replace(measured, device=laptop, rows=rows))
    keys = ("matmul-naive-row-on-x", "cuda-c-naive")
    expected = [(0, "NVIDIA H200"), (0, "NVIDIA H200"), (1, "GeForce RTX 4060 Laptop")]
    for chart in ("scaling", "roofline"):
        lines = build([H200, laptop_source], choice_of(*keys, chart=chart)).panels[0].series
        assert [(line.style, line.part) for line in lines] == expected
    bars = build([H200, laptop_source], choice_of(*keys)).panels[0].bars
    assert [bar.part for bar in bars] == [part for _, part in expected]


def test_what_has_nothing_to_be_compared_with_is_named():
    rows = tuple(row for row in H200.measurement.rows if row.scenario == "cuda-c-naive")
    own_source = replace(H200, measurement=replace(H200.measurement, rows=rows), recorded=False)
    figure = build([H200, own_source], choice_of("matmul-tiled", "cuda-c-naive", chart="speedup"))
    assert [bar.datum.subject for bar in figure.panels[0].bars] == ["matmul-tiled", "cuda-c-naive"]
    assert "Not compared: CUDA C, naive, measured without Tiled, shared memory." in figure.notes


def test_a_chart_speaks_of_work_groups_but_keeps_titles():
    keys = ("matmul-tiled", "vector-multiply", "python-threads")
    figure = with_terminology(build([H200], choice_of(*keys, chart="scaling")), "work-item")
    assert [series.full_name for series in figure.panels[0].series] == ["Tiled, shared memory"]
    assert figure.panels[2].series[0].full_name == "Multiply, grid-stride loop, 1,024 work-groups of 1,024"
    assert "Python, threads and a barrier" in " ".join(figure.notes)
    speedup = with_terminology(build([H200], choice_of("matmul-tiled", chart="speedup")), "work-item")
    assert speedup.panels[0].axis.label == "times as fast as Tiled, shared memory"
    assert speedup.subtitle.startswith("M = K = N = 2,048 · work-groups of 16 × 16")
    bars = with_terminology(
        build([H200], choice_of("matmul-tiled", shape="all", problem="M = K = N = 1,024")), "work-item"
    )
    assert [bar.part for bar in bars.panels[0].bars] == [f"work-groups of {n} × {n}" for n in (16, 8, 32)]


def test_kernels_with_only_work_items_use_those_words():
    assert terminology_of("own", choice_of("workitem-naive").subjects) == "work-item"
    assert terminology_of("own", choice_of("workitem-naive", "matmul-tiled").subjects) == "cuda"
    assert terminology_of("cuda", choice_of("workitem-naive").subjects) == "cuda"
    assert terminology_of("work-item", ()) == "work-item"


def test_every_figure_names_device_date_and_method():
    for chart in CHARTS:
        figure = build([H200], Choice(chart))
        assert not figure.is_empty, chart
        assert "NVIDIA H200, recorded on 2026" in figure.origins[0]
        assert figure.method
        marks = [
            mark for panel in figure.panels for axis in astuple(panel) for mark in getattr(axis, "marks", ())
        ]
        assert marks, chart


# --- sources


def test_unreadable_files_are_reported_in_one_sentence_and_the_others_are_there():
    own_folder().mkdir(parents=True, exist_ok=True)
    broken = own_folder() / "broken.json"
    try:
        for content in (b"", b"{}", FILE.read_bytes().replace(b'"version":2', b'"version":7', 1)):
            broken.write_bytes(content)
            recordings, complaints = sources()
            assert [source.path for source in recordings] == [
                recorded_measurements()[0]
            ]  # others go on with it
            assert len(complaints) == 1
            assert complaints[0].endswith(".")
    finally:
        broken.unlink()


def test_what_the_chart_shows_is_what_is_measured():
    cases = cases_to_measure([H200], Choice())
    assert [(case.scenario, case.values["m"], case.values["tile"]) for case in cases] == [
        ("matmul-naive-row-on-x", 1024, 16),
        ("matmul-naive-col-on-x", 1024, 16),
        ("matmul-tiled", 1024, 16),
    ]
    assert len(cases_to_measure([H200], Choice("scaling"))) == 21
    assert all(case.first for case in cases_to_measure([H200], Choice("calls")))
    assert [case.baseline for case in cases_to_measure([], choice_of("vector-increment/numpy"))] == ["numpy"]
