"""Measuring: rows, the process and what ends it, and the command."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import numpy as np
import pytest

from measured import DEVICE, case, measurement
from tilescope.app.cli.commands import parser_of, subcommand_of
from tilescope.app.cli.measure import table
from tilescope.kernels.scenarios.catalogue import CatalogueError, find, names, settle
from tilescope.tracer.hardware.times.cases import cases_of, groups_of_equal_size, launch_of_case, row_of
from tilescope.tracer.hardware.times.client import MeasureClient
from tilescope.tracer.hardware.times.cuda_c import function_of, source_of
from tilescope.tracer.hardware.times.events import (
    DeviceLost,
    DeviceOpened,
    Request,
    RowMeasured,
    RowStarted,
    SamplingProgress,
)
from tilescope.tracer.hardware.times.measurement import MeasurementError, load
from tilescope.tracer.hardware.times.process import problem_of, serve
from tilescope.tracer.processes.process_client import RunCancelledError

# --- rows


def test_all_scenarios_have_rows_and_their_baselines():
    cases = cases_of([])
    assert {a.scenario for a in cases} == set(names())
    rows = [row_of(a) for a in cases]
    assert {row.engine for row in rows} == {"numba-cuda", "cuda-c", "python", "numba", "numpy", "cublas"}
    sizes = {row.parameters["m"] for row in rows if row.scenario == "matmul-tiled"}
    assert {64, 4096} <= sizes
    blocks = {row.block for row in rows if row.scenario == "matmul-tiled"}
    assert blocks == {(tile, tile, 1) for tile in (2, 4, 8, 16, 32)}
    seeds = [r for r in rows if r.scenario.startswith("cuda-c") and r.parameters["m"] == 5120]
    assert len(seeds) == 4
    assert all(row.flop > 0 for row in rows if "matmul" in row.scenario)


def test_a_spec_with_parameters_is_one_size_with_its_baselines():
    cases = cases_of(["vector-increment:count=100"])
    assert [a.baseline for a in cases] == ["", "python", "numba", "numpy"]
    assert [a.needs_device for a in cases] == [True, False, False, False]
    assert {a.values["count"] for a in cases} == {100}
    with pytest.raises(CatalogueError):
        cases_of(["matmul-tilde"])


def test_rows_of_one_size_are_measured_together():
    cases = [
        case("matmul-tiled", m=8),
        case("vector-double"),
        case("cuda-c-naive", m=8),
        case("matmul-tiled", m=9),
    ]
    assert groups_of_equal_size(cases) == [[0, 2], [1], [3]]


def test_cuda_c_sources_have_the_functions_that_the_catalogue_names():
    for scenario in (find(name) for name in names() if name.startswith("cuda-c")):
        path, text = source_of(scenario.cuda_c)
        values = settle(scenario, {})
        function = function_of(scenario.cuda_c, values)
        assert path.suffix == ".cu"
        assert f"void {function.partition('<')[0]}(" in text
        head = text[text.index("void ") : text.index("{", text.index("void "))]
        assert head.count(",") + 1 == 3 + len(scenario.cuda_c.numbers)


# --- the process


class Played:
    """A timed call that computes a right or wrong result and takes the given times."""

    compiles = True

    def __init__(self, case, wrong=0.0, fails=None):
        self.launch, self.wrong, self.fails = launch_of_case(case), wrong, fails
        self.case = case

    def first_call(self):
        return 1000.0

    def results(self):
        from tilescope.tracer.recording.kernel_loader import create_array

        a, b, c = (create_array(array) for array in self.launch.arguments[:3])
        np.matmul(a, b, out=c)
        return {"a": a, "b": b, "c": c + self.wrong}

    def samplers(self):
        def sampler():
            if self.fails:
                raise self.fails
            return 5.0

        return {"kernel-warm": sampler, "launch": lambda: 2.0}

    def outcomes(self):
        return (1.0, 1.0) if self.wrong else ()


class PlayedGpu:
    def __init__(self, lost=False):
        self.lost = lost

    def describe(self):
        return DEVICE

    def is_lost(self):
        return self.lost


def served(cases, gpu=None, calls=None):
    messages = []
    results = iter(calls or [{}] * len(cases))
    serve(
        Request(tuple(cases)),
        messages.append,
        gpu or PlayedGpu(),
        "",
        lambda a, g: Played(a, **next(results)),
        lambda gpu: None,
    )
    return messages


def test_a_right_row_is_timed_in_every_kind():
    messages = served([case("matmul-tiled", first=True, m=8), case("matmul-naive-col-on-x", m=8)])
    assert messages[0] == DeviceOpened(DEVICE, None, "")
    first, second = (e.row for e in messages if isinstance(e, RowMeasured))
    assert [(t.kind, t.median, t.settled) for t in first.timings] == [
        ("first-call", 1000, False),
        ("kernel-warm", 5, True),
        ("launch", 2, True),
    ]
    assert [t.kind for t in second.timings] == ["kernel-warm", "launch"]
    assert first.result.equal
    assert first.problem == ""


def test_a_wrong_row_is_reported_and_not_timed():
    messages = served([case("matmul-tiled"), case("matmul-tiled-dynamic")], calls=[{"wrong": 0.5}, {}])
    wrong, right = (e.row for e in messages if isinstance(e, RowMeasured))
    assert wrong.timings == ()
    assert wrong.problem.startswith("It differs from NumPy by 0.5")
    assert wrong.problem.endswith(", so it was not timed.")
    assert not wrong.result.equal
    assert wrong.outcomes == (1.0, 1.0)
    assert right.timings


def test_an_error_ends_its_row_and_no_other():
    failing = {"fails": MemoryError("out")}
    messages = served([case("matmul-tiled"), case("matmul-tiled-dynamic")], calls=[failing, {}])
    rows = {e.place: e.row for e in messages if isinstance(e, RowMeasured)}
    assert rows[0].problem == "The device has too little memory; choose a smaller size."
    assert rows[0].timings == ()
    assert rows[1].problem == ""
    assert rows[1].timings
    assert not any(isinstance(e, DeviceLost) for e in messages)


def test_a_lost_device_ends_the_process_with_the_row_that_lost_it():
    failing = {"fails": RuntimeError("[719] CUDA_ERROR_ILLEGAL_ADDRESS")}
    cases = [case("matmul-tiled"), case("matmul-tiled-dynamic")]
    messages = served(cases, PlayedGpu(lost=True), calls=[failing, {}])
    assert [e.place for e in messages if isinstance(e, RowMeasured)] == [0]
    assert isinstance(messages[-1], DeviceLost)


def test_problems_are_sentences():
    assert problem_of(MeasurementError("Why.")) == "Why."
    assert problem_of(RuntimeError("[2] CUDA_ERROR_OUT_OF_MEMORY")).startswith(
        "The device has too little memory"
    )
    assert problem_of(RuntimeError("[702] CUDA_ERROR_LAUNCH_TIMEOUT")).startswith("It ran too long")
    assert problem_of(ValueError("odd\nmore")) == "It could not be measured (ValueError: odd)."


def processes(*scripts):
    """Replace the process: each start plays the next list of events; requests are kept."""
    requests, left = [], list(scripts)

    def start(request):
        requests.append(request)
        yield from left.pop(0)

    return start, requests


def test_another_process_measures_the_rows_after_a_lost_device():
    cases = [case("matmul-tiled", m=m) for m in (1, 2, 3)]
    rows = [row_of(a) for a in cases]
    broken = msgspec.structs.replace(rows[1], problem="broken")
    start, requests = processes(
        [
            DeviceOpened(DEVICE, None, ""),
            RowStarted(0),
            RowMeasured(0, rows[0]),
            RowStarted(1),
            RowMeasured(1, broken),
            DeviceLost(),
        ],
        [
            DeviceOpened(DEVICE, None, ""),
            RowStarted(0),
            SamplingProgress((0,), 1, 1),
            RowMeasured(0, rows[2]),
        ],
    )
    results = []
    trace = MeasureClient(cases).run(lambda *progress: results.append(progress), start)
    assert trace.rows == (rows[0], broken, rows[2])
    assert [request.cases for request in requests] == [tuple(cases), (cases[2],)]
    assert [request.ceilings for request in requests] == [True, False]
    assert trace.device == DEVICE
    assert (
        "checking matmul-tiled:m=1,k=64,n=64,tile=16,dtype=float32,dtype_b=same,input=random,padding=0",
        0,
        3,
    ) in results
    assert results[-1][1:] == (3, 3)


def test_a_process_that_dies_takes_one_row_with_it():
    cases = [case("matmul-tiled", m=m) for m in (1, 2)]
    rows = [row_of(a) for a in cases]
    start, _ = processes(
        [DeviceOpened(DEVICE, None, ""), RowStarted(0)],
        [DeviceOpened(DEVICE, None, ""), RowStarted(0), RowMeasured(0, rows[1])],
    )
    trace = MeasureClient(cases).run(start=start)
    assert "ended while it ran" in trace.rows[0].problem
    assert trace.rows[1] == rows[1]


def test_a_missing_device_is_reported_and_no_file_is_written():
    start, _ = processes([DeviceOpened(None, None, "No GPU can be used: no driver.")])
    with pytest.raises(MeasurementError, match="no driver"):
        MeasureClient([case("matmul-tiled")]).run(start=start)
    start, _ = processes([])
    with pytest.raises(MeasurementError, match="did not start"):
        MeasureClient([case("matmul-tiled")]).run(start=start)


def test_a_cancelled_measurement_is_reported():
    measuring = MeasureClient(cases_of(["python-threads"]), time_limit=60)
    measuring_started = []

    def report(text, done, total):
        measuring_started.append(text)
        measuring.cancel()

    with pytest.raises(RunCancelledError):
        measuring.run(report)
    assert measuring_started


# --- the command


def measure(words):
    command, rest = subcommand_of(["measure", *words])
    return command.load().execute(parser_of(command).parse_args(rest))


def test_the_command_measures_programs_without_a_device(tmp_path, capsys):
    path = tmp_path / "m.json"
    assert measure(["python-loops:m=2,k=8,n=2,tile=8", "--json", str(path), "--time-limit", "0.05"]) == 0
    row = load(path).rows[0]
    assert row.engine == "python"
    assert row.result.equal
    assert len(row.timing("cpu").microseconds) >= 3
    out = capsys.readouterr().out
    assert "Python, a launch as loops" in out
    assert str(path) in out


def test_the_command_refuses_before_it_measures(tmp_path):
    with pytest.raises(MeasurementError, match="folder"):
        measure(["python-loops", "--json", str(tmp_path / "no" / "m.json")])
    with pytest.raises(Exception, match="time-limit"):
        measure(["python-loops", "--time-limit", "-1"])


def test_the_table_has_medians_and_problems():
    built = measurement(1.5, 2.5, 2.25)
    wrong = msgspec.structs.replace(built.rows[0], timings=(), problem="It is wrong.")
    text = table(msgspec.structs.replace(built, rows=(*built.rows, wrong)))
    assert "kernel-warm" in text
    assert "2.25" in text
    assert text.endswith("It is wrong.")
    assert text.startswith("NVIDIA H200, 2026-11-20")


def test_measuring_needs_neither_qt_nor_numba_in_its_callers_process():
    code = (
        "import sys, tilescope.app.cli.measure, tilescope.tracer.hardware.times.process\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('PySide6', 'numba', 'pyqtgraph')])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
