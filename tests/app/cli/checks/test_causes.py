"""What `check` and `run --json` say of launches together: a cause once, by which engine, and nothing that is untrue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from folders import ROOT
from programs import HEAD, check_program, messages_of, run_tilescope

PROGRAMS = ROOT / "tests" / "data" / "programs"
FRESH = (
    HEAD
    + """
@cuda.jit
def some(out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = i

@cuda.jit
def copy(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i]

@cuda.jit
def stop(out):
    i = cuda.grid(1)
    if i >= 32:
        raise ValueError
    out[i] = i

for kind in (np.float32, np.int32):
    a, b, c, d = (cuda.device_array(64, kind) for _ in range(4))
    some[2, 32](a, 60)
    copy[2, 32](a, b)  # reads what nobody wrote
    copy[2, 32](b, c)  # what the launch before wrote, of whatever it found
    d.copy_to_device(b)
    copy[2, 32](d, c)
    a[:] = 3
    copy[2, 32](a, c)
host = np.full(64, np.frombuffer(bytes([0xA5] * 4), np.int32)[0])  # as memory that nobody wrote, by chance
copy[2, 32](host, c)
copy[2, 32](cuda.to_device(host), c)
part = cuda.device_array(64, np.float32)
try:
    stop[2, 32](part)
except ValueError:
    pass
copy[2, 32](part, c)
"""
)
LIBRARY = """
import numpy as np
from numba import cuda

@cuda.jit
def scatter(a, out):
    i = cuda.grid(1)
    for k in range(64):
        out[i * 16] = a[i * 16]

def spread(a, out):
    scatter[2, 40](a, out)
"""


def test_one_race_is_reported_once_whatever_its_values_are(tmp_path: Path) -> None:
    (race,) = (f for f in check_program(tmp_path, PROGRAMS / "same_finding_twice.py") if f["kind"] == "race")
    assert (race["launches"], race["places"]) == (3, [])
    assert race["message"].endswith("(in 3 launches, with the numbers of one).")


def test_after_an_access_outside_what_was_filled_is_not_called_unwritten(tmp_path: Path) -> None:
    findings = check_program(tmp_path, PROGRAMS / "unwritten_after_bounds.py")
    assert [(f["kind"], f["launches"]) for f in findings] == [("bounds", 2), ("uncoalesced", 2)]
    assert "`y, x = cuda.grid(2)`" in findings[1]["remedy"]
    assert [(p["name"], p["line"]) for p in findings[1]["places"]] == [("output", 8)]


def test_unwritten_is_only_what_no_thread_wrote(script, tmp_path: Path) -> None:
    errors = [f for f in check_program(tmp_path, script(FRESH)) if f["severity"] == "error"]
    assert [(f["kind"], f["count"], f["launches"]) for f in errors] == [("unwritten", 4, 2)]


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("redundant_store", "overwritten", "258,048 of 262,144 stores to C on line 11"),
        ("hot_atomic", "hot atomic", "8,192 atomics on line 7 update one address, n[0]"),
        ("atomic_negative", "bounds", "30 updates of hist on line 7 go below index 0"),
    ],
)
def test_omitted_reports(tmp_path: Path, name: str, kind: str, words: str) -> None:
    (finding,) = (f for f in check_program(tmp_path, PROGRAMS / f"{name}.py") if f["kind"] == kind)
    assert words in finding["message"] and finding["severity"] != "error"


def test_values_that_neighbours_rewrite_need_not_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILESCOPE_HOME", str(tmp_path / "home"))  # where nobody has compiled it before
    done = run_tilescope("check", str(PROGRAMS / "reload_stencil.py"), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "no findings\n")
    assert done.stderr.splitlines()[1:] == [
        "tilescope: 1 launch of heat ran in the simulator (not compiled: fewer than 65,536 accesses).",
        "tilescope: 1 launch of 1 kernel traced: all 2 blocks, lockstep.",
    ]
    assert len(messages_of(done).splitlines()) == 1


def test_each_launch_names_its_engine_and_the_reason(tmp_path: Path) -> None:
    path = PROGRAMS / "hot_atomic.py"
    for words, engine, why in (
        (["--engine", "compiled", "--schedule", "sequential"], "compiled", ""),
        (["--engine", "compiled"], "compiled", ""),
        (["--engine", "simulator"], "simulator", ""),
    ):
        done = run_tilescope("run", "--quiet", "--json=told", *words, str(path), folder=tmp_path)
        assert done.returncode == 0, done.stderr
        (launch,) = map(json.loads, (tmp_path / "told").read_text().splitlines())
        assert launch["engine"] == engine and launch["made_by"].endswith(why)
        assert all(finding.keys() >= {"kind", "line", "places"} for finding in launch["findings"])


def test_waste_of_a_librarys_kernel_is_not_reported_but_its_errors_are_at_the_call(
    script, tmp_path: Path
) -> None:
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "spreading.py").write_text(LIBRARY)
    path = script(
        HEAD + "sys.path.insert(0, 'site-packages')\nfrom spreading import spread\n"
        "spread(np.zeros(2048), np.zeros(2048))\nspread(np.zeros(64), np.zeros(2048))\n"
    )
    (finding,) = check_program(tmp_path, path)
    assert (finding["kind"], finding["line"], Path(finding["file"]).name) == ("bounds", 7, "program.py")
    assert "spreading.py" in finding["message"] and finding["places"] == []
