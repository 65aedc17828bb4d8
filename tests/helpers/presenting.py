"""Lectures for tests: a small one that has a bit of everything, and windows that present it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from tilescope.app.lectures.player.player import LecturePlayer
from tilescope.app.model.bookmark import Bookmark
from tilescope.app.window.main_window import MainWindow
from windows import settle, wait_until

NAIVE, TILED = "matmul-naive-col-on-x:m=8,k=8,n=8,tile=4", "matmul-tiled:m=8,k=8,n=8,tile=4"
LECTURE = f"""# Two kernels

## Both side by side

```tilescope
show: {NAIVE} {TILED}
at: start
spotlight: A[0, :]
```

There are {{left.threads_in_all}} threads.

> Wait for questions.

## The first tile

`next phase`

## To the end

```tilescope
play: to end over 5 s
```

## How many sectors?

```tilescope
at: middle of phase 1
ask: How many sectors does the naive kernel take?
choices: 16 | {{left.global_sectors}} | none at all
answer: left.global_sectors
```

The tiled one takes {{right.global_sectors}}.

## How many threads?

```tilescope
show: {TILED}
panel: thread
ask: How many threads are in a block?
answer: left.threads
```

## The last block

```tilescope
element: C[7, 7]
at: end
colour: reads
```
"""


def write_lecture(folder: Path, text: str = LECTURE) -> Path:
    """Return the path of a lecture with this text."""
    path = folder / "lecture.md"
    path.write_text(text, encoding="utf-8")
    return path


def present(window: MainWindow, path: Path) -> LecturePlayer:
    """Present a lecture in a window, its first step there; without the clock, which makes pictures differ."""
    window.lectures.has_clock = False
    assert window.lectures.open(path)
    wait_for_step(window)
    return window.lectures.player


def wait_for_step(window: MainWindow) -> None:
    """Wait until the step that is wanted is shown, and drawn."""
    wait_until(lambda: window.lectures.player.awaited is None)
    settle(window)
    wait_until(window.central.results.compiling.is_idle)
    QApplication.processEvents()


def capture_window(window: MainWindow) -> tuple[Bookmark, QImage]:
    """Return all that a window shows: what it says and what one sees."""
    settle(window)
    wait_until(window.central.results.spreads.is_idle)  # what racing counters end at under other seeds
    wait_until(window.central.charts.recorded.is_idle)  # what a GPU did
    wait_until(
        lambda: window.central.results.compiling.is_idle() and window.central.results.listings.is_idle()
    )
    QApplication.processEvents()
    window.setFocus()  # which, where a part is hidden, goes on to another one: its frame is no part of a step
    window.draw()
    return window.bookmark(), window.grab().toImage()


def go_to_step(window: MainWindow, number: int, *, play: bool = False) -> LecturePlayer:
    """Turn to a step as it stands."""
    window.lectures.player.go(number, play)
    wait_for_step(window)
    return window.lectures.player
