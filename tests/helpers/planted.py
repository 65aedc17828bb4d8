"""Programs with a planted fault, their fixed twins, and the expected verdicts."""

from __future__ import annotations

import csv
import re
from typing import NamedTuple

from folders import ROOT

FOLDER = ROOT / "tests" / "data" / "planted"
HEAD = "import numpy as np\nfrom numba import cuda, float32, int32\n\n\n"


class Planted(NamedTuple):
    """A program with a planted fault, and the expected verdict about it."""

    name: str
    faulty: str
    fixed: str
    rule: str
    severities: frozenset[str]  # that a verdict may have
    is_mended: bool  # by `check --fix`


def planted_programs() -> list[Planted]:
    """Read the programs in the order of the file; a deviation replaces the expected severity."""
    parts = re.split(
        r"^=== (.+)\n", (FOLDER / "programs.txt").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    texts = dict(zip(parts[1::2], parts[2::2], strict=True))
    differing = {row["program"]: row["severity"] for row in _rows("deviations.csv")}
    rows = _rows("verdicts.csv")
    assert [row["program"] for row in rows] == [*texts] and differing.keys() <= texts.keys()
    return [
        Planted(
            row["program"],
            _without(texts[row["program"]], "fixed"),
            _without(texts[row["program"]], "faulty"),
            row["rule"],
            _severities(differing.get(row["program"], row["severity"])),
            row["repaired"] == "yes",
        )
        for row in rows
    ]


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def _severities(severity: str) -> frozenset[str]:
    return frozenset({"warning", "note"} if severity == "advice" else {severity})


def _without(text: str, tag: str) -> str:
    """Return a program without the lines that have a tag, and without the tags."""
    lines = [line for line in text.strip().splitlines() if not line.endswith(f"  # {tag}")]
    return HEAD + "".join(f"{re.sub('  # (faulty|fixed)$', '', line)}\n" for line in lines)
