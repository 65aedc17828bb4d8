"""The lectures that are shipped."""

from __future__ import annotations

from pathlib import Path

from ... import ROOT
from ...kernels.scenarios.suggestions import did_you_mean
from ..model.visible_text import visible
from .problems import LectureError

FOLDER = ROOT / "resources" / "lectures"


def shipped() -> list[Path]:
    """Return the files of the shipped lectures, in the order in which they are taught."""
    return sorted(FOLDER.glob("[0-9]*-*.md"))


def name_of(path: Path) -> str:
    """Return the name of a shipped lecture: "tiling" of 1-tiling.md."""
    return path.stem.partition("-")[2]


def title_of(path: Path) -> str:
    """Return the title of a shipped lecture, without reading all of it."""
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix("#").strip()


def lecture_file(name: str) -> Path:
    """Return the file of a name or path; raises LectureError where there is none."""
    known = {name_of(path): path for path in shipped()}
    if name in known:
        return known[name]
    path = Path(name)
    if path.is_file():
        return path
    what = "file" if path.suffix or "/" in name else "lecture"
    raise LectureError(f"There is no {what} {visible(name)}{did_you_mean(path.stem, known)}")
