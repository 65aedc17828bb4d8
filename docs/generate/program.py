"""Runs the program for the site: what commands print, and the pictures, films and replays that they write."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

OWN_PROCESS = ("run", "check")  # commands that run a program in their process


class CommandFailedError(Exception):
    """A command of the documentation failed; the text has its output."""


class Program:
    """Runs `tilescope`, and keeps what it writes in one folder.

    quick: write empty media and no output, for a check of pages and links only.
    """

    def __init__(self, media: Path, *, quick: bool) -> None:
        self.media, self.quick = media, quick
        media.mkdir(parents=True, exist_ok=True)
        self.names: set[str] = set()  # of the media that pages show

    def output(self, command: str, folder: Path | None = None) -> str:
        """Return what a command prints on standard output; findings are no failure."""
        words = shlex.split(command)[1:]
        if self.quick:
            return ""
        if words[0] in OWN_PROCESS:
            done = subprocess.run(
                [sys.executable, "-m", "tilescope", *words],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            status, printed, errors = done.returncode, done.stdout, done.stderr
        else:
            status, printed, errors = _called(words)
        if status not in (0, 1):
            raise CommandFailedError(f"{command}\n{printed}{errors}")
        return printed

    def write(self, name: str, command: str) -> str:
        """Run a command that writes a file of this name, unless an earlier run did; return the name."""
        self.names.add(name)
        path = self.media / name
        if self.quick:
            path.touch()
        elif not path.exists() or not path.stat().st_size:
            self.output(f"{command} -o {shlex.quote(str(path))}")
        return name

    def trace(self, name: str, script: Path) -> Path | None:
        """Trace a program that launches one kernel; return the trace file, None where nothing was traced."""
        folder = self.media.parent / "traces" / name
        if not list(folder.glob("*.npz")):
            self.output(f"tilescope run --out {shlex.quote(str(folder))} {script.name}", script.parent)
        return next(iter(sorted(folder.glob("*.npz"))), None)


def _called(words: list[str]) -> tuple[int, str, str]:
    """Run a command in this process, which has loaded Qt already: return status, output and errors."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from tilescope.app.cli.main import main

    printed, errors = StringIO(), StringIO()
    with redirect_stdout(printed), redirect_stderr(errors):
        try:
            status = main(words)
        except SystemExit as ended:
            status = int(ended.code or 0)
    return status, printed.getvalue(), errors.getvalue()
