"""What compiled kernels take: which launches the record is of, what it says, and files that mean ill."""

from __future__ import annotations

import msgspec
import pytest

from tilescope.kernels.scenarios import catalogue
from tilescope.tracer.hardware.profiling.kernel_recording import cases_to_compile, hungry_source
from tilescope.tracer.hardware.profiling.profile_text import basis_text, limiters_text, occupancy_text
from tilescope.tracer.hardware.profiling.recorded_kernels import (
    decode,
    form_of,
    function_digest,
    occupancy_of,
    recorded_kernels,
)
from tilescope.tracer.model.plan import launch_of, parse_spec

CUDA = [scenario for scenario in catalogue.scenarios() if scenario.engine == "cuda"]


def launch(spec):
    scenario, values, options = parse_spec(spec)
    return launch_of(scenario, values, **options)


@pytest.mark.parametrize("scenario", CUDA, ids=lambda s: s.name)
def test_every_kernel_of_the_catalogue_has_an_occupancy_as_its_lesson_shows_it(scenario):
    launch = occupancy_of(launch_of(scenario, {}))
    assert launch is not None, (
        "its code was changed: record it anew, python -m tilescope.tracer.hardware.profiling.record"
    )
    assert 0 < launch.occupancy.share <= 1
    assert launch.compiled.registers > 0


def test_the_code_does_not_follow_from_sizes_and_follows_from_all_else():
    own = form_of(launch("matmul-tiled"))
    assert form_of(launch("matmul-tiled:m=4096,k=31")) == own
    for other in ("tile=8", "dtype=float64", "padding=1"):
        assert form_of(launch(f"matmul-tiled:{other}")) != own
    assert form_of(launch("matmul-tiled-one-barrier")) != own


def test_shared_memory_is_that_of_the_code_and_that_of_the_launch():
    tiled, dynamic = occupancy_of(launch("matmul-tiled")), occupancy_of(launch("matmul-tiled-dynamic"))
    assert tiled.shared_bytes == tiled.compiled.shared_bytes == 2 * 16 * 16 * 4
    assert (dynamic.shared_bytes, dynamic.compiled.shared_bytes) == (2048, 0)
    static, template = (occupancy_of(launch(f"cuda-c-tiled-{kind}")) for kind in ("static", "template"))
    assert (static.shared_bytes, static.compiled.shared_bytes) == (2048, 2048)
    assert (template.shared_bytes, template.compiled.shared_bytes) == (2048, 0)


def test_edited_kernels_and_programs_have_none_and_comments_change_nothing():
    own = launch("matmul-tiled")
    edited = msgspec.structs.replace(own, source=own.source.replace("total += ", "total -= "))
    assert occupancy_of(edited) is None
    assert occupancy_of(msgspec.structs.replace(own, source=f"# more\n{own.source}")) == occupancy_of(own)
    assert occupancy_of(msgspec.structs.replace(own, scenario="")) is None
    assert occupancy_of(msgspec.structs.replace(own, source="def tiled(")) is None
    assert occupancy_of(msgspec.structs.replace(own, kernel="mine.py:tiled")) is None
    c = launch("cuda-c-tiled-static")
    assert occupancy_of(msgspec.structs.replace(c, source=f"# more\n{c.source}")) is None


def test_a_digest_is_of_the_function_with_its_decorators():
    source = "from numba import cuda\n\n@cuda.jit\ndef f(a):\n    a[0] = 1\n\ndef g():\n    pass\n"
    assert (
        function_digest(source, "f") == function_digest("\n\n" + source, "f") != function_digest(source, "g")
    )
    assert function_digest(source.replace("jit", "jit(fastmath=True)"), "f") != function_digest(source, "f")
    assert function_digest(source, "h") == ""


def test_texts_have_space_limits_and_the_source_of_the_numbers():
    own = launch("matmul-tiled:tile=4")
    results = occupancy_of(own)
    text = occupancy_text(results, own)
    assert "room for 32 blocks of it at once: 32 of 64 warps, an occupancy of 50 %" in text
    assert text.endswith("The launch has 256 blocks.")
    assert limiters_text(results) == "the limit of 32 blocks"
    assert (
        f"{results.compiled.registers} registers a thread and 128 bytes of shared memory a block of 1 warp"
        in (basis_text(results))
    )
    assert "compute capability 9.0" in basis_text(results)
    naive = occupancy_of(launch("matmul-naive-col-on-x"))
    assert "no shared memory" in basis_text(naive)


def test_a_block_that_does_not_fit_is_reported():
    own = launch("matmul-tiled")
    large = msgspec.structs.replace(own, shared_bytes=300_000)
    results = occupancy_of(large)
    assert results.occupancy.blocks == 0
    assert (
        occupancy_text(results, large)
        == "No block of it fits on a multiprocessor, for want of shared memory."
    )


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"device": 3}', b" " * 17_000_000]
)
def test_an_invalid_file_gives_nothing(content):
    assert decode(content) is None


def test_a_record_with_impossible_numbers_gives_nothing():
    record = recorded_kernels()
    for name in ("registers", "shared_bytes", "local_bytes"):
        bad = msgspec.structs.replace(record.kernels[0], **{name: -1})
        content = msgspec.json.encode(msgspec.structs.replace(record, kernels=(bad,)))
        assert decode(content) is None
    assert decode(msgspec.json.encode(record)) == record


def test_without_a_record_nothing_is_shown(monkeypatch):
    monkeypatch.setattr("tilescope.tracer.hardware.profiling.recorded_kernels.recorded_kernels", lambda: None)
    assert occupancy_of(launch("matmul-tiled")) is None


def test_every_code_is_compiled_once_and_those_of_the_catalogue_are_among_them():
    cases = cases_to_compile()
    forms = [msgspec.json.encode(form_of(launch_of(catalogue.find(c.scenario), c.values))) for c in cases]
    assert len(set(forms)) == len(forms)
    assert all(msgspec.json.encode(form_of(launch_of(scenario, {}))) in forms for scenario in CUDA)


def test_the_kernel_of_the_sweep_has_all_its_values_at_once():
    lines = hungry_source(5).splitlines()
    barrier = lines.index("    __syncthreads();")
    assert all(any(f" v{n} = a[" in line for line in lines[:barrier]) for n in range(5))
    assert all(any(f"* v{n} " in line for line in lines[barrier:]) for n in range(5))
