"""Counters at three depths: their selection and their words."""

import msgspec
import pytest

from sessions import matmul
from tilescope.app.compiled.model.depths import Depth, depth_text, depths_of
from tilescope.app.model.session import build_session
from tilescope.tracer.as_compiled.job import CompiledCounters


def session_with(name, changed, reason="", **values):
    """Return a session of a scenario whose counters as compiled are those written, but for some."""
    built = matmul(name, **values)
    session = build_session(built.launch, built.trace, built.scenario)
    counters = {**session.counters.total, **changed}
    session.add_compiled(CompiledCounters("LLVM 22.1 of llvmlite 0.50.0", counters, reason=reason))
    return session


@pytest.mark.parametrize(
    ("depth", "text"),
    [
        (Depth("global_load_requests", 744, 620, 620), "written 744 · compiled 620 · measured 620"),
        (Depth("global_load_requests", 744, 620), "written 744 · compiled 620"),
        (
            Depth("shared_load_instructions", 16384, 16384, 10240),
            "written and compiled 16,384 · measured 10,240",
        ),
        (Depth("global_load_requests", 8, 8, 8), "written, compiled and measured 8"),
        (Depth("global_load_requests", 8), "written 8"),
    ],
)
def test_equal_depths_are_one_number(depth, text):
    assert depth_text(depth) == text


def test_differences_are_described_by_requests_and_otherwise_by_cost():
    session = session_with("jacobi-step", {"global_load_requests": 600, "global_store_sectors": 1})
    depths = depths_of(session).differing()
    assert [depth.name for depth in depths] == ["global_load_requests", "global_store_sectors"]
    loads = depths[0]
    assert (loads.written, loads.compiled, loads.measured) == (720, 600, 600)
    assert loads.short_label == "global loads"


def test_equal_lines_are_not_described():
    depths = depths_of(session_with("load-aliased", {}))
    assert depths.differing() == ()
    assert depths.measured.device == "NVIDIA H100"


def test_an_edited_kernel_has_no_measured_numbers():
    session = session_with("load-aliased", {})
    launch = msgspec.structs.replace(session.launch, source=session.launch.source + "\n# mine\n")
    edited = build_session(launch, session.trace, session.scenario)
    edited.add_compiled(session.compiled)
    assert depths_of(edited).measured is None


def test_nothing_is_known_before_the_compiler_has_answered():
    session = matmul("load-aliased")
    assert depths_of(build_session(session.launch, session.trace, session.scenario)) is None


def test_without_an_answer_the_reason_is_there_and_no_compiled_number():
    depths = depths_of(session_with("jacobi-step", {}, reason="It can't be compiled."))
    assert depths.compiled.reason
    assert all(depth.compiled is None for depth in depths.counters)
