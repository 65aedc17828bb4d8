"""`trace back:` and `trace forward:` in steps of lectures."""

from __future__ import annotations

import pytest

from lectures import TILED, lecture_of, one_step_lecture, session_of
from tilescope.app.lectures.model.check import check_lecture
from tilescope.app.lectures.model.edit.from_bookmark import change_lines
from tilescope.app.lectures.model.scenes import scenes_of
from tilescope.app.model.bookmark import Bookmark, TracedValue
from tilescope.app.model.explanation import parse_traced, traced_text
from tilescope.app.model.first_bookmark import setups_of


@pytest.mark.parametrize(
    ("text", "traced"),
    [
        ("C[0, 0]", TracedValue("C[0, 0]")),
        ("total", TracedValue("total")),
        ("tile_a[3, 1] at 20", TracedValue("tile_a[3, 1]", moment=20)),
        ("tile[3] of block 2 at 20", TracedValue("tile[3]", block=2, moment=20)),
        ("mine[3] of block 2 of thread 5", TracedValue("mine[3]", block=2, thread=5)),
    ],
)
def test_traced_values_are_read_and_written(text, traced):
    assert parse_traced(text, forward=False) == traced and traced_text(traced) == text


@pytest.mark.parametrize("text", ["", "C[0", "the first one", "C[0, 0] of warp 3", "C[0]" * 100])
def test_texts_that_name_no_element_are_refused_in_one_sentence(text):
    with pytest.raises(ValueError, match=r"is not an element; write for example C\[2, 3\]"):
        parse_traced(text, forward=True)


def test_path_is_shown_in_its_step_only():
    text = (
        one_step_lecture("trace back: C[0, 0]", "panel: why")
        + "\n\n## Next\n\n`trace forward: A[0, 3]`\n\nText.\n"
    )
    text += "\n\n## Last\n\nText.\n"
    lecture = lecture_of(text)
    assert not lecture.problems
    first, second, last = (scene.look for scene in scenes_of(lecture))
    assert first.traced == TracedValue("C[0, 0]") and (first.side, first.tab) == ("shown", "why")
    assert second.traced == TracedValue("A[0, 3]", forward=True) and last.traced is None


def test_mistakes_are_reported_with_their_line():
    lecture = lecture_of(one_step_lecture("trace back: C[0", "trace forward: A[0, 0]"))
    assert any("is not an element" in problem.sentence for problem in lecture.problems)
    lecture = lecture_of(one_step_lecture("trace back: C[0, 0]", "trace forward: A[0, 0]"))
    assert any("appears twice" in problem.sentence for problem in lecture.problems)


def test_element_that_no_pane_has_is_reported():
    lecture = lecture_of(one_step_lecture("trace back: D[0, 0]"))
    (problem,) = check_lecture(lecture, session_of)
    assert problem.sentence.startswith("The launch accesses no array 'D'")
    assert lecture.text.splitlines()[problem.line - 1] == "trace back: D[0, 0]"


def test_screen_with_a_path_becomes_a_line():
    mark = Bookmark(setups_of([TILED]), side="shown", tab="why", layout="lecture", moment=0.0)
    for traced, line in (
        (TracedValue("C[2, 3]", moment=7), "trace back: C[2, 3] at 7"),
        (TracedValue("A[2, 3]", forward=True), "trace forward: A[2, 3]"),
    ):
        from msgspec.structs import replace

        lines = change_lines(lecture_of(), 0, replace(mark, traced=traced), [session_of(mark.panes[0])])
        assert line in lines
