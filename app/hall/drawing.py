"""The process that draws the steps of a lecture as replays for phones: it reads requests and writes answers."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from ...kernels.scenarios.catalogue import CatalogueError
from ...tracer.model.plan import PlanError
from ...tracer.processes.json_streams import make_sender, private_streams
from ...tracer.processes.parent_death import die_with_parent
from ...tracer.run.kept_traces import trace_cache
from ...tracer.run.worker_client import Worker, WorkerError
from ...tracer.storage.atomic_write import write_atomically
from ...tracer.storage.trace_file import TraceFileError
from ..lectures.model.document import Lecture, read_lecture
from ..lectures.model.problems import LectureError
from ..lectures.model.program_panes import with_setups
from ..lectures.model.scenes import scenes_of
from ..lectures.model.sessions import Sessions
from ..lectures.model.time_anchors import TimeAnchorError
from ..model.bookmark import Setup
from ..widgets.widget_picture import PictureError
from .model.drawing import DrawnStep, DrawStep

MOST_MOMENTS = 300  # of a step: 300 phones fetch it at once
ENDING = ".html.gz"
PROBLEMS = (
    CatalogueError, PlanError, WorkerError, TraceFileError, LectureError, TimeAnchorError, PictureError, OSError,
)  # fmt: skip


def main() -> None:
    """Answer requests until the input closes."""
    die_with_parent()
    source, target = private_streams()
    send = make_sender(target)
    if sys.platform.startswith("linux"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"  # nothing is shown
    from ..window.start import application

    application()
    worker = Worker()
    sessions = Sessions(worker, trace_cache(), None)
    for line in source:
        request = msgspec.json.decode(line, type=DrawStep)
        try:
            send(draw_step(request, sessions))
        except PROBLEMS as error:
            send(DrawnStep(error=str(error)))
    worker.close()


def draw_step(request: DrawStep, sessions: Sessions) -> DrawnStep:
    """Write the pages of a step."""
    folder = Path(request.folder)
    lecture = read_lecture(Path(request.path))
    document = _drawn_step(_with_programs(lecture, request), request.number, sessions)
    shown = asking = request.name + ENDING
    if document["steps"][0].get("question"):
        asking = f"{request.name}-asks{ENDING}"
        _write(folder / asking, without_answers(document))
    for key in ("question", "asking"):
        document["steps"][0].pop(key, None)
    _write(folder / shown, document)
    return DrawnStep(shown, asking)


def _with_programs(lecture: Lecture, request: DrawStep) -> Lecture:
    """Replace the panes of the step's programs by the setups that the window has for them."""
    from ..lectures.player.step_picture import panes_below

    panes = zip(panes_below(scenes_of(lecture), request.number), request.setups, strict=False)
    setups = {pane: setup for pane, setup in panes if not isinstance(pane, Setup)}
    return with_setups(lecture, lambda pane: setups.get(pane, pane))


def _drawn_step(lecture: Lecture, number: int, sessions: Sessions) -> dict[str, Any]:
    """Draw a step as the document of a replay."""
    from ..lectures.player.step_picture import ResolvedStep, panes_below, setups_below
    from ..replays.document import ReplayDocument
    from ..replays.frames import Form
    from ..replays.launches import PICTURE
    from ..replays.lecture_steps import add_lecture_step

    scenes = scenes_of(lecture)
    setups = setups_below(panes_below(scenes, number))
    step_sessions = [sessions.session_of(setup).prepared().with_findings() for setup in setups]
    standing = ResolvedStep(lecture, scenes, number, setups, step_sessions)
    document = ReplayDocument(standing.step.title, Form(*PICTURE, 1.0))
    add_lecture_step(document, standing, limit=MOST_MOMENTS)
    document.draw()
    return document.written() | {"framed": True}


def without_answers(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document that stays at its first moment, without texts and numbers that answer its question."""
    step = dict(document["steps"][0])
    tracks = document["tracks"]
    for key in ("question", "paths"):
        step.pop(key, None)
    step |= {"asks": True, "caption": [], "foot": "", "plays": False}
    if "tracks" in step:
        numbers = step.pop("asking", step["tracks"])
        tracks = [tracks[number] for number in numbers]
        position = step["begin"]
        step |= {
            "tracks": list(range(len(tracks))),
            "stand": position,
            "range": [min(step["range"][0], position), position],
        }
    hidden = {"verdict": "", "lesson": "", "pitfall": "", "findings": []}
    sessions = [
        session | hidden | {"counters": [counter | {"texts": [[], []]} for counter in session["counters"]]}
        for session in document["sessions"]
    ]
    return document | {"steps": [step], "tracks": tracks, "sessions": sessions}


def _write(path: Path, document: dict[str, Any]) -> None:
    from ..replays.page import page_of

    write_atomically(path, gzip.compress(page_of(document).encode(), 6), durable=False)


if __name__ == "__main__":
    main()
