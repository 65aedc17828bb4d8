"""`tilescope lecture NAME -o FILE.ipynb`: a lecture as a notebook whose cells trace and replay its launches."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ....kernels.scenarios.catalogue import CatalogueError
from ...lectures.model.captions import fill_caption
from ...lectures.model.document import Lecture
from ...lectures.model.scenes import scenes_of
from ...lectures.model.sessions import Sessions
from ...model.notebook_file import NotebookCell, details
from ...model.pane_moments import pane_moments
from ...model.setup_text import spec_of

if TYPE_CHECKING:
    from ...lectures.player.step_picture import ResolvedStep

COMPLETE, AROUND = (
    500,
    120,
)  # moments of a launch that is replayed completely; of others, before and after the step's


def lecture_cells(
    lecture: Lecture, sessions: Sessions, progress: Callable[[int], None]
) -> Iterator[NotebookCell]:
    """Yield the cells of a lecture: for each step its text, and a replay from its moment on.

    progress: called with the number of each step before it is traced.
    """
    from ...lectures.player.step_picture import ResolvedStep, panes_below, setups_below

    introduction = fill_caption(lecture.introduction, {}).html
    yield NotebookCell("markdown", f"# {lecture.title}\n\n{introduction}")
    yield NotebookCell("code", "import tilescope")
    scenes, shown = scenes_of(lecture), ""
    for number in range(len(lecture.steps)):
        progress(number)
        setups = setups_below(panes_below(scenes, number))
        traced = [sessions.session_of(setup).prepared() for setup in setups]
        step = ResolvedStep(lecture, scenes, number, setups, traced)
        yield NotebookCell("markdown", _text(step))
        code = _code(step)
        if code and code != shown:
            yield NotebookCell("code", code)
            shown = code


def _text(step: ResolvedStep) -> str:
    """Return the text of a step as Markdown. A question hides its answer, and its caption, which may contain it."""
    caption, answer = step.caption(), step.answer()
    title, texts = f"## {step.step.title}", [caption.html]
    texts += [f"<small>{html.escape(caption.foot)}</small>"] if caption.foot else []
    if answer is None:
        return _joined(title, *texts)
    wording = answer.wording
    choices = "\n".join(f"- {html.escape(choice)}" for choice in wording.choices)
    asked = _joined(f"**{html.escape(wording.ask)}**", choices or html.escape(wording.hint))
    return _joined(title, asked, details("Answer", _joined(html.escape(answer.text), *texts)))


def _joined(*paragraphs: str) -> str:
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _code(step: ResolvedStep) -> str:
    """Return the code that replays a step; "" if it shows a chart, a file or an edited kernel."""
    if step.moment is None or step.scene.look.chart or not step.scene.panes:
        return ""
    if any(setup.file or setup.source for setup in step.setups):
        return ""
    try:
        launches = [f"tilescope.scenario({spec_of(setup)!r})" for setup in step.setups]
    except CatalogueError:
        return ""
    ends = [session.end for session in step.sessions]
    moment, end = int(step.moment.begin), max(ends)
    options = [*launches[1:], f"moment={moment}"]
    if end > COMPLETE:
        positions = max(0, moment - AROUND), min(end, int(step.moment.stand) + AROUND)
        first, last = (int(pane_moments(position, ends, step.scene.look.link)[-1]) for position in positions)
        options += [f'begin="{first}"', f'end="{max(first + 1, last)}"']
    return f"{launches[0]}.replay({', '.join(options)})"
