"""The shipped lectures."""

from __future__ import annotations

from pathlib import Path

from .... import ROOT
from ....kernels.scenarios.suggestions import did_you_mean
from ...model.visible_text import escape_controls
from .problems import LectureError

FOLDER = ROOT / "resources" / "lectures"
TOUR = FOLDER / "tour.md"  # of the window: in the Help menu, not among the lectures about kernels


def shipped_lectures() -> list[Path]:
    """List the files of the shipped lectures, in teaching order."""
    return sorted(FOLDER.glob("[0-9]*-*.md"), key=lambda path: int(path.stem.partition("-")[0]))


def lecture_name(path: Path) -> str:
    """Return the name of a shipped lecture: "tiling" for 1-tiling.md."""
    return path.stem.partition("-")[2]


def lecture_title(path: Path) -> str:
    """Read the title of a shipped lecture, and no more."""
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix("#").strip()


def lecture_file(name: str) -> Path:
    """Find the file of a name or path; raises LectureError if there is none."""
    files = {lecture_name(path): path for path in shipped_lectures()} | {TOUR.stem: TOUR}
    if name in files:
        return files[name]
    path = Path(name)
    if path.is_file():
        return path
    noun = "file" if path.suffix or "/" in name else "lecture"
    raise LectureError(f"There is no {noun} {escape_controls(name)}{did_you_mean(path.stem, files)}")
