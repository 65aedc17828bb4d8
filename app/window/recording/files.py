"""The file of a recording, or its folder, written whole or not at all, in a thread beside the one that draws."""

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

from ....tracer.storage.atomic_write import TEMPORARY, atomic_file
from ...widgets.widget_picture import PictureError
from .kinds import VIDEOS, Kind
from .palette import Frame, Lookup
from .pictures_file import Frames, png_of, write_gif, write_pngs
from .video_file import check_video, write_video
from .webp_file import write_webp

AHEAD = 4  # frames that are drawn before the one that is being written is
PATIENCE = 0.1  # seconds after which who waits looks whether there still is something to wait for
OURS = re.compile(r"frame-\d{5,}\.png")


class AbandonedError(Exception):
    """No frame will follow: what is half-written is to go."""


class Encoding(Struct, frozen=True):
    """How frames are written."""

    kind: Kind
    rate: Fraction  # frames a second
    lookup: Lookup | None  # of a GIF, in its palette

    def write(self, path: Path, frames: Frames, times: Sequence[int]) -> None:
        """Write frames, each with how often it is shown, and all these numbers beforehand.

        Raises PictureError, and leaves what was there before.
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
        """Return how many bytes some frames take, each shown once."""
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
    """Raise PictureError for what can't be written where it is, before anything is drawn."""
    check_kind(kind)
    if kind.suffix and path.is_dir():
        raise PictureError(f"{path} is a folder; give the file another name.")
    if not kind.suffix:
        check_folder(path)
    above = path.absolute().parent
    if not above.is_dir():
        raise PictureError(f"{path} cannot be written: there is no folder {above}.")
    if not os.access(above, os.W_OK):
        raise PictureError(f"{path} cannot be written: the folder {above} is read-only.")


def check_folder(path: Path) -> None:
    """Raise PictureError where a name stands for what is not ours to replace: anything but frames of a recording."""
    if path.exists() and not path.is_dir():
        raise PictureError(f"The folder {path} cannot be made: there is a file of that name.")
    others = sorted(found.name for found in path.glob("*") if not OURS.fullmatch(found.name))
    if others:
        raise PictureError(
            f"The folder {path} holds more than frames ({others[0]}); name a new or an empty one."
        )


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Lend a folder that takes the place of `path` at the end of a `with`, unless something is raised in it."""
    check_folder(path)
    made, old = (_beside(path) for _ in range(2))
    made.mkdir()
    try:
        yield made
        if path.exists():
            path.replace(old)
        try:
            made.replace(path)
        except OSError:
            if old.exists():
                old.replace(path)
            raise
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _beside(path: Path) -> Path:
    return path.absolute().with_name(TEMPORARY.replace("*", secrets.token_hex(8)))


class WriterThread:
    """Writes frames in a thread of its own, while the next ones are drawn."""

    def __init__(self, write: Callable[[Frames], None]) -> None:
        self._write = write
        self._frames: queue.Queue[tuple[Frame, int] | None] = queue.Queue(AHEAD)
        self._abandoned = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, frame: Frame, times: int) -> None:
        """Hand over the next frame, and how often it is shown; raises what writing the ones before did."""
        self._put((frame, times))

    def close(self) -> None:
        """Wait until all is written; raises what that did."""
        self._put(None)
        self._thread.join()
        self._check()

    def abandon(self) -> None:
        """Leave no file; returns once nothing is left of it."""
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
            self._write(self._coming())
        except AbandonedError:
            pass
        except BaseException as error:  # noqa: BLE001  # it is raised where the frames come from
            self._error = error

    def _coming(self) -> Iterator[tuple[Frame, int]]:
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
