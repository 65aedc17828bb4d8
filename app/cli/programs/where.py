"""Which line of a program runs, written to a file now and then: the window says it while the program runs."""

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
    """Have a thread write the line of the script that the main thread is at to a file, until the process ends.

    script: the name of its file, as its code has it. The thread is none of those that the program can list.
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

    with suppress(RuntimeError):  # no thread is to be had: then nothing is said
        _thread.start_new_thread(write, ())


def line_of(frame: FrameType | None, script: str) -> int:
    """Return the innermost line of a script that a thread is at, 0 where it is at none."""
    while frame is not None:
        if frame.f_code.co_filename == script:
            return frame.f_lineno
        frame = frame.f_back
    return 0
