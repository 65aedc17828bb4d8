"""CSV and Parquet: the files round-trip the trace and are written atomically."""

import csv
import errno
import io
import json
import os
import random
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from odd_traces import ignore_progress, random_trace
from tilescope.tracer.exports import csv_file, parquet_file, write
from tilescope.tracer.exports.access_table import ExportError, access_columns, file_names
from tilescope.tracer.exports.csv_file import cell
from tilescope.tracer.model.trace import Op, Site

pq = pytest.importorskip("pyarrow.parquet")
NUMBERS = ("block", "thread", "phase", "step", "index")
DTYPES = ("?", "i1", "i8", "u8", "f2", "f4", "f8", "c8", "c16")


def written(trace, folder, ending, part=""):
    path = folder / f"t{ending}"
    write.write_export(trace, path, part, ignore_progress)
    return path


def words_of(trace):
    """Return the columns of words as they have to be read back."""
    files = file_names([site.file for site in trace.sites])
    return {
        "op": [Op(op).name.lower() for op in trace.op],
        "buffer": [trace.buffers[b].name for b in trace.buffer],
        "space": [trace.buffers[b].space for b in trace.buffer],
        "file": [files[site] for site in trace.site],
        "line": [trace.sites[site].line for site in trace.site],
        "column": [trace.sites[site].column for site in trace.site],
    }


def same_bits(read, expected):
    """Check whether numbers have equal bits; any two nans are equal."""
    read = np.asarray(read).astype(expected.dtype)
    equal = read.view(f"u{read.itemsize}") == expected.view(f"u{expected.itemsize}")
    return bool((equal | (read != read) & (expected != expected)).all())


def same_values(trace, read):
    """Check whether columns hold the trace's values; read: name to column."""
    if trace.value.dtype.kind != "c":
        return same_bits(read["value"], trace.value)
    parts = {"value_real": trace.value.real.copy(), "value_imag": trace.value.imag.copy()}
    return all(same_bits(read[name], part) for name, part in parts.items())


@pytest.mark.parametrize("dtype", DTYPES)
def test_parquet_round_trips_the_trace(dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parquet_file, "ROWS", 20)
    seed = random.randrange(1 << 30)
    print("seed", seed)
    trace = random_trace(seed, dtype)
    table = pq.read_table(written(trace, tmp_path, ".parquet"))
    assert table.num_rows == len(trace) > 50
    for name in NUMBERS:
        assert np.array_equal(table[name].to_numpy(), getattr(trace, name)), name
    for name, column in words_of(trace).items():
        assert table[name].to_pylist() == column, name
    read = {name: table[name].to_numpy() for name in table.column_names if name.startswith("value")}
    assert same_values(trace, read)


@pytest.mark.parametrize("dtype", DTYPES)
def test_csv_round_trips_the_trace(dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(csv_file, "ROWS", 20)
    seed = random.randrange(1 << 30)
    print("seed", seed)
    trace = random_trace(seed, dtype)
    text = written(trace, tmp_path, ".csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(trace) == text.count("\n") - 1
    for name in NUMBERS:
        assert [int(row[name]) for row in rows] == getattr(trace, name).tolist(), name
    for name, column in words_of(trace).items():
        assert [row[name] for row in rows] == [str(entry) for entry in column], name
    number = {"b": {"true": True, "false": False}.__getitem__, "i": int, "u": int}.get(
        trace.value.dtype.kind, float
    )
    read = {
        name: np.array([number(row[name]) for row in rows], trace.value.real.dtype)
        for name in rows[0]
        if name.startswith("value")
    }
    assert same_values(trace, read)


def test_integers_of_any_length_are_written_in_full():
    numbers = sorted({10**n + d for n in range(19) for d in (-1, 0, 1)} | {2**64 - 1, 0, 100_010_000})
    for kept in (numbers, [0, 0], [20_000_000, 5]):
        column = np.array(kept, np.uint64)
        parts = csv_file.digits(column)
        texts = [b"".join(part[row] for part in parts).decode() for row in range(len(kept))]
        assert texts == [str(number) for number in kept]


def test_columns_have_the_standard_names(tmp_path: Path):
    head = written(random_trace(1), tmp_path, ".csv").read_text().splitlines()[0]
    assert head == "block,thread,phase,step,op,buffer,space,file,line,column,index,value"
    names = [column.name for column in access_columns(replace(random_trace(1), value=None))]
    assert names == head.split(",")[:-1], "records have no value"


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-a", "@SUM(A1)", "\tx", "\rx"])
def test_a_name_that_a_spreadsheet_would_compute_is_shown_as_text(name, tmp_path: Path):
    trace = random_trace(2)
    hostile = tuple(replace(b, name=name) for b in trace.buffers)
    trace = replace(trace, buffers=hostile, sites=tuple(replace(s, file=f"{name}.py") for s in trace.sites))
    rows = list(csv.reader(io.StringIO(written(trace, tmp_path, ".csv").read_bytes().decode(), newline="")))
    assert {row[5] for row in rows[1:]} == {"'" + name}
    assert all(not text.startswith(tuple("=+@\t\r")) for row in rows[1:] for text in row)
    assert set(pq.read_table(written(trace, tmp_path, ".parquet"))["buffer"].to_pylist()) == {name}


def test_commas_quotes_and_other_scripts_stay_in_their_cell(tmp_path: Path):
    names = ['a,"b"', "größe", "行列", "a\nb"]
    assert [next(csv.reader(io.StringIO(cell(name).decode(), newline=""))) for name in names] == [
        [n] for n in names
    ]
    trace = random_trace(3)
    trace = replace(trace, buffers=tuple(replace(b, name=names[i % 4]) for i, b in enumerate(trace.buffers)))
    rows = list(
        csv.DictReader(io.StringIO(written(trace, tmp_path, ".csv").read_bytes().decode(), newline=""))
    )
    assert [row["buffer"] for row in rows] == words_of(trace)["buffer"]


def test_files_have_folders_only_to_separate_equal_names(tmp_path: Path):
    assert file_names(["/a/b.py", "/a/c.py", "/a/b.py", "n.ipynb [3]"]) == [
        "b.py",
        "c.py",
        "b.py",
        "n.ipynb [3]",
    ]
    assert file_names(["/a/b.py", "/c/b.py"]) == ["/a/b.py", "/c/b.py"]
    assert file_names([r"C:\x\b.py"]) == ["b.py"]
    trace = replace(
        random_trace(4), sites=(Site("kernel", "/a/b.py", 1, 0),) * 8 + (Site("kernel", "/c/b.py", 2, 0),) * 8
    )
    assert pq.read_table(written(trace, tmp_path, ".parquet"))["file"].to_pylist() == words_of(trace)["file"]


def test_metadata_names_the_launch_and_marks_a_part(tmp_path: Path):
    trace = random_trace(5)
    for part in ("", "A part of the launch: 2 of 4 blocks ran."):
        output = json.loads(pq.read_schema(written(trace, tmp_path, ".parquet", part)).metadata[b"tilescope"])
        assert output["kernel"] == "kernel" and output["rows"] == len(trace) and output["notice"] == part
        assert [site["line"] for site in output["sites"]] == [site.line for site in trace.sites]
    assert output["part"] is True
    complete = replace(trace, grid=(len(trace.blocks), 1, 1))
    assert (
        json.loads(pq.read_schema(written(complete, tmp_path, ".parquet")).metadata[b"tilescope"])["part"]
        is False
    )


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_few_rows_are_in_memory_at_once(ending, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    small = random_trace(6)
    times = 300_000 // len(small)
    names = ("block", "thread", "phase", "op", "buffer", "site", "index", "value")
    count = {name: np.tile(getattr(small, name), times) for name in names}
    steps = np.arange(times * len(small), dtype=np.uint32)
    trace = replace(small, **count, steps=steps, accesses=len(steps))
    monkeypatch.setattr(csv_file, "ROWS", 1 << 12)
    monkeypatch.setattr(parquet_file, "ROWS", 1 << 12)
    written(small, tmp_path, ending)  # imports
    tracemalloc.start()
    path = written(trace, tmp_path, ending)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3_000_000 and peak < trace.nbytes / 2
    assert (
        pq.read_metadata(path).num_rows == len(trace)
        if ending == ".parquet"
        else path.stat().st_size > 10_000_000
    )


# --- whole or not at all


ENDINGS = [".csv", ".parquet", ".pftrace"]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("fails", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space left"), "could not be written: the disk is full; free some space"),
        (
            PermissionError(errno.EACCES, "Permission denied"),
            "the folder can't be written; choose another folder.",
        ),
        (OSError(errno.EIO, "Input/output error"), "could not be written: Input/output error."),
    ],
    ids=["full", "forbidden", "broken"],
)
def test_a_failed_write_is_reported_in_a_sentence_and_keeps_the_old_file(
    ending, fails, sentence, tmp_path, monkeypatch
):
    path = tmp_path / f"t{ending}"
    path.write_text("old")

    def refused(*_):
        raise fails

    monkeypatch.setattr(os, "fsync", refused)
    with pytest.raises(ExportError) as raised:
        write.write_export(random_trace(7), path, "", ignore_progress)
    assert sentence in str(raised.value) and str(raised.value).count("\n") == 0
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="without /dev/full")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_disk_that_fills_up_during_a_write_is_reported(ending, tmp_path: Path):
    path = tmp_path / f"t{ending}"
    path.symlink_to("/dev/full")
    with pytest.raises(ExportError, match="the disk is full"):
        write.write_export(random_trace(8), path, "", ignore_progress)


@pytest.mark.parametrize("ending", ENDINGS)
def test_ctrl_c_leaves_nothing(ending, tmp_path: Path):
    def interrupted(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write.write_export(random_trace(9), tmp_path / f"t{ending}", "", interrupted)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("t.xlsx", "t.xlsx must end with .csv, .parquet or .pftrace."),
        ("no/t.csv", "does not exist; create it"),
        ("f.csv", "is a folder; choose a file name."),
    ],
)
def test_an_impossible_name_is_refused_at_once(name, sentence, tmp_path: Path):
    (tmp_path / "f.csv").mkdir()
    with pytest.raises(ExportError, match=sentence.replace(".", r"\.")):
        write.check_export(tmp_path / name)


@pytest.mark.parametrize(
    ("ending", "package"),
    [(".parquet", "pyarrow"), (".parquet", "pyarrow.parquet"), (".pftrace", "perfetto")],
)
def test_a_missing_package_is_reported_with_the_install_command(ending, package, tmp_path, monkeypatch):
    for name in list(sys.modules):
        if name == package or name.startswith(f"{package}."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ExportError, match=f"pip install {package.split('.')[0]}"):
        write.check_export(tmp_path / f"t{ending}")
    written(random_trace(10), tmp_path, ".csv")


def test_a_launch_without_kept_accesses_is_not_written_as_an_empty_table(tmp_path: Path):
    trace = random_trace(11)
    names = ("block", "thread", "phase", "index", "op", "buffer", "site", "value")
    missing = {name: getattr(trace, name)[:0] for name in names} | {"steps": trace.step[:0]}
    with pytest.raises(ExportError, match=r"no accesses to write\. 0 of 5 are here"):
        write.write_export(replace(trace, **missing), tmp_path / "t.csv", "0 of 5 are here.", ignore_progress)
    assert not list(tmp_path.iterdir())
