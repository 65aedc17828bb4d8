"""The programs and edited kernels of a lecture: which steps need them, and a lecture that shows their launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from ...model.bookmark import Setup
from .changes import EditedKernel, Pane, ProgramLaunch
from .document import Lecture
from .scenes import Scene

ProgramPane = ProgramLaunch | EditedKernel


def runs_program(scene: Scene) -> bool:
    """Check whether a step runs a program or an edited kernel that came with the lecture."""
    return any(not isinstance(pane, Setup) for pane in scene.panes)


def program_panes(lecture: Lecture) -> Iterator[ProgramPane]:
    """Yield the panes of a lecture that need the user's consent."""
    for step in lecture.steps:
        yield from (pane for pane in step.change.show or () if not isinstance(pane, Setup))


def with_setups(lecture: Lecture, setup_of: Callable[[ProgramPane], Pane]) -> Lecture:
    """Replace the panes that need consent by what `setup_of` returns for them."""
    steps = []
    for step in lecture.steps:
        if step.change.show is not None:
            panes = tuple(pane if isinstance(pane, Setup) else setup_of(pane) for pane in step.change.show)
            step = replace(step, change=replace(step.change, show=panes))
        steps.append(step)
    return replace(lecture, steps=tuple(steps))
