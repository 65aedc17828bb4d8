"""From notes to a trace: clocks, files, reports, and inconsistent notes."""

import sys

import numpy as np
import pytest
from msgspec.structs import replace

from launching import final_contents
from noted_on_host import STARTS, notes_on_host
from tilescope.tracer.hardware.accesses.client import GpuNotes, check_size, notes_per_thread
from tilescope.tracer.hardware.accesses.measured_trace import measured_run, values_of
from tilescope.tracer.hardware.accesses.notes import (
    BASE,
    COUNT,
    MULTIPROCESSOR,
    SITE,
    NotesError,
    load,
)
from tilescope.tracer.hardware.accesses.run_on_gpu import check_room
from tilescope.tracer.hardware.times.measurement import MeasurementError
from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.model.trace import Buffer, Op
from tilescope.tracer.storage.trace_file import load as load_trace
from tilescope.tracer.storage.trace_file import save


def launch(spec):
    scenario, values, options = parse_spec(spec)
    return launch_of(scenario, values, **options)


@pytest.fixture(scope="module")
def racing():
    return notes_on_host(launch("count-racing:num_blocks=6,threads=8"), seed=4)


@pytest.fixture(scope="module")
def private():
    return notes_on_host(launch("histogram-private:count=64,num_blocks=5,threads=32,bins=8"), seed=2)


def test_accesses_of_several_multiprocessors_are_in_order_of_time(private):
    run = measured_run(private)
    assert run.multiprocessors == len(STARTS)
    assert final_contents(run.trace, "bins").tolist() == run.results["bins"].tolist()
    assert run.trace.check.equal
    # The host ran its blocks one after the other.
    assert (np.diff(run.trace.block.astype(int)) >= 0).all()
    assert run.trace.resident == 1


def test_a_racing_counter_ends_at_the_value_of_the_last_store(racing):
    run = measured_run(racing)
    last = np.flatnonzero(run.trace.op == Op.STORE)[-1]
    assert run.trace.value[last] == run.results["counter"][0] < 48
    assert not run.trace.check.equal and run.trace.check.largest_error == 48 - run.results["counter"][0]


def test_the_trace_names_its_gpu_and_the_accuracy_of_its_order(private):
    trace = measured_run(private).trace
    assert trace.schedule == "measured"
    assert trace.made_by.startswith("Made-up GPU, 2026-11-23, numba-cuda 0, measured; abc")
    assert trace.notice.startswith("Measured on a Made-up GPU on 2026-11-23: its ")
    assert "1 ns between multiprocessors" in trace.notice and "atomics by their values" in trace.notice


def test_a_trace_file_of_it_is_read_back(private, tmp_path):
    trace = measured_run(private).trace
    save(trace, tmp_path / "measured.npz")
    again = load_trace(tmp_path / "measured.npz")
    for name in ("block", "thread", "phase", "op", "buffer", "site", "index", "value"):
        assert getattr(again, name).tolist() == getattr(trace, name).tolist(), name
    assert (again.schedule, again.made_by, again.notice) == (trace.schedule, trace.made_by, trace.notice)


def test_notes_are_read_back_as_they_were_written(private, tmp_path):
    private.save(tmp_path / "notes.npz")
    again = load(tmp_path / "notes.npz")
    assert again.head == private.head
    assert (again.rows == private.rows).all() and (again.heads == private.heads).all()
    assert {name: value.tolist() for name, value in again.results.items()} == {
        name: value.tolist() for name, value in private.results.items()
    }


def test_damaged_notes_are_refused_in_a_sentence(private, tmp_path):
    path = tmp_path / "notes.npz"
    private.save(path)
    complete = path.read_bytes()
    for kept in (0, 10, len(complete) // 2, len(complete) - 30):
        path.write_bytes(complete[:kept])
        with pytest.raises(NotesError, match=r"can't be read .*; run it again\.$"):
            load(path)
    with pytest.raises(NotesError):
        load(tmp_path / "nothing.npz")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda notes: replace(notes, rows=notes.rows[:-1]), "notes, but threads counted"),
        (lambda notes: replace(notes, rows=notes.rows[:, :5]), "the rows have another shape"),
        (lambda notes: replace(notes, heads=notes.heads[1:]), "the heads have another shape"),
        (lambda notes: replace(notes, rows=_with(notes.rows, SITE, 99)), "an unknown site"),
    ],
)
def test_inconsistent_notes_are_refused(private, tmp_path, spoil, message):
    spoil(private).save(tmp_path / "notes.npz")
    with pytest.raises(NotesError, match=message):
        load(tmp_path / "notes.npz")


def _with(rows, word, value):
    changed = rows.copy()
    changed[3, word] = value
    return changed


def test_an_access_in_an_unknown_array_is_reported_with_its_line(private):
    with pytest.raises(NotesError, match=r"An access of line \d+ on the GPU belongs to no known array\."):
        measured_run(replace(private, rows=_with(private.rows, BASE, 12)))


def test_clocks_that_cannot_be_compared_are_reported(private):
    heads = private.heads.copy()
    heads[0, MULTIPROCESSOR] = 77
    with pytest.raises(NotesError, match="whose clock was not read"):
        measured_run(replace(private, heads=heads))
    with pytest.raises(NotesError, match="went backwards"):
        measured_run(replace(private, before=private.after, after=private.before))


def test_a_thread_with_too_many_notes_is_reported():
    counts = np.array([3, 9, 4])
    check_room(counts, 9)
    with pytest.raises(NotesError, match=r"1 of its threads .* thread 1 of the grid made 9, .* room for 8\."):
        check_room(counts, 8)


def test_room_is_twice_the_accesses_of_the_busiest_thread(private):
    trace = measured_run(private).trace
    busiest = int(private.counts.max())
    assert notes_per_thread(trace) == 2 * busiest + 16
    assert int(private.heads[:, COUNT].sum()) == len(private.rows)


def test_a_launch_that_is_too_large_is_refused_before_anything_runs(private):
    trace = measured_run(private).trace
    check_size(trace)
    with pytest.raises(NotesError, match="the 2,000,000 that can be noted"):
        check_size(replace(trace, accesses=3_000_000))


ANSWERING = """
import json, shutil, sys
for line in sys.stdin:
    wanted = json.loads(line)
    if wanted["room"] == 1:
        sys.exit("it is on fire")
    if wanted["room"] == 2:
        print(json.dumps({"problem": "No such GPU.", "is_last": True}), flush=True)
    else:
        shutil.copy(sys.argv[1], wanted["path"])
        print(json.dumps({}), flush=True)
"""


def test_an_ended_process_is_restarted_for_the_next_launch(private, tmp_path):
    private.save(tmp_path / "made.npz")
    built = private.head.launch
    with GpuNotes((sys.executable, "-c", ANSWERING, str(tmp_path / "made.npz"))) as notes_of:
        assert notes_of(built, 40).head == private.head
        with pytest.raises(NotesError, match=r"ended while it ran \(exit code 1: it is on fire\)\."):
            notes_of(built, 1)
        assert notes_of(built, 40).head == private.head
        with pytest.raises(NotesError, match=r"^No such GPU\.$"):
            notes_of(built, 2)
        assert notes_of(built, 40).head == private.head


def test_a_missing_gpu_is_reported(private):
    with GpuNotes() as notes_of:
        try:
            notes_of(private.head.launch, 40)
        except MeasurementError as error:
            assert str(error).startswith(("No GPU can be used", "No kernel can be compiled"))
        else:
            pytest.skip("there is a GPU")


@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<f2", "<i4", "|i1", "|u1", "<u8", "|b1", "<c8"])
def test_bits_become_values_of_the_buffers_type(dtype):
    values = np.array([1, 0, 1], dtype)
    bits = np.array([int.from_bytes(value.tobytes(), "little") for value in values], np.uint64)
    buffer = Buffer("a", "global", dtype, (3,), (values.itemsize,), 0, values.itemsize, 3)
    results = values_of(bits, np.zeros(3, np.int64), [buffer])
    assert results.dtype == values.dtype and results.tolist() == values.tolist()
