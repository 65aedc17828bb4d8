"""What the window remembers between two runs: a JSON file in the user's configuration folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ...tracer.model.launch import is_utf8
from ...tracer.storage.atomic_write import write_atomically
from .bookmark import Bookmark

MAX_RECENT = 8


class Settings(msgspec.Struct, frozen=True):
    """What is remembered; a file that lacks some of it is read all the same."""

    bookmark: Bookmark | None = None  # what was shown last
    geometry: bytes = b""  # where the window stood on the screen, in Qt's own bytes
    splitters: tuple[bytes, ...] = ()  # how its room was shared, in Qt's own bytes
    recent: tuple[str, ...] = ()  # paths of the traces opened lately, the last one first, at most MAX_RECENT
    recent_lectures: tuple[str, ...] = ()  # paths of lectures, as many


class StoredSettings:
    """The settings as they are now, and the file in which they outlive the window, None for nowhere.

    problem: one sentence that says why they could not be read, or "".
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.current, self.problem = load(path) if path else (Settings(), "")

    def note_recent(self, file: str) -> None:
        """Take note of a file as the one opened last."""
        self.current = with_recent(self.current, file)

    def note_lecture(self, file: str) -> None:
        """Take note of a lecture as the one opened last."""
        recent = _with_first(file, self.current.recent_lectures)
        self.current = msgspec.structs.replace(self.current, recent_lectures=recent)

    def write(self, **changes: Any) -> str:
        """Write the settings with these changes; return "" or one sentence that says what went wrong."""
        self.current = msgspec.structs.replace(self.current, **changes)
        return save(self.path, self.current) if self.path else ""


def load(path: Path) -> tuple[Settings, str]:
    """Return the settings of a file and "", or fresh settings and one sentence that says why."""
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
    """Write the settings whole or not at all; return "" or one sentence that says what went wrong."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, _encoded(settings))
    except OSError as error:
        return f"The settings could not be written to {path}: {error.strerror or error}."
    return ""


def _encoded(settings: Settings) -> bytes:
    """Return settings as JSON, without files whose names are no text: JSON has no room for these."""
    try:
        return msgspec.json.encode(settings)
    except UnicodeEncodeError:
        lists = [name for name in settings.__struct_fields__ if name.startswith("recent")]
        texts: dict[str, Any] = {name: tuple(filter(is_utf8, getattr(settings, name))) for name in lists}
        return msgspec.json.encode(msgspec.structs.replace(settings, bookmark=None, **texts))


def with_recent(settings: Settings, file: str) -> Settings:
    """Return the settings with a file as the one opened last."""
    return msgspec.structs.replace(settings, recent=_with_first(file, settings.recent))


def _with_first(file: str, recent: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files opened lately with this one as the last."""
    return (file, *(other for other in recent if other != file))[:MAX_RECENT]
