"""Counters by line, buffer and block, and next to the values of Nsight Compute on an H200."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from folders import DATA
from sessions import matmul
from synthetic_profiles import replace_recorded_profiles, synthetic_profile, synthetic_record
from tilescope.app.cli.counters import GROUPINGS, counters_table, groups_of, readings_text, table_by
from tilescope.app.model.session import build_session
from tilescope.tracer.analysis.counters import totals_by
from tilescope.tracer.hardware.times.recorded_counters import (
    recorded_counters_of,
    recorded_launches,
    recordings,
)
from tilescope.tracer.model.counter_names import NAMES
from traces import programs, trace_of

ON_H200, ON_H100 = recordings()
H200 = json.loads((DATA / "h200_counters.json").read_text(encoding="utf-8"))


@settings(max_examples=40)
@given(programs(), st.sampled_from(GROUPINGS))
def test_parts_add_up_to_the_launch_and_each_is_its_requests(session_rows, by):
    session = build_session(matmul(m=32, k=32, n=32).launch, trace_of(session_rows), None)
    names, part = groups_of(session, by)
    totals = totals_by(session.trace, session.requests, part, len(names))
    assert {name: int(totals[name].sum()) for name in NAMES} == session.counters.total
    requests, buffers = session.requests, session.trace.buffers
    for number in range(len(names)):
        own_rows = np.flatnonzero((part == number) & (requests.op == 0))
        sectors = [
            int(requests.sectors[r]) for r in own_rows if buffers[requests.buffer[r]].space == "global"
        ]
        assert totals["global_load_sectors"][number] == sum(sectors)


def rows_of(text):
    """Return {part: {what: number}} of a table."""
    rows, part = {}, ""
    for line in text.splitlines()[1:]:
        if line[0] != " ":
            part, line = line.split("  ", 1)
        *words, number = line.split()
        rows.setdefault(part, {})[" ".join(words)] = int(number.replace(",", ""))
    return rows


def test_a_table_by_buffer_shows_elements_and_bytes():
    """4 blocks of 2 warps, which for each of 8 k load 8 elements of a column of A, 4 of a row of B."""
    text = table_by(matmul("matmul-naive-row-on-x", m=16, k=8, n=16, tile=8), "buffer")
    assert text.splitlines()[0] == "Naive, row on x, by buffer (exact)"
    rows = rows_of(text)
    assert set(rows) == {"a (global)", "b (global)", "c (global)"}
    left = rows["a (global)"]
    assert left["global load requests"] == 4 * 2 * 8 and left["distinct elements"] == 16 * 8
    assert left["bytes requested"] == left["global load bytes"] == 64 * 32 * 4
    assert left["bytes moved"] == 32 * left["global load sectors"] == 32 * 64 * 8


@pytest.mark.parametrize("by", ["line", "block"])
def test_a_table_names_every_part_and_its_counters(by):
    session = matmul(m=16, k=16, n=16, tile=8)
    rows = rows_of(table_by(session, by))
    lines = {
        f"line {site.line}" for n, site in enumerate(session.trace.sites) if (session.trace.site == n).any()
    }
    blocks = {"block (0, 0)", "block (1, 0)", "block (0, 1)", "block (1, 1)"}
    assert set(rows) == (lines if by == "line" else blocks)
    for name in NAMES:
        label = name.replace("_", " ")
        assert sum(row.get(label, 0) for row in rows.values()) == session.counters.total[name]


def test_the_readings_that_come_with_the_package_are_those_of_the_tests():
    kept = list(H200["launches"].values())
    assert all(read.counters in kept for read in ON_H200.launches)
    assert ON_H200.how == H200["note"]


def test_the_readings_of_an_h100_are_those_of_the_tests_and_each_difference_has_its_reason():
    kept = [case["counters"] for case in json.loads((DATA / "h100_more.json").read_text(encoding="utf-8"))]
    for read in ON_H100.launches:
        assert {name: number for name, number in read.counters.items() if number} in kept
        session = matmul(read.scenario, **read.values)
        (on_h100,) = [row for row in recorded_launches() if row.scenario == read.scenario]
        assert recorded_counters_of(session.launch) is on_h100
        differing = [name for name, number in read.counters.items() if number != session.counters.total[name]]
        assert bool(differing) == bool(read.reason)
        assert all("H100" in line and read.reason in line for line in readings_text(session)), read.scenario


@pytest.mark.parametrize(
    "read",
    # Rungs of eight results make too many accesses for the simulator: see `tests/kernels/test_matmul_ladder.py`.
    [
        read
        for read in recorded_launches()
        if read.device == ON_H200.device and read.values.get("side", 0) < 8
    ],
    ids=lambda r: f"{r.scenario} {sorted(r.values.items())}",
)
def test_differences_are_shown_next_to_measured_values_with_the_reason(read):
    session = matmul(read.scenario, **read.values)
    assert recorded_counters_of(session.launch) is read
    text = readings_text(session)
    differing = [
        n for n, number in read.counters.items() if n in NAMES and number != session.counters.total[n]
    ]
    assert all(name.startswith("shared_load") for name in differing)
    assert bool(differing) == bool(read.reason)
    if not differing:
        assert len(text) == 1 and "every counter above except bytes equals the measurement" in text[0]
    for name, line in zip(sorted(differing, key=NAMES.index), text if differing else [], strict=True):
        assert f"{read.counters[name]:,} {name.replace('_', ' ')} measured on an NVIDIA H200" in line
        assert f"{session.counters.total[name]:,} exact: {read.reason}." in line
    assert counters_table([session]).endswith("\n".join(text))


@pytest.mark.parametrize("values", [{"m": 48}, {"dtype": "float64"}, {"tile": 8}])
def test_of_other_launches_nothing_was_read(values):
    assert readings_text(matmul(**values)) == []


# --- on a GPU


def cells(text, name):
    """Return the cells of a row of a table."""
    (line,) = (line for line in text.splitlines() if line.startswith(f"{name} "))
    return line.removeprefix(name).split("  ")[-1].strip()


def test_the_table_has_the_occupancy_and_what_it_is_modelled_from():
    text = counters_table([matmul("matmul-tiled")])
    assert cells(text, "occupancy") == "100 % modelled"
    assert cells(text, "limited by") == "registers and threads"
    assert (
        "Tiled, shared memory: Modelled from 32 registers a thread and 2,048 bytes of shared memory" in text
    )


def test_the_table_has_what_was_counted_on_a_gpu_where_that_is_recorded(monkeypatch):
    session = matmul("matmul-tiled")
    replace_recorded_profiles(monkeypatch, None)
    monkeypatch.setattr("tilescope.app.cli.counters.recorded_profiles", lambda: None)
    assert "measured" not in counters_table([session]).split("result")[0]
    record = synthetic_record(synthetic_profile("matmul-tiled", m=64, k=64, n=64, tile=16, dtype="float32"))
    replace_recorded_profiles(monkeypatch, record)
    monkeypatch.setattr("tilescope.app.cli.counters.recorded_profiles", lambda: record)
    text = counters_table([session])
    assert cells(text, "DRAM bytes read") == "33,024 measured"
    assert cells(text, "L2 hits") == "98.8 % measured"
    assert cells(text, "warps active") == "12.4 % measured"
    assert "Read with Nsight Compute: NVIDIA H200, 2026-11-23, caches warm." in text


def test_a_program_of_a_users_has_no_row_of_a_gpu():
    session = matmul("matmul-tiled")
    session = build_session(msgspec.structs.replace(session.launch, scenario=""), session.trace, None)
    assert "occupancy" not in counters_table([session])
