"""The process that launches marked kernels, with a GPU that the CPU plays: what it copies, launches and writes."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from noted_on_host import DEVICE, HostRun, notes_on_host, pairs
from tilescope.tracer.hardware.accesses import run_on_gpu
from tilescope.tracer.hardware.accesses.measured_trace import measured_run
from tilescope.tracer.hardware.accesses.notes import COUNT, NotesError, NotesRequest, load
from tilescope.tracer.hardware.times.measurement import MeasurementError
from tilescope.tracer.model.plan import launch_of, parse_spec

SPEC = "sum-sequential:count=64,threads=32"


class DeviceArray:
    """Memory of the GPU that the CPU plays, copied to and fro."""

    def __init__(self, held):
        self.held = held
        self.__cuda_array_interface__ = held.__array_interface__

    def copy_to_host(self):
        return self.held.copy()


class PlayedGpu:
    """What the process asks of a GPU."""

    stream = 7

    def __init__(self):
        self.device = SimpleNamespace(MULTIPROCESSOR_COUNT=4)
        self.cuda = SimpleNamespace(device_array=lambda shape, dtype: DeviceArray(np.zeros(shape, dtype)))
        self.lost = False

    def on_device(self, array):
        return DeviceArray(array.copy())

    def synchronize(self):
        pass

    def is_lost(self):
        return self.lost


class Launched:
    """A kernel that is configured and called as Numba's are; run(arguments) does its work."""

    def __init__(self, run, log, name):
        self.run, self.log, self.name = run, log, name

    def __getitem__(self, configuration):
        def call(*arguments):
            self.log.append((self.name, configuration))
            self.run(*arguments)

        return call

    def get_regs_per_thread(self):
        return {"a signature": {"plain": 8, "marked": 20}.get(self.name, 0)}


@pytest.fixture
def played(monkeypatch):
    """Have the CPU play the GPU; return what was launched, in its order, as (name, configuration)."""
    log, gpu = [], PlayedGpu()
    hosts = []

    def marked_kernel(rows, heads, *arguments):
        """Write the notes that the host makes of the same launch, on the arrays that are given."""
        host = HostRun(launch())
        given = iter(arguments)
        host.given = [getattr(next(given), "held", value) for value in host.given]
        notes = host.notes()
        hosts.append(notes)
        for thread, count in enumerate(notes.counts.tolist()):
            first = int(notes.counts[:thread].sum())
            kept = min(count, rows.held.shape[1])
            rows.held[thread, :kept] = notes.rows[first : first + kept]
        heads.held[:] = notes.heads

    def read_clocks(read, taken):
        read.held[:, :8] = pairs(0 if len([n for n, _ in log if n == "clocks"]) % 2 else 100_000)

    compiling, clocks = ModuleType("compile"), ModuleType("clock_kernels")
    compiling.compiled = lambda kernel, file, **options: Launched(marked_kernel, log, "marked")
    clocks.read_clocks = Launched(read_clocks, log, "clocks")
    monkeypatch.setitem(sys.modules, "tilescope.tracer.hardware.accesses.compile", compiling)
    monkeypatch.setitem(sys.modules, "tilescope.tracer.hardware.marks.clock_kernels", clocks)
    monkeypatch.setattr(run_on_gpu, "CLOCK_STEPS", 8)
    monkeypatch.setattr(run_on_gpu, "_device", lambda: (gpu, DEVICE))
    monkeypatch.setattr(run_on_gpu, "_run_plain", lambda plain, *rest: 8)
    return SimpleNamespace(log=log, gpu=gpu)


def launch():
    scenario, values, _ = parse_spec(SPEC)
    return launch_of(scenario, values)


def test_a_launch_runs_twice_each_time_between_two_readings_of_the_clocks(played, tmp_path):
    answer = run_on_gpu.answer(NotesRequest(launch(), 60, str(tmp_path / "notes.npz")))
    assert answer.problem == "" and not answer.is_last
    assert [name for name, _ in played.log] == ["clocks", "marked", "clocks"] * 2
    assert dict(played.log)["marked"] == (launch().grid, launch().block, 7, 0)
    assert dict(played.log)["clocks"] == (16, 32, 7)


def test_the_notes_are_those_of_the_second_run_on_fresh_arrays(played, tmp_path):
    path = tmp_path / "notes.npz"
    run_on_gpu.answer(NotesRequest(launch(), 60, str(path)))
    notes, single = load(path), notes_on_host(launch())
    assert notes.results["total"].tolist() == single.results["total"].tolist()  # not twice that
    assert notes.counts.tolist() == single.counts.tolist() and len(notes.rows) == len(single.rows)
    assert notes.head.registers == (8, 20)
    assert [array.name for array in notes.head.arguments] == ["values", "total"]
    assert [site.line for site in notes.head.sites] == [site.line for site in single.head.sites]


def test_its_output_becomes_a_trace(played, tmp_path):
    path = tmp_path / "notes.npz"
    run_on_gpu.answer(NotesRequest(launch(), 60, str(path)))
    trace = measured_run(load(path)).trace
    assert trace.check.equal and trace.schedule == "measured"


def test_threads_without_room_are_reported_and_nothing_is_written(played, tmp_path):
    answer = run_on_gpu.answer(NotesRequest(launch(), 3, str(tmp_path / "notes.npz")))
    assert "more accesses on the GPU than there is room for" in answer.problem
    assert not list(tmp_path.iterdir())


def test_notes_that_would_fill_the_memory_are_refused(played, tmp_path):
    answer = run_on_gpu.answer(NotesRequest(launch(), 1 << 25, str(tmp_path / "notes.npz")))
    assert answer.problem.endswith("choose a smaller size.") and played.log == []


def test_driver_errors_are_reported_and_a_lost_device_ends_the_process(played, tmp_path, monkeypatch):
    def fails(*given):
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr(run_on_gpu, "notes_of", fails)
    monkeypatch.setattr(run_on_gpu, "_reason", lambda error: str(error))
    wanted = NotesRequest(launch(), 60, str(tmp_path / "notes.npz"))
    answer = run_on_gpu.answer(wanted)
    assert (
        answer.problem
        == "The accesses of sequential can't be noted on a GPU: an illegal memory access was encountered."
    )
    assert not answer.is_last
    played.gpu.lost = True
    assert run_on_gpu.answer(wanted).is_last


def test_without_a_gpu_the_reason_is_passed_on(played, tmp_path, monkeypatch):
    def none():
        raise MeasurementError("No GPU can be used: it has left.")

    monkeypatch.setattr(run_on_gpu, "_device", none)
    answer = run_on_gpu.answer(NotesRequest(launch(), 60, str(tmp_path / "notes.npz")))
    assert answer.problem == "No GPU can be used: it has left." and answer.no_device


def test_heads_have_the_number_of_notes(played, tmp_path):
    path = tmp_path / "notes.npz"
    run_on_gpu.answer(NotesRequest(launch(), 60, str(path)))
    assert int(load(path).heads[:, COUNT].sum()) == len(load(path).rows)
    with pytest.raises(NotesError):
        run_on_gpu.check_room(np.array([5]), 4)
