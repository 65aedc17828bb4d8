"""Recording on a device that is played, and without one: what is launched, what is written, how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import msgspec
import pytest

from synthetic_profiles import H200, synthetic_profile
from tilescope.tracer.hardware.occupancy import occupancy
from tilescope.tracer.hardware.profiling import kernel_recording, profile_recording, record
from tilescope.tracer.hardware.profiling.kernel_recording import (
    DriverAnswer,
    Loaded,
    driver_answers,
    loaded_kernel,
)
from tilescope.tracer.hardware.profiling.recorded_kernels import decode
from tilescope.tracer.hardware.times.cases import Case
from tilescope.tracer.hardware.times.measurement import MeasurementError
from tilescope.tracer.hardware.times.timed_calls import NumbaCall
from tilescope.tracer.model.plan import parse_spec

COMMAND = (sys.executable, "-m", "tilescope.tracer.hardware.profiling.record")


def case(spec):
    scenario, values, _ = parse_spec(spec)
    return Case(scenario.name, values)


class PlayedCall(NumbaCall):
    """A kernel that is only noted."""

    def __init__(self, log):
        self.log = log

    def enqueue(self):
        self.log.append("launch")


class PlayedKernel:
    """A kernel of cuda-core's on an H200 whose driver answers as the model does, but for `wrong` more blocks."""

    def __init__(self, registers, shared, wrong=0):
        self.attributes = SimpleNamespace(
            num_regs=registers, shared_size_bytes=lambda: shared, local_size_bytes=0
        )
        self.occupancy = self
        self.wrong = wrong

    def max_active_blocks_per_multiprocessor(self, threads, dynamic):
        if threads > 1024:
            raise RuntimeError("CUDA_ERROR_INVALID_VALUE")
        registers, shared = self.attributes.num_regs, self.attributes.shared_size_bytes()
        return occupancy((9, 0), registers, shared + dynamic, threads).blocks + self.wrong


@pytest.fixture(autouse=True)
def own_environment(monkeypatch):
    """Take back what the recording sets: other tests import numba for its simulator."""
    for name in ("NUMBA_ENABLE_CUDASIM", "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"):
        monkeypatch.setenv(name, "0")


@pytest.fixture
def played(monkeypatch):
    """Return a log of what is launched on a device that is played."""
    log = []
    cuda = SimpleNamespace(profile_start=lambda: log.append("start"), profile_stop=lambda: log.append("stop"))
    gpu = SimpleNamespace(cuda=cuda, synchronize=lambda: None, describe=lambda: H200)
    monkeypatch.setattr(profile_recording, "open_gpu", lambda: gpu)
    monkeypatch.setattr(profile_recording, "timed_call_of", lambda case, gpu: PlayedCall(log))
    monkeypatch.setattr(record, "open_gpu", lambda: gpu)
    monkeypatch.setattr(kernel_recording, "_allow_all_shared", lambda gpu, loaded: None)
    monkeypatch.setattr(
        kernel_recording, "register_heavy_kernel", lambda most: loaded_kernel(PlayedKernel(most, 0))
    )
    monkeypatch.setattr(record, "loaded_case", lambda case, gpu: loaded_kernel(PlayedKernel(32, 2048)))
    return log


@pytest.mark.parametrize(("caches", "before"), [("warm", 2), ("cold", 0)])
def test_each_case_is_launched_once_for_the_profiler(played, monkeypatch, tmp_path, caches, before):
    cases = [case("matmul-tiled"), case("count-atomic")]
    (tmp_path / "cases.json").write_bytes(msgspec.json.encode(cases))
    monkeypatch.setattr(sys, "argv", ["", caches, str(tmp_path / "cases.json")])
    profile_recording.main()
    assert played == 2 * [*before * ["launch"], "start", "launch", "stop"]
    assert msgspec.json.decode((tmp_path / "launched.json").read_bytes(), type=list[Case]) == cases


def test_one_command_records_all_three_files(played, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path)])
    monkeypatch.setattr(
        record, "cases_to_compile", lambda: [case("matmul-tiled"), case("cuda-c-tiled-static")]
    )
    monkeypatch.setattr(record, "find_profiler", lambda: ("ncu", "2025.3.1.0"))
    values = case("matmul-tiled").values
    monkeypatch.setattr(
        record,
        "profile_cases",
        lambda path, cases, caches: [synthetic_profile("matmul-tiled", caches, **values)],
    )
    assert record.main() == 0
    kernels = decode((tmp_path / "kernels.json").read_bytes())
    assert (kernels.device, kernels.capability) == ("NVIDIA H200", (9, 0))
    assert [(k.scenario, k.registers, k.shared_bytes) for k in kernels.kernels] == [
        ("matmul-tiled", 32, 2048), ("cuda-c-tiled-static", 32, 2048),
    ]  # fmt: skip
    answers = json.loads((tmp_path / "h200_occupancy.json").read_text())
    assert answers["answers"][0] == [32, 2048, 0, 256, 8]
    profiles = json.loads((tmp_path / "profiles.json").read_text())["profiles"]
    assert [p["caches"] for p in profiles] == ["warm", "cold"]
    printed = capsys.readouterr().out
    assert "0 differ from the model" in printed
    assert "occupancy 100.0 %, 100.0 % modelled" in printed


def test_a_different_answer_from_the_model_is_reported(played, capsys):
    wrong = loaded_kernel(PlayedKernel(32, 2048, wrong=1))
    record._answers(None, H200, [(case("matmul-tiled"), wrong)])
    assert f"1 differ from the model: [{DriverAnswer(32, 2048, 0, 256, 9)}]" in capsys.readouterr().out


def test_a_kernel_that_cannot_be_compiled_is_reported_and_left_out(played, monkeypatch, capsys):
    def none(case, gpu):
        raise RuntimeError("no compiler for it")

    monkeypatch.setattr(record, "cases_to_compile", lambda: [case("count-atomic")])
    monkeypatch.setattr(record, "loaded_case", none)
    assert list(record._loaded(None)) == []
    assert "left out: count-atomic:" in capsys.readouterr().out


def test_a_launch_that_fails_under_the_profiler_leaves_the_others(played, monkeypatch, tmp_path, capsys):
    good, bad = case("matmul-tiled"), case("count-atomic")

    def call(case, gpu):
        if case == bad:
            raise RuntimeError("out of memory")
        return PlayedCall(played)

    monkeypatch.setattr(profile_recording, "timed_call_of", call)
    (tmp_path / "cases.json").write_bytes(msgspec.json.encode([bad, good]))
    monkeypatch.setattr(sys, "argv", ["", "cold", str(tmp_path / "cases.json")])
    profile_recording.main()
    assert msgspec.json.decode((tmp_path / "launched.json").read_bytes(), type=list[Case]) == [good]
    assert "left out: count-atomic" in capsys.readouterr().err


def test_a_launch_that_the_driver_refuses_has_no_block(played, monkeypatch):
    answers = list(driver_answers(None, []))
    assert len(answers) > 10_000
    assert kernel_recording._answer(Loaded(32, 0, 0, PlayedKernel(32, 0)), 0, 2000).blocks == 0


def test_a_missing_assembler_is_reported_and_nothing_is_written(tmp_path):
    done = subprocess.run(
        [*COMMAND, str(tmp_path), "--ptxas", "/no/such"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "There is no assembler /no/such; name the ptxas of a CUDA Toolkit.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_missing_gpu_is_reported(monkeypatch, tmp_path, capsys):
    def none():
        raise MeasurementError("No GPU can be used: there is no NVIDIA driver.")

    monkeypatch.setattr(sys, "argv", ["", str(tmp_path)])
    monkeypatch.setattr(record, "open_gpu", none)
    assert record.main() == 2
    assert capsys.readouterr().err == "No GPU can be used: there is no NVIDIA driver.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_reported(played, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "missing")])
    monkeypatch.setattr(record, "cases_to_compile", list)
    assert record.main() == 2
    assert "can't be written" in capsys.readouterr().err
