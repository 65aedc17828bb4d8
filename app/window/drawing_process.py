"""The process that draws replays for notebooks: it reads requests and writes answers, each a line of JSON.

It stays between requests, because Qt takes longer to load than a small launch takes to draw.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from ...tracer.processes.json_streams import make_sender, private_streams
from ...tracer.processes.parent_death import die_with_parent
from ...tracer.storage.atomic_write import write_atomically
from ...tracer.storage.trace_file import TraceFileError
from ..lectures.model.time_anchors import TimeAnchorError
from ..model.first_bookmark import first_bookmark
from ..model.session import session_of_file
from ..replays.drawing_request import DrawingAnswer, DrawingRequest
from ..widgets.widget_picture import PictureError

UNASKED_MOMENTS, UNASKED_BYTES = 500, 3_000_000  # of a page that is drawn without a question
BYTES_PER_MOMENT = 1_000  # of a page, about


def main() -> None:
    """Answer requests until the input closes."""
    die_with_parent()
    source, target = private_streams()
    send = make_sender(target)
    problem = _load_qt()
    for line in source:
        request = msgspec.json.decode(line, type=DrawingRequest)
        send(DrawingAnswer(error=problem) if problem else _answer(request))


def _load_qt() -> str:
    """Load Qt and what draws; return a sentence if that is impossible."""
    if sys.platform.startswith("linux"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"  # nothing is shown, and the display may be gone
    try:
        from ..replays import launches, page  # noqa: F401  # loaded before the first request comes
        from .start import application
    except ImportError as error:
        return f"Replays are drawn with PySide6, which can't be loaded ({error}); install what is missing."
    application()
    return ""


def _answer(request: DrawingRequest) -> DrawingAnswer:
    try:
        return _draw(request)
    except TraceFileError as error:  # its file is ours, and means nothing to the user
        _, _, problem = str(error).partition(": ")
        return DrawingAnswer(error=f"The launch can't be replayed: {problem or error}")
    except (TimeAnchorError, PictureError) as error:
        return DrawingAnswer(error=str(error))
    except OSError as error:
        return DrawingAnswer(error=f"The page can't be written: {error.strerror or error}.")


def _draw(request: DrawingRequest) -> DrawingAnswer:
    from ..replays.launches import launches_document
    from ..replays.limits import SECONDS, check_bytes, check_moments
    from ..replays.page import page_of

    sessions = [session_of_file(Path(file)) for file in request.files]
    look = first_bookmark(request.files, None)
    document = launches_document(look, sessions, begin=request.begin, end=request.end, moment=request.moment)
    name = Path(request.output).name
    check_moments(document, name)
    if document.moments > UNASKED_MOMENTS and not request.is_large:
        seconds, size = document.moments * SECONDS, document.moments * BYTES_PER_MOMENT
        return DrawingAnswer(size=f"{document.moments:,} moments, about {seconds:.0f} s and {_text(size)}")
    document.draw()
    content = page_of(document.written()).encode("utf-8")
    check_bytes(content, name)
    if len(content) > UNASKED_BYTES and not request.is_large:
        return DrawingAnswer(size=f"{document.moments:,} moments and {_text(len(content))}")
    write_atomically(Path(request.output), content)
    return DrawingAnswer()


def _text(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


if __name__ == "__main__":
    main()
