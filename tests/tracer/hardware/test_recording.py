"""Recording timelines: the process, what ends it, and the command."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from gpu_timelines import synthetic_timeline
from measured import DEVICE, case
from tilescope.app.cli.main import main
from tilescope.app.cli.measure_timelines import kernels_of, table
from tilescope.tracer.hardware.marks.client import record_timelines
from tilescope.tracer.hardware.marks.events import (
    NoDevice,
    TimelineRecorded,
    TimelineRefused,
    TimelineRequest,
    TimelineStarted,
)
from tilescope.tracer.hardware.marks.process import file_name, serve
from tilescope.tracer.hardware.marks.refusal import reason_for_refusal
from tilescope.tracer.hardware.timeline_file import load
from tilescope.tracer.hardware.times.cases import launch_of_case
from tilescope.tracer.hardware.times.measurement import MeasurementError
from tilescope.tracer.run.engine import run

CASES = [case("transpose-tile", rows=40, cols=40), case("sum-sequential", count=256)]


def timeline_of(first):
    values = {**first.values}
    return synthetic_timeline(run(launch_of_case(first), lambda done, total: None), values)


def played(first, gpu, device, revision, say):
    """Stand for a recording on a GPU."""
    say("launching")
    if first.scenario.startswith("sum"):
        raise MeasurementError("It has too many warps.")
    return timeline_of(first)


def gpu(lost=False):
    return SimpleNamespace(describe=lambda: DEVICE, is_lost=lambda: lost)


def served(folder, **options):
    results = []
    serve(TimelineRequest(tuple(CASES), str(folder), "abc"), results.append, gpu(**options), played)
    return results


def test_each_case_ends_in_a_file_or_in_a_message(tmp_path):
    output = served(tmp_path)
    path = tmp_path / "transpose-tile-rows40-cols40-padding0-float32.npz"
    assert output == [
        TimelineStarted(0, "compiling"), TimelineStarted(0, "launching"), TimelineRecorded(0, str(path)),
        TimelineStarted(1, "compiling"), TimelineStarted(1, "launching"),
        TimelineRefused(1, "It has too many warps."),
    ]  # fmt: skip
    assert load(path).head.scenario == "transpose-tile"


def test_a_lost_device_ends_the_process(tmp_path):
    cases = [CASES[1], CASES[0]]
    results = []
    serve(TimelineRequest(tuple(cases), str(tmp_path), ""), results.append, gpu(lost=True), played)
    assert [type(message) for message in results][-1] is TimelineRefused
    assert not list(tmp_path.iterdir())


def test_a_process_that_ends_early_is_restarted(tmp_path):
    requests, progress = [], []
    lists = [[TimelineStarted(0, "launching")], [TimelineRecorded(0, str(tmp_path / "x.npz"))]]

    def start(request):
        requests.append(request)
        return iter(lists[len(requests) - 1])

    results = record_timelines(CASES, tmp_path, lambda *output: progress.append(output), start)
    assert [r.cases for r in requests] == [tuple(CASES), (CASES[1],)]
    assert [outcome.path for outcome in results] == [None, tmp_path / "x.npz"]
    assert "ended while it ran" in results[0].reason
    assert progress == [("transpose-tile:rows=40,cols=40,padding=0,dtype=float32: launching", 0, 2)]


def test_a_missing_device_is_reported(tmp_path):
    with pytest.raises(MeasurementError, match=r"No GPU, .* driver\."):
        record_timelines(
            CASES, tmp_path, start=lambda request: iter([NoDevice("No GPU, there is no driver.")])
        )


def test_only_numba_kernels_are_sent_to_a_process(tmp_path):
    requests = []

    def start(request):
        requests.append(request)
        return iter([TimelineRecorded(0, str(tmp_path / "x.npz"))])

    results = record_timelines([case("cuda-c-naive"), CASES[0]], tmp_path, start=start)
    assert [r.cases for r in requests] == [(CASES[0],)]
    assert results[0].path is None and "CUDA C" in results[0].reason
    assert results[1].path == tmp_path / "x.npz"
    assert not record_timelines([case("python-loops")], tmp_path)[0].path  # without any process


@pytest.mark.parametrize(
    ("name", "message"), [("cuda-c-naive", "written in CUDA C"), ("python-loops", "a Python program")]
)
def test_kernels_not_from_numba_are_refused(name, message):
    assert message in reason_for_refusal(case(name))
    assert not reason_for_refusal(case("matmul-tiled"))


def test_names_of_files_hold_the_parameters_and_nothing_that_a_system_refuses():
    assert file_name(case("count-atomic")) == "count-atomic-num-blocks32-threads32.npz"
    assert file_name(case("matmul-tiled", a="../x y.npy")).count("/") == 0
    assert len(file_name(case("matmul-tiled", a="x" * 300))) < 140


def test_the_table_shows_the_cost_of_marks_and_the_use_of_time():
    built = timeline_of(CASES[0])
    head = replace(built.head, launch_microseconds=6.5, empty_microseconds=2.0, notes=("Some.",))
    title, names, row, note, *_ = table([replace(built, head=head)]).splitlines()
    assert "measured" in title and "compared to 32 ns" in title
    assert re.split(r"\s{2,}", names.strip()) == [
        "marks", "registers", "us", "spans, of us", "multiprocessors", "blocks at once", "in segments", "load",
        "compute", "wait",
    ]  # fmt: skip
    assert re.split(r"\s{2,}", row) == [
        "transpose-tile [rows=40 cols=40 padding=0 dtype=float32]", "all", "30 -> 34", "4.76 -> 5.24", "4.76 of 4.50",
        "4", "1", "100 %", "55 %", "29 %", "16 %",
    ]  # fmt: skip
    assert note == "  Some."


def test_baselines_have_no_timeline():
    assert [item.baseline for item in kernels_of(["vector-increment:count=100"])] == [""]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--timeline"], "needs a scenario"),
        (["--timeline", "--json", "x.json", "count-atomic"], "--json is for times"),
        (["--output", "x", "count-atomic"], "--output names the folder"),
        (["--timeline", "matmul-tild"], "matmul-tild"),
    ],
)
def test_an_invalid_command_is_refused_in_a_sentence(words, message, capsys):
    assert main(["measure", *words]) == 2
    assert message in capsys.readouterr().err
