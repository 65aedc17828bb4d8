"""Traces that a GPU made, found by their launch: by what is run on what, not by what else is known of it."""

import pytest
from msgspec.structs import replace

from noted_on_host import notes_on_host
from tilescope import ROOT
from tilescope.tracer.hardware.accesses.measured_trace import measured_run
from tilescope.tracer.model.launch import Limits, Schedule, encode
from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.run.engine import run
from tilescope.tracer.storage.folders import data_folder
from tilescope.tracer.storage.recorded_traces import (
    NotRecordedError,
    device_of,
    device_of_recording,
    file_name,
    own_folder,
    path_of,
    portable,
    recorded,
    recordings,
)
from tilescope.tracer.storage.trace_cache import TraceCache
from tilescope.tracer.storage.trace_file import TraceFileError, save


def launch(spec):
    scenario, values, options = parse_spec(spec)
    return launch_of(scenario, values, **options)


SPEC = "count-racing:num_blocks=2,threads=8"


@pytest.fixture(scope="module")
def measured():
    return measured_run(notes_on_host(launch(SPEC), 1)).trace


@pytest.fixture
def folder(measured, tmp_path):
    save(measured, tmp_path / file_name(launch(SPEC)))
    return tmp_path


def test_a_recording_is_returned_whatever_the_trace_settings_of_the_launch(folder, measured):
    wanted = launch(f"{SPEC},schedule=measured,resident=3,engine=simulator,keep=all")
    recording = recorded(wanted, [folder])
    assert recording.made_by == measured.made_by and recording.schedule == "measured"
    assert recording.value.tolist() == measured.value.tolist()
    assert device_of(recording) == "Made-up GPU"


@pytest.mark.parametrize(
    "spec",
    [
        "count-racing:num_blocks=2,threads=16,schedule=measured",
        "count-racing:num_blocks=2,threads=8,schedule=measured,seed=1",
        "count-racing:num_blocks=2,threads=8,schedule=measured,blocks=1",
        "count-atomic:num_blocks=2,threads=8,schedule=measured",
    ],
)
def test_another_launch_has_none_and_gets_a_remedy(folder, spec):
    if "seed" in spec:  # of a launch without random inputs a seed means nothing, but the launch is another
        assert path_of(launch(spec), [folder]) is None
    with pytest.raises(NotRecordedError, match="choose another schedule or other sizes, or record it"):
        recorded(launch(spec), [folder])


def test_a_changed_kernel_does_not_match_the_recording(folder):
    wanted = launch(SPEC)
    changed = replace(wanted, source=wanted.source.replace("counter[0] += 1", "counter[0] += 2"))
    with pytest.raises(NotRecordedError, match="The kernel has changed since a GPU"):
        recorded(changed, [folder])


def test_other_code_in_the_kernels_file_may_change(folder):
    wanted = launch(SPEC)
    longer = replace(wanted, source=f"# longer\n{wanted.source}\n\ndef more():\n    pass\n")
    assert recorded(longer, [folder]).schedule == "measured"


def test_a_device_function_that_the_kernel_calls_may_not(tmp_path):
    spec = "workitem-naive:m=4,k=4,n=4,tile=4"
    wanted = launch(spec)
    save(measured_run(notes_on_host(wanted)).trace, tmp_path / file_name(wanted))
    assert recorded(wanted, [tmp_path]).schedule == "measured"
    other = wanted.source.replace("return get_group_id(dimension) *", "return 1 + get_group_id(dimension) *")
    assert other != wanted.source
    with pytest.raises(NotRecordedError):
        recorded(replace(wanted, source=other), [tmp_path])


def test_files_of_the_package_are_called_alike_everywhere_and_as_here_once_they_are_loaded(
    measured, tmp_path
):
    file = str(ROOT / "kernels" / "histogram.py")
    assert {site.file for site in measured.sites} == {file}
    moved = portable(measured)
    assert {site.file for site in moved.sites} == set(moved.sources) == {"tilescope/kernels/histogram.py"}
    save(moved, tmp_path / file_name(launch(SPEC)))
    recording = recorded(launch(SPEC), [tmp_path])
    assert {site.file for site in recording.sites} == set(recording.sources) == {file}
    assert recording.sources[file] == measured.sources[file]


def test_user_files_keep_their_names(measured):
    other = replace(measured, sites=tuple(replace(site, file="/home/me/mine.py") for site in measured.sites))
    assert {site.file for site in portable(other).sites} == {"/home/me/mine.py"}


def test_a_damaged_recording_is_reported_and_has_no_device(folder):
    path = path_of(launch(SPEC), [folder])
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(TraceFileError):
        recorded(launch(SPEC), [folder])
    assert device_of_recording(path) == ""


def test_all_recordings_are_listed(folder):
    assert [path.name for path in recordings([folder])] == [file_name(launch(SPEC))]
    assert list(recordings([folder / "nowhere"])) == []


def test_recordings_of_this_computer_are_in_the_data_folder():
    assert own_folder() == data_folder() / "accesses"


def test_the_worker_gives_a_recording_for_the_measured_schedule(folder, measured, monkeypatch):
    monkeypatch.setattr("tilescope.tracer.storage.recorded_traces.own_folder", lambda: folder)
    trace = run(launch(f"{SPEC},schedule=measured"), lambda done, total: None)
    assert trace.made_by == measured.made_by
    with pytest.raises(Exception, match="No GPU has recorded"):
        run(launch("count-racing:num_blocks=9,threads=8,schedule=measured"), lambda done, total: None)


def test_recordings_are_never_taken_from_the_cache_nor_kept_there(measured, tmp_path):
    cache = TraceCache(tmp_path)
    wanted = launch(f"{SPEC},schedule=measured")
    cache.put(wanted, replace(measured, launch=encode(wanted)))
    assert cache.get(wanted) is None and not list(tmp_path.iterdir())
    plain = replace(wanted, schedule=Schedule(), limits=Limits())
    cache.put(plain, replace(measured, schedule="lockstep", launch=encode(plain)))
    assert cache.get(plain) is not None
