"""The file or folder of a film, written atomically in a thread parallel to the drawing."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import secrets
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import IO

from msgspec import Struct

from ...tracer.storage.atomic_write import TEMPORARY, atomic_file
from ..widgets.widget_picture import PictureError
from .kinds import VIDEOS, Kind
from .model.gif_palette import Frame, Lookup
from .model.pictures_file import Frames, png_of, write_gif, write_pngs
from .model.webp_file import write_webp
from .video_file import check_video, write_video

AHEAD = 4  # frames in the queue between drawing and writing
PATIENCE = 0.1  # seconds between checks of a waiting thread
OURS = re.compile(r"frame-\d{5,}\.png")


class AbandonedError(Exception):
    """No frame will follow; the unfinished file is removed."""


class Encoding(Struct, frozen=True):
    """The encoding of frames."""

    kind: Kind
    rate: Fraction  # frames per second
    lookup: Lookup | None  # of a GIF's palette

    def write(self, path: Path, frames: Frames, times: Sequence[int]) -> None:
        """Write frames with their repeat counts; `times` lists these counts in advance.

        Writes atomically. Raises PictureError.
        """
        try:
            if self.kind.suffix:
                with atomic_file(path) as file:
                    self.encode(file, frames, times)
            else:
                with new_folder(path) as folder:
                    write_pngs(folder, frames)
        except OSError as error:
            raise PictureError(f"{path} could not be written: {error.strerror or error}.") from error

    def encode(self, file: IO[bytes], frames: Frames, times: Sequence[int]) -> None:
        """Write frames into a file; raises OSError and PictureError."""
        if self.kind.suffix in VIDEOS:
            write_video(file, self.kind.suffix, frames, self.rate)
        elif self.lookup is not None:
            write_gif(file, frames, self.rate, self.lookup)
        else:
            write_webp(file, frames, self.rate, list(times))

    def size(self, frames: Sequence[Frame]) -> int:
        """Compute the encoded size of frames in bytes, each shown once."""
        if not self.kind.suffix:
            return sum(len(png_of(frame)) for frame in frames)
        file = BytesIO()
        self.encode(file, iter([(frame, 1) for frame in frames]), [1] * len(frames))
        return file.tell()


def check_kind(kind: Kind) -> None:
    """Raise PictureError for a kind of file that can't be written here."""
    if kind.suffix in VIDEOS:
        check_video(kind.suffix)


def check_output(kind: Kind, path: Path) -> None:
    """Raise PictureError if the output can't be written there, before drawing."""
    check_kind(kind)
    if kind.suffix and path.is_dir():
        raise PictureError(f"{path} is a folder. Choose another file name.")
    if not kind.suffix:
        check_folder(path)
    above = path.absolute().parent
    if not above.is_dir():
        raise PictureError(f"{path} cannot be written: there is no folder {above}.")
    if not os.access(above, os.W_OK):
        raise PictureError(f"{path} cannot be written: the folder {above} is read-only.")


def check_folder(path: Path) -> None:
    """Raise PictureError if a path is not a folder with only frames of a film, which may be replaced."""
    if path.exists() and not path.is_dir():
        raise PictureError(f"The folder {path} cannot be created: a file has that name.")
    others = sorted(child.name for child in path.glob("*") if not OURS.fullmatch(child.name))
    if others:
        raise PictureError(
            f"The folder {path} contains other files ({others[0]}). Choose a new or an empty folder."
        )


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Create a temporary folder that replaces `path` at the end of the context, unless an exception is raised."""
    check_folder(path)
    new, old = (_temporary_sibling(path) for _ in range(2))
    new.mkdir()
    try:
        yield new
        if path.exists():
            path.replace(old)
        try:
            new.replace(path)
        except OSError:
            if old.exists():
                old.replace(path)
            raise
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _temporary_sibling(path: Path) -> Path:
    return path.absolute().with_name(TEMPORARY.replace("*", secrets.token_hex(8)))


class WriterThread:
    """Writes frames in a separate thread, while the next ones are drawn."""

    def __init__(self, write: Callable[[Frames], None]) -> None:
        self._write = write
        self._frames: queue.Queue[tuple[Frame, int] | None] = queue.Queue(AHEAD)
        self._abandoned = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, frame: Frame, times: int) -> None:
        """Queue the next frame with its repeat count; raises the errors of writing earlier frames."""
        self._put((frame, times))

    def close(self) -> None:
        """Wait until all frames are written; raises the errors of writing."""
        self._put(None)
        self._thread.join()
        self._check()

    def abandon(self) -> None:
        """Abandon the file, and wait until it is removed."""
        self._abandoned = True
        self._thread.join()

    def _put(self, item: tuple[Frame, int] | None) -> None:
        while True:
            self._check()
            with contextlib.suppress(queue.Full):
                self._frames.put(item, timeout=PATIENCE)
                return

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._write(self._queued_frames())
        except AbandonedError:
            pass
        except BaseException as error:  # noqa: BLE001  # it is raised again in the drawing thread
            self._error = error

    def _queued_frames(self) -> Iterator[tuple[Frame, int]]:
        while True:
            try:
                item = self._frames.get(timeout=PATIENCE)
            except queue.Empty:
                item = ()  # type: ignore[assignment]
            if self._abandoned:
                raise AbandonedError
            if item is None:
                return
            if item:
                yield item
