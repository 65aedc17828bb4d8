"""`check --schedules N`: orders until one changes the result."""

from __future__ import annotations

import json

from programs import COPY, HEAD, RACE, run_tilescope

ORDERED = (
    HEAD
    + """
@cuda.jit
def take_positions(counter, out):
    t = cuda.grid(1)
    out[cuda.atomic.add(counter, 0, 1)] = t

take_positions[2, 64](np.zeros(1, np.int32), np.zeros(128, np.int32))
"""
)
SUMS = (
    HEAD
    + """
@cuda.jit
def add_up(a, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, a[i])

add_up[4, 64](np.linspace(0, 1, 256).astype(np.float32), np.zeros(1, np.float32))
"""
)


def findings(folder, text, *words):
    (folder / "program.py").write_text(text)
    done = run_tilescope("check", "--output-format", "json", *words, "program.py", folder=folder)
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    return report["findings"], report["traced"]


def test_a_race_that_changes_the_result_is_confirmed_with_its_seed(tmp_path):
    ((possible,), _) = findings(tmp_path, RACE)
    assert possible["confidence"] == "possible" and "witness" not in possible
    ((race,), traced) = findings(tmp_path, RACE, "--schedules", "10")
    witness = race["witness"]
    assert race["confidence"] == "confirmed" and witness["schedule"] == "random"
    assert f"Random order with seed {witness['seed']} leaves" in race["message"]
    assert witness["element"].startswith("out[") and witness["before"] != witness["after"]
    assert traced["schedule"] == "lockstep and up to 10 random orders" and traced["not_traced"] == []


def test_the_witness_changes_the_result_of_the_program(tmp_path):
    ((race,), _) = findings(tmp_path, RACE, "--schedules", "10")
    shows = RACE.replace(
        "shift[1, 64](np.zeros(64, np.int32))", "a = np.zeros(64, np.int32)\nshift[1, 64](a)\nprint(a)"
    )
    (tmp_path / "shows.py").write_text(shows)
    words = ("run", "--quiet", "--schedule", "random", "--seed", str(race["witness"]["seed"]))
    other = run_tilescope(*words, "shows.py", folder=tmp_path).stdout
    assert other and other != run_tilescope("run", "--quiet", "shows.py", folder=tmp_path).stdout


def test_atomics_whose_order_matters_are_a_warning(tmp_path):
    assert findings(tmp_path, ORDERED)[0] == []
    ((finding,), _) = findings(tmp_path, ORDERED, "--schedules", "5")
    assert (finding["rule"], finding["severity"], finding["confidence"]) == ("TS102", "warning", "confirmed")
    assert finding["line"] == 6 and finding["witness"]["element"].startswith("out[")


def test_rounding_of_sums_and_independent_threads_are_no_finding(tmp_path):
    assert [f for f in findings(tmp_path, SUMS, "--schedules", "5")[0] if f["kind"] == "race"] == []
    assert findings(tmp_path, COPY, "--schedules", "3")[0] == []


def test_launches_that_cannot_run_again_are_counted(tmp_path):
    record = HEAD + (
        "\ntype_ = np.dtype([('x', np.int32)])\n\n@cuda.jit\ndef fill(a):\n    a[cuda.grid(1)].x = 1\n\n"
        "fill[1, 32](np.zeros(32, type_))\n"
    )
    _, traced = findings(tmp_path, record, "--schedules", "2")
    assert traced["not_traced"] == ["other orders of 1 launch, which can't run again"]
