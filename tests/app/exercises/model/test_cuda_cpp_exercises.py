"""The exercises in CUDA C++: the solutions pass, the stubs do not, and mistakes are named at their lines."""

from __future__ import annotations

import pytest

from cuda_cpp import needs_compiler
from exercises import warm_judge
from folders import DATA
from tilescope.app.cli.main import main
from tilescope.app.exercises.model.library import SHIPPED, exercise_named, exercises_in
from tilescope.app.exercises.model.mistakes import ExerciseError
from tilescope.app.exercises.model.reading import read_exercise

SOLUTIONS = DATA / "exercises" / "solutions"
EXERCISES = {e.path.stem: e.in_language("cuda-cpp") for e in exercises_in()[0] if e.cuda_cpp}
REVERSE = (SOLUTIONS / "06-reverse.cu").read_text(encoding="utf-8")


def test_ten_exercises_have_a_stub_and_a_solution_in_cuda_cpp():
    assert len(EXERCISES) == 10
    assert {path.stem for path in SOLUTIONS.glob("*.cu")} == set(EXERCISES)
    assert all(5 <= len(exercise.stub.splitlines()) <= 40 for exercise in EXERCISES.values())
    with pytest.raises(ExerciseError, match="has no stub in CUDA C"):
        exercise_named("guard").in_language("cuda-cpp")


@needs_compiler
@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_passes_and_the_stub_does_not(name):
    exercise = EXERCISES[name]
    passed = warm_judge().judge(exercise, (SOLUTIONS / f"{name}.cu").read_text(encoding="utf-8"))
    assert passed.passed and not passed.error
    assert passed.trace is not None and passed.trace.kernel == exercise.kernel
    stub = warm_judge().judge(exercise, exercise.stub)
    assert not stub.passed
    assert stub.cases and not any(case.error for case in stub.cases)


@needs_compiler
@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("    __syncthreads();\n", "", "race"),
        ("if (i < n)\n        out", "if (i <= n)\n        out", "bounds"),
        ("count - 1 - t", "count - t", "result"),
    ],
)
def test_a_wrong_answer_does_not_pass(old, new, kind):
    assert old in REVERSE
    verdict = warm_judge().judge(EXERCISES["06-reverse"], REVERSE.replace(old, new))
    kinds = {finding.kind for finding in verdict.findings if finding.severity == "error"}
    kinds |= set() if all(case.correct for case in verdict.cases) else {"result"}
    assert not verdict.passed and kind in kinds


@needs_compiler
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (REVERSE.replace("int t = threadIdx.x;", "int t = thread;"), 6, "thread"),
        (REVERSE.replace("int n)", "int n, int m)"), 3, "takes (a, out, n) in this exercise, not (a, out, n, m)"),
        (REVERSE.replace("reverse(", "turn("), 0, "There is no kernel named reverse"),
        (
            REVERSE.replace("    __syncthreads();", "    while (true) { piece[0] = piece[0]; }"),
            10,
            "Thread 0 of block 0 does not end.",
        ),
    ],
    ids=["does not compile", "another parameter", "another name", "endless"],
)  # fmt: skip
def test_a_text_that_cannot_run_is_one_sentence_at_its_line(text, line, words):
    verdict = warm_judge().judge(EXERCISES["06-reverse"], text)
    errors = [(verdict.line, verdict.error), *((case.line, case.error) for case in verdict.cases)]
    assert [(where, words in sentence) for where, sentence in errors if sentence] == [(line, True)]


@needs_compiler
def test_the_command_line_judges_a_cuda_cpp_file_and_writes_its_stub(tmp_path, capsys):
    assert main(["exercise", "check", str(SOLUTIONS / "10-scan.cu")]) == 0
    assert "passed" in capsys.readouterr().out
    stub = tmp_path / "mine.cu"
    assert main(["exercise", "scan", "-o", str(stub)]) == 0
    assert stub.read_text(encoding="utf-8") == EXERCISES["10-scan"].stub
    assert main(["exercise", "check", str(stub)]) == 1


def test_a_stub_without_the_kernel_is_a_mistake_of_the_exercise(tmp_path):
    for path in (DATA / "exercises").glob("01-add-ten.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "01-add-ten.cu").write_text("__global__ void other(int *a) {}\n")
    mistakes = read_exercise(tmp_path / "01-add-ten.md").mistakes
    assert [mistake.path.name for mistake in mistakes] == ["01-add-ten.cu"]
    assert "no kernel add_ten" in mistakes[0].sentence


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.cu")), ids=lambda path: path.stem)
def test_the_words_of_an_exercise_follow_its_language(path):
    numba = read_exercise(path.with_suffix(".md"))
    cpp = numba.in_language("cuda-cpp")
    words = str([cpp.task, *cpp.hints])
    for word in ("numba", "cuda.", ".shape", "int32", "range("):
        assert word not in words, word
    assert len(cpp.hints) == len(numba.hints)
    again = cpp.in_language("numba")
    assert (again.task, again.hints) == (numba.task, numba.hints)


def test_an_array_in_shared_memory_is_declared_as_in_cpp():
    task = str(read_exercise(SHIPPED / "07-stencil.md").in_language("cuda-cpp").task)
    assert "__shared__ int tile[SPAN]" in task and "numba" not in task
