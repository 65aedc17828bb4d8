"""Missed barriers, uninitialised reads and indices out of bounds, each with its correct twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from launching import Array, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.findings.uninitialised import uninitialised_findings
from tilescope.tracer.model.finding import source_location
from tilescope.tracer.model.trace import Op, poison
from traces import BUFFERS, programs, trace_of

WRONG = ("race", "barrier", "bounds", "unwritten")


def kernel(folder, body, *arguments, block=64, grid=1, schedule="lockstep", **options):
    names = "".join(f"arg{i}, " for i in range(len(arguments)))
    source = f"@cuda.jit\ndef kernel({names}):\n    t, i = cuda.threadIdx.x, cuda.grid(1)\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )
    grid, block = (grid, 1, 1), (block, 1, 1)
    ended = trace(folder, source, arguments, grid=grid, block=block, schedule=schedule, **options)
    assert ended.error is None, ended.error
    return ended, [f for f in findings_of(ended, requests_of(ended)) if f.kind in WRONG]


def verdicts(results):
    return [(f.kind, f.severity, f.count) for f in results]


OUT = Array((256,), "int32")
EVERY = pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])


# --- barriers


@EVERY
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # half the threads go past it, and on
        ("if t < 32:\n    cuda.syncthreads()\narg0[t] = t", [("barrier", "error", 32)]),
        # and do what the others do not
        ("if t < 32:\n    cuda.syncthreads()\nif t >= 32:\n    arg0[t] = t", [("barrier", "error", 32)]),
        # two barriers at once
        ("if t < 32:\n    cuda.syncthreads()\nelse:\n    cuda.syncthreads()", [("barrier", "error", 32)]),
        # once they are at different barriers, all that follows is a consequence
        ("if t < 32:\n    cuda.syncthreads()\ncuda.syncthreads()\ncuda.syncthreads()", [("barrier", "error", 32)]),
        # one round fewer for some, which go on after the loop
        ("for k in range(3 if t < 10 else 2):\n    cuda.syncthreads()\narg0[t] = t", [("barrier", "error", 54)]),
        # half go past it in a loop, and round again
        ("for k in range(3):\n    x = arg0[t]\n    if t < 32:\n        cuda.syncthreads()", [("barrier", "error", 32)]),
        # the same with no access behind it: nobody returned
        ("if t < 32:\n    arg0[t] = 1\n    cuda.syncthreads()\n    arg0[t] = t", [("barrier", "error", 32)]),
        ("n = 32\nwhile n > 0:\n    if t < n:\n        arg0[t] = 1\n        cuda.syncthreads()\n    n //= 2",
         [("barrier", "error", 63)]),
        ("for k in range(t, 64, 16):\n    cuda.syncthreads()", [("barrier", "error", 48)]),
        ("if t < 32:\n    cuda.syncthreads()\n    if t > 64:\n        return", [("barrier", "error", 32)]),
        # nobody returned where all got further than the `return`
        ("if i > 90:\n    return\narg0[t] = 1\nif t < 32:\n    cuda.syncthreads()", [("barrier", "error", 32)]),
        # some returned, and some of the others ran past it
        ("if t >= 60:\n    return\narg0[t] = 1\nif t < 32:\n    cuda.syncthreads()",
         [("barrier", "error", 28), ("barrier", "note", 4)]),
        # returned before it: the GPU lets that pass
        ("if t >= 60:\n    return\ncuda.syncthreads()\narg0[t] = t", [("barrier", "note", 4)]),
        ("if t >= 60:\n    arg0[t] = 0\n    return\ncuda.syncthreads()\narg0[t] = t", [("barrier", "note", 4)]),
        ("for k in range(3):\n    cuda.syncthreads()\n    arg0[t] = k\n    if t == 7:\n        return",
         [("barrier", "note", 1)]),
        # after they stored what others may need
        ("s = cuda.shared.array(64, int32)\nfor k in range(3):\n    s[t] = k\n    cuda.syncthreads()\n"
         "    if t == 7:\n        return\n    arg0[t] = s[63 - t]\n    cuda.syncthreads()",
         [("barrier", "warning", 1)]),
        # correct: all come, all the same way, as often as each other
        ("cuda.syncthreads()\nif t < 32:\n    arg0[t] = t", []),
        ("for k in range(3):\n    cuda.syncthreads()\narg0[t] = t", []),
        ("if t < 32:\n    arg0[t] = t\ncuda.syncthreads()", []),
        ("if cuda.blockIdx.x == 0:\n    cuda.syncthreads()\narg0[i] = t", []),
        ("cuda.syncthreads()\nif t >= 60:\n    return\narg0[t] = t", []),
    ],
)  # fmt: skip
def test_barriers(tmp_path, schedule, body, expected):
    grid = 2 if "blockIdx" in body else 1
    ended, findings = kernel(tmp_path, body, OUT, schedule=schedule, grid=grid)
    assert verdicts(findings) == expected
    for finding in findings:
        line = ended.sources[source_location(finding, ended)[0]].splitlines()[
            source_location(finding, ended)[1] - 1
        ]
        assert "syncthreads" in line
        waiting, missing = finding.threads
        assert waiting != missing and waiting[0] == missing[0]
        came = set(zip(ended.barriers.block.tolist(), ended.barriers.thread.tolist(), strict=True))
        assert waiting in came


def test_two_barriers_at_once_are_reported_at_the_one_in_a_branch(tmp_path):
    body = "if t < 8:\n    cuda.syncthreads()\ncuda.syncthreads()\narg0[t] = t"
    for condition in (body, body.replace("t < 8", "t >= 8")):
        ended, (finding,) = kernel(tmp_path, condition, OUT)
        _, line = source_location(finding, ended)
        assert "if t" in ended.sources[source_location(finding, ended)[0]].splitlines()[line - 2]


@pytest.mark.parametrize(
    ("body", "remedy"),
    [
        ("if t < 8:\n    cuda.syncthreads()\n    x = t", "move cuda.syncthreads() out of the branch of line 7, w"),
        ("if t < 8:\n    x = t\n    cuda.syncthreads()", "move cuda.syncthreads() out of the branch of line 7, so"),
        ("for k in range(t, 64, 8):\n    cuda.syncthreads()", "let every thread of the block come to it in each round"),
        ("for k in range(8):\n    if k == t:\n        break\n    cuda.syncthreads()", "let every thread of the block"),
    ],
)  # fmt: skip
def test_threads_past_a_barrier_get_a_remedy(tmp_path, body, remedy):
    _, (finding,) = kernel(tmp_path, body, OUT)
    assert finding.severity == "error" and finding.remedy.startswith(remedy)


def test_a_return_of_a_device_function_does_not_end_the_thread(tmp_path):
    source = (
        "@cuda.jit(device=True)\ndef helper(t):\n    if t < 8:\n        return 1\n    cuda.syncthreads()\n"
        "    return 2\n@cuda.jit\ndef kernel():\n    helper(cuda.threadIdx.x)"
    )
    ended = trace(tmp_path, source, (), block=(32, 1, 1))
    findings = [f for f in findings_of(ended, requests_of(ended)) if f.kind == "barrier"]
    assert verdicts(findings) == [("barrier", "error", 8)]
    early = source.replace("    helper(", "    if cuda.threadIdx.x < 8:\n        return\n    helper(")
    ended = trace(tmp_path, early, (), block=(32, 1, 1))
    findings = [f for f in findings_of(ended, requests_of(ended)) if f.kind == "barrier"]
    assert verdicts(findings) == [("barrier", "note", 8)]


def test_threads_that_wait_elsewhere_are_counted_once(tmp_path):
    body = "for k in range(8):\n    if t == k:\n        break\n    cuda.syncthreads()\ncuda.syncthreads()"
    _, findings = kernel(tmp_path, body)
    assert max(f.count for f in findings) <= 64


def test_blocks_that_miss_a_barrier_are_counted_together(tmp_path):
    _, findings = kernel(tmp_path, "if i % 8 == 0:\n    return\ncuda.syncthreads()", grid=4)
    assert verdicts(findings) == [("barrier", "note", 32)]
    assert "their blocks" in findings[0].message


def test_a_kernel_that_raised_has_not_missed_its_barriers(tmp_path):
    source = "@cuda.jit\ndef kernel():\n    if cuda.threadIdx.x == 3:\n        raise ValueError\n    cuda.syncthreads()"
    ended = trace(tmp_path, source, (), block=(8, 1, 1))
    assert ended.error is not None
    assert [f for f in findings_of(ended, requests_of(ended)) if f.kind in WRONG] == []


# What is read, whether threads returned before the barrier, and whether these left unwritten what is read.
RETURNED = """
tile = cuda.shared.array(64, int32)
if i >= 100:
    return
{store}
cuda.syncthreads()
arg0[i] = tile[{read}]
"""


@pytest.mark.parametrize(
    ("store", "read", "expected"),
    [
        ("tile[t] = i", "63 - t", [("unwritten", "error", 28)]),
        ("tile[t] = i", "t", [("barrier", "note", 28)]),
        ("if t < 16:\n    tile[t] = i", "t", [("barrier", "note", 28), ("unwritten", "error", 68)]),
    ],
)
def test_a_return_before_a_barrier_and_its_unwritten_memory_are_one_finding(tmp_path, store, read, expected):
    body = RETURNED.strip().format(store=store, read=read)
    _, findings = kernel(tmp_path, body, OUT, grid=2)
    assert sorted(verdicts(findings)) == expected
    if len(findings) == 1 and findings[0].kind == "unwritten":
        assert "28 threads returned before the barrier on line 11; keep every thread" in findings[0].message


# --- memory that nobody wrote


@EVERY
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("s = cuda.shared.array(64, int32)\narg0[t] = s[t]", 64),
        ("s = cuda.shared.array(64, int32)\nif t < 60:\n    s[t] = t\ncuda.syncthreads()\narg0[t] = s[t]", 4),
        ("s = cuda.shared.array(64, int32)\narg0[t] = s[t]\ncuda.syncthreads()\ns[t] = 1", 64),
        ("s = cuda.shared.array(64, int32)\ncuda.atomic.add(s, t, 1)", 64),
        ("s = cuda.shared.array(1, int32)\ncuda.atomic.add(s, 0, 1)\ncuda.syncthreads()\narg0[t] = s[0]", 64),
        ("cuda.atomic.add(arg1, 0, 1)", 64),
        ("arg0[t] = cuda.atomic.cas(arg1, t, 0, 1)", 64),
        ("own = cuda.local.array(4, int32)\nown[t % 4] = 1\narg0[t] = own[0]", 48),
        ("arg1[t] += 1", 64),
        ("s = cuda.shared.array(64, int32)\ns[t] = t\narg0[t] = s[t]", 0),
        ("s = cuda.shared.array(64, int32)\ns[t] = 0\ncuda.atomic.add(s, t, 1)\narg0[t] = s[t]", 0),
        (
            "s = cuda.shared.array(1, int32)\nif t == 0:\n    s[0] = 0\ncuda.syncthreads()\ncuda.atomic.add(s, 0, 1)",
            0,
        ),
        ("if t == 0:\n    cuda.atomic.exch(arg1, 0, 0)\ncuda.syncthreads()\ncuda.atomic.add(arg1, 0, 1)", 0),
        ("own = cuda.local.array(4, int32)\nown[t % 4] = 1\narg0[t] = own[t % 4]", 0),
        ("arg1[t] = 0\narg1[t] += 1", 0),
        ("arg0[t] += 1", 0),
    ],
)
def test_uninitialised_reads(tmp_path, schedule, body, expected):
    _, findings = kernel(tmp_path, body, OUT, Array((64,), "int32", "empty"), schedule=schedule)
    assert sum(f.count for f in findings) == expected
    assert {(f.kind, f.severity) for f in findings} <= {("unwritten", "error")}


def test_each_block_has_separate_shared_memory(tmp_path):
    body = (
        "s = cuda.shared.array(64, int32)\nif cuda.blockIdx.x == 0:\n    s[t] = t\n"
        "cuda.syncthreads()\narg0[i] = s[t]"
    )
    _, findings = kernel(tmp_path, body, OUT, grid=2)
    assert verdicts(findings) == [("unwritten", "error", 64)]
    assert findings[0].threads == ((1, 0),)


def test_views_of_written_bytes_are_written(tmp_path):
    body = (
        "whole = cuda.shared.array(0, int32)\nhalf = cuda.shared.array(0, uint8)\n"
        "whole[t] = t\narg0[t] = half[4 * t + 3] + half[{}]"
    )
    _, findings = kernel(tmp_path, body.format("4 * t + 1"), OUT, shared_bytes=512)
    assert findings == []
    _, findings = kernel(tmp_path, body.format("256 + t"), OUT, shared_bytes=512)
    assert verdicts(findings) == [("unwritten", "error", 64)]


def test_an_array_that_holds_some_nan_is_not_empty(tmp_path):
    path = tmp_path / "some.npy"
    np.save(path, np.where(np.arange(64) % 2, np.nan, 1).astype(np.float32))
    _, findings = kernel(
        tmp_path, "arg0[t] = arg1[t] == arg1[t]", OUT, Array((64,), fill="file", path=str(path))
    )
    assert findings == []


def held(folder, content, fill="empty"):
    """Return the verdicts on a kernel that reads an array with this content, which the program allocated or filled."""
    np.save(folder / "held.npy", content)
    given = Array(content.shape, content.dtype.name, fill="file", path=str(folder / "held.npy"))
    ended, _ = kernel(folder, "x = arg0[t]\narg0[t] = x", given)
    ended = replace(ended, launch=ended.launch.replace('"fill":"file"', f'"fill":"{fill}"'))
    return verdicts(f for f in findings_of(ended, requests_of(ended)) if f.kind in WRONG)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "complex64", "complex128", "int32", "uint64"]
)
def test_uninitialised_memory_of_an_earlier_launch_differs_from_written_memory(tmp_path, dtype):
    content = np.full(64, poison(np.dtype(dtype)), dtype)
    content[:24] = 1
    assert held(tmp_path, content) == [("unwritten", "error", 40)]
    assert held(tmp_path, content, "file") == []
    content[24:] = 0 if content.dtype.kind in "iu" else np.nan  # computed, not left
    assert held(tmp_path, content) == []


def test_a_picture_may_hold_the_bytes_of_poison(tmp_path):
    assert held(tmp_path, np.arange(130, 194).astype(np.uint8)) == []
    assert held(tmp_path, np.full(64, poison(np.dtype("uint8")))) == [("unwritten", "error", 64)]


def test_global_memory_is_not_reported_for_a_part_of_the_blocks(tmp_path):
    body = "if cuda.blockIdx.x == 0:\n    arg0[t] = t\nelse:\n    x = arg0[t]"
    given = Array((64,), "int32", "empty")
    _, findings = kernel(tmp_path, body, given, grid=2, blocks=(1,))
    assert findings == []


def unwritten(trace):
    """Return the reads before which no write to one of their bytes came or could have come, one by one."""
    wrote, findings = {}, set()
    rows = range(len(trace))
    spot = [_bytes(trace, row) for row in rows]
    for row in rows:
        for byte in spot[row]:
            if trace.op[row] != Op.LOAD:
                wrote.setdefault(byte, []).append(row)
    for row in rows:
        if trace.op[row] == Op.STORE:
            continue
        for byte in spot[row]:
            if byte[0] == "global" and not _poisoned(trace, byte):
                continue
            others = wrote.get(byte, [])
            if trace.op[row] != Op.LOAD:  # who updates makes sure of nothing for others who do
                others = [w for w in others if trace.op[w] == Op.STORE]
            if not any(w < row or _unordered(trace, w, row) for w in others):
                findings.add(row)
    return findings


def _bytes(trace, row):
    buffer = trace.buffers[trace.buffer[row]]
    copy = {"shared": (int(trace.block[row]),), "local": (int(trace.block[row]), int(trace.thread[row]))}
    start = buffer.address + int(trace.index[row]) * buffer.unit
    return [(buffer.space, *copy.get(buffer.space, ()), start + i) for i in range(buffer.itemsize)]


def _poisoned(built, byte):
    return 512 <= byte[1] < 600  # "every_other", which the test leaves empty


def _unordered(trace, write, read):
    if trace.block[write] != trace.block[read]:
        return True
    return trace.thread[write] != trace.thread[read] and trace.phase[write] == trace.phase[read]


@settings(max_examples=150)
@given(programs(), st.sampled_from(["lockstep", "sequential", "random"]), st.booleans(), st.integers(0, 5))
def test_uninitialised_reads_match_a_search_one_by_one(made_of, kind, overlap, seed):
    trace = trace_of(made_of, kind, resident=2, seed=seed)
    count = int(trace.blocks.max()) + 1
    empty = np.frombuffer(b"\xa5" * 2 * BUFFERS[2].size, np.int16)
    blocks = np.arange(count)
    trace = replace(trace, initial=trace.initial | {2: empty}, blocks=blocks, recorded=blocks)
    if overlap:
        buffers = list(BUFFERS)
        buffers[6] = replace(buffers[6], address=250)
        trace = replace(trace, buffers=tuple(buffers))
    findings = uninitialised_findings(trace, requests_of(trace))
    constant = {r for r in range(len(trace)) if trace.buffers[trace.buffer[r]].space == "constant"}
    assert {row for f in findings for row in f.rows.tolist()} == unwritten(trace) - constant


# --- outside


@pytest.mark.parametrize(
    ("body", "count", "touched"),
    [
        ("arg0[t, 0] = 1\nx = arg0[t, 4]", 8, "reads arg0[0, 4] where a GPU would read arg0[1, 0] instead"),
        ("arg0[t, -5] = 1", 8, "writes arg0[0, -5] where a GPU would write 4 bytes before its start"),
        (
            "if t == 7:\n    arg0[t + 1, 3] = 1",
            1,
            "writes arg0[8, 3] where a GPU would write 12 bytes past its end",
        ),
        ("cuda.atomic.add(arg0, (t, 4), 1)", 8, "updates arg0[0, 4]"),
        ("arg0[t, 3] = 1", 0, ""),
        ("arg0[t, -4] = 1", 0, ""),
    ],
)
def test_indices_outside(tmp_path, body, count, touched):
    _, findings = kernel(tmp_path, body, Array((8, 4), "int32"), block=8)
    outside = [f for f in findings if f.kind == "bounds"]
    assert sum(f.count for f in outside) == count
    if count:
        assert outside[0].severity == "error" and touched in outside[0].message


def test_past_a_shared_array_lies_the_next(tmp_path):
    body = "a = cuda.shared.array(32, int32)\nb = cuda.shared.array(32, int32)\na[t] = b[t] = t\nx = a[t + 1]"
    _, findings = kernel(tmp_path, body, block=32)
    outside = [f for f in findings if f.kind == "bounds"]
    assert len(outside) == 1 and "would read b[0] instead" in outside[0].message
    assert outside[0].threads == ((0, 31),)


def test_errors_come_first(tmp_path):
    _, findings = kernel(tmp_path, "arg0[t * 3] = t\nx = arg0[t * 3 + 3]\ny = arg0[300 + t]", OUT, block=60)
    assert [f.severity for f in findings] == sorted(
        (f.severity for f in findings), key=("error", "warning", "note").index
    )
    assert {f.kind for f in findings} >= {"race", "bounds"}


@EVERY
def test_accesses_of_one_line_are_counted_together(tmp_path, schedule):
    a, out = Array((64,), "int32", "arange"), Array((64,), "int32")
    _, (finding,) = kernel(tmp_path, "arg1[t] = arg0[t + 1] + arg0[t + 2]", a, out, schedule=schedule)
    assert (finding.count, len(finding.sites)) == (3, 2)
    _, (finding,) = kernel(tmp_path, "arg0[i] += 1", a, grid=2, schedule=schedule)
    assert finding.count == 2 * 64  # the reads and the writes
    body = "s = cuda.local.array(4, np.int32)\narg0[t] = s[0] + s[1]"
    _, (finding,) = kernel(tmp_path, body, out, schedule=schedule)
    assert finding.message.startswith("128 reads of s on line")
