"""Windows and pictures of launches, in separate processes: Qt is never loaded into the user's process."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from ..tracer.model.trace import Trace
from ..tracer.processes.json_process import module_command
from ..tracer.storage.temp_folders import PREFIX, large_files_folder
from ..tracer.storage.trace_file import TraceFileError, save
from .errors import TilescopeError

Theme = Literal["light", "dark"]
DRAWING_SECONDS = 120
_windows: list[subprocess.Popen[bytes]] = []  # those that may still be open


def render_png(trace: Trace, moment: int | None, theme: Theme, size: tuple[int, int]) -> bytes:
    """Draw the window on a launch as a PNG of this size in pixels; raises TilescopeError."""
    width, height = size
    with saved_launches([trace]) as (folder, [saved]):
        output = folder / "picture.png"
        words = ["snapshot", str(saved), "-o", str(output), "--theme", theme, "--size", f"{width}x{height}"]
        words += [] if moment is None else ["--moment", str(moment)]
        try:
            done = subprocess.run(
                [*module_command("tilescope"), *words], capture_output=True, text=True, errors="replace",
                timeout=DRAWING_SECONDS, stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
            if not done.returncode:
                return output.read_bytes()
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TilescopeError(f"The picture can't be drawn ({error}).") from error
        raise TilescopeError(f"The picture can't be drawn: {_last_line(done.stderr)}")


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()] or ["it ended without a message."]
    return lines[-1].removeprefix("tilescope: ")


def open_window(trace: Trace) -> None:
    """Open the window on a launch in a process that outlives this one; raises TilescopeError."""
    variables = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if sys.platform == "linux" and not any(map(os.environ.get, variables)):
        raise TilescopeError(
            "There is no display; picture() draws without one, and save() writes the launch to a file."
        )
    folder = _new_folder()
    try:
        command = [*module_command(f"{__package__}.window"), str(_save(trace, folder))]
        _windows[:] = [window for window in _windows if window.poll() is None]
        _windows.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True))
    except (OSError, TilescopeError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise TilescopeError(f"The window can't be opened: {error}") from error


@contextlib.contextmanager
def saved_launches(traces: Sequence[Trace]) -> Iterator[tuple[Path, list[Path]]]:
    """Yield a temporary folder and the files of traces in it; raises TilescopeError."""
    folder = _new_folder()
    try:
        folders = [folder / str(number) for number in range(len(traces))]
        for own in folders:
            own.mkdir()
        yield folder, [_save(trace, own) for trace, own in zip(traces, folders, strict=True)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _new_folder() -> Path:
    """Create a folder; if a killed window leaves it behind, it is deleted after a day (`temp_folders`)."""
    try:
        return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=large_files_folder()))
    except OSError as error:
        raise TilescopeError(f"The launch can't be saved for its picture ({error}).") from error


def _save(trace: Trace, folder: Path) -> Path:
    """Save a launch under the name that is to appear above its picture."""
    path = folder / f"{trace.kernel}.npz"
    save_trace(trace, path)
    return path


def save_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace file atomically; raises TilescopeError."""
    try:
        save(trace, path)
    except TraceFileError as error:
        raise TilescopeError(str(error)) from error
