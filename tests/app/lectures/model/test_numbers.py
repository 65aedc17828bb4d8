"""Numbers and answers of lectures: what names mean, marks, formats, questions."""

from __future__ import annotations

import pytest

from lectures import NAIVE, TILED, lecture_of, one_step_lecture, session_of
from tilescope.app.lectures.model.captions import fill_caption
from tilescope.app.lectures.model.check import environment_of
from tilescope.app.lectures.model.expressions import ExpressionError, parse
from tilescope.app.lectures.model.quantities import Quantity, quantity_text
from tilescope.app.lectures.model.questions import answer_of
from tilescope.app.lectures.model.scenes import moment_of, scenes_of
from tilescope.app.model.session import build_session
from tilescope.tracer.as_compiled.job import CompiledCounters

PAIR = f"{NAIVE} {TILED}"


def shown(*lines, show=TILED, caption=""):
    """Return (step, environment) of a lecture of one step."""
    lecture = lecture_of(one_step_lecture(*lines, show=show, caption=caption))
    assert lecture.problems == ()
    (scene,) = scenes_of(lecture)
    sessions = [session_of(pane) for pane in scene.panes]
    return lecture.steps[0], environment_of(scene, sessions, moment_of(lecture, [scene], 0, sessions))


def value(expression, *lines, show=TILED):
    """Return the quantity of an expression in a lecture of one step."""
    return parse(expression).evaluate(shown(*lines, show=show)[1])


def test_names_mean_what_the_trace_holds():
    session = session_of(lecture_of(one_step_lecture()).steps[0].change.show[0])
    total = session.counters.total
    sectors = sum(n for name, n in total.items() if name.startswith("global") and name.endswith("sectors"))
    assert value("left.global_sectors") == Quantity(sectors, "exact")
    assert value("left.global_load_sectors").value == total["global_load_sectors"]
    assert value("left.threads_in_all").value == value("left.m * left.n").value == 64
    assert (value("left.tile").value, value("left.tile").mark) == (4, "")
    assert value("left.A.reads").value == 2  # N / tile
    assert value("left.A.elements").value == 64
    assert value("left.C[0, 0]", "at: start").value != value("left.C[0, 0]", "at: end").value
    assert value("left.C[3, 5]", "at: end").value == pytest.approx(
        float(session.memory.values(2, session.end)[3, 5])
    )
    assert value("left.races + left.findings").value == value("left.findings").value


def test_numbers_by_the_moment_grow_to_those_of_the_launch():
    assert value("left.now.global_sectors", "at: start").value == 0
    early, late = (value("left.now.global_sectors", f"at: {place}").value for place in ("phase 1", "end"))
    assert 0 < early < late == value("left.global_sectors").value


def test_the_request_in_focus_is_named():
    sectors = value("left.request.sectors", "at: first load").value
    assert value("left.request.lanes", "at: first load").value == 16
    assert 1 <= value("left.request.minimum", "at: first load").value <= sectors


def test_arithmetic_keeps_the_weakest_mark_and_the_unit_where_it_has_one():
    ratio = value("left.global_sectors / right.global_sectors", show=PAIR)
    assert (ratio.mark, ratio.unit) == ("exact", "")
    time = value('measured("matmul-tiled", m=4096).time')
    assert (time.mark, time.unit) == ("measured", "us")
    assert "H200" in time.origin
    both = value('left.global_sectors * measured("matmul-tiled", m=4096).time')
    assert both.mark == "measured"
    assert value('measured("matmul-tiled", m=4096).bandwidth').mark == "modelled"
    assert (
        value("left.global_sectors if left.tile > 3 else 'none'").value == value("left.global_sectors").value
    )
    assert value("not left.tile == 4 or 1 < left.tile <= 4").value is True


@pytest.mark.parametrize(
    ("quantity", "spec", "text"),
    [
        (Quantity(1234567), "", "1,234,567"),
        (Quantity(7.4321), ".1f", "7.4"),
        (Quantity(7.4321), "", "7.43"),
        (Quantity(12345.6), "", "12,346"),
        (Quantity(19100.0, "measured", "us"), "", "19.1 ms"),
        (Quantity(4.2, "measured", "us"), "", "4.2 µs"),
        (Quantity(2048, "exact", "bytes"), "", "2 KiB"),
        (Quantity(0.25), ".0%", "25%"),
        (Quantity(True), "", "yes"),
        (Quantity("row on x"), "", "row on x"),
    ],
)
def test_numbers_are_written_as_one_reads_them(quantity, spec, text):
    assert quantity_text(quantity, spec) == text


def test_a_caption_is_filled_with_its_numbers_and_names_their_source():
    step, names = shown(
        caption="*All* {left.threads_in_all} & <b> `{code}` {{braces}}.\n\n- one\n- {left.tile}"
    )
    filled = fill_caption(step.caption, names)
    assert filled.text == "All 64 & <b> {code} {braces}.\n• one\n• 4"
    assert "&lt;b&gt;" in filled.html
    assert "<i>All</i>" in filled.html
    assert filled.foot == "Exact from the trace."
    assert filled.problems == ()


@pytest.mark.parametrize(
    ("written", "html", "text"),
    [
        ("$x^2$ times", "<i>x</i><sup>2</sup> times", "x^2 times"),
        ("$a_{ij} + n$", "<i>a</i><sub>ij</sub><i> + n</i>", "a_ij + n"),
        ("of $n$ items", "of <i>n</i> items", "of n items"),
        ("$5 and $6_a", "$5 and $6_a", "$5 and $6_a"),
        ("$|a|^2$, 5$", "<i>|a|</i><sup>2</sup>, 5$", "|a|^2, 5$"),
    ],
)
def test_a_short_formula_is_shown_as_one(written, html, text):
    filled = fill_caption(shown(caption=written)[0].caption, {})
    assert (filled.html, filled.text) == (f"<p>{html}</p>", text)


def test_numbers_of_several_kinds_bear_their_marks_one_by_one():
    step, names = shown(caption='{left.global_sectors} in {measured("matmul-tiled", m=4096).time}')
    filled = fill_caption(step.caption, names)
    assert [word in filled.html for word in ("<sup>&nbsp;exact", "<sup>&nbsp;measured")] == [True, True]
    assert filled.foot.startswith("Exact from the trace. Measured on NVIDIA H200, recorded on ")


def test_a_number_may_be_folded_into_the_next_line():
    step, names = shown(caption="It has {left.tile *\nleft.tile} threads.")
    assert fill_caption(step.caption, names).text == "It has 16 threads."


def test_answers_are_computed_and_the_right_choice_is_known():
    step, names = shown("ask: How many?", "choices: 1 | {left.tile} | 1,024", "answer: left.tile")
    answer = answer_of(step.change.question, names)
    assert (answer.text, answer.wording.choices, answer.right) == ("4", ("1", "4", "1,024"), 1)
    step, names = shown("ask: Is it right?", "choices: yes | no", "answer: left.races > 0")
    assert answer_of(step.change.question, names).right == 1
    step, names = shown(
        "ask: Which?", "choices: rows | columns", "answer: 'rows' if left.tile > 8 else 'columns'"
    )
    assert answer_of(step.change.question, names).text == "columns"
    step, names = shown("ask: How many?", "answer: left.threads_in_all")
    answer = answer_of(step.change.question, names)
    assert (answer.text, answer.wording.choices) == ("64", ())


def test_nsights_counts_are_named_with_their_device_where_they_were_recorded():
    read = value("left.nsight.global_load_requests", show="jacobi-step")
    assert (read.value, read.mark, read.origin) == (600, "measured", "on an NVIDIA H100, November 2026")
    assert value("left.nsight.device", show="jacobi-step").value == "NVIDIA H100"
    for expression, show, message in (
        ("left.nsight.global_load_requests", "jacobi-step:rows=40", "Nsight Compute did not count"),
        ("left.nsight.global_load_bytes", "jacobi-step", "it was not counted"),
    ):
        with pytest.raises(ExpressionError, match=message):
            value(expression, show=show)


def test_a_number_that_is_still_being_compiled_is_asked_for_and_filled_in_later():
    lecture = lecture_of(
        one_step_lecture(show="jacobi-step", caption="{left.compiled.global_load_requests} loads")
    )
    scenes = scenes_of(lecture)
    session = session_of(lecture.steps[0].change.show[0])
    session = build_session(session.launch, session.trace, session.scenario)
    asked = []
    names = environment_of(scenes[0], [session], moment_of(lecture, scenes, 0, [session]), asked.append)
    caption = fill_caption(lecture.steps[0].caption, names)
    assert (caption.text, caption.problems, asked) == ("… loads", (), [session])
    session.add_compiled(CompiledCounters("LLVM 22.1 of llvmlite", {"global_load_requests": 600}))
    caption = fill_caption(lecture.steps[0].caption, names)
    assert caption.text == "600 loads"
    assert "by LLVM 22.1" in caption.foot
