"""Edits of a lecture's text: one step changes, all else stays as its author wrote it and shows what it showed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lectures import NAIVE, SMALL, TILED, lecture_of, session_of
from tilescope.app.lectures.model.document import parse_lecture
from tilescope.app.lectures.model.edit.history import TextHistory
from tilescope.app.lectures.model.edit.source import EditError, source_of
from tilescope.app.lectures.model.edit.steps import (
    UntracedError,
    copy_step,
    insert_step,
    move_step,
    remove_step,
)
from tilescope.app.lectures.model.edit.text import (
    new_lecture,
    step_parts,
    step_text,
    with_caption,
    with_change,
    with_notes,
    with_step_title,
    with_title,
    with_values,
)
from tilescope.app.lectures.model.scenes import moment_of, scenes_of
from tilescope.app.lectures.model.time_anchors import TimeAnchorError

PATH = Path("lecture.md")
SINGLE = (TILED, "matmul-tiled:m=4,k=8,n=8,tile=4", "vector-double:count=96,threads=32")
PAIR = (f"{NAIVE} {TILED}",)


def sessions_of(panes):
    """Return the sessions of panes, traced here."""
    return [session_of(pane) for pane in panes]


def untraced(panes):
    """Know no session."""
    return


def bodies(text):
    """Return the text of each step."""
    return source_of(text, lecture_of(text)).bodies


def shown(text):
    """Return the picture and the anchor of each step, None for an anchor that is not there."""
    lecture = lecture_of(text)
    scenes = scenes_of(lecture)
    return [_shown(lecture, scenes, i) for i in range(len(scenes))]


def _shown(lecture, scenes, number):
    scene = replace(scenes[number], anchor=0)
    tab = scene.look.tab if scene.look.side == "shown" else ""
    try:
        moment = moment_of(lecture, scenes, number, sessions_of(scene.panes)) if scene.panes else None
    except TimeAnchorError:
        moment = None
    return scene.panes, {**_fields(scene.look), "tab": tab}, scene.play, moment


def _fields(look):
    return {name: getattr(look, name) for name in look.__struct_fields__}


# The words of a step.


def test_only_the_caption_is_read_and_replaced():
    assert (
        step_parts(SMALL, 0, PATH).caption
        == "There are {left.threads_in_all} threads, and *each* makes one element."
    )
    edited = with_caption(SMALL, 0, "Short.", PATH)
    assert edited == SMALL.replace(
        "There are {left.threads_in_all} threads, and *each* makes one element.", "Short."
    )
    assert with_caption(edited, 0, step_parts(SMALL, 0, PATH).caption, PATH) == SMALL


def test_a_caption_appears_and_goes_without_a_trace():
    edited = with_caption(SMALL, 1, "- one\n- two\n", PATH)
    assert edited == SMALL.replace("`next phase`\n", "`next phase`\n\n- one\n- two\n")
    assert with_caption(edited, 1, " \n", PATH) == SMALL


def test_notes_are_written_as_a_quotation():
    edited = with_notes(SMALL, 1, "First.\n\nThen # this.", PATH)
    assert edited == SMALL.replace("`next phase`\n", "`next phase`\n\n> First.\n>\n> Then # this.\n")
    assert step_parts(edited, 1, PATH).notes == "First.\n\nThen # this."
    assert lecture_of(edited).steps[1].notes == "First.\n\nThen # this."
    assert with_notes(edited, 1, "", PATH) == SMALL


def test_titles_are_replaced():
    assert with_title(SMALL, "Another\none", PATH) == SMALL.replace(
        "# Naive against tiled", "# Another one", 1
    )
    assert with_title("## Step\n", "New", PATH) == "# New\n\n## Step\n"
    assert with_title("Old\n===\n\n## Step\n", "New", PATH) == "# New\n\n## Step\n"
    assert with_step_title(SMALL, 1, "Tile", PATH) == SMALL.replace("## The first tile", "## Tile")
    with pytest.raises(EditError, match="needs a title"):
        with_step_title(SMALL, 1, " ", PATH)


@pytest.mark.parametrize(
    ("markdown", "sentence"),
    [
        ("One\n\n## Two", "Line 3 is a heading"),
        ("One\n---", "Line 1 is a heading"),
        ("> quoted", "Line 1 begins with >"),
        ("a\n\n```tilescope\nend\n```", "Line 3 begins a block of changes"),
        ("```\nfor i", "The block of code from line 1 has no end"),
        ("`next phase`", "Line 1 is a change"),
    ],
)
def test_what_would_be_no_caption_is_refused(markdown, sentence):
    with pytest.raises(EditError, match=sentence):
        with_caption(SMALL, 1, markdown, PATH)


def test_a_caption_around_notes_is_joined_where_it_is_edited():
    text = "# T\n\n## S\n\n`end`\n\nOne.\n\n> Note.\n\nTwo.\n"
    assert step_parts(text, 0, PATH).caption == "One.\n\nTwo."
    assert with_caption(text, 0, "One.\n\nTwo.", PATH) == text
    assert with_caption(text, 0, "Three.", PATH) == "# T\n\n## S\n\n`end`\n\nThree.\n\n> Note.\n"


def test_ends_of_lines_and_the_byte_order_mark_stay():
    text = "\ufeff" + SMALL.replace("\n", "\r\n")
    edited = with_caption(text, 1, "Two\nlines.", PATH)
    assert edited == "\ufeff" + with_caption(SMALL, 1, "Two\nlines.", PATH).replace("\n", "\r\n")
    assert with_title(text, "New", PATH) == text.replace("# Naive against tiled", "# New", 1)


# What a step changes.


def test_a_line_that_can_be_separate_is_separate():
    assert step_parts(SMALL, 1, PATH).change == "next phase"
    edited = with_change(SMALL, 1, ["at: end"], PATH)
    assert edited == SMALL.replace("`next phase`", "`end`")
    edited = with_change(SMALL, 1, ["next phase", "colour: reads"], PATH)
    assert edited == SMALL.replace("`next phase`", "```tilescope\nnext phase\ncolour: reads\n```")
    assert with_change(edited, 1, ["", ""], PATH) == SMALL.replace("`next phase`\n\n", "")


def test_values_are_put_where_they_belong_and_other_lines_stay():
    edited = with_values(
        SMALL, 2, {"colour": "reads", "choices": None, "answer": "right.global_sectors"}, PATH
    )
    old = SMALL[SMALL.index("play: to end") : SMALL.index("```\n\nIt takes")]
    new = (
        "play: to end over 5 s\ncolour: reads\nask: How many sectors does the naive kernel take?\n"
        "answer: right.global_sectors\n"
    )
    assert edited == SMALL.replace(old, new)


def test_an_unreadable_line_stays_in_its_block_and_is_reported():
    edited = with_change(SMALL, 1, ["colur: reads"], PATH)
    assert "```tilescope\ncolur: reads\n```" in edited
    assert [p.sentence for p in lecture_of(edited).problems] and len(lecture_of(edited).steps) == 3


# Steps.


def test_a_step_moves_and_those_it_passes_keep_their_scenes():
    text = f"# T\n\n## A\n\n`show: {TILED}`\n\n## B\n\n`next phase`\n\n## C\n\n`next phase`\n"
    edited = move_step(text, 2, 1, PATH, sessions_of)
    assert edited.warnings == ()
    assert [step.title for step in lecture_of(edited.text).steps] == ["A", "C", "B"]
    before, after = shown(text), shown(edited.text)
    assert [after[0], after[2], after[1]] == before


def test_a_step_taken_out_leaves_what_follows_as_it_was():
    edited = remove_step(SMALL, 0, PATH, sessions_of)
    assert shown(edited.text) == shown(SMALL)[1:]
    assert bodies(edited.text)[1] == bodies(SMALL)[2]
    assert f"show: {NAIVE} {TILED}" in bodies(edited.text)[0]
    assert edited.warnings == ()


def test_inherited_settings_are_written_only_by_the_next_step():
    text = f"# T\n\n## A\n\n`show: {TILED}`\n\n## B\n\n`colour: reads`\n\n## C\n\n## D\n"
    edited = remove_step(text, 1, PATH, untraced)
    assert edited.text == f"# T\n\n## A\n\n`show: {TILED}`\n\n## C\n\n`colour: reads`\n\n## D\n"


def test_a_copy_shows_what_its_original_does():
    edited = copy_step(SMALL, 1, PATH, sessions_of)
    before = shown(SMALL)
    assert shown(edited.text) == [before[0], before[1], before[1], before[2]]
    assert edited.warnings == ()


def test_a_new_step_changes_no_other():
    body = step_text("New", ["show: vector-double:count=96,threads=32", "colour: reads"], Path())
    edited = insert_step(SMALL, 0, body, PATH, sessions_of)
    before, after = shown(SMALL), shown(edited.text)
    assert [after[0], *after[2:]] == before
    first = insert_step(new_lecture("T"), -1, body, PATH, untraced)
    assert first.text == f"# T\n\n{body}\n"


def test_a_trace_is_requested_for_an_untraced_anchor():
    with pytest.raises(UntracedError, match="is not traced yet") as raised:
        remove_step(SMALL, 1, PATH, untraced)
    assert raised.value.panes == scenes_of(lecture_of())[1].panes


def test_code_without_an_end_does_not_swallow_what_follows():
    text = SMALL + "\n```\nno end\n"
    with pytest.raises(EditError, match="is not closed"):
        move_step(text, 2, 0, PATH, sessions_of)


CHANGES = st.lists(
    st.sampled_from(
        [
            "at: start", "at: end", "at: next phase", "at: end of this phase", "at: phase 1", "at: +3 moments",
            "at: moment 7", "at: next block", "block: 1", "block: 3", "thread: 5", "element: C[5, 2]", "colour: reads",
            "zoom: A", "zoom: all", "panel: source", "panel: none", "play: to end over 2 s", "play: to next phase",
            "spotlight: warp 0", "link: moment", "time: measured", "focus: left", "chart: none", "words: cuda",
            "picture: memory",
        ]
    ),
    max_size=3,
    unique_by=lambda line: line.partition(":")[0],
)  # fmt: skip
ENDS = st.sampled_from(
    ["", "\n\nA caption.", "\n\n- an item\n\n> A note.", "\n\n~~~\ncode\n~~~", "\n\nOne.\n\n\n"]
)


@st.composite
def lectures(draw, shows):
    """Return the text of a lecture whose first step shows something."""
    parts = ["# Title\n\nIntroduced."]
    for number in range(draw(st.integers(2, 5))):
        lines = draw(CHANGES)
        if number == 0 or draw(st.integers(0, 3)) == 0:
            lines = [f"show: {draw(st.sampled_from(shows))}", *lines]
        parts.append(step_text(f"Step {number}", lines, Path()) + draw(ENDS))
    return "\n\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n"]))


@settings(max_examples=30, print_blob=True)
@given(text=lectures(SINGLE), data=st.data())
def test_every_other_step_shows_what_it_showed(text, data):
    assert not hold(text, data).warnings


@settings(max_examples=12, print_blob=True)
@given(text=lectures(SINGLE + PAIR * 2), data=st.data())
def test_settings_that_two_panes_cannot_express_are_reported(text, data):
    hold(text, data)


def hold(text, data):
    """Do something with the steps of a lecture and hold what others show against what they showed."""
    count = len(lecture_of(text).steps)
    number = data.draw(st.integers(0, count - 1))
    kind = data.draw(st.sampled_from(["move", "copy", "remove", "add"]))
    order = list(range(count))
    if kind == "move":
        to = data.draw(st.integers(0, count - 1))
        edited = move_step(text, number, to, PATH, sessions_of)
        order.insert(to, order.pop(number))
    elif kind == "copy":
        edited = copy_step(text, number, PATH, sessions_of)
        order.insert(number, number)
    elif kind == "remove":
        edited = remove_step(text, number, PATH, sessions_of)
        del order[number]
    else:
        lines = [f"show: {data.draw(st.sampled_from(SINGLE))}", *data.draw(CHANGES)]
        edited = insert_step(text, number, step_text("New", lines, Path()), PATH, sessions_of)
        order.insert(number + 1, None)
    before, after = shown(text), shown(edited.text)
    assume(
        all(stands is not None for *_, stands in before)
    )  # a step with a mistake stands nowhere, nor what follows
    assume(None not in order or after[order.index(None)][3] is not None)
    old, new = bodies(text), bodies(edited.text)
    assert len(after) == len(order)
    problems = [problem.sentence for problem in lecture_of(text).problems]
    assert all(problem.sentence in problems for problem in lecture_of(edited.text).problems)
    for place, was in enumerate(order):
        if was is None:
            continue
        if not edited.warnings:
            assert after[place] == before[was]
        if place and order[place - 1] == was - 1 and not edited.warnings:
            assert new[place] == old[was]
        assert new[place].split("\n")[0] == old[was].split("\n")[0]
    return edited


PIECES = st.sampled_from(
    [
        "# ", "## ", "> ", "```", "    ```", "~~~",
        "```tilescope\n", "`next phase`", "`", "{left.tile}", "{", "}", "\n",
        "\n\n", "    ", "- ", "1. ", "---", "===", "word", "\\", "[a]: x", "\r\n", "\u2028", "\0",
        "at: end", "  \n", "|",
    ]
)  # fmt: skip
TIGHT = "T\n=\n\nA\n--\ntext\n```tilescope\nend\n```\nmore\n- l\n  - m\n\nB\n--\ntext\n> lazy\n\nE\n-"


@settings(max_examples=150, print_blob=True)
@given(
    text=st.sampled_from([SMALL, TIGHT]),
    written=st.lists(PIECES, max_size=12).map("".join),
    number=st.integers(0, 2),
    kind=st.sampled_from(["heading", "caption", "notes", "change", "title"]),
)
def test_whatever_is_written_changes_nothing_else(text, written, number, kind):
    edits = {
        "heading": lambda: with_step_title(text, number, written, PATH),
        "caption": lambda: with_caption(text, number, written, PATH),
        "notes": lambda: with_notes(text, number, written, PATH),
        "change": lambda: with_values(text, number, {"ask": written}, PATH),
        "title": lambda: with_title(text, written, PATH),
    }
    try:
        edited = edits[kind]()
    except EditError:
        return
    before, after = lecture_of(text).steps, lecture_of(edited).steps
    parts = {"heading": "title", "caption": "caption", "notes": "notes", "change": "change"}
    assert len(after) == len(before)
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        for name, part in parts.items():
            if i != number or name != kind:
                assert _read(getattr(new, part)) == _read(getattr(old, part))


def _read(part):
    """Return a part of a step without the lines that it stands in."""
    paragraphs = getattr(part, "paragraphs", None)
    return part if paragraphs is None else [[span.text for span in p.spans] for p in paragraphs]


def test_undo_goes_back_to_the_first_text_and_forward_again():
    history = TextHistory(SMALL)
    texts = [SMALL]
    for title in "abc":
        texts.append(with_title(texts[-1], title, PATH))
        assert history.push(texts[-1])
    assert not history.push(texts[-1])
    back = [history.text for _ in range(3) if history.undo()]
    assert back == texts[-2::-1] and not history.undo() and not history.can_undo
    assert history.redo() and history.text == texts[1]
    assert history.push("# Other\n") and not history.can_redo


def test_an_edit_reads_the_file_as_the_player_does(tmp_path):
    path = tmp_path / "mine.md"
    text = with_caption(SMALL, 0, "Brackets {left.blocks} and a {{brace}}.", path)
    caption = parse_lecture(text, path).steps[0].caption
    assert [span.text for span in caption.paragraphs[0].spans if span.expression] == ["left.blocks"]
