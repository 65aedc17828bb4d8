"""The document of a replay of one or two launches, before it is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.bookmark import Bookmark
from ..model.session import Session
from .document import ReplayDocument
from .frames import Form
from .limits import ALL
from .showing import cut, first_showing

# Logical pixels: readable on a phone; larger screens scale it up.
PICTURE = 420, 350


def launches_document(
    look: Bookmark,
    sessions: Sequence[Session],
    text_size: float = 1.0,
    begin: str | None = None,
    end: str | None = None,
    moment: int | None = None,
) -> ReplayDocument:
    """Build the document of the launches in a look's panes; raises TimeAnchorError.

    sessions: of the panes. moment: the one to show first, None for the first load or `begin`. begin, end: anchors such
    as "phase 2"; None for the start and the end.
    """
    shown = tuple(session.prepared().with_findings() for session in sessions)
    title = " and ".join(dict.fromkeys(session.title for session in shown))
    document = ReplayDocument(title, Form(*PICTURE, text_size))
    showing = cut(first_showing(look.panes, shown, look), begin, end)
    if moment is not None:
        last = float(max(session.end for session in shown))
        showing = showing.at_moment(min(max(float(moment), 0.0), last))
    document.add_step({"title": title}, showing, ALL)
    return document
