"""`tilescope export`: a trace file or a scenario, to a file of another program's; what can't be is a sentence."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from sessions import matmul
from tilescope.app.cli.main import main
from tilescope.tracer.storage.trace_file import load, save

pq = pytest.importorskip("pyarrow.parquet")
SMALL = "vector-increment:count=40,threads=32"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Go to a folder of the test's own; what large files need lies in another, which is to be empty in the end."""
    large, own = tmp_path / "large", tmp_path / "own"
    large.mkdir()
    own.mkdir()
    monkeypatch.setattr("tilescope.app.cli.export_trace.large_files_folder", lambda: str(large))
    monkeypatch.chdir(own)
    yield own
    assert not list(large.iterdir())


@pytest.fixture
def file(folder):
    save(matmul(m=16, k=16, n=16, tile=4).trace, folder / "t.npz", compress=True)
    return folder / "t.npz"


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_trace_file_is_exported_as_each_format(file, folder, capsys):
    for ending in ("csv", "parquet", "pftrace"):
        assert main(["export", "t.npz", "-o", f"x.{ending}"]) == 0
        captured = capsys.readouterr()
        assert captured.out == f"x.{ending}\n" and captured.err == ""
    trace, table = load(file), pq.read_table("x.parquet")
    assert np.array_equal(table["index"].to_numpy(), trace.index)
    assert np.array_equal(table["value"].to_numpy(), trace.value)
    with Path("x.csv").open(newline="") as text:
        assert sum(1 for _ in csv.reader(text)) == len(trace) + 1


def test_a_scenario_is_traced_or_taken_from_the_cache(folder, capsys):
    for _ in range(2):
        assert main(["export", SMALL, "-o", "x.parquet"]) == 0
    table = pq.read_table("x.parquet")
    assert set(table["op"].to_pylist()) == {"load", "store"} and table.num_rows == 80
    assert set(table["file"].to_pylist()) == {"vector.py"} or table["file"].to_pylist()[0].endswith(".py")


def test_a_partial_trace_is_marked_in_the_file_and_in_the_output(folder, capsys):
    assert main(["export", f"{SMALL},blocks=1", "-o", "x.parquet"]) == 0
    assert "x.parquet holds a part of the launch. " in capsys.readouterr().err
    metadata = json.loads(pq.read_schema("x.parquet").metadata[b"tilescope"])
    assert metadata["part"] is True and "1 of 2 blocks" in metadata["notice"]


def test_names_in_a_file_that_can_t_be_seen_are_spelled_out(folder):
    trace = matmul(m=16, k=16, n=16, tile=4).trace
    hostile = replace(
        trace, buffers=tuple(replace(b, name=f"=\x1b[31m{b.name}\u202e\n") for b in trace.buffers)
    )
    save(hostile, folder / "t.npz")
    assert main(["export", "t.npz", "-o", "x.csv"]) == 0
    with Path("x.csv").open(newline="", encoding="utf-8") as text:
        names = {row["buffer"] for row in csv.DictReader(text)}
    assert names == {rf"'=\x1b[31m{b.name}\u202e\n" for b in trace.buffers}


@pytest.mark.parametrize("damage", ["cut", "foreign", "missing"])
def test_a_file_that_is_no_trace_gives_the_sentence_of_open(damage, file, folder, capsys):
    Path("x.csv").write_text("old")
    content = file.read_bytes()
    file.write_bytes({"cut": content[: len(content) // 2], "foreign": b"name,age\n", "missing": b""}[damage])
    if damage == "missing":
        file.unlink()
    reports = []
    for words in (["export", "t.npz", "-o", "x.csv"], ["counters", "t.npz"]):
        assert main(words) == 2
        reports.append(capsys.readouterr().err)
    assert reports[0] == reports[1] and reports[0].count("\n") == 1
    assert Path("x.csv").read_text() == "old"
    assert set(left(folder)) <= {"t.npz", "x.csv"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["t.npz", "-o", "x.doc"], "x.doc must end with .csv, .parquet or .pftrace."),
        (["t.npz", "-o", "no/x.csv"], "The folder no does not exist"),
        (["no-such", "-o", "x.csv"], "no-such"),
        (["t.npz"], "-o/--output"),
        (["t.npz", "t.npz", "-o", "x.csv"], "unrecognized arguments"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_can_t_be_is_a_sentence_before_anything_is_traced(words, sentence, file, folder, capsys):
    assert main(["export", *words]) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1
    assert left(folder) == ["t.npz"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="folders that nobody may write")
def test_a_folder_that_can_t_be_written_is_reported(file, folder, capsys):
    (folder / "closed").mkdir(mode=0o500)
    assert main(["export", "t.npz", "-o", "closed/x.csv"]) == 2
    assert "the folder can't be written; choose another folder" in capsys.readouterr().err


def test_neither_qt_nor_numba_nor_what_other_formats_need_is_loaded(file, folder):
    program = (
        "import sys; from tilescope.app.cli.main import main; main(['export', 't.npz', '-o', 'x.csv']); "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"PySide6", "numba", "pyarrow", "perfetto"} & set(done.stdout.split())
