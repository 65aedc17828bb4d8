"""Which recorded timeline is of what a pane shows, and what is said where none is."""

import pytest

from gpu_charts import SMALL, small_timeline, with_head
from sessions import matmul
from tilescope.app.gpu_timelines.model.recorded import (
    command_for,
    launch_of_pane,
    missing_text,
    nearest_recording,
    own_recording,
    recorded_of,
    size_text,
)
from tilescope.app.model.bookmark import Setup
from tilescope.kernels.scenarios.catalogue import find, scenarios, settle
from tilescope.tracer.hardware.times.cases import cases_of


def sized(**values):
    timeline = small_timeline()
    return with_head(timeline, values=timeline.head.values | values)


LARGE = {"m": 1024, "k": 1024, "n": 1024}


@pytest.fixture
def recorded():
    return recorded_of(
        asked(), [sized(**LARGE), small_timeline(), with_head(small_timeline(), scenario="other")]
    )


def asked(**values):
    return launch_of_pane(Setup("matmul-tiled", SMALL | values), None)


def test_a_launch_finds_its_own_recording_whatever_its_matrices_hold(recorded):
    assert len(recorded) == 2
    recording = own_recording(asked(input="ones"), recorded)
    assert recording.timeline.head.values["m"] == SMALL["m"]
    assert own_recording(asked(tile=16), recorded) is None
    assert own_recording(asked(dtype="float64"), recorded) is None


def test_a_kernel_that_was_edited_has_none(recorded):
    edited = launch_of_pane(Setup("matmul-tiled", SMALL, without=(40,)), None)
    assert own_recording(edited, recorded) is None
    assert "the kernel with your changes" in missing_text(edited, recorded)
    assert command_for(edited) == ""


def test_a_trace_file_finds_the_launch_of_its_grid_and_block(recorded):
    session = matmul(**SMALL)
    of_file = launch_of_pane(Setup(file="trace.npz"), session)
    assert of_file.values is None
    assert own_recording(of_file, recorded).timeline.head.grid == session.launch.grid


def test_the_nearest_is_nearest_in_octaves(recorded):
    assert nearest_recording(asked(m=512, k=512, n=512), recorded).size.startswith("1,024")
    assert nearest_recording(asked(m=64, k=32, n=64), recorded).timeline.head.values["m"] == SMALL["m"]
    assert nearest_recording(asked(), []) is None


def test_the_latest_recording_of_a_size_is_shown_and_the_labels_of_both_differ():
    older, newer = small_timeline(), with_head(small_timeline(), date="2026-12-01T00:00:00+00:00")
    recordings = recorded_of(asked(), [newer, older])
    assert [recording.size[-10:] for recording in recordings] == ["2026-11-23", "2026-12-01"]
    assert len({recording.word for recording in recordings}) == 2
    assert own_recording(asked(), recordings).timeline is newer


def test_sizes_in_few_words():
    assert size_text(LARGE) == "1,024"
    assert size_text(SMALL, ["tile", "m"]) == "32 × 16 × 32, tile 8"
    assert size_text({"rows": 64, "cols": 128, "dtype": "float32"}) == "64 × 128"
    assert size_text({"count": 4096, "bins": 8}, ["bins"]) == "4,096 elements, bins 8"


def test_words_of_sizes_can_stand_in_a_place(recorded):
    assert {recording.word for recording in recorded} == {"1024", "32x16x32"}


def test_a_missing_recording_is_reported_with_the_sizes_and_the_command_that_records_it(recorded):
    here = asked(m=64, tile=16)
    assert missing_text(here, recorded) == (
        "No GPU timeline was recorded for Tiled, shared memory at 64 × 16 × 32, tile 16; "
        "recorded: 1,024, tile 8; and 32 × 16 × 32, tile 8."
    )
    assert command_for(here) == "tilescope measure --timeline matmul-tiled:m=64,k=16,n=32"
    assert "at 64 × 16 × 32; recorded: 1,024 and" in missing_text(asked(m=64), recorded)
    assert "at 32 × 16 × 32, float64; recorded" in missing_text(asked(dtype="float64"), recorded)
    assert missing_text(asked(), []) == "No GPU timeline was recorded for Tiled, shared memory in any size."


@pytest.mark.parametrize("name", [scenario.name for scenario in scenarios()])
def test_the_command_records_just_what_a_pane_opens_with(name):
    command = command_for(launch_of_pane(Setup(name), None))
    scenario = find(name)
    assert bool(command) == (scenario.engine != "python" and not scenario.cuda_c)
    if command:
        cases = [case for case in cases_of([command.split()[-1]]) if not case.baseline]
        assert [case.values for case in cases] == [settle(scenario, {})]
    else:
        assert "recorded" not in missing_text(launch_of_pane(Setup(name), None), [])


def test_a_kernel_of_no_catalogue_is_not_recorded():
    unknown = launch_of_pane(Setup(file="trace.npz"), None)
    assert (
        missing_text(unknown, [])
        == "No GPU timeline can be recorded for this kernel: only kernels of the catalogue and in CUDA C++ can be."
    )
    assert command_for(unknown) == ""
