"""Check a lecture completely: whether it can be read, shown and computed, once its launches are traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ....kernels.scenarios.catalogue import CatalogueError
from ....kernels.scenarios.suggestions import did_you_mean
from ....tracer.model.plan import PlanError
from ....tracer.run.worker_client import WorkerError
from ....tracer.storage.trace_file import TraceFileError
from ...gpu_timelines.model.place import is_gpu
from ...model.bookmark import Setup
from ...model.pane_moments import pane_moments
from ...model.session import Session, buffer_text
from ...model.setup_launch import values_of
from ...model.spotlight import hidden_names, unknown_names
from .captions import fill_caption
from .document import Lecture, Step
from .expressions import Environment, ExpressionError
from .problems import Problem
from .program_panes import runs_program
from .questions import answer_of
from .scenes import Moment, Scene, moment_of, scenes_of, unplaced
from .time_anchors import TimeAnchorError
from .values import NO_REQUEST, Ask, build_environment

SessionOf = Callable[[Setup], Session]


def environment_of(
    scene: Scene, sessions: Sequence[Session], moment: Moment, ask: Ask | None = None
) -> Environment:
    """Build the environment of names at a step's moment; ask: see `PaneNames`."""
    ends = [session.end for session in sessions]
    moments = pane_moments(moment.stand, ends, scene.look.link)
    values = [values_of(pane) if isinstance(pane, Setup) else {} for pane in scene.panes]
    return build_environment(sessions, moments, moment.selections, values, scene.look.focus, ask=ask)


def check_lecture(
    lecture: Lecture,
    session_of: SessionOf,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[Problem, ...]:
    """List every problem of a lecture, by line; this traces each of its launches.

    progress: called with the number of each step before its check.
    """
    problems = list(lecture.problems)
    scenes = scenes_of(lecture)
    for number, step in enumerate(lecture.steps):
        progress(number)
        problems += _step_problems(lecture, scenes, number, step, session_of)
    return tuple(sorted(set(problems)))


def _step_problems(
    lecture: Lecture,
    scenes: Sequence[Scene],
    number: int,
    step: Step,
    session_of: SessionOf,
) -> Iterator[Problem]:
    scene = scenes[number]
    if not scene.panes and (not scene.look.chart or is_gpu(scene.look.chart)):
        if not lecture.problems:
            yield Problem(step.line, "Nothing is shown yet; add a line show: SCENARIO.")
        return
    if runs_program(scene):
        return
    try:
        sessions = [session_of(pane) for pane in scene.panes if isinstance(pane, Setup)]
    except (WorkerError, TraceFileError, CatalogueError, PlanError) as error:
        yield Problem(step.line_of("show"), str(error))
        return
    try:
        moment = moment_of(lecture, scenes, number, sessions)
        placed = True
    except TimeAnchorError as error:
        moment, placed = unplaced(sessions), False
        if error.step == number:  # else that step reports it
            yield Problem(_line_of_place(step), str(error))
    unknown = unknown_names(scene.look.spotlight, sessions)
    for sentence in (unknown | hidden_names(scene.look, sessions)).values():
        yield Problem(step.line_of("spotlight"), sentence)
    yield from _zoom_problems(step, scene, sessions)
    yield from _path_problems(step, scene, sessions)
    names = environment_of(scene, sessions, moment)
    for problem in _number_problems(step, names):
        if placed or NO_REQUEST not in problem.sentence:  # there may be one at the right place
            yield problem


def _number_problems(step: Step, names: Environment) -> Iterator[Problem]:
    yield from fill_caption(step.caption, names).problems
    yield from fill_caption(step.spoken, names).problems
    if (question := step.change.question) is not None:
        try:
            question.ask.fill(names)
        except ExpressionError as error:
            yield Problem(step.line_of("ask"), str(error))
            return
        try:
            answer_of(question, names)
        except ExpressionError as error:
            yield Problem(step.line_of("answer"), str(error))


def _zoom_problems(step: Step, scene: Scene, sessions: Sequence[Session]) -> Iterator[Problem]:
    buffers = [buffer for session in sessions for buffer in session.trace.buffers]
    names = list(dict.fromkeys(map(buffer_text, buffers)))
    for name in step.change.zoom or ():
        if name not in {*names, *(buffer.name for buffer in buffers)}:
            sentence = f"There is no buffer {name} to zoom to{did_you_mean(name, names)}"
            yield Problem(step.line_of("zoom"), sentence)


def _path_problems(step: Step, scene: Scene, sessions: Sequence[Session]) -> Iterator[Problem]:
    """Report a traced element that no pane has."""
    traced = scene.look.traced
    if traced is None or not sessions:
        return
    from ....tracer.causes.named_element import NoElementError  # most steps show no path
    from ...model.value_causes import element_named

    sentences = []
    for session in sessions:
        try:
            element_named(session, traced.element, traced.block, traced.thread)
        except NoElementError as error:
            sentences.append(str(error))
    if len(sentences) == len(sessions):
        key = "trace forward" if traced.forward else "trace back"
        yield Problem(step.line_of(key), f"{sentences[-1][:1].upper()}{sentences[-1][1:]}")


def _line_of_place(step: Step) -> int:
    """Find the line of a step that sets its time or selection."""
    lines = dict(step.lines)
    return next(
        (lines[key] for key in ("at", "element", "thread", "block", "play") if key in lines), step.change_line
    )
