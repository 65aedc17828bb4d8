"""Replays for tests: pages of small launches, traced in this process."""

from __future__ import annotations

from pathlib import Path

from sessions import application
from tilescope.app.model.bookmark import Bookmark, Setup
from tilescope.app.model.session import Session
from tilescope.app.replays.document import ReplayDocument
from tilescope.app.replays.frames import Form
from tilescope.app.replays.page import page_of
from tilescope.app.replays.showing import Showing, first_showing

FORM = Form(420, 350, 1.0)


def showing_of(*sessions: Session) -> Showing:
    """Return the window's view of sessions of the catalogue when it opens with them."""
    setups = tuple(Setup(session.launch.scenario) for session in sessions)
    return first_showing(setups, sessions, Bookmark(setups, focus=len(setups) - 1))


def draw_replay(*sessions: Session, title: str = "A replay") -> ReplayDocument:
    """Return the document of sessions side by side."""
    application()
    document = ReplayDocument(title, FORM)
    document.add_step({"title": title}, showing_of(*sessions))
    document.draw()
    return document


def write_replay(folder: Path, *sessions: Session, title: str = "A replay") -> Path:
    """Write the page of sessions side by side, and return its file."""
    path = folder / "replay.html"
    path.write_text(page_of(draw_replay(*sessions, title=title).written()), "utf-8")
    return path
