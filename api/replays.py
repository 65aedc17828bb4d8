"""Replays of launches that play in a notebook's output, also in a saved notebook without a kernel."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path

import msgspec

from ..app.replays.drawing_request import MODULE, DrawingAnswer, DrawingRequest
from ..tracer.model.trace import Trace
from ..tracer.processes.json_process import StartError, module_command
from ..tracer.processes.process_client import ProcessClient, ProcessEndedError, RunCancelledError
from ..tracer.storage.atomic_write import write_atomically
from .errors import TilescopeError
from .notebook_frame import frame_of, notice_of
from .pictures import saved_launches

SECONDS = 900.0  # until a page counts as not drawn
NOTEBOOKS = "ipykernel", "marimo"  # modules of kernels that show HTML
MimeBundle = dict[str, str]


class LargeReplayError(TilescopeError):
    """A replay is larger than what is drawn without a question; the text has its size and how to draw it."""

    __module__ = "tilescope"


class Replay:
    """A replay of one launch, or of two side by side. At the end of a cell it plays in the notebook."""

    __module__ = "tilescope"  # where users find it

    def __init__(
        self, loads: Sequence[Callable[[], Trace]], moment: int | None, begin: str | None, end: str | None, *,
        is_large: bool,
    ) -> None:  # fmt: skip
        self._loads, self._range, self._is_large = tuple(loads), (moment, begin, end), is_large

    @cached_property
    def page(self) -> str:
        """The page: one HTML document that fetches nothing. Raises TilescopeError if it can't be drawn."""
        with saved_launches([load() for load in self._loads]) as (folder, files):
            output = folder / "replay.html"
            request = DrawingRequest(tuple(map(str, files)), str(output), *self._range, self._is_large)
            answer = _ask(request)
            if answer.error:
                raise TilescopeError(answer.error)
            if answer.size:
                raise LargeReplayError(
                    f"The replay has {answer.size}. launch.replay(large=True) draws it, and "
                    'launch.replay(end="phase 2") only a part.'
                )
            return output.read_text("utf-8")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page atomically, for any browser; raises TilescopeError."""
        file, page = Path(path), self.page
        try:
            write_atomically(file, page.encode("utf-8"))
        except FileNotFoundError as error:
            raise TilescopeError(f"{file} can't be written: there is no folder {file.parent}.") from error
        except OSError as error:
            raise TilescopeError(f"{file} can't be written: {error.strerror or error}.") from error

    def bundle(self, text: str) -> MimeBundle:
        """Return the frame that plays with a text, or else a sentence that states why there is none."""
        try:
            return {"text/html": frame_of(self.page, str(self)), "text/plain": text}
        except TilescopeError as error:
            return {"text/html": notice_of(str(error)), "text/plain": f"{text}\n{error}"}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> MimeBundle:
        return self.bundle(repr(self))

    def _repr_html_(self) -> str:
        """Return the HTML for marimo, which reads only this."""
        return self._repr_mimebundle_()["text/html"]

    def __str__(self) -> str:
        return " and ".join(dict.fromkeys(load().kernel for load in self._loads))

    def __repr__(self) -> str:
        return f"<Replay of {self}>"


def start_in_notebook() -> None:
    """Start the drawing process in a notebook, where a replay is likely; it loads Qt meanwhile."""
    if any(name in sys.modules for name in NOTEBOOKS):
        with contextlib.suppress(StartError):  # the replay reports it
            _drawing[0].start()


def _ask(request: DrawingRequest) -> DrawingAnswer:
    """Have a page drawn; raises TilescopeError."""
    try:
        with _drawing[0].conversation(request, SECONDS) as answers:
            return next(answers)
    except ProcessEndedError as error:
        reason = f"it took over {SECONDS:.0f} s" if error.is_late else error.death
        raise TilescopeError(f"The replay can't be drawn: {reason}.") from error
    except RunCancelledError as error:
        raise TilescopeError("The replay was not drawn, because this process is about to end.") from error
    except StartError as error:
        raise TilescopeError(str(error)) from error


def _client() -> ProcessClient[DrawingAnswer]:
    return ProcessClient("drawing process", module_command(MODULE), msgspec.json.Decoder(DrawingAnswer))


_drawing = [_client()]  # started with the first replay, ended at exit


def _forget_in_child() -> None:
    _drawing[0].detach_in_child()
    _drawing[0] = _client()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
