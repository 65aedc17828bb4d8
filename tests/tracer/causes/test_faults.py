"""Where a path goes wrong: races, unwritten memory, accesses outside arrays, and what can't be followed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from launching import Array, trace
from tilescope.tracer.causes.named_element import NoElementError, find_element
from tilescope.tracer.causes.value_path import Causes, Element, reach_of
from tilescope.tracer.model.trace import Op

IN, OUT = Array((32,), "float32", fill="arange"), Array((32,), "float32", fill="zeros")
HEAD = "@cuda.jit\ndef kernel(a, out):\n    t = cuda.threadIdx.x\n    s = cuda.shared.array(32, float32)\n"


def traced(folder, body, *, block=32, schedule="sequential", head=HEAD, **options):
    text = head + "".join(f"    {line}\n" for line in body.splitlines())
    launched = trace(folder, text, (IN, OUT), block=(block, 1, 1), schedule=schedule, **options)
    assert launched.error is None, launched.error
    return launched


def path_of(launched, element):
    causes = Causes(launched)
    return causes, causes.path(find_element(launched, element))


def faults(path):
    return [(reading.fault, reading.source) for reading in path.faults()]


def test_read_before_the_write_of_another_thread_has_no_content(tmp_path):
    launched = traced(tmp_path, "s[t] = a[t]\nout[t] = s[31 - t]")
    _, path = path_of(launched, "out[0]")
    assert faults(path) == [("unwritten", "unwritten")]
    (reading,) = path.faults()
    assert launched.thread[reading.conflict] == 31 and reading.conflict > reading.row
    assert faults(path_of(launched, "out[31]")[1]) == [("foreign", "write")]


def test_stale_read_came_before_a_write_that_its_own_thread_has_passed(tmp_path):
    body = "s[t] = 0\ncuda.syncthreads()\ns[t] = a[t] + 1\nout[t] = s[31 - t]"
    _, path = path_of(traced(tmp_path, body), "out[0]")
    assert faults(path) == [("stale", "write")]


def test_read_that_another_order_would_change_is_unordered(tmp_path):
    body = "s[t] = a[t]\ncuda.syncthreads()\nout[t] = s[31 - t]\ns[t] = 7"
    _, path = path_of(traced(tmp_path, body, schedule="lockstep"), "out[0]")
    assert faults(path) == [("unordered", "write")]


def test_tile_that_was_not_filled_again_is_a_leftover(tmp_path):
    body = "total = 0.0\nfor k in range(2):\n    if t < 32 - 8 * k:\n        s[t] = a[t] + k\n    cuda.syncthreads()\n"
    body += "    for j in range(32):\n        total += s[j]\n    cuda.syncthreads()\nout[t] = total"
    launched = traced(tmp_path, body)
    _, path = path_of(launched, "out[0]")
    assert path.is_exact and [(r.fault, int(launched.index[r.row])) for r in path.faults()] == [
        ("leftover", index) for index in range(24, 32)
    ]


def test_correct_twin_has_no_faults(tmp_path):
    body = "s[t] = a[t]\ncuda.syncthreads()\nout[t] = s[31 - t]\ncuda.syncthreads()\ns[t] = 7"
    launched = traced(tmp_path, body)
    _, path = path_of(launched, "out[0]")
    assert path.is_exact and not path.faults()
    assert [launched.buffers[launched.buffer[row]].name for row in path.writes] == ["out", "s"]
    sources = [reading.source for _, reading in sorted(path.readings.items())]
    assert sources == ["input", "write"]


def test_load_outside_its_array_is_on_the_path(tmp_path):
    launched = traced(tmp_path, "out[t] = a[t + 1]")
    _, path = path_of(launched, "out[31]")
    (feeds,) = path.writes.values()
    assert not feeds.reads and [launched.outside.text[n] for n in feeds.outside] == ["a[32]"]
    (feeds,) = path_of(launched, "out[30]")[1].writes.values()
    assert len(feeds.reads) == 1 and not feeds.outside


def test_constants_and_inputs_end_a_path(tmp_path):
    launched = traced(tmp_path, "if t < 16:\n    out[t] = 3")
    _, path = path_of(launched, "out[2]")
    assert path.is_exact and not path.readings and len(path.writes) == 1
    _, path = path_of(launched, "out[20]")
    assert path.last == -1 and path.source == "input"


def test_index_and_condition_are_no_part_of_the_value(tmp_path):
    launched = traced(tmp_path, "k = int(a[t])\nif a[31 - t] > 3:\n    out[k] = 1")
    _, path = path_of(launched, "out[5]")
    (feeds,) = path.writes.values()
    assert not feeds.reads
    assert [launched.index[row] for row in feeds.index_reads] == [5]
    assert [launched.index[row] for row in feeds.condition_reads] == [26]


def test_votes_decide_branches(tmp_path):
    body = "x = cuda.ballot_sync(-1, a[t] > 15)\n"
    body += "if x < 0 and cuda.popc(x) == 16:\n    out[t] = a[t]\nelse:\n    out[t] = 2"
    _, path = path_of(traced(tmp_path, body), "out[4]")
    assert path.is_exact and len(path.readings) == 1


def test_views_of_one_memory_are_one_memory(tmp_path):
    head = "@cuda.jit\ndef kernel(a, out):\n    t = cuda.threadIdx.x\n    s = cuda.shared.array(0, float32)\n"
    body = "r = cuda.shared.array(0, int32)\ns[t] = a[t]\ncuda.syncthreads()\nout[t] = r[31 - t]"
    launched = traced(tmp_path, body, head=head, shared_bytes=128)
    _, path = path_of(launched, "out[0]")
    assert path.is_exact
    assert [int(launched.thread[row]) for row in path.writes] == [0, 31]


def test_unsupported_statement_gives_the_possible_reads_and_the_reason(tmp_path):
    body = "x = 0.0\nfor v in a:\n    x += v\nout[t] = x"
    launched = traced(tmp_path, body, block=1)
    _, path = path_of(launched, "out[0]")
    (feeds,) = path.writes.values()
    assert not path.is_exact and "line" in feeds.reason
    assert len(feeds.reads) == 32


def test_text_of_another_version_is_noticed(tmp_path):
    launched = traced(tmp_path, "out[t] = a[t] + s[t]")
    other = {file: text.replace("a[t] + s[t]", "s[t] + a[t]") for file, text in launched.sources.items()}
    _, path = path_of(replace(launched, sources=other), "out[0]")
    assert not path.is_exact
    (feeds,) = path.writes.values()
    assert "recorded accesses differ from line" in feeds.reason and len(feeds.reads) == 2


def test_part_of_a_launch_does_not_pretend_to_know(tmp_path):
    body = "s[t] = a[t]\ncuda.syncthreads()\nout[cuda.grid(1) % 32] = s[0]"
    launched = traced(tmp_path, body, block=16, grid=(2, 1, 1), blocks=(1,))
    _, path = path_of(launched, "out[3]")
    assert path.last == -1 and path.source == "not kept"
    assert path_of(launched, "out[20]")[1].last >= 0


def test_one_load_serves_all_threads_that_read_the_tile(tmp_path):
    body = "s[t] = a[t]\ncuda.syncthreads()\nout[t] = s[3] + s[t]"
    launched = traced(tmp_path, body)
    causes = Causes(launched)
    reach = reach_of(causes, find_element(launched, "a[3]"))
    (load,) = [row for row in reach.reads if launched.buffers[launched.buffer[row]].name == "a"]
    assert reach.is_exact and len(reach.served(launched, load)) == 32
    written = {int(launched.index[row]) for row in reach.writes if launched.op[row] == Op.STORE}
    assert written == set(range(32))
    tile = reach_of(causes, find_element(launched, "s[4]"))
    assert [int(launched.thread[row]) for row in tile.reads] == [4]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x[0]", "the launch accesses no array 'x'; there are"),
        ("outt[0]", "did you mean out?"),
        ("out", "out takes 1 index, as in out[0], not 0."),
        ("out[1, 2]", "out takes 1 index, as in out[0], not 2."),
        ("out[32]", "index 32 of dimension 0 is outside out, whose last element is out[31]."),
        ("out[t]", "are not whole numbers"),
        ("out[", "names no element"),
        ("", "names no element"),
        ("out[0]" * 200, "names no element"),
    ],
)
def test_bad_elements_are_refused_in_one_sentence(tmp_path, text, sentence):
    launched = traced(tmp_path, "s[t] = a[t]\nout[t] = s[t]")
    with pytest.raises(NoElementError) as refusal:
        find_element(launched, text)
    assert sentence in str(refusal.value) and "\n" not in str(refusal.value)


def test_elements_are_resolved_in_the_copy_of_a_block(tmp_path):
    launched = traced(tmp_path, "s[t] = a[t]\nout[t] = s[t]", grid=(2, 1, 1))
    assert find_element(launched, "OUT[-1]") == Element(find_element(launched, "out[0]").buffer, 31)
    assert find_element(launched, "s[2]").block == 0 and find_element(launched, "s[2]", 1).block == 1
    with pytest.raises(NoElementError, match="block 7 did not run"):
        find_element(launched, "s[2]", 7)


@pytest.mark.parametrize(
    "body",
    [
        "for j in range(10**9):\n    t += 1\nout[t] = a[t]",
        "k = 'x' * 10**9\nout[t] = a[t]",
        "k = (1, 2) * 10**9\nout[t] = a[t]",
        "k = 10 ** 10 ** 9\nout[t] = a[t]",
        "k = pow(10, 10 ** 9)\nout[t] = a[t]",
        "k = 1 << 10**12\nout[t] = a[t]",
        "k = " + "(" * 60 + "t" + " + 1)" * 60 + "\nout[t] = a[t]",
    ],
)
def test_source_text_of_a_foreign_trace_takes_little_time_and_memory(tmp_path, body):
    launched = traced(tmp_path, "out[t] = a[t]")
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    other = replace(launched, sources=dict.fromkeys(launched.sources, text))
    _, path = path_of(other, "out[3]")
    (feeds,) = path.writes.values()
    assert len(feeds.reads) == 1
