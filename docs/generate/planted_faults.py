"""The page about the programs with planted faults, from the files that their test checks."""

from __future__ import annotations

import csv
from pathlib import Path

from markdown import plain, table

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "data" / "planted"
INTRODUCTION = """# Planted faults

{count} programs have one planted fault each. Their twins differ only in that fault.
The expected verdicts were written before the first run of `tilescope check`. A test compares them with its verdicts.
It also checks that no twin has the finding or an error.

`tilescope check --fix` mends {mended} of the faults. The programs are in `tests/data/planted/programs.txt`."""


def planted_page() -> str:
    """Return the table of programs, with their expected verdicts and the differing ones."""
    programs, differing = _rows("verdicts.csv"), {row["program"]: row for row in _rows("deviations.csv")}
    rows = []
    for row in programs:
        given = differing.get(row["program"], row)["severity"]
        fix = {"yes": "mends it", "no": ""}[row["repaired"]]
        rows.append([row["program"].replace("-", " "), row["rule"], row["severity"], given, fix])
    mended = sum(row["repaired"] == "yes" for row in programs)
    parts = [INTRODUCTION.format(count=len(programs), mended=mended)]
    parts.append(table(["fault", "rule", "expected", "given", "`--fix`"], rows))
    parts.append("These verdicts differ from what was expected:")
    parts.append(
        "\n".join(f"- {name.replace('-', ' ')}: {plain(row['reason'])}" for name, row in differing.items())
    )
    return "\n\n".join(parts) + "\n"


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]
