"""What two versions of a kernel do otherwise: counters, findings, result."""

from functools import cache

from msgspec.structs import replace

import launching  # noqa: F401  # numba is to be its simulator
from tilescope.app.editing.model.version_differences import version_differences
from tilescope.app.model.session import are_versions, build_session
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.plan import kernel_source, launch_of
from tilescope.tracer.model.skipped_lines import barrier_lines
from tilescope.tracer.simulator.numba_patch import run

NAME = "matmul-tiled"
SIZE = {"m": 8, "k": 8, "n": 8, "tile": 4}


@cache
def version(source="", without=()):
    scenario = find(NAME)
    launch = launch_of(scenario, SIZE, source=source, without=without)
    return build_session(launch, run(launch, lambda done, total: None), scenario)


def text():
    return kernel_source(find(NAME).kernel)[1]


def test_a_skipped_barrier_is_reported_by_its_race():
    first, _ = barrier_lines(text(), "tiled")
    before, after = version(), version(without=(first,))
    assert are_versions(before, after)
    waiting = version_differences(before, after)
    assert waiting.findings is None  # nobody has looked yet
    before.with_findings(), after.with_findings()
    differences = version_differences(before, after)
    assert differences.findings[0].kind == "race" and differences.findings[0].severity == "error"
    assert differences.findings[0].more > 0 and differences.findings[0].first in after.findings
    assert {n.name for n in differences.numbers} <= {"moments"}  # it makes the same accesses
    assert differences.result == "the result is right by luck"  # in lockstep this race does no harm


def test_back_from_a_mistake_the_result_is_right_and_there_are_fewer_findings():
    wrong, right = version(text().replace("total +=", "total -=")).with_findings(), version().with_findings()
    assert version_differences(right, wrong).result == "the result is wrong in 64 of 64 elements"
    differences = version_differences(wrong, right)
    assert differences.result == "the result is now right" and not differences.numbers


def test_results_that_are_both_wrong_are_held_against_each_other():
    minus, times = (version(text().replace("total +=", f"total {sign}=")).with_findings() for sign in "-*")
    assert version_differences(minus, times).result == "the result differs in 64 elements"
    assert version_differences(minus, minus).result == ""


def test_counters_that_differ_are_named_with_both_numbers():
    line = next(n for n, row in enumerate(text().splitlines(), 1) if "tile_b[ty, tx] = 0" in row)
    differences = version_differences(version().with_findings(), version(without=(line,)).with_findings())
    numbers = {n.name: (n.before, n.after) for n in differences.numbers}
    assert numbers["shared requests"][0] > numbers["shared requests"][1]
    assert "global sectors" not in numbers


def test_other_sizes_are_no_versions():
    scenario = find(NAME)
    larger = launch_of(scenario, SIZE | {"m": 12}, source=text() + "\n")
    assert not are_versions(version(), replace(version(), launch=larger))
    assert not are_versions(version(), version())
