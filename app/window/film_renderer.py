"""The process that renders the window's content in an offscreen window, while the user goes on working.

It reads messages (`recording/messages.py`) from its input, one a line, and writes answers to its output.
"""

from __future__ import annotations

import queue
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO

import msgspec

from ...tracer.model.finding import count_noun
from ...tracer.processes.json_streams import make_sender, private_streams
from ...tracer.run.worker_client import Worker, WorkerError
from ...tracer.storage.atomic_write import write_atomically
from ..films.files import check_kind, check_output
from ..films.frames import WindowFrames, film_of
from ..films.kinds import KINDS, PAGE, Kind, check_size, kind_of, rate_for
from ..films.model.film import Film
from ..films.model.gif_palette import Frame
from ..films.model.messages import (
    Answer,
    Ask,
    Expected,
    Failed,
    Message,
    Preview,
    Progress,
    Show,
    Write,
    Written,
)
from ..films.model.pictures_file import image_of
from ..films.model.wanted import FilmOptions
from ..films.recording import FilmRendering
from ..lectures.model.time_anchors import TimeAnchorError
from ..replays.document import ReplayDocument
from ..replays.frames import Form
from ..replays.limits import ALL, check_bytes, check_moments
from ..replays.page import page_of
from ..replays.showing import cut, first_showing
from ..widgets.widget_picture import PictureError, prepare_qt
from .offscreen_window import offscreen_window
from .room import apply_room

PAGE_PICTURE = 420, 350  # logical pixels of a page's pictures, small enough for a phone
STEPS = 100  # progress messages at most


class _StoppedError(Exception):
    """The user has stopped a page that is being drawn."""


class FilmRenderer:
    """Answers messages for one window, one after the other."""

    def __init__(
        self, show: Show, messages: queue.Queue[Message | None], send: Callable[[Answer], None]
    ) -> None:
        """Raises PictureError without a trace."""
        self._messages, self._send = messages, send
        self._worker = Worker()
        self._window = offscreen_window(self._worker, show.mark, None, FilmOptions().size, show.trusted)
        self._room, self._caption = show.room, show.caption
        self._selections = self._window.stage.selections

    def run(self) -> None:
        """Answer messages until the input ends."""
        while (message := self._messages.get()) is not None:
            try:
                if isinstance(message, Ask):
                    self._answer(message)
                elif isinstance(message, Write):
                    self._write(message)
            except (PictureError, WorkerError) as error:
                self._send(Failed(str(error), message.number if isinstance(message, Ask) else 0))
        self._window.close()
        self._worker.close()

    def _frames(self, wanted: FilmOptions, kind: Kind, rate: Fraction) -> WindowFrames:
        check_size(kind, wanted.size, wanted.scale)
        stage = self._window.stage
        stage.choose(self._selections)
        film: Film = film_of(stage, wanted, rate)
        return WindowFrames(self._window, film, wanted, partial(apply_room, self._window.central, self._room))

    def _answer(self, ask: Ask) -> None:
        """Send a preview frame, then an estimate of the file's size, unless a new message arrives."""
        if ask.output.endswith(PAGE.suffix):
            self._answer_page(ask)
            return
        kind = kind_of(ask.output)
        rate = rate_for(kind, ask.wanted.rate)
        self._look(ask.wanted)
        frames = self._frames(ask.wanted, kind, rate)
        stills = list(frames.film.stills())
        still = stills[round(ask.share * (len(stills) - 1))]
        picture = _scaled(frames.draw(still), ask.width)
        film = frames.film
        self._send(Preview(ask.number, picture, still.moment, film.seconds, film.frames))
        check_kind(kind)
        if self._messages.empty():
            estimate = FilmRendering(frames, kind, rate, ask.wanted.theme).estimate
            self._send(Expected(ask.number, estimate.text(), estimate.is_long))

    def _answer_page(self, ask: Ask) -> None:
        """Send a preview frame and the number of moments on the page."""
        kind, wanted = KINDS[-1], msgspec.structs.replace(ask.wanted, scale=1.0)
        self._look(wanted)
        frames = self._frames(wanted, kind, rate_for(kind, None))
        stills = list(frames.film.stills())
        still = stills[round(ask.share * (len(stills) - 1))]
        picture = _scaled(frames.draw(still), ask.width)
        document = self._document(wanted)
        self._send(Preview(ask.number, picture, still.moment, frames.film.seconds, document.moments))
        text = f"A page that any browser opens, with {count_noun(document.moments, 'moment')}"
        self._send(Expected(ask.number, text, is_long=False))

    def _document(self, wanted: FilmOptions) -> ReplayDocument:
        """Build the page for the current window without its pictures; raises PictureError."""
        stage, mark = self._window.stage, self._window.bookmark()
        sessions = tuple(session for session in stage.sessions if session is not None)
        title = " and ".join(dict.fromkeys(session.title for session in sessions))
        document = ReplayDocument(title, Form(*PAGE_PICTURE, wanted.text_size))
        mark = msgspec.structs.replace(mark, speed=wanted.speed)
        begin, end = (
            str(anchor) if anchor not in ("start", "end") else None for anchor in (wanted.begin, wanted.end)
        )
        try:
            showing = cut(first_showing(stage.setups, sessions, mark), begin, end)
        except TimeAnchorError as error:
            raise PictureError(str(error)) from None
        document.add_step({"title": title}, showing, ALL)
        return document

    def _write_page(self, message: Write) -> None:
        """Draw and write the page, unless a message arrives."""
        document = self._document(message.wanted)
        check_moments(document, message.output)

        def progress(done: int, total: int) -> None:
            if not self._messages.empty():
                raise _StoppedError
            if done % max(1, total // STEPS) == 0:
                self._send(Progress(done, total))

        try:
            document.draw(progress)
        except _StoppedError:
            self._send(Failed(""))
            return
        page = page_of(document.written()).encode("utf-8")
        check_bytes(page, message.output)
        try:
            write_atomically(Path(message.output), page)
        except OSError as error:
            raise PictureError(
                f"{message.output} could not be written: {error.strerror or error}."
            ) from error
        self._send(Written(message.output))

    def _look(self, wanted: FilmOptions) -> None:
        """Apply theme, text size, speed and caption."""
        look, bar = self._window.look, self._window.central.caption
        look.show(wanted.theme, wanted.text_size, look.theme.reduced_motion)
        self._window.playhead.set_speed(wanted.speed)
        bar.show_caption(*(self._caption if wanted.captions else ("", "", "")))

    def _write(self, message: Write) -> None:
        """Render a film, unless a message arrives."""
        if message.output.endswith(PAGE.suffix):
            self._write_page(message)
            return
        kind, path = kind_of(message.output), Path(message.output)
        check_output(kind, path)
        rate = rate_for(kind, message.wanted.rate)
        self._look(message.wanted)
        recording = FilmRendering(self._frames(message.wanted, kind, rate), kind, rate, message.wanted.theme)
        total = recording.estimate.frames
        reported = 0
        with closing(recording.write(path)) as written:
            for done in written:
                if not self._messages.empty():
                    break
                if done - reported >= total / STEPS:
                    reported = done
                    self._send(Progress(done, total))
            else:
                self._send(Written(message.output))
                return
        self._send(Failed(""))


def _scaled(frame: Frame, width: int) -> bytes:
    """Encode a frame as PNG, no wider than this."""
    picture, packed = image_of(frame), BytesIO()
    picture.thumbnail((width, picture.height))
    picture.save(packed, "PNG", compress_level=1)
    return packed.getvalue()


def _read(source: IO[bytes], messages: queue.Queue[Message | None]) -> None:
    """Read messages in a thread and queue them, with None at the end."""
    for line in source:
        messages.put(msgspec.json.decode(line, type=Message))
    messages.put(None)


def main() -> None:
    """Answer the parent process until it ends."""
    source, target = private_streams()
    send = make_sender(target)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles it
    show = msgspec.json.decode(source.readline(), type=Show)
    messages: queue.Queue[Message | None] = queue.Queue()
    threading.Thread(target=_read, args=(source, messages), daemon=True).start()
    prepare_qt(show.scale)
    try:
        FilmRenderer(show, messages, send).run()
    except PictureError as error:
        send(Failed(str(error)))
        sys.exit(1)


if __name__ == "__main__":
    main()
