"""A lecture's file: its parsed content, and each mistake with its line."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from lectures import SMALL, lecture_of, one_step_lecture, session_of
from tilescope.app.lectures.model.check import check_lecture
from tilescope.app.lectures.model.document import MOST_STEPS, read_lecture
from tilescope.app.lectures.model.problems import LectureError


def problems(text, folder=Path()):
    """Return {line: sentence} of what is wrong with a lecture."""
    return {p.line: p.sentence for p in check_lecture(lecture_of(text, folder), session_of)}


def test_the_parts_of_a_lecture_are_read():
    lecture = lecture_of()
    assert (lecture.title, len(lecture.steps)) == ("Naive against tiled", 3)
    first, second, third = lecture.steps
    assert (first.title, first.line, first.end) == ("Every element is a dot product", 5, 17)
    assert (first.notes, second.notes) == ("Say it slowly.", "")
    assert first.change.spotlight == ("A[0, :]", "C[0, 0]")
    assert [setup.scenario for setup in first.change.show] == ["matmul-naive-col-on-x", "matmul-tiled"]
    assert second.change.anchor.kind == "next phase"
    assert third.change.play.seconds == 5
    assert [choice.words.text for choice in third.change.question.choices] == [
        "1",
        "{left.global_sectors}",
        "none",
    ]
    assert lecture.problems == () == check_lecture(lecture, session_of)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends_of_other_systems_are_read_alike(ending):
    assert lecture_of(SMALL.replace("\n", ending)).steps == lecture_of().steps


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("at: next fase", "not a place in time"),
        ("colour: red", "'red' is not known here; did you mean reads"),
        ("color: reads", "'color' is not a key of a step"),
        ("focus: middle", "there are left and right"),
        ("play: end", "write for example: play: to end over 5 s"),
        ("play: to end over 0.01 s", "0.1 to 600 seconds"),
        ("block: -1", "not a whole number"),
        ("block: 99", "There is no thread 0 of block 99"),
        ("thread: 16", "16 threads in each of 4 blocks"),
        ("thread: right 1", "This step has no right pane"),
        ("thread: left 1, left 2", "write for example left 5, right 3"),
        ("block: left", "not a whole number"),
        ("element: C(1, 2)", "not an element"),
        ("element: C[8, 0]", "shape (8, 8)"),
        ("element: D[0, 0]", "no buffer D"),
        ("at: phase 99", "There is no phase 99"),
        ("at: moment 100000", "the last one is"),
        ('at: line "no such"', "No line of the kernel"),
        ("at: finding race", "There is no finding race"),
        ("at: previous block", "last in that direction"),
        ("ask: How many?", "needs ask: and answer:"),
        ("speed: fast", "not a speed"),
        ("spotlight: D", "D"),
        ("spotlight: A[0", "stand out"),
        ("zoom: D", "no buffer D to zoom to"),
        ("chart: pie matmul-tiled", "'pie'"),
        ("chart: bars matmul-tyled", "matmul-tiled"),
        ("chart: gpu blok=3", "'blok=3'"),
        ("chart: gpu range=2:1", "first before the last"),
        ("at: start\nat: end", "appears twice"),
    ],
)
def test_a_mistake_in_a_block_is_reported_with_its_line(line, sentence):
    messages = problems(one_step_lecture(line))
    assert list(messages) == [6 + line.count("\n") + 1]
    assert sentence in messages[6 + line.count("\n") + 1]


@pytest.mark.parametrize(
    ("show", "sentence"),
    [
        ("matmul-tyled", "matmul-tiled"),
        ("matmul-tiled:tile=5", "tile"),
        ("matmul-tiled matmul-tiled matmul-tiled", "not 3"),
        ("gone.npz", "no file gone.npz"),
        ("/etc/passwd.npz", "folder of the lecture"),
        ("../other.npz", "folder of the lecture"),
        ("gone.py:launch=2", "no file gone.py"),
        ("matmul-tiled:without=barrier9", "2 barriers"),
        ("matmul-tiled:source=gone.py", "no file gone.py"),
        ("matmul-tiled:tile=8,source=../gone.py", "folder of the lecture"),
    ],
)
def test_settings_that_cannot_be_shown_are_reported(show, sentence):
    assert sentence in problems(one_step_lecture(show=show))[6]


@pytest.mark.parametrize(
    ("caption", "sentence"),
    [
        ("{left.sectors}", "the pane has no sectors"),
        ("{right.global_sectors}", "right is not known"),
        ("{now.global_sectors}", "now needs its pane; write left.now."),
        ("{global_sectors}", "global_sectors needs its pane; write left.global_sectors."),
        ("{left.global_sectors / 0}", "divides by zero"),
        ("{left.global_sectors:.99f}", "format"),
        ("{left.C}", "not a number"),
        ("{left.C[9, 9]}", "shape (8, 8)"),
        ("{left.C[0]}", "no element [0]"),
        ("{__import__('os')}", "not known"),
        ("{().__class__}", "not allowed"),
        ("{[x for x in 1]}", "not allowed"),
        ("{left.__class__}", "has no __class__"),
        ("{9**9**9}", "not allowed"),
        ("{'a' * 3}", "needs numbers"),
        ("{}", "nothing between"),
        ("{round(5, -999999999)}", "can't be computed"),
        ("{1e308 * 1e308:d}", "can't be written as 'd'"),
        ("{left.global_bytes * 1" + "0" * 350 + "}", "too large to be written"),
        ("{1if left.tile else 2}", "can't be read as arithmetic"),
        ('{measured("nothing-like-it").time}', "nothing-like-it"),
        ('{measured("matmul-tiled", m=5).time}', "m=5"),
        ("![a picture](https://example.org/a.png)", "contain pictures"),
        ("### A heading in a caption is text", ""),
    ],
)
def test_expressions_that_cannot_be_computed_or_shown_in_a_caption_are_reported(caption, sentence):
    messages = problems(one_step_lecture(caption=caption))
    assert messages.get(9, "") == "" if not sentence else sentence in messages[9]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("ask: Q\nanswer: left.gone", "has no gone"),
        ("ask: Q\nanswer: left.tile\nchoices: 1", "2 to 6 choices"),
        ("ask: Q\nanswer: left.tile\nchoices: 1 | 2", "but none of the choices"),
        ("ask: Q\nanswer: left.tile\nchoices: 4 | {left.tile}", "more than one"),
        ("ask: Q\nanswer: 5.5:d", "can't be written as 'd'"),
        ("ask: Q\nanswer: 1\nchoices: {1e400:d} | 1", "can't be written as 'd'"),
        ("ask: Q\nanswer: 1" + "0" * 390 + "\nchoices: 1.5 | nan", "but none of the choices"),
        ("ask: " + "Q" * 1000 + "\nanswer: 1", "at most 1,000 characters"),
        ("choices: 1 | 2", "needs ask: and answer:"),
    ],
)
def test_a_question_without_an_answer_is_reported(question, sentence):
    assert any(sentence in message for message in problems(one_step_lecture(*question.split("\n"))).values())


def test_mistakes_of_the_lecture_are_reported():
    assert problems("no title\n\n## Step\n")[1].startswith("A lecture begins with its title")
    assert "There is no step" in problems("# Title\n")[2]
    assert problems("# One\n\n# Two\n\n## Step\n")[3].startswith("A lecture has one title")
    assert "Nothing is shown yet" in problems("# One\n\n## Step\n")[3]
    assert "join this one" in problems("# One\n\n## Step\n\n`at: start`\n\n`at: end`\n")[7]
    assert "at most" in problems("# One\n" + "\n## Step\n" * (MOST_STEPS + 1))[2 * MOST_STEPS + 3]


def test_a_missing_anchor_is_reported_once_and_hides_no_other_mistake():
    later = "\n## Next\n\n`next phase`\n\n{left.gone}\n"
    messages = problems(
        one_step_lecture("at: phase 99", caption="{left.nothing} {left.request.sectors}") + later
    )
    assert list(messages) == [7, 10, 15]
    assert "no phase 99" in messages[7]
    assert "has no nothing" in messages[10]
    assert "has no gone" in messages[15]


def test_a_chart_before_anything_else_is_shown_stands_nowhere():
    block = "```tilescope\nchart: scaling matmul-tiled\nat: end\nblock: 1\nelement: C[0, 0]\n```"
    assert problems(f"# One\n\n## Step\n\n{block}\n") == {}


def test_the_chart_of_a_gpu_is_of_what_is_shown():
    assert problems(one_step_lecture("chart: gpu block=3 range=0:1.5")) == {}
    assert "Nothing is shown yet" in problems("# One\n\n## Step\n\n`chart: gpu`\n")[3]


def test_what_is_no_text_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "bytes.md").write_bytes(b"# T\xff\xfe")
    (tmp_path / "large.md").write_bytes(b"# T" + b" " * 2_000_000)
    os.mkfifo(tmp_path / "pipe.md")
    for name in ("bytes.md", "large.md", "gone.md", ".", "pipe.md"):
        with pytest.raises(LectureError, match=r"^[^\n]+\.$"):
            read_lecture(tmp_path / name)


def test_a_damaged_lecture_is_read_or_refused_in_sentences():
    """Lectures with characters lost, doubled or replaced, and blocks of them: nothing else than sentences comes."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    pieces = [
        "{",
        "}",
        "`",
        "```tilescope\n",
        "> ",
        "## ",
        "# ",
        "*",
        "[",
        "](",
        "\t",
        "\0",
        "\x1b[31m",
        "&lt;",
        "<b>",
        "|",
    ]
    pieces += ["left.", "9" * 400, "at: ", "show: ", "- ", "1. ", "\u202e", "$" * 50, "((((((((" * 50]
    for _ in range(150):
        text = SMALL
        for _ in range(rng.randrange(1, 12)):
            cut = rng.randrange(len(text) + 1)
            text = text[:cut] + rng.choice([*pieces, ""]) + text[cut + rng.randrange(4) :]
        for problem in check_lecture(lecture_of(text), session_of):
            assert problem.sentence
            assert "\n" not in problem.sentence
            assert "\x1b" not in problem.sentence
            assert 1 <= problem.line <= text.count("\n") + 1


def test_text_too_long_for_a_screen_is_reported_and_cut():
    lecture = lecture_of(f"# T\n\n## {'w' * 9000}\n\n{'word ' * 9000}\n\n{'a' * 8000}\n\n> {'b' * 20_000}\n")
    assert [p.line for p in lecture.problems] == [3, 5, 9]
    assert "at most 300 characters, not 9,000" in lecture.problems[0].sentence
    assert "at most 10,000 characters" in lecture.problems[1].sentence
    step = lecture.steps[0]
    for caption in (step.caption, step.spoken):
        assert sum(len(span.text) for part in caption.paragraphs for span in part.spans) <= 10_000
    assert len(step.title) == 300


def test_deep_and_long_markdown_ends():
    texts = ("> " * 5000, "- " * 3000, "*a" * 20_000, "[" * 50_000, "`" * 50_001, "{" * 50_000, "![" * 25_000)
    for text in (*texts, "> a\n\nb\n\n" * 5000, f"`spotlight: {'[' * 50_000}`"):
        check_lecture(lecture_of(f"# T\n\n## S\n\n{text}\n"), session_of)
