"""The file of a lecture that is being edited: written atomically, and never over changes of others."""

from __future__ import annotations

from pathlib import Path

from .....tracer.storage.atomic_write import write_atomically
from ....model.named_file import read_at_most
from ....model.visible_text import escape_controls
from ..document import LARGEST
from ..library import FOLDER
from .source import EditError


class StaleError(EditError):
    """The file has changed since it was read."""


class LectureFile:
    """A file and its last known contents; None if it does not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known_content: bytes | None = None

    @property
    def is_shipped(self) -> bool:
        """Whether it is a shipped lecture, which must not change."""
        return FOLDER.resolve() in self.path.resolve().parents

    def read(self) -> str:
        """Read its text; raises EditError."""
        content = self._content()
        if content is None:
            raise EditError(f"{escape_controls(self.path)} does not exist any more; save the lecture again.")
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise EditError(f"{escape_controls(self.path)} is not UTF-8 text any more.") from None
        self._known_content = content
        return text

    def is_stale(self) -> bool:
        """Check whether the file has changed since it was read or written; raises EditError if it can't be read."""
        content = self._content()
        return content is not None and content != self._known_content

    def write(self, text: str) -> None:
        """Write the text; raises StaleError if the file changed, and EditError if it can't be written."""
        content = text.encode("utf-8")
        if len(content) > LARGEST:
            raise EditError(f"A lecture has at most {LARGEST:,} bytes; shorten it.")
        if self.is_stale():
            raise StaleError(
                f"{escape_controls(self.path.name)} was changed by another program; the new version is shown."
            )
        self.overwrite(content)

    def overwrite(self, content: bytes) -> None:
        """Write without a check, for a file that the user just chose; raises EditError."""
        try:
            write_atomically(self.path, content)
        except OSError as error:
            raise EditError(
                f"{escape_controls(self.path)} can't be written: {error.strerror or error}."
            ) from None
        self._known_content = content

    def _content(self) -> bytes | None:
        try:
            return read_at_most(self.path, LARGEST)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise EditError(
                f"{escape_controls(self.path)} can't be read: {error.strerror or error}."
            ) from None
