"""The progress on exercises: which are done, the hints used, the latest text of each. A JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ....tracer.storage.atomic_write import write_atomically
from ....tracer.storage.folders import config_folder
from .document import Exercise, Language
from .library import SHIPPED

FILE = "exercises.json"


class Remembered(msgspec.Struct, frozen=True, omit_defaults=True):
    """The progress on one exercise."""

    done: bool = False  # whether it was passed once
    hints: int = 0  # number of hints used
    text: str = ""  # the latest text in Numba, "" for the stub
    cuda_cpp: str = ""  # the same in CUDA C++
    language: Language = "numba"  # chosen last

    def text_of(self, exercise: Exercise) -> str:
        """Return the latest text in the exercise's language, "" for the stub."""
        return self.cuda_cpp if exercise.language == "cuda-cpp" else self.text


class _Content(msgspec.Struct, frozen=True):
    """The complete file."""

    exercises: dict[str, Remembered] = {}


class Progress:
    """The progress on all exercises, and the file that stores it, None for no file.

    problem: one sentence with the read error, or "".
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._exercises, self.problem = _read(path) if path else ({}, "")

    def remembered(self, exercise: Exercise) -> Remembered:
        """Return the progress on an exercise."""
        return self._exercises.get(exercise_key(exercise), Remembered())

    def note(self, exercise: Exercise, **changes: Any) -> str:
        """Store these changes of an exercise; return "" or one sentence with the write error.

        Changes of other programs, such as `tilescope exercise check`, are kept. An unreadable file is renamed and kept
        next to the new one.
        """
        problem = ""
        if self.path:
            stored, damaged = _read(self.path)
            problem = _set_aside(self.path) if damaged else ""
            self._exercises = self._exercises if damaged else stored
        self._exercises[exercise_key(exercise)] = msgspec.structs.replace(
            self.remembered(exercise), **changes
        )
        return problem or (self._write(self.path) if self.path else "")

    def _write(self, path: Path) -> str:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, _encoded(self._exercises))
        except OSError as error:
            return f"The progress on the exercises could not be written to {path}: {error.strerror or error}."
        return ""


def stored_progress() -> Progress:
    """Read the progress stored on this computer, next to the settings."""
    return Progress(config_folder() / FILE)


def exercise_key(exercise: Exercise) -> str:
    """Return the key of an exercise: its name, with the folder unless it is shipped."""
    shipped = exercise.folder.absolute() == SHIPPED.absolute()
    return exercise.name if shipped else str(exercise.folder.absolute() / exercise.name)


def _read(path: Path) -> tuple[dict[str, Remembered], str]:
    """Read a file; return its entries and "", or no entries and one sentence with the reason."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Content).exercises, ""
    except FileNotFoundError:
        return {}, ""
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        why = f"The progress on the exercises could not be read from {path} ({error})"
        return {}, f"{why}; the file is kept, and a new one is started."


def _set_aside(path: Path) -> str:
    """Rename an unreadable file, so that nothing is lost; return "" or one sentence."""
    for number in range(1, 100):
        renamed = path.with_name(f"{path.stem}.damaged-{number}{path.suffix}")
        if not renamed.exists():
            try:
                path.replace(renamed)
            except OSError as error:
                return f"{path} can't be read or renamed ({error.strerror or error}); nothing is written."
            return ""
    return f"{path} can't be read, and there are too many renamed copies of it; nothing is written."


def _encoded(exercises: dict[str, Remembered]) -> bytes:
    """Encode the file's content; characters that UTF-8 lacks, as in file names, are replaced."""
    plain = {
        _plain(key): msgspec.structs.replace(value, text=_plain(value.text), cuda_cpp=_plain(value.cuda_cpp))
        for key, value in exercises.items()
    }
    return msgspec.json.encode(_Content(plain))


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
