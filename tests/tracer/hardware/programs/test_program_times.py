"""Times of a program's kernels, from the records of its runs."""

from __future__ import annotations

import json

import pytest

from fake_toolkit import DEVICE, copy_record, kernel_record
from tilescope.tracer.hardware.programs.program_times import MOST_RUNS, base_name, save, time_program
from tilescope.tracer.hardware.times.measurement import MeasurementError


def program(folder, records, rest=""):
    """Return a program that writes these records, then runs shell lines."""
    (folder / "records").write_text("".join(json.dumps(record) + "\n" for record in records))
    script = folder / "program"
    script.write_text(f'#!/bin/sh\ncat "{folder}/records" >> "$TILESCOPE_TIMES"\necho "ran $*"\n{rest}\n')
    script.chmod(0o755)
    return str(script)


def times_of(folder, command, limit=0.0, **options):
    records = folder / "times"
    records.mkdir()
    return time_program(
        command,
        folder / "timer.so",
        records,
        source=folder / "a.cu",
        date="2026-11-26",
        time_limit=limit,
        **options,
    )


def test_launches_of_one_kernel_and_size_are_together(tmp_path):
    records = [
        kernel_record("scale(float*)", 9_000, 12_500),
        kernel_record("scale(float*)", 1_000, 3_000),
        kernel_record("scale(float*)", 20_000, 21_000, grid=[5, 1, 1]),
        copy_record(1, 4096, 100, 600),
        copy_record(2, 4096, 50_000, 51_000),
        DEVICE,
    ]
    times = times_of(tmp_path, [program(tmp_path, records), "7"])
    assert [(k.grid[0], k.launches, k.microseconds) for k in times.kernels] == [
        (2, 2, (2.0, 3.5)),
        (5, 1, (1.0,)),
    ]
    assert [(c.kind, c.bytes, c.microseconds) for c in times.copies] == [
        ("host to device", 4096, (0.5,)),
        ("device to host", 4096, (1.0,)),
    ]
    assert times.device.name == "NVIDIA H100" and times.arguments == ("7",) and times.runs == 1


def test_a_program_runs_again_until_the_limit_and_prints_once(tmp_path, capfd):
    records = [kernel_record("scale(float*)", 0, 1_000), DEVICE]
    times = times_of(tmp_path, [program(tmp_path, records), "7"], limit=600.0)
    assert times.runs == MOST_RUNS == len(times.kernels[0].microseconds) and times.kernels[0].launches == 1
    assert capfd.readouterr().out == "ran 7\n"


def test_a_failed_program_runs_once_and_its_status_is_kept(tmp_path):
    records = [kernel_record("scale(float*)", 0, 1_000), DEVICE]
    times = times_of(tmp_path, [program(tmp_path, records, "exit 3")], limit=600.0)
    assert (times.runs, times.status) == (1, 3)


@pytest.mark.parametrize(
    ("records", "rest", "sentence"),
    [
        ([DEVICE], "", "launched no kernel"),
        ([], "", "used no GPU"),
        ([], "kill -9 $$", "ended by signal 9"),
        (
            [{"record": "refused", "reason": "no permission"}],
            "",
            "CUPTI can't time kernels here: no permission.",
        ),
        ([{"record": "other"}], "", "can't be read"),
    ],
)
def test_a_program_without_times_is_explained(tmp_path, records, rest, sentence):
    with pytest.raises(MeasurementError, match=sentence):
        times_of(tmp_path, [program(tmp_path, records, rest)])


def test_times_are_saved_with_all_samples(tmp_path):
    records = [kernel_record("scale(float*)", 0, 1_500), DEVICE]
    save(times_of(tmp_path, [program(tmp_path, records)]), tmp_path / "times.json")
    saved = json.loads((tmp_path / "times.json").read_text())
    assert saved["format"] == "tilescope program times"
    assert saved["times"]["kernels"][0]["microseconds"] == [1.5]
    with pytest.raises(MeasurementError, match="can't be written"):
        save(times_of(tmp_path / "..", [program(tmp_path, records)]), tmp_path / "none" / "times.json")


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("void matmul<16>(float const*, int)", "matmul"),
        ("reverse(float*, int)", "reverse"),
        ("void (anonymous namespace)::k<int>(int*)", "k"),
        ("ns::foo(int)", "foo"),
        ("copy<float>", "copy"),
        ("void thrust::cuda_cub::core::_kernel_agent<A<b>, c>(x)", "_kernel_agent"),
    ],
)
def test_a_kernels_name_without_types(name, base):
    assert base_name(name) == base
