"""The two files of an exercise: what they say, and a sentence with its line for each mistake in them."""

from __future__ import annotations

import pytest

from exercises import EXERCISES, PROGRAM, STUB, add_ten
from tilescope.app.exercises.model.library import SHIPPED, exercise_named, exercises_in
from tilescope.app.exercises.model.mistakes import ExerciseError
from tilescope.app.exercises.model.reading import read_exercise

MARKDOWN = (EXERCISES / "01-add-ten.md").read_text(encoding="utf-8")


def read(folder, markdown=MARKDOWN, program=PROGRAM, name="01-add-ten"):
    """Return the exercise of two texts, next to the picture of the data."""
    (folder / "01-add-ten.svg").write_bytes((EXERCISES / "01-add-ten.svg").read_bytes())
    (folder / f"{name}.md").write_text(markdown)
    (folder / f"{name}.py").write_text(program)
    return read_exercise(folder / f"{name}.md")


def mistakes(folder, **texts):
    return [(m.path.suffix, m.line, m.sentence) for m in read(folder, **texts).mistakes]


def test_an_exercise_contains_the_texts_of_its_files():
    exercise = add_ten()
    assert (exercise.name, exercise.number, exercise.title, exercise.kernel) == (
        "add-ten",
        1,
        "Add ten",
        "add_ten",
    )
    assert exercise.mistakes == ()
    assert [s.text for s in exercise.task.paragraphs[0].spans if s.styles == {"code"}] == ["out", "a"]
    assert exercise.picture.path == EXERCISES / "01-add-ten.svg"
    assert exercise.picture.text == "Four threads, each with an element of a and of out"
    assert [g.words for g in exercise.goals] == [
        "each element is read once",
        "as many loads as the stub stores",
    ]
    assert len(exercise.hints) == 2
    assert exercise.stub == STUB.rstrip() + "\n"
    assert "cases" not in exercise.stub


def test_a_file_that_would_raise_is_read_without_running_it(tmp_path):
    assert mistakes(tmp_path, program="raise SystemExit\n" + PROGRAM) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("# Add ten", "Add ten", 1, "begins with its title"),
        ("# Add ten", "# " + "x" * 400, 1, "1 to 300 characters, not 400"),
        ("kernel: add_ten\n", "", 9, "The kernel is not named"),
        ("kernel: add_ten", "kernel: add ten", 10, "by its name in Python"),
        ("kernel:", "colonel:", 10, "'colonel' is not a known key"),
        ("```exercise", "```python", 1, "There is no block marked ```exercise"),
        ("4 * n", "4 * n)", 11, "can't be read as arithmetic"),
        ("4 * n", "4 ** n", 11, "is not allowed here"),
        ("== 4 * n", "", 11, "neither true nor false"),
        ("stub.global_store_requests", "stub.colour", 12, "stub.colour is not known"),
        (
            "goal: each element is read once: ",
            "goal: ",
            11,
            "A goal is a description, a colon and an expression",
        ),
        ("(01-add-ten.svg)", "(../01-add-ten.svg)", 7, "without a folder"),
        ("(01-add-ten.svg)", "(https://example.org/a.svg)", 7, "without a folder"),
        ("(01-add-ten.svg)", "(02.svg)", 7, "The picture 02.svg is not in the folder of the file"),
        ("## Hint\n\nCompare", "## Tip\n\nCompare", 19, "each under ## Hint"),
        ("Compare it with `out.size` before you write.\n", "", 19, "A hint needs a text"),
        (
            "There may",
            "> There may",
            5,
            "A task or hint can contain paragraphs, lists and code, but no blockquote",
        ),
        ("There may", "![a](a.svg) There may", 5, "A picture needs a separate paragraph"),
        ("There may", "There may " + "be " * 4000, 5, "has at most 10,000 characters; shorten it"),
    ],
)
def test_each_mistake_in_the_task_is_a_sentence_at_its_line(tmp_path, old, new, line, message):
    assert old in MARKDOWN
    problems = mistakes(tmp_path, markdown=MARKDOWN.replace(old, new))
    assert [(suffix, row) for suffix, row, _ in problems] == [(".md", line)], problems
    assert message in problems[0][2] and problems[0][2].endswith(".")


def test_a_second_picture_or_block_is_one_too_many(tmp_path):
    begin, end = MARKDOWN.index("!["), MARKDOWN.index("## Hint")
    twice = MARKDOWN[:end] + MARKDOWN[begin:end] + MARKDOWN[end:]
    assert [message.partition(";")[0] for _, _, message in mistakes(tmp_path, markdown=twice)] == [
        "An exercise has one picture.",
        "An exercise has one block of kernel and goals",
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("# judge", "# the judge", 22, "There is no line # judge"),
        ("def add_ten", "def add_nine", 1, "no function add_ten"),
        ("@cuda.jit\n", "", 5, "write @cuda.jit above it"),
        ("def cases", "def case", 12, "no function cases()"),
        ("out[i] = 0", "out[i] =", 9, "This is not valid Python: invalid syntax."),
    ],
)
def test_each_mistake_in_the_program_is_a_sentence_at_its_line(tmp_path, old, new, line, message):
    problems = mistakes(tmp_path, program=PROGRAM.replace(old, new))
    assert [(suffix, row) for suffix, row, _ in problems] == [(".py", line)], problems
    assert message in problems[0][2]


def test_a_file_that_is_missing_or_no_text_is_reported(tmp_path):
    exercise = read(tmp_path)
    exercise.program.path.write_bytes(b"\xff\xfe")
    assert "no text in UTF-8 (byte 0)" in read_exercise(exercise.path).mistakes[0].sentence
    exercise.program.path.unlink()
    assert "can't be read: No such file" in read_exercise(exercise.path).mistakes[0].sentence
    exercise.path.write_bytes(b"\xff")
    with pytest.raises(ExerciseError, match="no text in UTF-8"):
        read_exercise(exercise.path)
    with pytest.raises(ExerciseError, match="not named like an exercise"):
        read_exercise(tmp_path / "task.md")


@pytest.mark.parametrize(
    "text", ["", "\n", "[" * 100_000, "> " * 5000 + "a", "## Hint", "# \0", "```exercise", "* " * 500]
)
def test_generated_files_are_read_too(tmp_path, text):
    exercise = read(tmp_path, markdown=text)
    assert exercise.mistakes and not exercise.goals


# --- folders of them


def test_a_folder_is_listed_by_number_and_its_mistakes_are_reported(tmp_path):
    read(tmp_path, name="10-last")
    read(tmp_path, name="2-first")
    read(tmp_path, name="11-last", markdown=MARKDOWN.replace("kernel:", "colonel:"))
    (tmp_path / "notes.md").write_text("# Not an exercise")
    (tmp_path / "12-raw.md").write_bytes(b"\xff")
    exercises, wrong = exercises_in(tmp_path)
    assert [(e.number, e.name) for e in exercises] == [(2, "first"), (10, "last"), (11, "last")]
    text = "\n".join(map(str, wrong))
    assert "12-raw.md:1: " in text and "11-last.md:10: 'colonel'" in text
    assert "10-last.md also has the name last" in text


def test_an_exercise_is_chosen_by_name_number_file_or_path(tmp_path, monkeypatch):
    read(tmp_path)
    for word in ("add-ten", "1", "01-add-ten", "01-add-ten.md", "01-add-ten.py"):
        assert exercise_named(word, tmp_path).name == "add-ten"
    assert exercise_named(str(tmp_path / "add-ten")).path == tmp_path / "01-add-ten.md"
    monkeypatch.chdir(tmp_path.parent)
    assert exercise_named(f"{tmp_path.name}/01-add-ten.py").name == "add-ten"
    with pytest.raises(ExerciseError, match="no exercise nine; there is add-ten"):
        exercise_named("nine", tmp_path)
    with pytest.raises(ExerciseError, match="no folder"):
        exercise_named("nowhere/nine")


def test_the_shipped_ones_have_no_mistakes():
    assert exercises_in(SHIPPED)[1] == []
