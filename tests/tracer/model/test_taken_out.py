"""Lines taken out of a kernel's file: what is left, what stays, and how they are called on the command line."""

import ast

import pytest

from tilescope.kernels.scenarios.catalogue import scenarios
from tilescope.tracer.model.plan import PlanError, kernel_source, launch_of, line_words, parse_spec
from tilescope.tracer.model.skipped_lines import SkippedLineError, barrier_lines, skip_refusal, without_lines

SOURCE = '''\
from numba import cuda


@cuda.jit
def kernel(a, out):
    """What it does."""
    s = cuda.shared.array(
        32,
        "f4",
    )
    i = cuda.grid(1)
    if (
        i < a.shape[0]
    ):
        s[i] = a[i]
    elif i == 7:
        s[i] = 0; s[0] = 1
    cuda.syncthreads()
    for j in range(3):
        if j == 2: break
        out[i] = s[31 - i]  # back
'''


def left(*lines):
    return without_lines(SOURCE, lines).splitlines()


def test_a_statement_becomes_pass_and_all_other_lines_keep_their_numbers():
    assert left(18)[17] == "    pass"
    assert [row for n, row in enumerate(left(18)) if n != 17] == [
        row for n, row in enumerate(SOURCE.splitlines()) if n != 17
    ]


def test_a_statement_of_several_lines_is_removed_from_any_of_them():
    assert left(7) == left(8) == left(10)
    assert left(7)[6:10] == ["    pass", "", "", ""]


def test_the_condition_of_an_if_is_removed():
    assert left(12)[11:15] == ["    if True:", "", "", "        s[i] = a[i]"]
    assert left(20)[19] == "        pass"  # the whole line, where all of it stands there


@pytest.mark.parametrize(
    ("line", "why"),
    [(2, "has no statement"), (99, "has no statement"), (4, "begins a function"), (5, "begins a function"),
     (16, "further condition"), (17, "several statements"), (19, "begins a block")],
)  # fmt: skip
def test_statements_that_others_need_stay(line, why):
    assert why in skip_refusal(SOURCE, line)
    with pytest.raises(SkippedLineError, match=why):
        without_lines(SOURCE, [18, line])


def test_every_kernel_of_the_catalogue_still_parses():
    for kernel in {(scenario.twin or scenario).kernel for scenario in scenarios()}:
        source = kernel_source(kernel)[1]
        lines = range(1, source.count("\n") + 2)
        free = [line for line in lines if not skip_refusal(source, line)]
        assert free
        for line in free:
            ast.parse(without_lines(source, [line]))
        ast.parse(without_lines(source, free))


def test_barriers_are_named_by_their_number():
    source = kernel_source("tilescope.kernels.matmul:tiled")[1]
    first, second = barrier_lines(source, "tiled")
    assert "syncthreads" in source.splitlines()[first - 1]
    scenario, values, options = parse_spec("matmul-tiled:tile=8,without=barrier2")
    assert options["without"] == (second,)
    assert line_words(source, scenario.kernel, (second, 37)) == "37+barrier2"
    launch = launch_of(scenario, values, **options)
    assert launch.source == without_lines(source, [second])


@pytest.mark.parametrize(
    ("words", "why"),
    [("barrier3", "has 2 barriers"), ("barrier0", "from 1 on"), ("x", "whole number"), ("9999", "no statement")],
)  # fmt: skip
def test_invalid_lines_on_the_command_line_are_reported(words, why):
    with pytest.raises(PlanError, match=why):
        parse_spec(f"matmul-tiled:without={words}")


def test_another_text_of_the_file_runs_instead(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(kernel_source("tilescope.kernels.matmul:tiled")[1].replace("total +=", "total -="))
    scenario, values, options = parse_spec(f"matmul-tiled:source={path}")
    assert "total -=" in launch_of(scenario, values, **options).source
    with pytest.raises(PlanError, match="cannot be read"):
        parse_spec(f"matmul-tiled:source={tmp_path / 'none.py'}")
