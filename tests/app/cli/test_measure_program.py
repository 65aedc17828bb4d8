"""`tilescope measure FILE.cu`, with a toolkit of shell scripts in the place of a GPU."""

from __future__ import annotations

import json

import pytest

from fake_toolkit import DEVICE, clocks_file, copy_record, fake_toolkit, kernel_record
from tilescope.app.cli.main import main
from tilescope.app.gpu_timelines.model.data import gpu_data
from tilescope.app.gpu_timelines.model.facts import facts_of
from tilescope.app.gpu_timelines.model.recorded import (
    PaneLaunch,
    command_for,
    missing_text,
    own_recording,
    recorded_of,
)
from tilescope.tracer.hardware.timeline_file import load

TEXT = """#include <cstdio>
__global__ void scale(float *a) { a[threadIdx.x] *= 2; }
int main() { scale<<<2, 64>>>(nullptr); }
"""
RECORDS = [kernel_record("scale(float*)", 1_000, 4_000), copy_record(2, 512, 9_000, 10_500), DEVICE]


@pytest.fixture
def homework(tmp_path, monkeypatch):
    """Return a file in CUDA C++, in a folder with a toolkit."""
    path = tmp_path / "homework.cu"
    path.write_text(TEXT)
    root = fake_toolkit(tmp_path, RECORDS, clocks_file("scale", path, 3), 'echo "result $1"')
    monkeypatch.setenv("CUDA_HOME", str(root))
    return path


def test_kernels_and_copies_are_printed_and_saved(homework, tmp_path, capfd):
    target = tmp_path / "times.json"
    assert main(["measure", str(homework), "64", "--json", str(target), "--time-limit", "0.01"]) == 0
    out = capfd.readouterr().out
    assert "result 64" in out and "scale(float*)" in out and "3.00" in out and "device to host" in out
    assert "measured by CUPTI" in out and "NVIDIA H100" in out
    assert json.loads(target.read_text())["times"]["arguments"] == ["64"]


def test_a_timeline_is_shown_for_the_launch_of_the_same_text_and_size(homework, tmp_path, capfd):
    assert main(["measure", str(homework), "--timeline", "--output", str(tmp_path / "lines")]) == 0
    assert capfd.readouterr().out.count("result") == 1
    [file] = (tmp_path / "lines").iterdir()
    timeline = load(file)
    assert timeline.spans.multiprocessor.tolist() == [1, 3]
    assert (timeline.spans.end - timeline.spans.start).tolist() == [3000, 1500]
    assert set(timeline.head.plain.microseconds) == {3.0} and timeline.head.mhz == pytest.approx(1000)
    asked = PaneLaunch(
        "", "scale", None, (2, 1, 1), (64, 1, 1), kernel="/elsewhere/homework.cu:scale", source=TEXT
    )
    assert own_recording(asked, recorded_of(asked, [timeline])).timeline is timeline
    facts = [fact.text for fact in facts_of(gpu_data(timeline))]
    assert "only each warp's start and end are marked" in facts
    edited = PaneLaunch("", "scale", None, (2, 1, 1), (64, 1, 1), kernel=asked.kernel, source=TEXT + "\n")
    assert recorded_of(edited, [timeline]) == []
    assert "scale" in missing_text(edited, [])
    assert command_for(asked) == "tilescope measure --timeline /elsewhere/homework.cu"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--accesses"], "--accesses is for kernels of the catalogue"),
        (["--timeline", "--json", "a.json"], "--json is for times"),
        (["--output", "folder"], "--output names the folder of --timeline"),
        (["--json", "none/a.json"], "can't be written"),
    ],
)
def test_options_that_do_not_fit_are_refused(homework, words, sentence, capfd):
    assert main(["measure", str(homework), *words]) == 2
    assert sentence in capfd.readouterr().err


def test_a_program_that_does_not_compile_or_exist_ends_in_one_sentence(homework, tmp_path, capfd):
    broken = tmp_path / "broken.cu"
    broken.write_text("int main() { return 0 }")
    assert main(["measure", str(broken)]) == 2
    assert "error: expected a ';'" in capfd.readouterr().err
    assert main(["measure", str(tmp_path / "none.cu")]) == 2
    assert "none.cu can't be read" in capfd.readouterr().err


def test_a_toolkit_without_cupti_is_named(homework, tmp_path, capfd):
    (tmp_path / "cuda/extras/CUPTI/include/cupti.h").unlink()
    assert main(["measure", str(homework)]) == 2
    assert "lacks CUPTI, which times kernels" in capfd.readouterr().err
