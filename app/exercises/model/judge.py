"""Judge a student's text: the worker runs it on the judge's cases, and Numba's compiler checks it meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from ....tracer.findings.float64 import KIND as FLOAT64
from ....tracer.findings.float64 import float64_lines
from ....tracer.findings.not_compiled import KIND, SEVERITY, refusal_message
from ....tracer.judging.result import CaseResult, JudgedFinding, Judgement, JudgingTask
from ....tracer.model.finding import message_of
from ....tracer.model.launch import is_utf8
from ....tracer.model.trace import Trace
from ....tracer.run.worker_client import JUDGING_SECONDS, JudgingTimeoutError, Worker, WorkerError
from ....tracer.storage.folders import cache_folder
from ....tracer.type_inference.client import Answer, TypeInference
from ....tracer.type_inference.question import Question
from ...model.visible_text import escape_controls
from .document import Exercise, student_file
from .goals import Goal, GoalError, names_of_case
from .mistakes import ExerciseError
from .remedies import leave_out_untried
from .verdict import GoalVerdict, Verdict

ANSWERS = "compiler"  # the folder of the compiler's answers in the cache


class Judge:
    """Judges texts one after the other, in processes that stay warm. Callable from any thread."""

    def __init__(self, seconds: float = JUDGING_SECONDS) -> None:
        """Create the worker and the compiler's client; seconds: the limit for a judging."""
        self._worker, self._seconds = Worker(), seconds
        self._inference = TypeInference(cache_folder() / ANSWERS)

    def start(self) -> None:
        """Start the worker and return at once: it loads numba meanwhile."""
        self._worker.start()

    def judge(
        self, exercise: Exercise, text: str, file: Path | None = None,
        output: Callable[[str], None] | None = None,
    ) -> Verdict:  # fmt: skip
        """Judge a student's text, after all earlier judgings.

        file: the name of the text in messages and in the trace; it need not exist. `output(text)` gets the printed
        text, in the calling thread. Raises Cancelled after `cancel` or `close`, and ExerciseError if the exercise
        itself is faulty.
        """
        if exercise.mistakes:
            raise ExerciseError(f"The exercise {exercise.name} has a mistake: {exercise.mistakes[0]}")
        start = time.perf_counter()
        task = _task(exercise, text, file or student_file(exercise))
        questions: list[Question] = []

        def ask(question: Question) -> None:
            questions.append(question)
            self._inference.ask(question)

        try:
            judgement, trace = self._worker.judge(task, ask, output, self._seconds)
        except JudgingTimeoutError as error:
            return _not_ended(exercise, task, error, time.perf_counter() - start)
        except WorkerError as error:
            return _verdict(exercise, Judgement(error=_sentence(error)), (), None, start)
        if judgement.fault:
            where = f"{task.file}:{judgement.fault_line}"
            raise ExerciseError(
                f"The exercise {exercise.name} can't be judged: {where}: {escape_controls(judgement.fault)}"
            )
        compiled = tuple(_compiler_findings(map(self._inference.answer_to, questions), exercise.kernel))
        return _verdict(exercise, judgement, compiled, trace, start)

    def cancel(self) -> None:
        """Cancel the current judging, if there is one."""
        self._worker.cancel()

    def close(self) -> None:
        """End the processes; a current judging is cancelled."""
        self._worker.close()
        self._inference.close()


def _task(exercise: Exercise, text: str, file: Path) -> JudgingTask:
    """Build the worker's task; raises ExerciseError for file names that are not UTF-8."""
    program = exercise.program
    for path in (program.path, file):
        if not is_utf8(str(path.absolute())):
            raise ExerciseError(
                f"The name of {escape_controls(path)}, or of its folder, is not UTF-8; rename it."
            )
    text = text.encode("utf-8", "replace").decode()  # invalid characters do not make a valid program either
    is_cpp = exercise.language == "cuda-cpp"
    return JudgingTask(
        str(program.path.absolute()), program.text, exercise.kernel, str(file.absolute()), text, "", "",
        str(program.path.with_suffix(".cu").absolute()) if is_cpp else "", exercise.cuda_cpp if is_cpp else "",
        exercise.order,
    )  # fmt: skip


def _sentence(error: WorkerError) -> str:
    return escape_controls(str(error)).replace(
        "The tracing process ended", "The process that runs your kernel ended"
    )


def _not_ended(exercise: Exercise, task: JudgingTask, error: JudgingTimeoutError, seconds: float) -> Verdict:
    """Return the verdict on a text that did not end; raises ExerciseError if the exercise's own code did not."""
    file, line = error.position
    if file == task.file and line:
        where = f"{file}:{line}"
        raise ExerciseError(
            f"The exercise {exercise.name} can't be judged: it did not end after {error.seconds:.0f} s, at {where}."
        )
    is_students = file == task.student_file and line > 0
    where = f"; it was on line {line} when it was stopped" if is_students else ""
    sentence = f"Your kernel did not end after {error.seconds:.0f} s{where}."
    return Verdict(exercise.name, False, sentence, line if is_students else 0, seconds=seconds)


def _verdict(
    exercise: Exercise,
    judgement: Judgement,
    compiled: tuple[JudgedFinding, ...],
    trace: Trace | None,
    start: float,
) -> Verdict:
    """Build the verdict from a judgement; raises ExerciseError for a goal that can't be computed."""
    complete = (
        bool(judgement.cases) and len(judgement.cases) == judgement.count and not judgement.cases[-1].error
    )
    goals = _goals(exercise, judgement.cases[-1], judgement.stub_counters) if complete else ()
    errors = any(f.severity == "error" for case in judgement.cases for f in case.findings) or any(
        f.severity == "error" for f in compiled
    )
    right = complete and all(case.correct != bool(exercise.order) for case in judgement.cases)
    cases = [replace(case, findings=leave_out_untried(case.findings)) for case in judgement.cases]
    passed = right and not errors and all(goal.met for goal in goals)
    return Verdict(
        exercise.name, passed, escape_controls(judgement.error), judgement.line, tuple(cases), compiled, goals,
        judgement.stub_counters, time.perf_counter() - start, trace, bool(exercise.order), judgement.pictured,
    )  # fmt: skip


def _goals(exercise: Exercise, last: CaseResult, stub: Mapping[str, int]) -> tuple[GoalVerdict, ...]:
    names = names_of_case(last, stub)

    def judge_goal(goal: Goal) -> GoalVerdict:
        try:
            return GoalVerdict(goal.words, goal.is_met(names), goal.expression.text, goal.measured(names))
        except GoalError as error:
            where = f"{exercise.path}:{goal.line}"
            raise ExerciseError(f"The exercise {exercise.name} can't be judged: {where}: {error}") from None

    return tuple(map(judge_goal, exercise.goals))


def _compiler_findings(answers: Iterable[Answer], kernel: str) -> Iterable[JudgedFinding]:
    """Yield the findings of Numba's compiler: the first refusal of some arguments, and float64 arithmetic."""
    answers = list(answers)
    refused = next((answer.refusal for answer in answers if answer.refusal), None)
    if refused:
        sentence = refusal_message(kernel, refused)
        yield JudgedFinding(KIND, SEVERITY, refused.file, refused.line, sentence, 0, refused.remedy)
    for line in float64_lines(answers[0].operations if answers else ()):
        message = message_of(line.message, line.also)
        yield JudgedFinding(FLOAT64, line.severity, line.file, line.line, message, 0, line.remedy)
