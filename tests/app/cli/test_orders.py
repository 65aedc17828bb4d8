"""`tilescope orders`, and `tilescope open --witness`: what is printed, written, refused and replayed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from patience import PATIENCE
from tilescope.app.cli.main import main
from tilescope.app.cli.orders import specs_with_witness
from tilescope.app.model.first_bookmark import setups_of
from tilescope.app.model.setup_text import option_texts, schedule_summary, spec_of
from tilescope.tracer.model.plan import parse_schedule
from tilescope.tracer.orders.witness import read_witness

COUNTER = "count-racing:num_blocks=1,threads=3"
PROGRAM = """
import numpy as np
from numba import cuda


@cuda.jit
def lost(c):
    c[0] += cuda.threadIdx.x


@cuda.jit
def clean(c):
    c[cuda.threadIdx.x] = 1


numbers = np.zeros(3, np.int64)
lost[1, 3](numbers)
clean[1, 3](numbers)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_order_is_printed_and_written(capsys, folder):
    assert main(["orders", COUNTER]) == 1
    printed = capsys.readouterr().out
    witness = read_witness(folder / "count_racing.order.json")
    assert "count_racing: An order with 1 switch changes the result: counter[0] is" in printed
    assert f"order:{witness.order}" in printed
    assert f"tilescope open {COUNTER} --witness count_racing.order.json" in printed
    assert "at most 90 orders" in printed
    assert witness.sentence in printed


def test_final_values_are_a_table(capsys):
    assert main(["orders", COUNTER, "--element", "counter[0]"]) == 1
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    start = next(i for i, row in enumerate(rows) if row[:2] == ["counter[0]", "orders"])
    assert rows[start][2] == "exact"
    assert [row[:2] for row in rows[start + 1 :]] == [["1", "12"], ["2", "18"], ["3", "6"]]


def test_json_has_the_result(capsys, folder):
    assert main(["orders", COUNTER, "--json", "--witness", "mine.json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["kernel"] == "count_racing"
    assert data["changing_order"]["order"] == read_witness(folder / "mine.json").order
    assert data["witness"] == "mine.json"
    assert data["verdict"].startswith("An order with 1 switch")


def test_a_launch_without_races_ends_with_0_and_a_proof(capsys, folder):
    assert main(["orders", "barrier-three-threads", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["is_complete"] and data["changing_order"] is None and data["witness"] is None
    assert not list(folder.glob("*.json"))


def test_the_launches_of_a_program_are_searched(capsys, folder):
    (folder / "program.py").write_text(PROGRAM)
    assert main(["orders", "program.py"]) == 1
    printed = capsys.readouterr().out
    assert "lost: An order" in printed and "clean: No accesses of two threads race" in printed
    assert (folder / "lost.npz").is_file() and (folder / "lost.order.json").is_file()
    specs = specs_with_witness("lost.npz", "lost.order.json")
    assert specs[0] == "lost.npz" and specs[1].startswith("lost.npz:schedule=order:")
    assert main(["orders", "lost.npz", "--yes", "--json"]) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing-like-this"], "nothing-like-this"),
        (["missing.npz"], "there is no file missing.npz"),
        (["missing.py"], "there is no file missing.py"),
        ([COUNTER, "--element", "c[0]"], "writes no array named 'c'"),
        ([COUNTER, "--orders", "0"], "must be a whole number from 1 on"),
        ([f"{COUNTER},schedule=order:t9"], "The order names thread 9"),
        ([f"{COUNTER},schedule=order:t0x9"], "is too long"),
        ([f"{COUNTER},schedule=order:?"], "is not a part of an order"),
        ([COUNTER, "--witness", "no/folder/w.json"], "can't be written"),
    ],
)
def test_bad_input_is_one_sentence(words, sentence, capsys):
    assert main(["orders", *words]) == 2
    error = capsys.readouterr().err
    assert sentence in error and "Traceback" not in error


def test_a_file_runs_only_after_consent(capsys, folder):
    (folder / "program.py").write_text(PROGRAM)
    main(["orders", "program.py"])
    capsys.readouterr()
    assert main(["orders", "lost.npz"]) == 2
    assert "add --yes if you trust the file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "spec", ["count-racing", "count-racing:num_blocks=1,threads=4", "barrier-three-threads"]
)
def test_a_witness_of_another_launch_is_refused(spec, capsys):
    main(["orders", COUNTER])
    capsys.readouterr()
    assert main(["open", spec, "--witness", "count_racing.order.json"]) == 2
    assert "The witness is of" in capsys.readouterr().err


def test_a_witness_gives_two_panes_of_one_launch():
    main(["orders", COUNTER])
    own, changed = setups_of(specs_with_witness(COUNTER, "count_racing.order.json"))
    assert own.values == changed.values
    assert own.schedule.kind == "lockstep" and changed.schedule.kind == "order"


def test_an_order_survives_the_ways_to_save_it():
    (setup,) = setups_of([f"{COUNTER},schedule=order:t1x2+t0"])
    assert setups_of([spec_of(setup)]) == (setup,)
    assert parse_schedule(option_texts(setup)["schedule"], 0) == setup.schedule
    assert schedule_summary(setup.schedule) == "order t1x2+t0"


def test_a_search_of_many_orders_states_the_estimate_first_and_ctrl_c_keeps_the_result(tmp_path):
    words = ["orders", "count-racing:num_blocks=1,threads=12", "--element", "counter[0]", "--no-witness"]
    command = [sys.executable, "-m", "tilescope", *words]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        estimate = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=PATIENCE)
    assert "count_racing: at most 1.5e+20 orders" in estimate and "Ctrl+C stops" in estimate
    assert process.returncode == 1  # an order changes the result
    assert "changes the result: counter[0]" in printed
    assert "of memory" in printed and "orders tried" in printed
