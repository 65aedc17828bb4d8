"""The page about the names of numba.cuda for the host, from the table that its test checks."""

from __future__ import annotations

import csv
from pathlib import Path

from markdown import plain, table

TABLE = Path(__file__).resolve().parents[2] / "tests" / "data" / "host_api.csv"
INTRODUCTION = """# Host API

Programs use these names of `numba.cuda` outside kernels. A test runs the example of each.
It also checks that the table has every such name of numba-cuda.

- **works**: it does what it does with a GPU
- **approximated**: it runs, and its result is not that of your GPU
- **refused**: it raises an error with the reason

What needs a GPU's compiler or driver is refused."""


def host_api_page() -> str:
    """Return the table of names."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [
            [f"`cuda.{row['name']}`", row["verdict"], plain(row["remark"]), f"`{row['example']}`"]
            for row in csv.DictReader(file)
        ]
    return f"{INTRODUCTION}\n\n{table(['name', 'verdict', 'remark', 'example'], rows)}\n"
