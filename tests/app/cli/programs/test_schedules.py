"""`check --schedules N`: orders until one changes the result."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from programs import COPY, HEAD, RACE, run_tilescope
from tilescope.app.cli.main import main
from tilescope.app.cli.orders import specs_with_witness, trace_of_witness
from tilescope.app.model.first_bookmark import setups_of
from tilescope.tracer.model.trace import poison
from tilescope.tracer.orders.elements import element_of
from tilescope.tracer.orders.outcome import outcome_of
from tilescope.tracer.orders.saved_launch import runnable_launch
from tilescope.tracer.orders.witness import read_witness
from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.storage.trace_file import load

POISON = int(poison(np.dtype(np.int32)))

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
RAISES = (
    HEAD
    + """
@cuda.jit
def reads_late(flag, out):
    t = cuda.grid(1)
    if t == 0:
        flag[0] = 1
    elif t == 40:
        x = out[32] + out[33]
        if flag[0] == 0:
            raise ValueError("early")
        out[t] = x

reads_late[1, 64](np.zeros(1, np.int32), np.zeros(64, np.int32))
"""
)
TWO_READS = (
    HEAD
    + """
@cuda.jit
def both_early(flag, count, out):
    t = cuda.grid(1)
    if t == 0:
        flag[0] = 1
        flag[1] = 1
    elif 40 <= t < 42:
        x = out[t] + out[t] + out[t]
        if flag[t - 40] == 0:
            cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if t == 0:
        k = count[0]
        count[0] = 0
        out[0] = k == 2

both_early[1, 64](np.zeros(2, np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32))
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
    assert f"An order with 1 switch, shrunk from seed {witness['seed']}, leaves" in race["message"]
    assert "before thread" in race["message"] and witness["switches"] == 1
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


def test_shrunk_orders_are_equal_in_every_run_and_replay(tmp_path):
    reports = [
        findings(tmp_path, RACE + ORDERED, "--schedules", "5", "--witnesses", name)[0] for name in "ab"
    ]
    names = ["shift.npz", "shift.order.json", "take_positions.npz", "take_positions.order.json"]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == names
    for race, again in zip(*reports, strict=True):
        file, witness = Path(race["witness"].pop("file")), race["witness"]
        assert file.read_text() == Path(again["witness"].pop("file")).read_text()
        assert race == again and read_witness(file).order == witness["order"]
        own, changed = setups_of(specs_with_witness(trace_of_witness(str(file)), str(file)))
        assert own.schedule.kind == "lockstep" and changed.schedule.order == witness["order"]
        assert [final_value(file, s.schedule, witness["element"]) for s in (own, changed)] == [
            int(witness[name]) if witness[name].isdigit() else POISON for name in ("before", "after")
        ]


def final_value(file, schedule, element):
    trace = load(trace_of_witness(str(file)))
    worker = Worker()
    try:
        run = worker.run(replace(runnable_launch(trace, file.parent), schedule=schedule))
    finally:
        worker.close()
    outcome = outcome_of(run)
    return outcome.value(element_of(outcome, run, element))


def test_an_order_that_ends_the_launch_is_shrunk(tmp_path):
    (race, *_), _ = findings(tmp_path, RAISES, "--schedules", "20")
    assert "An order with 1 switch, shrunk from seed" in race["message"]
    assert "ends the launch: ValueError: early." in race["message"]
    assert race["witness"]["switches"] == 1 and race["witness"]["element"] == ""


def test_the_shrunk_order_keeps_the_switches_that_it_needs(tmp_path):
    (race, *_), _ = findings(tmp_path, TWO_READS, "--schedules", "30")
    witness = race["witness"]
    assert (witness["switches"], witness["element"], witness["before"], witness["after"]) == (
        2,
        "out[0]",
        "0",
        "1",
    )


def test_witnesses_need_schedules(tmp_path):
    (tmp_path / "program.py").write_text(RACE)
    done = run_tilescope("check", "--witnesses", "w", "program.py", folder=tmp_path)
    assert done.returncode == 2 and "--witnesses needs --schedules N." in done.stderr


def test_open_names_what_is_missing_next_to_a_witness(tmp_path, capsys):
    assert main(["open", "--witness", str(tmp_path / "w.order.json")]) == 2
    assert "there is no trace" in capsys.readouterr().err
    assert main(["open"]) == 2
    assert "name a file to open, or a witness with --witness." in capsys.readouterr().err


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
