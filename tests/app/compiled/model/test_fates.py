"""What the compiler did with each access: by compilation, and of accesses that only NVIDIA's programs join."""

import importlib.util

import msgspec
import pytest

from sessions import matmul
from tilescope.app.compiled.model.compiled_counters import compiled_counters_of
from tilescope.app.compiled.model.fates import fates_of, line_fates
from tilescope.app.model.session import build_session
from tilescope.tracer.as_compiled.job import CompiledCounters, CompiledSite
from tilescope.tracer.model.trace import Op

needs_compiler = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None,
    reason="numba-cuda is not installed: nothing can be compiled",
)


def fresh(name, **values):
    """Return a new session of a scenario."""
    session = matmul(name, **values)
    return build_session(session.launch, session.trace, session.scenario)


def line_of(session, text):
    """Return the first line of a session's kernel that holds a text, from 1."""
    lines = session.launch.source.splitlines()
    function = session.launch.kernel.partition(":")[2]
    start = next(n for n, line in enumerate(lines) if f"def {function}(" in line)
    return next(n for n, line in enumerate(lines[start:], start + 1) if text in line)


@needs_compiler
@pytest.mark.parametrize(
    ("name", "text", "kinds"),
    [
        ("load-repeated", "out[i] =", {"kept": 2, "merged": 2}),
        ("jacobi-step", "out[i, j] =", {"kept": 6, "merged": 1}),
        ("load-unused", "x = b[i]", {"unused": 1}),
        ("load-hoisted", "s += a[i, j]", {"kept": 1, "hoisted": 1}),
        ("load-aliased", "out[i, j] =", {"kept": 3}),
        ("sum-in-global", "out[i] += a[i, j]", {"kept": 2, "hoisted": 1}),
    ],
)
def test_each_access_has_the_fate_that_its_requests_show(name, text, kinds):
    session = fresh(name)
    assert compiled_counters_of(session).reason == ""
    there = [fate for fate in fates_of(session) if fate.line == line_of(session, text)]
    assert {kind: sum(fate.kind == kind for fate in there) for kind in {f.kind for f in there}} == kinds
    assert sum(fate.written for fate in fates_of(session)) == len(session.requests.site)
    for fate in there:
        assert (fate.compiled < fate.written) == (fate.kind != "kept")


@needs_compiler
def test_a_load_that_is_merged_with_one_of_another_line_names_that_line():
    session = fresh("histogram-floor", count=256, num_blocks=1)
    compiled_counters_of(session)
    line = line_of(session, "cuda.atomic.add")
    (merged,) = [fate for fate in fates_of(session) if fate.kind == "merged"]
    assert (merged.line, merged.other) == (line, line - 1)
    fates = line_fates(fates_of(session), merged.file)[line]
    assert fates.tag == f"1 of 2 merged with line {line - 1}"
    assert any(f"merged with line {line - 1}" in sentence for sentence in fates.sentences)


def joined(session):
    """Return a session's sites as where ptxas joins four loads of shared memory."""
    sites = []
    for fate in fates_of(session):
        op = {"load": Op.LOAD, "store": Op.STORE}[fate.noun]
        space = "shared" if fate.name == "s" else "global"
        size, rows = (
            (16, fate.written // 4) if (space, fate.noun) == ("shared", "load") else (4, fate.written)
        )
        sites.append(
            CompiledSite("elsewhere", fate.line, fate.column, op, space, size, rows, rows, 32 * rows)
        )
    return tuple(sites)


def test_joined_accesses_are_reported_with_their_size():
    session = fresh("load-joined")
    session.add_compiled(CompiledCounters("LLVM"))
    sites = joined(session)
    session = fresh("load-joined")
    session.add_compiled(CompiledCounters("LLVM", sites=sites))
    fates = line_fates(fates_of(session), fates_of(session)[0].file)
    line = line_of(session, "t += s[y, k]")
    assert fates[line].tag == "joined to 16 bytes"
    assert fates[line].short == "16 B"
    assert [line for line, fate in fates.items() if fate.tag] == [line]


def test_there_are_no_fates_without_compiled_counters_nor_of_a_part_of_a_launch():
    session = fresh("load-joined")
    assert fates_of(session) == ()
    session.add_compiled(CompiledCounters(reason="It can't be compiled."))
    assert fates_of(session) == ()
    trace = msgspec.structs.replace(session.trace, totals={"global_load_requests": 1})
    part = build_session(session.launch, trace, session.scenario)
    part.add_compiled(CompiledCounters("LLVM"))
    assert fates_of(part) == ()
