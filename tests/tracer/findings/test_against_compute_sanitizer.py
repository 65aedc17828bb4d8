"""Findings against compute-sanitizer's verdicts on an H200, each kernel with its correct twin."""

from __future__ import annotations

import json

import pytest

from folders import DATA
from launching import Array, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.finding import source_location

VERDICTS = json.loads((DATA / "h200_sanitizer.json").read_text())["errors"]
TOOLS = {"racecheck": "race", "synccheck": "barrier", "memcheck": "bounds", "initcheck": "unwritten"}

MATMUL = """
    left = cuda.shared.array((16, 16), float32)
    above = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, a.shape[1], 16):
        left[y, x] = a[row, k + x]
        above[y, x] = b[k + y, col]
        FIRST
        for j in range(16):
            total += left[y, j] * above[j, x]
        SECOND
    c[row, col] = total
"""
HALF = """
    cells = cuda.shared.array((16, 16), float32)
    cells[y, x] = a[y, x]
    if x < WIDTH:
        cuda.syncthreads()
    c[y, x] = cells[x, y]
"""
SAME = """
    one = cuda.shared.array(1, float32)
    if x < WIDTH and y < WIDTH:
        one[0] = 7
    cuda.syncthreads()
    c[y, x] = one[0]
"""
PAST = """
    cells = cuda.shared.array((16, 16), float32)
    cells[y, x] = 1
    cuda.syncthreads()
    c[y, x] = cells[NEXT, x]
"""
READ = "    b[y, x] = SOURCE[y, x]\n"
SYNC = "cuda.syncthreads()"


def findings(folder, body, schedule="lockstep", blocks=1):
    source = f"@cuda.jit\ndef kernel(a, b, c):\n    x, y = cuda.threadIdx.x, cuda.threadIdx.y\n{body}"
    given = (
        Array((64, 64), fill="random"),
        Array((64, 64), fill="random", seed=1),
        Array((64, 64), fill="empty"),
    )
    ended = trace(folder, source, given, grid=(blocks, blocks, 1), block=(16, 16, 1), schedule=schedule)
    assert ended.error is None, ended.error
    return ended, findings_of(ended, requests_of(ended))


CASES = {
    "matmul_correct": MATMUL.replace("FIRST", SYNC).replace("SECOND", SYNC),
    "matmul_without_first_barrier": MATMUL.replace("FIRST", "pass").replace("SECOND", SYNC),
    "barrier_in_half_the_block": HALF.replace("WIDTH", "8"),
    "all_threads_write_the_same_value": SAME.replace("WIDTH", "16"),
    "shared_read_past_the_end": PAST.replace("NEXT", "y + 1"),
    "global_read_before_any_write": READ.replace("SOURCE", "c"),
}
TWINS = {
    "barrier_in_half_the_block": HALF.replace("WIDTH", "16"),
    "all_threads_write_the_same_value": SAME.replace("WIDTH", "1"),
    "shared_read_past_the_end": PAST.replace("NEXT", "y - 1"),
    "global_read_before_any_write": READ.replace("SOURCE", "a"),
}


def errors(results):
    return {f.kind for f in results if f.severity == "error"}


def test_every_verdict_has_its_kernel():
    assert CASES.keys() == VERDICTS.keys()


@pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
@pytest.mark.parametrize("name", CASES)
def test_errors_match_the_sanitizer(tmp_path, name, schedule):
    blocks = 2 if name.startswith("matmul") else 1
    _, reported = findings(tmp_path, CASES[name], schedule, blocks)
    assert errors(reported) == {TOOLS[tool] for tool, verdict in VERDICTS[name].items() if verdict}


@pytest.mark.parametrize("schedule", ["lockstep", "sequential"])
@pytest.mark.parametrize("name", TWINS)
def test_the_correct_twin_is_silent(tmp_path, name, schedule):
    _, reported = findings(tmp_path, TWINS[name], schedule)
    assert not [f for f in reported if f.kind in TOOLS.values()]


def test_counts_match_the_sanitizer(tmp_path):
    ended, reported = findings(tmp_path, CASES["barrier_in_half_the_block"])
    barrier = next(f for f in reported if f.kind == "barrier")
    assert barrier.count == VERDICTS["barrier_in_half_the_block"]["synccheck"]
    assert source_location(barrier, ended)[1] == 1 + next(
        n for n, line in enumerate(ended.sources[ended.sites[0].file].splitlines()) if SYNC in line
    )
    _, reported = findings(tmp_path, CASES["global_read_before_any_write"])
    assert reported[0].count == VERDICTS["global_read_before_any_write"]["initcheck"]
    _, reported = findings(tmp_path, CASES["shared_read_past_the_end"])
    assert (
        reported[0].count == VERDICTS["shared_read_past_the_end"]["memcheck"] - 1
    )  # one line is the tool's own sum


def test_the_missing_barrier_is_reported_for_both_tiles(tmp_path):
    ended, reported = findings(tmp_path, CASES["matmul_without_first_barrier"], blocks=4)
    races = [f for f in reported if f.kind == "race"]
    stores = {ended.buffers[ended.buffer[row]].name: row for f in races for row in f.example if ended.op[row]}
    assert [stores.keys(), [place.name for f in races for place in f.also]] == [
        {"above"},
        ["left"],
    ]  # one barrier
    for race in races:
        lines = sorted(ended.sites[site].line for site in race.sites)
        assert race.remedy == f"put cuda.syncthreads() between line {lines[0]} and line {lines[1]}"
        assert race.count == 16 * 256  # every element of the tile in each of the blocks
        first, other = race.example
        assert ended.thread[first] != ended.thread[other] and ended.block[first] == ended.block[other]
        assert ended.index[first] == ended.index[other] and ended.phase[first] == ended.phase[other]


def test_the_missing_second_barrier_is_reported_before_the_next_iteration(tmp_path):
    body = MATMUL.replace("FIRST", SYNC).replace("SECOND", "pass")
    for schedule in ("lockstep", "sequential"):
        ended, reported = findings(tmp_path, body, schedule, blocks=4)
        races = [f for f in reported if f.kind == "race"]
        assert [(race.name, [place.name for place in race.also]) for race in races] == [("left", ["above"])]
        for race in races:
            first, second = sorted(ended.sites[site].line for site in race.sites)
            assert (
                race.remedy == f"put cuda.syncthreads() after line {second}, before line {first} comes again"
            )


def test_writers_of_one_value_get_a_note(tmp_path):
    _, reported = findings(tmp_path, CASES["all_threads_write_the_same_value"])
    race = next(f for f in reported if f.kind == "race")
    assert (race.severity, race.count, len(race.rows)) == ("note", 1, 256)
