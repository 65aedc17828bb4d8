"""What a profiler counted: its output read, a program under it, the record found again, and files that mean ill."""

from __future__ import annotations

import stat
import sys
from dataclasses import dataclass

import msgspec
import pytest

from synthetic_profiles import replace_recorded_profiles, synthetic_profile, synthetic_record
from tilescope.kernels.scenarios import catalogue
from tilescope.tracer.hardware.profiling import profile_recording
from tilescope.tracer.hardware.profiling.profile_recording import (
    METRICS,
    cases_to_profile,
    find_profiler,
    profile_cases,
    profile_of_row,
    rows_of_log,
)
from tilescope.tracer.hardware.profiling.profile_text import amount_text, hits_text, profile_text
from tilescope.tracer.hardware.profiling.profiles import (
    decode,
    profile_of,
    profile_of_launch,
    recorded_profiles,
)
from tilescope.tracer.hardware.profiling.row_figures import figures_of
from tilescope.tracer.hardware.times.cases import Case, row_of
from tilescope.tracer.hardware.times.measurement import MeasurementError
from tilescope.tracer.model.plan import launch_of, parse_spec

NAMES = [
    "ID", "Kernel Name", "dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum",
    "l1tex__t_sector_hit_rate.pct", "l1tex__t_sectors.sum", "launch__registers_per_thread",
    "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "lts__t_sectors_srcunit_tex_lookup_miss.sum", "sm__maximum_warps_per_active_cycle_pct",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
]  # fmt: skip
UNITS = ["", "", "byte", "byte", "ns", "%", "sector", "register/thread", "sector", "sector", "%", "%"]
FIRST = ["0", "tiled", "33,024", "0", "4,128", "12.5", "6,144", "32", "6,320", "80", "100", "12.4"]
SECOND = ["1", "nothing", "0", "1,280", "1,500", "0", "0", "16", "0", "n/a", "50", "3"]


def csv_lines(*rows):
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)


LOG = f"==PROF== Connected to process 7\n==PROF== Profiling\n{csv_lines(NAMES, UNITS, FIRST, SECOND)}\n"


def case(spec):
    scenario, values, _ = parse_spec(spec)
    return Case(scenario.name, values)


# --- the profiler's output


def test_the_output_is_read_launch_by_launch_in_base_units():
    first, second = rows_of_log(LOG)
    assert (first["dram__bytes_read.sum"], first["gpu__time_duration.sum"]) == (33_024, 4_128)
    assert second["lts__t_sectors_srcunit_tex_lookup_miss.sum"] is None
    assert rows_of_log(LOG.replace('"ns"', '"us"'))[0]["gpu__time_duration.sum"] == 4_128_000
    assert rows_of_log("==ERROR== ERR_NVGPUCTRPERM\n") == []


def test_a_profile_has_the_metrics_and_no_rate_where_nothing_was_asked():
    first, second = rows_of_log(LOG)
    results = profile_of_row(case("matmul-tiled"), "warm", first)
    assert (results.dram_bytes, results.registers, results.l1_hits, results.l2_hits) == (
        33_024,
        32,
        12.5,
        98.75,
    )
    assert (results.nanoseconds, results.warps_active, results.occupancy) == (4_128, 12.4, 100)
    results = profile_of_row(case("matmul-tiled"), "cold", second)
    assert (results.l1_hits, results.l2_hits, results.dram_bytes) == (None, None, 1_280)
    with pytest.raises(MeasurementError, match=r"did not count dram__bytes_read\.sum of matmul-tiled"):
        profile_of_row(case("matmul-tiled"), "warm", {**first, "dram__bytes_read.sum": None})


@dataclass
class PlayedProfiler:
    """A program in the profiler's place: it writes a log, and which cases would have been launched."""

    path: str

    @classmethod
    def writing(cls, folder, log, launched=2):
        path, text = folder / "ncu", folder / "log"
        text.write_text(log, encoding="utf-8")
        path.write_text(
            f"#!{sys.executable}\n"
            "import json, pathlib, sys\n"
            "words = sys.argv[1:]\n"
            "if words == ['--version']:\n"
            "    print('NVIDIA (R) Nsight Compute Command Line Profiler\\nVersion 2025.3.1.0 (build 1)')\n"
            "    sys.exit()\n"
            "assert words[words.index('--cache-control') + 1] == {'warm': 'none', 'cold': 'all'}[words[-2]]\n"
            f"log = pathlib.Path({str(text)!r}).read_text()\n"
            "pathlib.Path(words[words.index('--log-file') + 1]).write_text(log)\n"
            "cases = pathlib.Path(words[-1])\n"
            f"launched = json.loads(cases.read_text())[:{launched}]\n"
            "cases.with_name('launched.json').write_text(json.dumps(launched))\n",
            encoding="utf-8",
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return cls(str(path))


@pytest.mark.skipif(sys.platform == "win32", reason="the played profiler is a script")
def test_launches_under_the_profiler_and_their_rows_are_brought_together(tmp_path, monkeypatch):
    played = PlayedProfiler.writing(tmp_path, LOG)
    cases = [case("matmul-tiled"), case("count-atomic")]
    results = profile_cases(played.path, cases, "cold")
    assert [(p.scenario, p.caches, p.dram_bytes) for p in results] == [
        ("matmul-tiled", "cold", 33_024), ("count-atomic", "cold", 1_280),
    ]  # fmt: skip
    monkeypatch.setattr(profile_recording, "PROFILER", (played.path,))
    assert find_profiler() == (played.path, "2025.3.1.0")


@pytest.mark.skipif(sys.platform == "win32", reason="the played profiler is a script")
def test_a_launch_that_was_not_counted_ends_in_a_sentence(tmp_path):
    played = PlayedProfiler.writing(tmp_path, "==ERROR== ERR_NVGPUCTRPERM: no permission\n")
    with pytest.raises(
        MeasurementError, match="counted 0 launches of 2; it says: ==ERROR== ERR_NVGPUCTRPERM"
    ):
        profile_cases(played.path, [case("matmul-tiled"), case("count-atomic")], "warm")
    with pytest.raises(MeasurementError, match="could not be run"):
        profile_cases(str(tmp_path / "missing"), [case("matmul-tiled")], "warm")


def test_a_missing_profiler_is_reported(monkeypatch):
    monkeypatch.setattr(profile_recording, "PROFILER", ("no-such-profiler",))
    with pytest.raises(MeasurementError, match="ncu is missing"):
        find_profiler()


def test_of_each_kernel_that_is_measured_the_lesson_and_the_largest_size_are_profiled():
    cases = cases_to_profile()
    measured = {s.name for s in catalogue.scenarios() if s.engine == "cuda"}
    assert {c.scenario for c in cases} == measured
    sizes = [c.values["m"] for c in cases if c.scenario == "matmul-tiled"]
    assert sizes == [64, 1024, 4096]


def test_every_metric_belongs_to_a_field():
    assert set(METRICS) == {
        "dram_read", "dram_written", "l1_hits", "warps_active", "nanoseconds", "registers", "occupancy",
    }  # fmt: skip


# --- the record


def test_the_included_record_can_be_read_and_has_the_lessons():
    record = recorded_profiles()
    assert record is not None and record.device.name == "NVIDIA H200"
    for name in ("matmul-naive-row-on-x", "matmul-naive-col-on-x", "matmul-tiled", "matmul-two-buffers"):
        launch = profile_of_launch(launch_of(catalogue.find(name), {}), "warm")
        assert launch is not None and launch.occupancy > 0, name


def test_a_profile_is_returned_by_parameters_and_by_launch(monkeypatch):
    built = synthetic_profile("matmul-tiled", m=64, k=64, n=64, tile=16, dtype="float32", input="ones")
    replace_recorded_profiles(monkeypatch, synthetic_record(built))
    own = case("matmul-tiled")
    assert profile_of("matmul-tiled", own.values, "warm") == built
    assert profile_of("matmul-tiled", own.values, "cold") is None
    assert profile_of("matmul-tiled", own.values | {"m": 32}, "warm") is None
    scenario = catalogue.find("matmul-tiled")
    assert profile_of_launch(launch_of(scenario, {}), "warm") == built
    assert profile_of_launch(launch_of(scenario, {"tile": 8}), "warm") is None
    edited = msgspec.structs.replace(launch_of(scenario, {}), source="")
    assert profile_of_launch(edited, "warm") is None


def test_figures_of_a_row_are_of_the_device_that_it_ran_on(monkeypatch):
    own = case("matmul-tiled")
    record = synthetic_record(synthetic_profile("matmul-tiled", **own.values))
    replace_recorded_profiles(monkeypatch, record)
    row, device = row_of(own), record.device
    results = figures_of(row, device, "kernel-warm")
    assert results.profile is record.profiles[0]
    assert results.room.occupancy.blocks == 8
    assert any("Nsight Compute" in text for text in results.texts)
    assert figures_of(row, device, "kernel-cold").profile is None
    other = msgspec.structs.replace(device, name="NVIDIA L4", compute_capability=(8, 9))
    assert figures_of(row, other, "kernel-warm").texts == []
    assert figures_of(row, None, "cpu").texts == []
    assert figures_of(row_of(Case(own.scenario, own.values, "numpy")), device, "cpu").texts == []


@pytest.mark.parametrize(
    "changed",
    [
        {"dram_read": -1.0},
        {"l2_hits": 140.0},
        {"warps_active": -3.0},
        {"nanoseconds": -1.0},
        {"registers": -1},
    ],
)
def test_a_record_with_impossible_numbers_gives_nothing(changed):
    good = synthetic_record(synthetic_profile("matmul-tiled"))
    assert decode(msgspec.json.encode(good)) == good
    bad = msgspec.structs.replace(good.profiles[0], **changed)
    assert decode(msgspec.json.encode(msgspec.structs.replace(good, profiles=(bad,)))) is None


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[" * 100_000, b" " * 17_000_000])
def test_an_invalid_file_gives_nothing(content):
    assert decode(content) is None


def test_recorded_kernels_exist():
    record = recorded_profiles()
    for profile in record.profiles if record else ():
        assert launch_of(catalogue.find(profile.scenario), profile.parameters)


# --- words


def test_amounts_have_three_digits():
    assert [amount_text(n) for n in (0, 999, 33_024, 1_210_000, 541_065_216, 1.87e10)] == [
        "0 B", "999 B", "33.0 kB", "1.21 MB", "541 MB", "18.7 GB",
    ]  # fmt: skip


def test_texts_leave_out_unknown_values():
    profile = synthetic_profile("matmul-tiled", l1_hits=None)
    assert hits_text(profile) == "L2 had 98.8 % of the sectors requested from it"
    assert hits_text(msgspec.structs.replace(profile, l2_hits=None)) == ""
    assert profile_text(profile).startswith(
        "12.4 % of the possible warps were active on average; 33.0 kB read"
    )
