"""Judging a student's text: the worker runs it on the judge's cases, Numba's compiler looks at it meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ...tracer.findings.float64 import KIND as FLOAT64
from ...tracer.findings.float64 import float64_lines
from ...tracer.findings.not_compiled import KIND, SEVERITY, refusal_message
from ...tracer.judging.result import CaseResult, JudgedFinding, Judgement, JudgingTask
from ...tracer.model.finding import message_of
from ...tracer.model.launch import is_utf8
from ...tracer.model.trace import Trace
from ...tracer.run.worker_client import JUDGING, NoEnd, Worker, WorkerError
from ...tracer.storage.folders import cache_folder
from ...tracer.type_inference.client import Answer, TypeInference
from ...tracer.type_inference.question import Question
from ..model.visible_text import visible
from .document import Exercise, file_of
from .goals import Goal, GoalError, names_of_case
from .mistakes import ExerciseError
from .verdict import GoalVerdict, Verdict

ANSWERS = "compiler"  # the folder of the compiler's answers that are kept, among what can be made again


class Judge:
    """Judges one text after the other, in processes that stay warm between them. Any thread may call."""

    def __init__(self, seconds: float = JUDGING) -> None:
        """Seconds: that a judging may take."""
        self._worker, self._seconds = Worker(), seconds
        self._inference = TypeInference(cache_folder() / ANSWERS)

    def start(self) -> None:
        """Start the worker and return at once: it loads numba meanwhile."""
        self._worker.start()

    def judge(
        self, exercise: Exercise, text: str, file: Path | None = None,
        output: Callable[[str], None] | None = None,
    ) -> Verdict:  # fmt: skip
        """Return what a student's text comes to, after the judgings that were asked for before.

        file: what the text is called in messages and in the trace; it need not be there. `output(text)` gets what is
        printed, in the calling thread. Raises Cancelled after `cancel` or `close`, and ExerciseError where it is the
        exercise with which something is wrong.
        """
        if exercise.mistakes:
            raise ExerciseError(f"The exercise {exercise.name} has a mistake: {exercise.mistakes[0]}")
        start = time.perf_counter()
        task = _task(exercise, text, file or file_of(exercise))
        questions: list[Question] = []

        def ask(question: Question) -> None:
            questions.append(question)
            self._inference.ask(question)

        try:
            found, trace = self._worker.judge(task, ask, output, self._seconds)
        except NoEnd as error:
            return _not_ended(exercise, task, error, time.perf_counter() - start)
        except WorkerError as error:
            return _verdict(exercise, Judgement(error=_sentence(error)), (), None, start)
        if found.fault:
            where = f"{task.file}:{found.fault_line}"
            raise ExerciseError(f"The exercise {exercise.name} can't judge: {where}: {visible(found.fault)}")
        compiled = tuple(_of_compiler(map(self._inference.answer_to, questions), exercise.kernel))
        return _verdict(exercise, found, compiled, trace, start)

    def cancel(self) -> None:
        """End the judging under way, if there is one."""
        self._worker.cancel()

    def close(self) -> None:
        """End the processes; a judging under way is cancelled."""
        self._worker.close()
        self._inference.close()


def _task(exercise: Exercise, text: str, file: Path) -> JudgingTask:
    """Return what the worker is asked; raises ExerciseError for names of files that can't be told it."""
    program = exercise.program
    for path in (program.path, file):
        if not is_utf8(str(path.absolute())):
            raise ExerciseError(f"The name of {visible(path)}, or of its folder, is not UTF-8; rename it.")
    text = text.encode("utf-8", "replace").decode()  # what is no character makes no program either
    return JudgingTask(
        str(program.path.absolute()), program.text, exercise.kernel, str(file.absolute()), text, "", ""
    )


def _sentence(error: WorkerError) -> str:
    return visible(str(error)).replace("The tracing process ended", "What runs your kernel ended")


def _not_ended(exercise: Exercise, task: JudgingTask, error: NoEnd, seconds: float) -> Verdict:
    """Return the verdict of a text that did not end; raises ExerciseError where the exercise did not."""
    file, line = error.at
    if file == task.file and line:
        where = f"{file}:{line}"
        raise ExerciseError(
            f"The exercise {exercise.name} can't judge: it has not ended after {error.seconds:.0f} s, at {where}."
        )
    mine = file == task.student_file and line > 0
    where = f"; it was on line {line} when it was ended" if mine else ""
    sentence = f"Your kernel has not come to its end after {error.seconds:.0f} s{where}."
    return Verdict(exercise.name, False, sentence, line if mine else 0, seconds=seconds)


def _verdict(
    exercise: Exercise,
    found: Judgement,
    compiled: tuple[JudgedFinding, ...],
    trace: Trace | None,
    start: float,
) -> Verdict:
    """Return the verdict of what came of a text; raises ExerciseError for a goal that can't be computed."""
    complete = bool(found.cases) and len(found.cases) == found.count and not found.cases[-1].error
    goals = _goals(exercise, found.cases[-1], found.stub_counters) if complete else ()
    errors = any(f.severity == "error" for case in found.cases for f in case.findings) or any(
        f.severity == "error" for f in compiled
    )
    right = complete and all(case.correct for case in found.cases)
    passed = right and not errors and all(goal.met for goal in goals)
    return Verdict(
        exercise.name, passed, visible(found.error), found.line, found.cases, compiled, goals, found.stub_counters,
        time.perf_counter() - start, trace,
    )  # fmt: skip


def _goals(exercise: Exercise, last: CaseResult, stub: Mapping[str, int]) -> tuple[GoalVerdict, ...]:
    names = names_of_case(last, stub)

    def of(goal: Goal) -> GoalVerdict:
        try:
            return GoalVerdict(goal.words, goal.is_met(names), goal.expression.text, goal.measured(names))
        except GoalError as error:
            where = f"{exercise.path}:{goal.line}"
            raise ExerciseError(f"The exercise {exercise.name} can't judge: {where}: {error}") from None

    return tuple(map(of, exercise.goals))


def _of_compiler(answers: Iterable[Answer], kernel: str) -> Iterable[JudgedFinding]:
    """Yield what Numba's compiler makes of a kernel: the first refusal of some arguments, and float64 arithmetic."""
    told = list(answers)
    refused = next((answer.refusal for answer in told if answer.refusal), None)
    if refused:
        sentence = refusal_message(kernel, refused)
        yield JudgedFinding(KIND, SEVERITY, refused.file, refused.line, sentence, 0, refused.remedy)
    for line in float64_lines(told[0].operations if told else ()):
        message = message_of(line.message, line.also)
        yield JudgedFinding(FLOAT64, line.severity, line.file, line.line, message, 0, line.remedy)
