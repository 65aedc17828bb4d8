"""Lectures for tests: small ones, whose launches are traced in this process."""

from __future__ import annotations

from pathlib import Path

from sessions import matmul
from tilescope.app.lectures.model.document import Lecture, parse_lecture
from tilescope.app.model.bookmark import Setup
from tilescope.app.model.session import Session

NAIVE, TILED = "matmul-naive-col-on-x:m=8,k=8,n=8,tile=4", "matmul-tiled:m=8,k=8,n=8,tile=4"

SMALL = f"""# Naive against tiled

For a test.

## Every element is a dot product

```tilescope
show: {NAIVE} {TILED}
at: start
spotlight: A[0, :], C[0, 0]
```

There are {{left.threads_in_all}} threads, and *each* makes one element.

> Say it slowly.

## The first tile

`next phase`

## Until the end

```tilescope
play: to end over 5 s
ask: How many sectors does the naive kernel take?
choices: 1 | {{left.global_sectors}} | none
answer: left.global_sectors
```

It takes {{left.global_sectors / right.global_sectors:.1f}} times as many.
"""


def session_of(setup: Setup) -> Session:
    """Return the session of a setup of the catalogue."""
    return matmul(setup.scenario, setup.blocks, **setup.values)


def lecture_of(text: str = SMALL, folder: Path = Path()) -> Lecture:
    """Return the lecture of a text."""
    return parse_lecture(text, folder / "lecture.md")


def one_step_lecture(*lines: str, show: str = TILED, caption: str = "") -> str:
    """Return the text of a lecture of one step with these lines in its block."""
    return "\n".join(
        ["# One", "", "## Step", "", "```tilescope", f"show: {show}", *lines, "```", "", caption]
    )
