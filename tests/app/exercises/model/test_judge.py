"""Verdicts on students' kernels: right, wrong, out of bounds, racy, endless; and exercises that can't judge."""

from __future__ import annotations

import threading

import msgspec
import pytest

from exercises import CASES, RIGHT, STUB, add_ten, line_of, warm_judge, write_exercise
from patience import PATIENCE
from tilescope.app.exercises.model.goals import COUNTERS
from tilescope.app.exercises.model.judge import Judge
from tilescope.app.exercises.model.mistakes import ExerciseError
from tilescope.tracer.model.launch import decode
from tilescope.tracer.processes.process_client import RunCancelledError

BODY = "        out[i] = a[i] + 10\n"
SHARED = RIGHT.replace("import cuda", "import cuda, float32").replace(
    "    i = cuda.grid(1)\n",
    "    i = cuda.grid(1)\n    tile = cuda.shared.array(4, float32)\n    t = cuda.threadIdx.x\n    tile[t] = a[i]\n"
    "    cuda.syncthreads()\n",
)  # fmt: skip
RACY = SHARED.replace("    cuda.syncthreads()\n", "").replace(BODY, "        out[i] = tile[3 - t]\n")
REVERSED = """def cases():
    a = np.arange(4, dtype=np.float32)
    yield {"grid": 1, "block": 4, "arguments": (a, a * 0), "expected": {"out": a[::-1]}}
"""


def judged(text, exercise=None):
    return warm_judge().judge(exercise or add_ten(), text)


def errors(verdict):
    return [(f.kind, f.line) for f in verdict.findings if f.severity == "error"]


def test_a_right_kernel_passes_and_its_counters_are_next_to_the_stubs():
    verdict = judged(RIGHT)
    assert verdict.passed and not verdict.error and errors(verdict) == []
    assert [(case.correct, case.grid, case.block, case.sizes) for case in verdict.cases] == [
        (True, (3, 1, 1), (4, 1, 1), {"n": 10}),
        (True, (8, 1, 1), (128, 1, 1), {"n": 1000}),
    ]
    assert [goal.met for goal in verdict.goals] == [True, True]
    assert verdict.goals[0].measured == "global_load_bytes 4,000, n 1,000"
    assert (verdict.counters["global_load_requests"], verdict.stub_counters["global_load_requests"]) == (
        32,
        0,
    )


def test_the_first_case_with_a_fault_is_the_trace():
    verdict = judged(RIGHT.replace("i < out.size", "i < min(out.size, 100)"))
    assert [case.correct for case in verdict.cases] == [True, False]
    assert verdict.pictured == 2
    assert verdict.trace is not None and verdict.trace.grid == (8, 1, 1)
    launch = decode(verdict.trace.launch)
    again = warm_judge()._worker.run(msgspec.structs.replace(launch, engine="simulator"))
    assert again.initial[0].tolist() == list(map(float, range(1000)))  # with the case's arrays


def test_the_first_case_is_a_trace_of_the_students_text_that_can_be_run_again():
    text = RIGHT.replace("out", "result")  # parameters may be renamed
    verdict = judged(text)
    assert verdict.passed
    assert verdict.trace is not None and verdict.trace.grid == (3, 1, 1)
    launch = decode(verdict.trace.launch)
    assert launch.source == text and text in verdict.trace.sources.values()
    again = warm_judge()._worker.run(msgspec.structs.replace(launch, engine="simulator"))
    assert again.value is not None and verdict.trace.value is not None
    assert again.value.tolist() == verdict.trace.value.tolist()


def test_the_stub_runs_and_does_not_pass():
    verdict = judged(STUB)
    assert not verdict.passed and not verdict.error
    (wrong,) = verdict.cases[0].wrong
    assert (wrong.argument, wrong.differing, wrong.elements, wrong.untouched) == ("out", 10, 10, True)


def test_the_first_wrong_element_of_a_kernel_is_reported():
    verdict = judged(RIGHT.replace(BODY, "        out[i] = a[i] + (10 if i < 7 else 9)\n"))
    assert [case.correct for case in verdict.cases] == [False, False] and not verdict.passed
    (wrong,) = verdict.cases[0].wrong
    assert (wrong.differing, wrong.index, wrong.got, wrong.expected) == (3, (7,), "16.0", "17.0")


def test_what_is_right_by_luck_does_not_pass():
    outside = judged(RIGHT.replace("    if i < out.size:\n", "    if True:\n"))
    assert all(case.correct for case in outside.cases)
    assert not outside.passed and ("bounds", 9) in errors(outside)


def test_a_race_does_not_pass_and_the_barrier_mends_it(tmp_path):
    exercise = write_exercise(tmp_path, REVERSED, stub=RACY)
    racy = judged(RACY, exercise)
    assert not racy.passed and [kind for kind, _ in errors(racy)] == ["race"]
    mended = judged(SHARED.replace(BODY, "        out[i] = tile[3 - t]\n"), exercise)
    assert mended.passed, mended


def test_a_missed_goal_is_reported_with_its_number(tmp_path):
    exercise = write_exercise(
        tmp_path, goals="few: global_load_requests * 16 <= threads_in_all\nread: stub.global_requests < 3"
    )
    verdict = judged(RIGHT.replace(BODY, "        out[i] = a[i] + 10 + a[i] - a[i]\n"), exercise)
    assert all(case.correct for case in verdict.cases) and not verdict.passed
    assert [(g.words, g.met, g.measured) for g in verdict.goals] == [
        ("few", False, "global_load_requests 96, threads_in_all 1,024"),
        ("read", False, "stub.global_requests 32"),
    ]


def test_every_counter_may_be_named_in_a_goal(tmp_path):
    exercise = write_exercise(
        tmp_path, goals="all: " + " + ".join([*COUNTERS[:8], *(f"stub.{c}" for c in COUNTERS[8:16])]) + " > 0"
    )
    assert exercise.mistakes == () and judged(RIGHT, exercise).passed


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("a[i] + 10", "a[i] +", 9, "Syntax error: invalid syntax."),
        ("a[i] + 10", "b[i]", 9, "b is not defined"),
        ("a[i] + 10", "a[i] // 0", 9, ""),
        ("add_ten", "add_nine", 0, "The file has no kernel named add_ten"),
        ("@cuda.jit\n", "", 0, "is not a @cuda.jit kernel"),
        ("(a, out)", "(a)", 5, "takes (a, out) in this exercise, not (a)"),
        ("import numpy", "import no_such_module, numpy", 1, "No module named 'no_such_module'"),
        ("\n\n@cuda", "\n\nraise SystemExit('enough')\n@cuda", 5, "SystemExit: enough"),
        (BODY, BODY + "\nadd_ten[1, 4](np.zeros(4), np.zeros(4))\n", 11, "Your file launches a kernel when it is"),
        (BODY, "        out[i] = a + 10\n", 9, "there is no setitem("),
        (BODY, f"        pass\n    while out[0] == 0:\n    {BODY}", 10, ""),
    ],
)  # fmt: skip
def test_a_text_that_does_not_run_is_reported_at_its_line_and_the_next_one_is_judged(old, new, line, message):
    text = RIGHT.replace(old, new)
    assert text != RIGHT
    verdict = judged(text)
    assert not verdict.passed
    if message:
        reported = [(verdict.error, verdict.line), *((case.error, case.line) for case in verdict.cases)]
        assert any(message in sentence and row == line for sentence, row in reported), reported
    assert judged(RIGHT).passed


def test_what_numba_would_not_compile_does_not_pass():
    verdict = judged(RIGHT.replace(BODY, "        out[i] = max([a[i] + 10, 0])\n"))
    (case,) = verdict.cases
    assert not verdict.passed and case.line == 9 and "Numba can't compile add_ten for a GPU" in case.error


def test_a_kernel_that_waits_for_ever_is_reported_at_once():
    verdict = judged(RIGHT.replace(BODY, "        while a[i] >= 0:\n            pass\n"))
    assert not verdict.passed and verdict.cases[-1].error.startswith("The launch never ends: on line ")
    assert len(verdict.cases) == 1 and verdict.cases[0].line in (9, 10)
    assert "thread 0 of block 0" in verdict.cases[-1].error


def test_the_students_file_judges_nothing():
    text = RIGHT.replace("+ 10", "+ 9") + "\n\n# judge\n" + CASES.replace("a + 10", "a + 9")
    assert not judged(text).passed


def test_a_text_that_is_no_utf_8_and_an_empty_one_are_judged():
    assert not judged("# \ud800\n" + STUB).passed
    assert judged("").error.startswith("The file has no kernel named add_ten")


# --- what is wrong with the exercise


@pytest.mark.parametrize(
    ("old", "new", "part", "message"),
    [
        ("a + 10", "a + ten", "yield", "The judge raised NameError: name 'ten' is not defined"),
        ("for n, block in", "for n, block in () and", "def cases", "cases() yields no case"),
        ("{\"out\": a + 10}", "{\"sum\": a + 10}", "yield", "'sum' in 'expected' is not an array of the stub"),
        ("a + 10}", "a[1:] + 10}", "yield", "has the shape (9,), and the argument (10,)"),
        ("def cases", "import no_such_module\ndef cases", "import no_such", "No module named 'no_such_module'"),
    ],
)  # fmt: skip
def test_a_judge_that_fails_is_blamed_and_not_the_student(tmp_path, old, new, part, message):
    assert old in CASES
    exercise = write_exercise(tmp_path, CASES.replace(old, new))
    with pytest.raises(ExerciseError) as raised:
        judged(RIGHT, exercise)
    text = exercise.program.text
    lines = [n for n, line in enumerate(text.splitlines(), 1) if n >= line_of(text, part)]
    assert message in str(raised.value)
    assert any(f"01-ten.py:{line}: " in str(raised.value) for line in lines), raised.value
    assert str(raised.value).startswith("The exercise ten can't be judged: ")


def test_a_stub_that_does_not_run_and_a_goal_that_names_nothing_are_the_exercises(tmp_path):
    with pytest.raises(
        ExerciseError, match=r"01-ten\.py:9: The unchanged stub does not run: .*b is not defined"
    ):
        judged(RIGHT, write_exercise(tmp_path, stub=STUB.replace("= 0", "= b")))
    with pytest.raises(ExerciseError, match=r"01-ten\.md:7: m is not known; there are .*threads"):
        judged(RIGHT, write_exercise(tmp_path, goals="few: global_load_bytes < m"))
    with pytest.raises(ExerciseError, match=r"has a mistake: .*no function cases"):
        judged(RIGHT, write_exercise(tmp_path, cases=""))


# --- what does not end, last: each takes the process with it


def test_an_endless_kernel_is_ended_and_its_line_reported(monkeypatch):
    monkeypatch.setattr(warm_judge(), "_seconds", 1.0)
    verdict = judged(RIGHT.replace(BODY, "        k = 0\n        while k >= 0:\n            k += 1\n"))
    assert not verdict.passed and verdict.line in (10, 11)
    assert verdict.error.startswith("Your kernel did not end after 1 s; it was on line 1")


@pytest.mark.parametrize("work", ["k += 1", "out[i] += a[i]"])
def test_an_endless_kernel_is_judged_before_the_limit(monkeypatch, work):
    monkeypatch.setattr(warm_judge(), "_seconds", 60.0)
    verdict = judged(RIGHT.replace(BODY, f"        k = 0\n        while k >= 0:\n            {work}\n"))
    (case,) = verdict.cases
    assert not verdict.passed and case.line in (10, 11)
    assert case.error.startswith("The launch ") and "in the loop of line 10" in case.error
    assert verdict.trace is not None  # the pane shows the accesses so far


def test_a_judge_that_does_not_end_is_blamed(monkeypatch, tmp_path):
    monkeypatch.setattr(warm_judge(), "_seconds", 1.0)
    exercise = write_exercise(
        tmp_path, CASES.replace("    for n", "    while True:\n        pass\n    for n")
    )
    with pytest.raises(ExerciseError, match=r"it did not end after 1 s, at .*01-ten\.py:1[4-5]"):
        judged(RIGHT, exercise)


def test_a_judging_is_cancelled_and_the_next_goes_on():
    printed, raised = threading.Event(), []
    text = RIGHT.replace(BODY, "        print('on')\n        while i >= 0:\n            i += 1\n")

    def work():
        try:
            warm_judge().judge(add_ten(), text, output=lambda line: printed.set())
        except RunCancelledError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert printed.wait(PATIENCE)
    warm_judge().cancel()
    thread.join(PATIENCE)
    assert len(raised) == 1
    assert judged(RIGHT).passed
    died = judged(RIGHT + "\nimport os\nos._exit(3)\n")
    assert (
        not died.passed and "The process that runs your kernel ended unexpectedly (exit code 3)" in died.error
    )


def test_a_closed_judge_reports_it_and_leaves_no_files():
    judge = Judge()
    folder = judge._worker._folder
    judge.close()
    with pytest.raises(RunCancelledError):
        judge.judge(add_ten(), RIGHT)
    assert not folder.exists()
