"""Write the running line of a program to a file, for the window to show."""

from __future__ import annotations

import _thread
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

PERIOD = 0.5  # seconds


def write_where(path: Path, script: str) -> None:
    """Start a thread that writes the main thread's line of the script to a file, until the process ends.

    script: the name of its file, as in its code. The program can't list the thread.
    """
    main, own = threading.main_thread().ident, os.getpid()

    def write() -> None:
        last = 0
        while os.getpid() == own:
            time.sleep(PERIOD)
            line = line_of(sys._current_frames().get(main or 0), script)
            if line != last:
                last = line
                with suppress(OSError):
                    path.write_text(str(line), encoding="ascii")

    with suppress(RuntimeError):  # no thread can be started: nothing is written
        _thread.start_new_thread(write, ())


def line_of(frame: FrameType | None, script: str) -> int:
    """Find the innermost line of a script in a stack, 0 if there is none."""
    while frame is not None:
        if frame.f_code.co_filename == script:
            return frame.f_lineno
        frame = frame.f_back
    return 0
