"""`tilescope measure --accesses`: the report of each launch, its trace file, and what can't be recorded."""

from argparse import Namespace

import numpy as np
import pytest
from msgspec.structs import replace

from noted_on_host import notes_on_host
from tilescope.app.cli import measure_accesses
from tilescope.app.cli.common.arguments import UsageError
from tilescope.app.cli.main import main
from tilescope.tracer.hardware.accesses.notes import NotesError
from tilescope.tracer.storage.trace_file import load


def recorded(specs, folder, notes_of):
    chosen = Namespace(scenario=specs, output=str(folder))
    return measure_accesses.execute(chosen, lambda *words: None, lambda: None, notes_of)


def lines_of(text):
    return {
        line.split()[0]: " ".join(line.split()[1:]) for line in text.splitlines() if line.startswith("  ")
    }


def test_a_launch_that_agrees_with_the_simulator_is_reported_as_equal(tmp_path, capsys):
    status = recorded(
        ["sum-sequential:count=64,threads=32"],
        tmp_path / "new",
        lambda launch, room: notes_on_host(launch, 1),
    )
    lines = lines_of(capsys.readouterr().out)
    assert status == 0
    for kind in ("accesses", "values", "counters", "results"):
        assert lines[kind].startswith("equal: "), kind
    assert lines["NumPy"].startswith("equals NumPy")
    assert lines["device"] == "Made-up GPU, 2026-11-23, 2 multiprocessors used, measured"
    assert "2 of 2 atomics by the values" in lines["order"]
    assert lines["registers"] == "8 a thread, 20 with recording"
    [path] = (tmp_path / "new").glob("sum-sequential-*.npz")
    assert load(path).schedule == "measured" and str(path) in lines["saved"]


def test_a_race_is_named_as_one(tmp_path, capsys):
    recorded(
        ["count-racing:num_blocks=2,threads=16"], tmp_path, lambda launch, room: notes_on_host(launch, 1)
    )
    lines = lines_of(capsys.readouterr().out)
    assert lines["accesses"].startswith("equal")
    assert lines["results"].startswith("differ: counter[0] is ") and "It is a race" in lines["results"]
    assert lines["NumPy"].startswith("differs from NumPy: off by ")


def test_launches_that_cannot_be_recorded_are_reported_and_the_others_are_recorded(tmp_path, capsys):
    def notes_of(launch, room):
        if launch.scenario == "count-racing":
            raise NotesError("The GPU is on fire.")
        return notes_on_host(launch)

    assert recorded(["count-racing", "count-atomic:num_blocks=1,threads=8"], tmp_path, notes_of) == 1
    output = capsys.readouterr()
    assert "count-racing: The GPU is on fire." in output.err
    assert [path.name.rpartition("-")[0] for path in tmp_path.iterdir()] == ["count-atomic"]


def test_a_launch_with_too_many_accesses_is_refused(tmp_path, capsys):
    assert recorded(["matmul-tiled:m=128,k=128,n=128"], tmp_path, lambda *given: pytest.fail("it ran")) == 1
    assert "choose a smaller size" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--accesses"], "--accesses needs a scenario"),
        (["--accesses", "python-loops"], "python-loops: it is a Python program"),
        (["--accesses", "cuda-c-naive"], "its kernel is in CUDA C"),
        (["--accesses", "count-racing", "--json", "x.json"], "--json is for times"),
        (["--accesses", "count-racin"], "did you mean count-racing"),
        (["--output", "folder", "count-racing"], "--output names the folder of "),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused_in_a_sentence(words, message, capsys):
    assert main(["measure", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_cannot_be_created_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception, match="can't be created"):
        recorded(["count-racing"], tmp_path / "file" / "folder", lambda *given: None)


def test_nothing_named_is_refused():
    with pytest.raises(UsageError):
        recorded([], "folder", lambda *given: None)


def test_a_kernel_that_behaves_differently_without_notes_is_reported(tmp_path, capsys):
    def notes_of(launch, room):
        notes = notes_on_host(launch, 1)
        return replace(notes, plain={"counter": np.array([3], np.int32)})

    recorded(
        ["count-racing:num_blocks=2,threads=16", "count-atomic:num_blocks=1,threads=8"], tmp_path, notes_of
    )
    output = capsys.readouterr().out
    assert "without recording the results differ in 1 element: counter[0] is 3, with recording " in output
    recorded(["count-atomic:num_blocks=1,threads=8"], tmp_path, lambda launch, room: notes_on_host(launch))
    assert "original   without recording the results are equal" in capsys.readouterr().out
