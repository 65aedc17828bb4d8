"""Shared parts of commands that process a complete lecture: its sessions, problems, and progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ....tracer.run.kept_traces import trace_cache
from ....tracer.run.worker_client import Worker
from ...lectures.model.check import check_lecture
from ...lectures.model.document import Lecture
from ...lectures.model.sessions import PATIENCE, Sessions
from ..common.text_output import print_escaped, show_progress


@contextmanager
def open_sessions(patience: float | None = PATIENCE) -> Iterator[Sessions]:
    """Yield the creator of sessions; patience: seconds that a launch may take, None for any."""
    worker = Worker()
    try:
        yield Sessions(worker, trace_cache(), patience)
    finally:
        show_progress_on_terminal("")
        worker.close()


def has_problems(lecture: Lecture, path: Path, sessions: Sessions) -> bool:
    """Print the problems of a lecture, and return whether there are any."""
    problems = check_lecture(
        lecture, sessions.session_of, lambda step: show_progress_on_terminal(progress_text(lecture, step))
    )
    show_progress_on_terminal("")
    for problem in problems:
        print_escaped(f"{path}:{problem.line}: {problem.sentence}")
    return bool(problems)


def progress_text(lecture: Lecture, step: int) -> str:
    """Describe the current step: "step 3 of 12: The first tile"."""
    return f"step {step + 1} of {len(lecture.steps)}: {lecture.steps[step].title}"


def show_progress_on_terminal(progress: str) -> None:
    """Show the progress on a terminal; "" removes it."""
    if sys.stderr.isatty():
        show_progress(progress)
