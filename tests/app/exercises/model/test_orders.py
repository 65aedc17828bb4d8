"""Exercises in which the student writes an order of threads that makes the result wrong."""

from __future__ import annotations

import pytest

from exercises import line_of, warm_judge
from tilescope.app.exercises.model.library import exercise_named
from tilescope.app.exercises.model.output import verdict_text
from tilescope.app.exercises.model.reading import read_exercise
from tilescope.app.exercises.verdict_text import rows_of, summary
from tilescope.tracer.model.launch import decode

LARGEST = exercise_named("largest")
UNCHANGED = 'ORDER = "all/0"'


def judged(order: str, text: str = LARGEST.stub):
    return warm_judge().judge(LARGEST, text.replace(UNCHANGED, order))


def test_an_order_that_breaks_the_kernel_passes():
    verdict = judged('ORDER = "t0x2+t2"')
    assert verdict.passed and verdict.findings == ()
    assert verdict.cases[0].sizes["switches"] == 2
    assert verdict.trace is not None
    assert decode(verdict.trace.launch).schedule.order_text == "t0x2+t2"
    assert summary(verdict) == "1 of 1 case wrong, as asked, 1 of 1 goal met"
    rows = list(rows_of(verdict, LARGEST, "mine.py"))
    assert {row.sign for row in rows} == {"right"}
    assert any("top[0] is 5, expected 9" in row.text for row in rows)


def test_an_order_that_changes_nothing_does_not_pass():
    verdict = judged('ORDER = "t2"')
    assert not verdict.passed and verdict.error == ""
    row = next(iter(rows_of(verdict, LARGEST, "mine.py")))
    assert (row.sign, row.text) == ("error", "Still right in this order: n = 3, switches = 1")


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ('ORDER = "t5"', "a block has threads 0 to 2"),
        ('ORDER = "t0x9"', "thread 0 of block 0 can make only 3 turns"),
    ],
)
def test_an_order_that_the_launch_cannot_have_is_refused_at_its_line(order, sentence):
    verdict = judged(order)
    assert not verdict.passed
    assert sentence in verdict.cases[0].error
    assert verdict.cases[0].line == line_of(LARGEST.stub, "ORDER =")


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ('ORDER = "first t0"', "is not a part of an order"),
        ("ORDER = 7", "ORDER is not a text"),
        ("", "There is no order"),
    ],
)
def test_a_text_that_is_no_order_is_refused(order, sentence):
    verdict = judged(order)
    assert not verdict.passed and sentence in verdict.error


def test_a_changed_kernel_is_refused():
    text = LARGEST.stub.replace("own > top[0]", "own >= top[0]")
    verdict = judged('ORDER = "t0x2+t2"', text)
    assert not verdict.passed
    assert verdict.error == "The kernel largest is changed; restore it, because only ORDER may change."
    assert verdict.line == line_of(text, "def largest")
    assert verdict_text(verdict, LARGEST, "mine.py")[-1].endswith("not passed yet")


def test_the_line_names_one_text_and_no_stub_in_cuda_cpp(tmp_path):
    for suffix in (".md", ".py", ".svg"):
        source = LARGEST.path.with_suffix(suffix)
        (tmp_path / source.name).write_text(source.read_text().replace("order: ORDER", "order: not a name"))
    exercise = read_exercise(tmp_path / LARGEST.path.name)
    assert [m.sentence for m in exercise.mistakes] == ["Name one text of the Python file: order: ORDER."]
    (tmp_path / LARGEST.path.name).write_text(LARGEST.path.read_text())
    (tmp_path / "17-largest.cu").write_text("__global__ void largest(int *a, int *top) {}\n")
    exercise = read_exercise(tmp_path / LARGEST.path.name)
    assert [m.sentence for m in exercise.mistakes] == ["Threads in CUDA C++ take no order; remove the file."]
