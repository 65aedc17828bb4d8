"""The file of a lecture that is written: read as it is, written whole, and never over what somebody else wrote."""

from __future__ import annotations

from pathlib import Path

from ....tracer.storage.atomic_write import write_atomically
from ...model.named_file import bytes_of
from ...model.visible_text import visible
from ..document import LARGEST
from ..library import FOLDER
from .source import EditError


class StaleError(EditError):
    """The file is another than the one that was edited."""


class LectureFile:
    """A file and what it held when it was read or written last; None for one that there is not yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: bytes | None = None

    @property
    def is_shipped(self) -> bool:
        """Whether it is one of the lectures that come with Tilescope, which stay as they are."""
        return FOLDER.resolve() in self.path.resolve().parents

    def read(self) -> str:
        """Return its text; raises EditError."""
        content = self._content()
        if content is None:
            raise EditError(f"{visible(self.path)} is there no more; save the lecture anew.")
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise EditError(f"{visible(self.path)} is no text in UTF-8 any more.") from None
        self._held = content
        return text

    def is_stale(self) -> bool:
        """Return whether the file holds something else than it did; raises EditError where it can't be read."""
        content = self._content()
        return content is not None and content != self._held

    def write(self, text: str) -> None:
        """Write the text; raises StaleError, and EditError where it can't be written, and leaves the file as it was."""
        content = text.encode("utf-8")
        if len(content) > LARGEST:
            raise EditError(f"A lecture has at most {LARGEST:,} bytes; leave something out.")
        if self.is_stale():
            raise StaleError(
                f"{visible(self.path.name)} was changed elsewhere, and is shown as it is there now."
            )
        self.put(content)

    def put(self, content: bytes) -> None:
        """Write, whatever was there: for a file that somebody just chose to be written; raises EditError."""
        try:
            write_atomically(self.path, content)
        except OSError as error:
            raise EditError(f"{visible(self.path)} can't be written: {error.strerror or error}.") from None
        self._held = content

    def _content(self) -> bytes | None:
        try:
            return bytes_of(self.path, LARGEST)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise EditError(f"{visible(self.path)} can't be read: {error.strerror or error}.") from None
