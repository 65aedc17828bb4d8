"""What is remembered of exercises: which are done, the hints seen, the text last written for each. A JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ...tracer.storage.atomic_write import write_atomically
from ...tracer.storage.folders import config_folder
from .document import Exercise
from .library import SHIPPED

FILE = "exercises.json"


class Remembered(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is remembered of one exercise."""

    done: bool = False  # whether it was passed once
    hints: int = 0  # that were seen, from the first on
    text: str = ""  # last written for it, "" where it is the stub


class _Content(msgspec.Struct, frozen=True):
    """The whole file."""

    exercises: dict[str, Remembered] = {}


class Progress:
    """What is remembered of all exercises, and the file in which it outlives us, None for nowhere.

    problem: one sentence that says why it could not be read, or "".
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._known, self.problem = _read(path) if path else ({}, "")

    def of(self, exercise: Exercise) -> Remembered:
        """Return what is remembered of an exercise."""
        return self._known.get(key_of(exercise), Remembered())

    def note(self, exercise: Exercise, **changes: Any) -> str:
        """Remember these changes of an exercise; return "" or one sentence that says why they are not written.

        What others have written meanwhile, such as `tilescope exercise check`, stays. A file that can't be read is
        kept beside the new one.
        """
        kept = ""
        if self.path:
            known, damaged = _read(self.path)
            kept = _set_aside(self.path) if damaged else ""
            self._known = self._known if damaged else known
        self._known[key_of(exercise)] = msgspec.structs.replace(self.of(exercise), **changes)
        return kept or (self._write(self.path) if self.path else "")

    def _write(self, path: Path) -> str:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, _encoded(self._known))
        except OSError as error:
            return f"What is done of the exercises could not be written to {path}: {error.strerror or error}."
        return ""


def stored_progress() -> Progress:
    """Return what is remembered on this computer, beside the settings."""
    return Progress(config_folder() / FILE)


def key_of(exercise: Exercise) -> str:
    """Return what an exercise is remembered by: its name, with the folder of one that is not shipped."""
    shipped = exercise.folder.absolute() == SHIPPED.absolute()
    return exercise.name if shipped else str(exercise.folder.absolute() / exercise.name)


def _read(path: Path) -> tuple[dict[str, Remembered], str]:
    """Return what a file remembers and "", or nothing and one sentence that says why."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Content).exercises, ""
    except FileNotFoundError:
        return {}, ""
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        why = f"What is done of the exercises could not be read in {path} ({error})"
        return {}, f"{why}; the file is kept, and a fresh one begun."


def _set_aside(path: Path) -> str:
    """Give a file that can't be read another name, so that nothing is lost; return "" or one sentence."""
    for number in range(1, 100):
        aside = path.with_name(f"{path.stem}.damaged-{number}{path.suffix}")
        if not aside.exists():
            try:
                path.replace(aside)
            except OSError as error:
                return f"{path} can't be read, nor set aside ({error.strerror or error}); nothing is written."
            return ""
    return f"{path} can't be read, and too many such files lie beside it; nothing is written."


def _encoded(known: dict[str, Remembered]) -> bytes:
    """Return the content of the file; what is no text in UTF-8, as names of files may be, is replaced."""
    plain = {
        _plain(key): msgspec.structs.replace(value, text=_plain(value.text)) for key, value in known.items()
    }
    return msgspec.json.encode(_Content(plain))


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
