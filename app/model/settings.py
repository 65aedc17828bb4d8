"""The window's settings, stored as JSON in the user's configuration folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ...tracer.model.launch import is_utf8
from ...tracer.storage.atomic_write import write_atomically
from .bookmark import Bookmark, Value

MAX_RECENT = 8


class Settings(msgspec.Struct, frozen=True):
    """The stored settings; a file may lack some of them."""

    bookmark: Bookmark | None = None  # shown last
    geometry: bytes = b""  # the window's position on the screen, as Qt's bytes
    splitters: tuple[bytes, ...] = ()  # splitter sizes, as Qt's bytes
    recent: tuple[str, ...] = ()  # paths of recently opened traces, the latest first, at most MAX_RECENT
    recent_lectures: tuple[str, ...] = ()  # paths of recently opened lectures, likewise
    sizes: dict[str, dict[str, Value]] = {}  # chosen last, by the family of scenarios


class StoredSettings:
    """The current settings, and the file that stores them, None for no file.

    problem: one sentence that says why they could not be read, or "".
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.current, self.problem = load(path) if path else (Settings(), "")

    def note_recent(self, file: str) -> None:
        """Record a file as the latest one opened."""
        self.current = with_recent(self.current, file)

    def note_lecture(self, file: str) -> None:
        """Record a lecture as the latest one opened."""
        recent = _with_first(file, self.current.recent_lectures)
        self.current = msgspec.structs.replace(self.current, recent_lectures=recent)

    def write(self, **changes: Any) -> str:
        """Write the settings with these changes; return "" or one sentence with the error."""
        self.current = msgspec.structs.replace(self.current, **changes)
        return save(self.path, self.current) if self.path else ""


def load(path: Path) -> tuple[Settings, str]:
    """Read the settings of a file and "", or return fresh settings and one sentence with the reason."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Settings), ""
    except FileNotFoundError:
        return Settings(), ""
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        return (
            Settings(),
            f"The settings in {path} could not be read ({error}); the window starts with fresh ones.",
        )


def save(path: Path, settings: Settings) -> str:
    """Write the settings atomically; return "" or one sentence with the error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, _encoded(settings))
    except OSError as error:
        return f"The settings could not be written to {path}: {error.strerror or error}."
    return ""


def _encoded(settings: Settings) -> bytes:
    """Encode settings as JSON, without file names that are not valid text, which JSON can't hold."""
    try:
        return msgspec.json.encode(settings)
    except UnicodeEncodeError:
        lists = [name for name in settings.__struct_fields__ if name.startswith("recent")]
        texts: dict[str, Any] = {name: tuple(filter(is_utf8, getattr(settings, name))) for name in lists}
        return msgspec.json.encode(msgspec.structs.replace(settings, bookmark=None, **texts))


def with_recent(settings: Settings, file: str) -> Settings:
    """Return the settings with a file as the latest one opened."""
    return msgspec.structs.replace(settings, recent=_with_first(file, settings.recent))


def _with_first(file: str, recent: tuple[str, ...]) -> tuple[str, ...]:
    """Move a file to the front of the recently opened files."""
    return (file, *(other for other in recent if other != file))[:MAX_RECENT]
