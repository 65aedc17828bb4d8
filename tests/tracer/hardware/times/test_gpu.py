"""The stream on a device that is played: the order in which it is filled."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from tilescope.tracer.hardware.times.gpu import Gpu
from tilescope.tracer.hardware.times.measurement import MeasurementError


class PlayedCuda:
    """As much of numba.cuda as Gpu needs; `log` gets what is queued, `late` how often the host is too late."""

    def __init__(self, late=0):
        self.log, self.late = [], late

    def stream(self):
        return "stream"

    def event(self, timing):
        log, cuda = self.log, self
        return SimpleNamespace(
            record=lambda stream: log.append("event"),
            query=lambda: cuda.late_once(),
            synchronize=lambda: log.append("wait"),
            elapsed_time=lambda stop: 0.026 if "kernel" in log else 0.001,
        )

    def late_once(self):
        self.late -= 1
        return self.late >= 0

    def to_device(self, array):
        return array

    def get_current_device(self):
        return SimpleNamespace(L2_CACHE_SIZE=1 << 20, MULTIPROCESSOR_COUNT=2, compute_capability=(9, 0))

    def synchronize(self):
        pass


@pytest.fixture
def played(monkeypatch):
    """Return a Gpu over a played numba.cuda: played(late)."""
    import importlib

    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    kernels = importlib.import_module("tilescope.kernels.timing")

    def make(late=0):
        cuda = PlayedCuda()
        for name in ("hold", "nothing", "overwrite", "read_all", "multiply_add"):
            launcher = Launcher(name, cuda.log)
            monkeypatch.setattr(kernels, name, launcher)
        gpu = Gpu(cuda)
        cuda.log.clear()
        cuda.late = late
        return gpu, cuda.log

    return make


class Launcher:
    def __init__(self, name, log):
        self.name, self.log = name, log

    def __getitem__(self, shape):
        return lambda *arguments: self.log.append(self.name)


def test_a_cold_kernel_runs_after_the_flush_on_a_held_stream(played):
    gpu, log = played()
    assert gpu.two_events == 1
    assert gpu.kernel_time(lambda: log.append("kernel"), flush=True) == 25
    assert log == ["hold", "overwrite", "read_all", "event", "kernel", "event", "wait"]


def test_a_warm_kernel_runs_after_itself(played):
    gpu, log = played()
    gpu.kernel_time(lambda: log.append("kernel"), flush=False)
    assert log == ["hold", "kernel", "event", "kernel", "event", "wait"]


def test_a_sample_for_which_the_host_was_late_is_taken_again(played):
    gpu, log = played(late=2)
    assert gpu.kernel_time(lambda: log.append("kernel"), flush=False) == 25
    assert log.count("hold") == 3
    gpu, log = played(late=1000)
    with pytest.raises(MeasurementError, match="too slow"):
        gpu.kernel_time(lambda: None, flush=False)
